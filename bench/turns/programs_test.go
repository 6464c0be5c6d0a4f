package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil { // make bench runs the program in the folder bench
		panic(err)
	}
	os.Exit(m.Run())
}

func TestFlags(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{"--rounds", "3", "--before", "v1", "--growth"})
	require.NoError(t, err)
	assert.Equal(t, options{rounds: 3, starts: 15, journal: 101, growth: true, before: "v1"}, o)
}

// The floors are measured as `make bench` does it, in processes of their own.
func TestMeasureFloors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx := context.Background()
	b := &bench{dir: dir}
	for _, name := range []string{"net-http", "openai-go", "server"} {
		require.NoError(t, build(ctx, ".", filepath.Join(dir, name), "./turns/"+name))
	}
	b.peers = []peer{
		{name: nameOpenAI, program: filepath.Join(dir, "openai-go")},
		{name: nameHTTP, program: filepath.Join(dir, "net-http")},
	}
	url, err := b.startProgram(ctx, filepath.Join(dir, "server"), nil)
	require.NoError(t, err)
	defer b.close()
	b.url = url

	r, err := b.measure(ctx, load{3, 2}, b.peers, 2)
	require.NoError(t, err)
	for _, p := range b.peers {
		require.Len(t, r.samples[p.name], 2, "the round that warms up does not count")
		for _, s := range r.samples[p.name] {
			assert.Positive(t, s.Wall)
			assert.Positive(t, s.Allocs)
			assert.Positive(t, s.StartMiB)
			assert.LessOrEqual(t, s.StartMiB, s.PeakMiB)
		}
	}
	assert.Less(t, r.median(nameHTTP, start), r.median(nameOpenAI, start), "the leanest loop has none of openai-go in it")

	_, err = b.one(ctx, b.peers[1], load{3, 1}, b.url+"/x/none")
	require.NoError(t, err, "the path ends with the turns, whatever comes before")
	b.url = "http://127.0.0.1:1"
	_, err = b.measure(ctx, load{3, 1}, b.peers[1:], 1)
	require.ErrorContains(t, err, "measure net/http, 3 turns: exit status 1\nnet-http: Post \"http://127.0.0.1:1/0-0-3-1-0/3/chat/completions\"")
}

func TestBuildBeforeErrors(t *testing.T) {
	t.Parallel()
	repo := t.TempDir()
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(bytes.TrimSpace(out)))
	}
	commit := func(name, content string) {
		file := filepath.Join(repo, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		git("add", ".")
		git("commit", "-q", "-m", name)
	}
	git("init", "-q")
	commit("bench/go.mod", "module old\n\ngo 1.26.0\n")
	commit("internal/database/pool.go", "package database\n")
	commit("bench/turns/windlass/main.go", "package main\n\nfunc main() { begin() }\n")
	commit("bench/turns/windlass/main.go", "package main\n\nfunc main() {}\n")
	for revision, want := range map[string]string{
		"nowhere": "check out nowhere: git: exit status 128\nfatal: not a valid object name: nowhere",
		"HEAD~3":  "the windlass of HEAD~3 cannot take part: it has no internal/database, through which the loop of today opens ClickHouse",
		"HEAD~2":  "the windlass of HEAD~2 cannot take part: the loop of today does not build with it: build ./turns/windlass: exit status 1\n",
		"HEAD~1":  "the windlass of HEAD~1 cannot take part: build ./turns/windlass: exit status 1\n# old/turns/windlass\n",
		"HEAD":    "the windlass of HEAD cannot take part: build ./cmd/windlass: ",
	} {
		_, err := buildBefore(context.Background(), repo, revision, filepath.Join(t.TempDir(), "before"))
		require.ErrorContains(t, err, want)
	}
}
