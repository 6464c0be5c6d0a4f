// Command dist makes the archives of a release: one for each platform, with the program, its licence and those of what is
// linked in, the README and completions; SHA256SUMS; and the formula for Homebrew. The same sources, version and Go make the
// same bytes on every machine.
//
//	go run ./dist -out FOLDER [-version VERSION -commit COMMIT -time SECONDS] PLATFORM...
//
// It is run in the folder tools. Without flags the version, the commit and its time are those that git names;
// SOURCE_DATE_EPOCH wins over the latter. The folder must be empty or not be there.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	r := release{root: ".."}
	seconds := flag.String("time", os.Getenv("SOURCE_DATE_EPOCH"), "the time of all files, in `SECONDS` since 1970")
	flag.StringVar(&r.out, "out", "", "the `FOLDER` of the archives")
	flag.StringVar(&r.version, "version", "", "the `VERSION`")
	flag.StringVar(&r.commit, "commit", "", "the `COMMIT`")
	flag.Parse()
	if flag.NArg() == 0 || r.out == "" {
		flag.Usage()
		os.Exit(2)
	}
	ctx := context.Background()
	err := r.identify(ctx, *seconds)
	if err == nil {
		err = r.make(ctx, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// release is what the archives are made of.
type release struct {
	root    string // the sources
	out     string
	version string
	commit  string
	time    time.Time // of all files
}

var versionForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]*$`)

// identify asks git for what no flag says.
func (r *release) identify(ctx context.Context, seconds string) error {
	if r.version == "" {
		r.version = r.git(ctx, "describe", "--tags", "--always", "--dirty")
		r.commit = cmp.Or(r.commit, r.git(ctx, "rev-parse", "HEAD"))
	}
	n, err := strconv.ParseInt(cmp.Or(seconds, r.git(ctx, "log", "-1", "--format=%ct")), 10, 64)
	switch {
	case !versionForm.MatchString(r.version):
		return fmt.Errorf("the version %q is none: give -version", r.version)
	case err != nil:
		return errors.New("the time of the files is not known: give -time, or set SOURCE_DATE_EPOCH")
	}
	r.time = time.Unix(n, 0).UTC()
	return nil
}

// git returns what git says of the sources, "" when there is none.
func (r *release) git(ctx context.Context, args ...string) string {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func (r *release) make(ctx context.Context, platforms []string) error {
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // it is published
		return err
	}
	if left, err := os.ReadDir(r.out); err != nil || len(left) > 0 {
		return errors.Join(err, fmt.Errorf("%s is not empty: remove what is in it", r.out))
	}
	work, err := os.MkdirTemp("", "windlass-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // a temporary folder
	completions, err := r.completions(ctx, work)
	if err != nil {
		return err
	}
	sums := map[string]string{}
	for _, p := range platforms {
		fmt.Println(p)
		name, content, err := r.archive(ctx, work, p, completions)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(content))
		if err := r.write(name, content); err != nil {
			return err
		}
	}
	var list strings.Builder
	for _, name := range sorted(sums) {
		fmt.Fprintf(&list, "%s  %s\n", sums[name], name)
	}
	if err := r.write("SHA256SUMS", []byte(list.String())); err != nil {
		return err
	}
	return r.formula(sums)
}

func sorted(sums map[string]string) []string {
	names := make([]string, 0, len(sums))
	for name := range sums {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (r *release) write(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.out, name), content, 0o644) //nolint:gosec // it is published
}

// build builds windlass for a platform, the same from every folder.
func (r *release) build(ctx context.Context, platform, path string) error {
	system, machine, ok := strings.Cut(platform, "/")
	if !ok {
		return errors.New("a platform is SYSTEM/MACHINE, as in linux/amd64")
	}
	flags := "-s -w -buildid= -X main.version=" + r.version + " -X main.commit=" + r.commit
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", path, "./cmd/windlass")
	cmd.Dir = r.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine, "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// shells are those with a completion, and the file that it is in.
var shells = []struct{ name, file string }{
	{"bash", "windlass.bash"},
	{"fish", "windlass.fish"},
	{"powershell", "windlass.ps1"},
	{"zsh", "_windlass"},
}

// completions asks the program of this platform for its completions.
func (r *release) completions(ctx context.Context, work string) ([]file, error) {
	program := filepath.Join(work, "host")
	if err := r.build(ctx, runtime.GOOS+"/"+runtime.GOARCH, program); err != nil {
		return nil, err
	}
	var files []file
	for _, shell := range shells {
		out, err := exec.CommandContext(ctx, program, "completion", shell.name).Output()
		if err != nil {
			return nil, fmt.Errorf("make the completion of %s: %w", shell.name, err)
		}
		files = append(files, file{"completions/" + shell.file, out, false})
	}
	return files, nil
}
