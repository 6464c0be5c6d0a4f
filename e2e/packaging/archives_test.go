package packaging

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	version = "v1.2.3"
	commit  = "0123456789abcdef0123456789abcdef01234567"
)

// dist makes archives from the sources in a folder, and returns the files by name.
func dist(t *testing.T, dir string, env []string, platforms ...string) map[string]string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "dist")
	args := []string{"run", "./dist", "-out", out, "-version", version, "-commit", commit, "-time", "1700000000"}
	run(t, filepath.Join(dir, "tools"), env, "go", append(args, platforms...)...)
	entries, err := os.ReadDir(out)
	check(t, err)
	files := map[string]string{}
	for _, e := range entries {
		files[e.Name()] = read(t, filepath.Join(out, e.Name()))
	}
	return files
}

// The archives of the same sources are the same bytes, whatever the folder, the clock, the time zone and the flags of Go
// in the environment. The one of this platform, unpacked into an empty folder, works.
func TestArchives(t *testing.T) {
	t.Parallel()
	here := runtime.GOOS + "/" + runtime.GOARCH
	made := []string{here}
	if *every {
		made = platforms(t)
	}
	one := dist(t, root(t), []string{"TZ=UTC"}, made...)
	two := dist(t, copyOf(t), []string{"TZ=Asia/Tokyo", "GOFLAGS=-tags=other", "GOAMD64=v2"}, made...)
	if len(one) != len(two) {
		t.Fatalf("%d and %d files", len(one), len(two))
	}
	var sums []string
	for name, content := range one {
		if two[name] != content {
			t.Errorf("%s differs", name)
		}
		if name != "SHA256SUMS" && name != "windlass.rb" {
			sums = append(sums, fmt.Sprintf("%x  %s\n", sha256.Sum256([]byte(content)), name))
		}
	}
	slices.SortFunc(sums, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	if want := strings.Join(sums, ""); one["SHA256SUMS"] != want {
		t.Errorf("SHA256SUMS is\n%swant\n%s", one["SHA256SUMS"], want)
	}
	for _, p := range made {
		name := "windlass_" + version + "_" + strings.ReplaceAll(p, "/", "_")
		files := unpack(t, name, one)
		requireComplete(t, p, files)
		if p == here {
			program := filepath.Join(t.TempDir(), "windlass")
			check(t, os.WriteFile(program, []byte(files["windlass"]), 0o755))
			requireWorks(t, program, version, commit)
			requireFormulaInstalls(t, files)
		}
	}
	if *every {
		requireFormula(t, one)
	}
}

// unpack returns the files of an archive, and demands that all are below its own folder and have the same time, owner and
// sensible permissions.
func unpack(t *testing.T, name string, archives map[string]string) map[string]string {
	t.Helper()
	if content, ok := archives[name+".zip"]; ok {
		return unzip(t, name, content)
	}
	z, err := gzip.NewReader(strings.NewReader(archives[name+".tar.gz"]))
	check(t, err)
	files, last := map[string]string{}, ""
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		check(t, err)
		below, ok := strings.CutPrefix(h.Name, name+"/")
		mode := int64(0o644)
		if below == "windlass" {
			mode = 0o755
		}
		if !ok || h.Typeflag != tar.TypeReg || h.Mode != mode || h.Uid+h.Gid != 0 || h.Uname+h.Gname != "" || h.ModTime.Unix() != 1700000000 || below <= last {
			t.Errorf("%+v after %s", h, last)
		}
		last = below
		content, err := io.ReadAll(r)
		check(t, err)
		files[below] = string(content)
	}
}

func unzip(t *testing.T, name, content string) map[string]string {
	t.Helper()
	z, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	check(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		below, ok := strings.CutPrefix(f.Name, name+"/")
		if !ok || f.Modified.Unix() != 1700000000 {
			t.Errorf("%+v", f.FileHeader)
		}
		r, err := f.Open()
		check(t, err)
		text, err := io.ReadAll(r)
		check(t, err)
		files[strings.TrimSuffix(below, ".exe")] = string(text)
	}
	return files
}

// requireComplete looks for everything that goes with the program: the licence of every module that is linked in is there.
func requireComplete(t *testing.T, platform string, files map[string]string) {
	t.Helper()
	for _, name := range []string{"LICENSE", "LICENSES.csv", "README.md", "CHANGELOG.md"} {
		if files[name] != read(t, filepath.Join(root(t), name)) {
			t.Errorf("%s: %s is another one", platform, name)
		}
	}
	for name, mark := range map[string]string{"windlass.bash": "complete -o default", "windlass.fish": "complete -c windlass", "_windlass": "#compdef windlass", "windlass.ps1": "Register-ArgumentCompleter"} {
		if !strings.Contains(files["completions/"+name], mark) {
			t.Errorf("%s: completions/%s has no %q", platform, name, mark)
		}
	}
	system, machine, _ := strings.Cut(platform, "/")
	list := run(t, root(t), []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + machine},
		"go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./cmd/windlass")
	modules := append(slices.Compact(slices.Sorted(strings.FieldsSeq(list))), "go")
	if len(modules) < 20 {
		t.Fatalf("%s: only %q are linked", platform, modules)
	}
	for _, m := range modules {
		found := false
		for name, text := range files {
			dir, file := filepath.Split(name)
			found = found || dir == "licenses/"+m+"/" && regexp.MustCompile(`(?i)^(un)?licen[cs]e|^copying`).MatchString(file) && text != ""
		}
		if !found {
			t.Errorf("%s: the licence of %s is missing", platform, m)
		}
	}
	if bytes.Contains([]byte(files["windlass"]), []byte(root(t))) {
		t.Errorf("%s: the program has a path of the machine that built it", platform)
	}
}

// dist makes nothing over what is there, and says what it lacks.
func TestArchivesRefuse(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	check(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	for want, args := range map[string][]string{
		full + " is not empty: remove what is in it":                               {"-out", full, "-version", "v1", "-time", "1"},
		`the version "a/b" is none: give -version`:                                 {"-out", t.TempDir(), "-version", "a/b"},
		"the time of the files is not known: give -time, or set SOURCE_DATE_EPOCH": {"-out", t.TempDir(), "-version", "v1", "-time", "now"},
	} {
		cmd := exec.CommandContext(t.Context(), "go", append(append([]string{"run", "./dist"}, args...), "linux/amd64")...)
		cmd.Dir = filepath.Join(root(t), "tools")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "dist: "+want) {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}
