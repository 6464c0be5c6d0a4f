package packaging

import (
	"archive/zip"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/windlass-run/windlass"

// proxy returns a folder that is a module proxy with windlass as its sources are now. Modules of their own are not in it.
func proxy(t *testing.T, version string) string {
	t.Helper()
	dir, from := t.TempDir(), root(t)
	at := filepath.Join(dir, module, "@v")
	check(t, os.MkdirAll(at, 0o755))
	files := sources(t, from)
	var others []string
	for _, name := range files {
		if below := path.Dir(name); path.Base(name) == "go.mod" && below != "." {
			others = append(others, below+"/")
		}
	}
	out, err := os.Create(filepath.Join(at, version+".zip"))
	check(t, err)
	z := zip.NewWriter(out)
	for _, name := range files {
		if slices.ContainsFunc(others, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			continue
		}
		w, err := z.Create(module + "@" + version + "/" + name)
		check(t, err)
		_, err = w.Write([]byte(read(t, filepath.Join(from, name))))
		check(t, err)
	}
	check(t, z.Close())
	check(t, out.Close())
	check(t, os.WriteFile(filepath.Join(at, "list"), []byte(version+"\n"), 0o600))
	check(t, os.WriteFile(filepath.Join(at, version+".info"), []byte(`{"Version":"`+version+`","Time":"2026-01-02T03:04:05Z"}`), 0o600))
	check(t, os.WriteFile(filepath.Join(at, version+".mod"), []byte(read(t, filepath.Join(from, "go.mod"))), 0o600))
	return dir
}

// "go install MODULE@VERSION" works: what is published is all that is needed, without go.mod files beside it. The program
// knows its version and the commit in it.
func TestGoInstall(t *testing.T) {
	t.Parallel()
	const pseudo = "v0.0.0-20260102030405-0123456789ab"
	cache := strings.TrimSpace(run(t, root(t), nil, "go", "env", "GOMODCACHE"))
	run(t, root(t), nil, "go", "mod", "download") // what windlass needs is in the module cache now
	dir := t.TempDir()
	env := []string{
		"GOBIN=" + filepath.Join(dir, "bin"), "GOMODCACHE=" + filepath.Join(dir, "mod"), "GOWORK=off", "CGO_ENABLED=0",
		"GOPROXY=file://" + filepath.ToSlash(proxy(t, pseudo)) + ",file://" + filepath.ToSlash(cache) + "/cache/download",
		"GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath",
	}
	run(t, dir, env, "go", "install", module+"/cmd/windlass@"+pseudo)
	requireWorks(t, filepath.Join(dir, "bin", "windlass"), pseudo, "0123456789ab")
}

// make install puts the program and its completions below DESTDIR and PREFIX, and make uninstall takes all of that away.
func TestMakeInstall(t *testing.T) {
	t.Parallel()
	dir, dest := copyOf(t), filepath.Join(t.TempDir(), "a package")
	args := []string{"PREFIX=/usr", "DESTDIR=" + dest, "VERSION=" + version, "COMMIT=" + commit}
	env := []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"}
	run(t, dir, env, "make", append([]string{"install"}, args...)...)
	requireWorks(t, filepath.Join(dest, "usr/bin/windlass"), version, commit)
	files := below(t, dest)
	want := []string{
		"usr/bin/windlass", "usr/share/bash-completion/completions/windlass", "usr/share/fish/vendor_completions.d/windlass.fish", "usr/share/zsh/site-functions/_windlass",
	}
	if !slices.Equal(files, want) {
		t.Errorf("installed %q, want %q", files, want)
	}
	run(t, dir, nil, "bash", "-n", filepath.Join(dest, want[1]))
	for _, name := range want[1:] {
		if text := read(t, filepath.Join(dest, name)); !strings.Contains(text, "windlass") {
			t.Errorf("%s is no completion", name)
		}
	}
	run(t, dir, env, "make", append([]string{"uninstall"}, args...)...)
	if left := below(t, dest); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// below lists the files below a folder.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			files = append(files, filepath.ToSlash(name))
		}
		return err
	}))
	return files
}

// The completion of bash, as it is installed, completes in a real bash.
func TestCompletionInBash(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	check(t, err)
	dir := t.TempDir()
	run(t, root(t), []string{"CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath"}, "go", "build", "-o", filepath.Join(dir, "windlass"), "./cmd/windlass")
	check(t, os.WriteFile(filepath.Join(dir, "completion"), []byte(run(t, dir, nil, filepath.Join(dir, "windlass"), "completion", "bash")), 0o600))
	script := `source ./completion; COMP_WORDS=(windlass graph --format ""); COMP_CWORD=3; COMP_LINE="windlass graph --format "; COMP_POINT=${#COMP_LINE}; COMP_TYPE=9
_get_comp_words_by_ref() { cur=""; prev="--format"; words=("${COMP_WORDS[@]}"); cword=3; }
__start_windlass; printf '%s\n' "${COMPREPLY[@]}"`
	out := run(t, dir, []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "HOME=" + dir}, bash, "--norc", "-c", script)
	if strings.Join(strings.Fields(out), " ") != "mermaid svg text" {
		t.Errorf("bash completes %q", out)
	}
}
