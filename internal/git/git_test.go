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

	"github.com/windlass-run/windlass/echo"
)

// newRepository makes a repository with one commit.
func newRepository(t *testing.T) string {
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

// try runs git as a person would, however it ends.
func try(t *testing.T, dir string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	_, _ = cmd.CombinedOutput() // what it leaves is what counts
}

// long is a time long ago.
var long = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func TestLook(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	head := run(t, dir, "rev-parse", "HEAD")
	w := Look(t.Context(), dir)
	require.WithinDuration(t, time.Now(), w.At, time.Minute)
	require.Equal(t, &echo.Workspace{At: w.At, Branch: "trunk", Head: head, Files: []echo.FileChange{}}, w)

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
	require.ElementsMatch(t, []echo.FileChange{
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

	dir := newRepository(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, "git did not answer in time", Look(ctx, dir).Problem)

	require.NoError(t, os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("nonsense"), 0o600))
	w := Look(t.Context(), dir)
	require.Contains(t, w.Problem, "not a git repository")
	require.Empty(t, w.Files)
}

// Where a folder named .git is no repository, git looks further up.
func TestLookPassesWhatIsNoRepository(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub", ".git"), 0o755))
	w := Look(t.Context(), filepath.Join(dir, "sub"))
	require.Empty(t, w.Problem)
	require.Equal(t, "trunk", w.Branch)
}

// Working trees beside the first one, split indexes, other hashes and names that only differ in
// line ends.
func TestLookAtRepositoriesOfOtherKinds(t *testing.T) {
	t.Parallel()
	modified := []echo.FileChange{{Path: "changed.txt", Change: "modified"}}

	dir := newRepository(t)
	tree := filepath.Join(t.TempDir(), "tree")
	run(t, dir, "worktree", "add", "-q", "-b", "side", tree)
	write(t, tree, "changed.txt", "second, and longer\n")
	w := Look(t.Context(), tree)
	require.Equal(t, "side", w.Branch)
	require.Equal(t, modified, w.Files)
	require.Empty(t, Look(t.Context(), dir).Files)

	run(t, dir, "update-index", "--split-index")
	write(t, dir, "changed.txt", "second, and longer\n")
	w = Look(t.Context(), dir)
	require.Empty(t, w.Problem)
	require.Equal(t, modified, w.Files)

	sha256 := t.TempDir()
	run(t, sha256, "init", "-q", "-b", "trunk", "--object-format=sha256")
	write(t, sha256, "changed.txt", "first\n")
	run(t, sha256, "add", ".")
	run(t, sha256, "commit", "-q", "-m", "first")
	write(t, sha256, "changed.txt", "second, and longer\n")
	w = Look(t.Context(), sha256)
	require.Len(t, w.Head, 64)
	require.Equal(t, modified, w.Files)

	ends := newRepository(t)
	run(t, ends, "config", "core.autocrlf", "true")
	write(t, ends, "changed.txt", "first\r\n")
	run(t, ends, "add", "changed.txt")
	require.NoError(t, os.Chtimes(filepath.Join(ends, "changed.txt"), long, long)) // git has to read it
	write(t, ends, ".git/info/exclude", "*.log\n")
	write(t, ends, "a.log", "x")
	require.Empty(t, Look(t.Context(), ends).Files)

	sparse := newRepository(t)
	run(t, sparse, "sparse-checkout", "set", "sub")
	w = Look(t.Context(), sparse)
	require.Empty(t, w.Problem)
	require.Empty(t, w.Files)
}

// A git that does not know the question says so in its own words, which help nobody.
func TestLookWithAnOldGit(t *testing.T) {
	dir := newRepository(t)
	bin := t.TempDir()
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	script := "#!/bin/sh\ncase \"$2\" in status) echo \"error: unknown option \\`no-renames'\" >&2; exit 129;; esac\nexec " + real + " \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700))
	t.Setenv("PATH", bin)
	require.Equal(t, "the git on PATH is too old: version 2.18 or later is needed", Look(t.Context(), dir).Problem)
}

// What git answers may be nonsense, and there may be no room to ask it.
func TestLookSaysWhatIsWrong(t *testing.T) {
	dir := newRepository(t)
	real, err := exec.LookPath("git")
	require.NoError(t, err)
	for answer, want := range map[string]string{
		`--absolute-git-dir*) echo one line`:         "git does not say where its folder for " + dir + " is",
		`-q*--verify*HEAD) echo nonsense`:            "git does not say which commit is checked out",
		`*config*--list*) head -c 2000000 /dev/zero`: "git config printed more than 1024 KiB",
		`*symbolic-ref*) echo broken >&2; exit 3`:    "broken",
	} {
		bin := t.TempDir()
		script := "#!/bin/sh\ncase \"$*\" in *" + answer + "; exit;; esac\nexec " + real + " \"$@\"\n"
		require.NoError(t, os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700))
		t.Setenv("PATH", bin+":/usr/bin:/bin")
		require.Equal(t, want, Look(t.Context(), dir).Problem)
	}
	t.Setenv("PATH", filepath.Dir(real))
	t.Setenv("TMPDIR", filepath.Join(dir, "kept.txt"))
	require.Contains(t, Look(t.Context(), dir).Problem, "prepare the question to git: mkdir ")
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
	dir := newRepository(t)
	for i := range maxFiles + 7 {
		write(t, dir, fmt.Sprint("new", i), "x")
	}
	w := Look(t.Context(), dir)
	require.Len(t, w.Files, maxFiles)
	require.Equal(t, 7, w.More)
}

// What a repository's configuration names is not run, and a folder that a model made to look like a
// repository is none.
func TestLookRunsNothing(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
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
	require.Empty(t, w.Problem)
	require.Equal(t, "trunk", w.Branch, "of the repository around it")
	require.Equal(t, []echo.FileChange{{Path: "bare/", Change: "untracked"}}, w.Files)
	require.NoFileExists(t, mark)
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PATH": "/bin", "GIT_DIR": "/elsewhere", "HOME": "/home/n", "OPENAI_API_KEY": "sk", "LD_PRELOAD": "x.so"}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	require.Equal(t, []string{
		"PATH=/bin", "HOME=/home/n", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
	}, environment(lookup))
}

func TestLookWithoutGit(t *testing.T) {
	dir := newRepository(t)
	t.Setenv("PATH", t.TempDir())
	w := Look(t.Context(), dir)
	require.Equal(t, "there is no git on PATH", w.Problem)
	require.NotZero(t, w.At)
}

// An answer without end is not read to its end.
func TestLookReadsNoMoreThanSoMuch(t *testing.T) {
	t.Parallel()
	dir := newRepository(t)
	long := strings.Repeat("x", 230)
	for i := range maxOutput/len(long) + 100 {
		write(t, dir, fmt.Sprint(long, i), "")
	}
	w := Look(t.Context(), dir)
	require.Len(t, w.Files, maxFiles)
	require.Positive(t, w.More)
	require.Equal(t, "git named more files than 1024 KiB hold", w.Problem)
}
