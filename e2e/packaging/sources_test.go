// Package packaging builds and installs windlass in every way that docs/install.md has and this machine can, and holds
// what cannot be run here (the image, the formula) against what it refers to.
package packaging

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
)

// every has archives made for every platform, not for this one only.
var every = flag.Bool("every", false, "make the archives of every platform")

func root(t *testing.T) string {
	t.Helper()
	dir, err := lab.Root()
	check(t, err)
	return dir
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// sources returns the paths of all files that git has, or would take, relative to the root.
func sources(t *testing.T, root string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	out, err := cmd.Output()
	check(t, err)
	var files []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, name)
		}
	}
	return files
}

// copyOf returns a folder with a copy of the sources, without git.
func copyOf(t *testing.T) string {
	t.Helper()
	from, to := root(t), t.TempDir()
	for _, name := range sources(t, from) {
		info, err := os.Stat(filepath.Join(from, name))
		check(t, err)
		check(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		check(t, os.WriteFile(filepath.Join(to, name), []byte(read(t, filepath.Join(from, name))), info.Mode().Perm()))
	}
	return to
}

// run runs a command in a folder and returns what it printed; env comes over that of the tests.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out.String(), errs.String())
	}
	return out.String()
}

// requireWorks has a program that was just installed say its version, make a cascade, and run that and an example of the
// repository, with nothing but the program.
func requireWorks(t *testing.T, program, version, commit string) {
	t.Helper()
	dir := t.TempDir()
	env := []string{"HOME=" + dir, "WINDLASS_HOME=" + filepath.Join(dir, "home"), "WINDLASS_CACHE=" + filepath.Join(dir, "cache"), "PATH=/usr/bin:/bin", "OPENAI_API_KEY=", "OPENAI_BASE_URL=http://127.0.0.1:9"}
	said := run(t, dir, env, program, "--version")
	want := "windlass " + version + " (" + runtime.GOOS + "/" + runtime.GOARCH + ", " + runtime.Version() + ")\ncommit: " + commit + "\nengine: "
	if !strings.HasPrefix(said, want) {
		t.Fatalf("--version printed %q, want %q", said, want)
	}
	run(t, dir, env, program, "init", "first")
	if out := run(t, filepath.Join(dir, "first"), env, program, "run", "first.json", "--offline", "--no-clickhouse"); !strings.HasPrefix(out, "(scripted) ") {
		t.Fatalf("the first cascade answered %q", out)
	}
	for _, name := range []string{"minimal.json", "minimal.script.json"} {
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(read(t, filepath.Join(root(t), "examples/cascades", name))), 0o600))
	}
	if out := run(t, dir, env, program, "run", "minimal.json", "--offline", "--no-clickhouse"); !strings.HasPrefix(out, "(scripted) Prefix caching") {
		t.Fatalf("the example answered %q", out)
	}
}

// platforms are those of the Makefile.
func platforms(t *testing.T) []string {
	t.Helper()
	m := regexp.MustCompile(`(?m)^PLATFORMS := (.+)$`).FindStringSubmatch(read(t, filepath.Join(root(t), "Makefile")))
	if m == nil {
		t.Fatal("the Makefile has no platforms")
	}
	return strings.Fields(m[1])
}
