package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine"
)

// repository makes a repository with one commit.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "trunk")
	for _, name := range []string{"kept.txt", "changed.txt", "deleted.txt", "sub/inner.txt"} {
		write(t, dir, name, "first\n")
	}
	run(t, dir, "add", ".")
	run(t, dir, "commit", "-q", "-m", "first")
	return dir
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	head := run(t, dir, "rev-parse", "HEAD")
	w := Look(t.Context(), dir)
	require.WithinDuration(t, time.Now(), w.At, time.Minute)
	require.Equal(t, &engine.Workspace{At: w.At, Branch: "trunk", Head: head, Files: []engine.FileChange{}}, w)

	write(t, dir, "changed.txt", "second, and longer\n")
	require.NoError(t, os.Remove(filepath.Join(dir, "deleted.txt")))
	write(t, dir, "staged.txt", "new\n")
	run(t, dir, "add", "staged.txt")
	write(t, dir, "staged.txt", "new and changed again\n")
	write(t, dir, "new folder/a file ä.txt", "x")
	write(t, dir, "odd\nname", "x")
	write(t, dir, "sub/inner.txt", "also longer than before\n")
	run(t, dir, "checkout", "-q", "--detach")
	w = Look(t.Context(), dir)
	require.Empty(t, w.Branch)
	require.Equal(t, head, w.Head)
	require.ElementsMatch(t, []engine.FileChange{
		{Path: "changed.txt", Change: "modified"},
		{Path: "deleted.txt", Change: "deleted"},
		{Path: "staged.txt", Change: "added"},
		{Path: "sub/inner.txt", Change: "modified"},
		{Path: "new folder/", Change: "untracked"},
		{Path: "odd\nname", Change: "untracked"},
	}, w.Files)
	require.Len(t, Look(t.Context(), filepath.Join(dir, "sub")).Files, 1, "of a folder only what is in it")
}

func TestLookWhereNothingIsKnown(t *testing.T) {
	t.Parallel()
	require.Nil(t, Look(t.Context(), t.TempDir()))

	dir := repository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "git did not answer in time", Look(ctx, dir).Problem)

	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("nonsense"), 0o600))
	w := Look(t.Context(), dir)
	require.Contains(t, w.Problem, "not a git repository")
	require.Empty(t, w.Files)
}

func TestLookAtAnEmptyRepository(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	run(t, dir, "init", "-q", "-b", "trunk")
	w := Look(t.Context(), dir)
	require.Equal(t, "trunk", w.Branch)
	require.Empty(t, w.Head)
	require.Empty(t, w.Problem)
}

func TestLookNamesNoMoreThanSoMany(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	for i := range maxFiles + 7 {
		write(t, dir, fmt.Sprint("new", i), "x")
	}
	w := Look(t.Context(), dir)
	require.Len(t, w.Files, maxFiles)
	require.Equal(t, 7, w.More)
}

// What a repository's configuration names is not run, and a folder that a model made to look like a repository is none.
func TestLookRunsNothing(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	mark := filepath.Join(t.TempDir(), "ran")
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o700))
	run(t, dir, "config", "core.fsmonitor", program)
	write(t, dir, "changed.txt", "second, and longer\n")
	require.Len(t, Look(t.Context(), dir).Files, 1)
	require.NoFileExists(t, mark)

	bare := filepath.Join(dir, "bare")
	require.NoError(t, os.Mkdir(bare, 0o755))
	run(t, bare, "init", "-q", "--bare")
	run(t, bare, "config", "core.fsmonitor", program)
	run(t, bare, "config", "core.bare", "false")
	run(t, bare, "config", "core.worktree", bare)
	w := Look(t.Context(), bare)
	require.NotEmpty(t, w.Problem)
	require.NoFileExists(t, mark)
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"PATH=/bin", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"},
		environment([]string{"GIT_DIR=/elsewhere", "PATH=/bin", "GIT_INDEX_FILE=x"}))
}

func TestLookWithoutGit(t *testing.T) {
	dir := repository(t)
	t.Setenv("PATH", t.TempDir())
	w := Look(t.Context(), dir)
	require.Equal(t, "there is no git on PATH", w.Problem)
	require.Equal(t, "The repository could not be read at "+w.At.Format("2006-01-02 15:04:05 UTC")+": there is no git on PATH.", w.String())
}

// An answer without end is not read to its end.
func TestLookReadsNoMoreThanSoMuch(t *testing.T) {
	t.Parallel()
	dir := repository(t)
	long := strings.Repeat("x", 230)
	for i := range maxOutput/len(long) + 100 {
		write(t, dir, fmt.Sprint(long, i), "")
	}
	w := Look(t.Context(), dir)
	require.Len(t, w.Files, maxFiles)
	require.Positive(t, w.More)
	require.Equal(t, "git named more files than 1024 KiB hold", w.Problem)
	require.Regexp(t, `^Branch trunk at [0-9a-f]{12}, \d+ files not as committed \(at .*\)\. There are more: git named more files than 1024 KiB hold\.$`, w.String())
}
