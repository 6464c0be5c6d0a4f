package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// instruction is one of a Dockerfile.
type instruction struct{ name, rest string }

// parse returns the instructions of a Dockerfile; a line that ends with a backslash goes on.
func parse(t *testing.T, text string) []instruction {
	t.Helper()
	var out []instruction
	known := strings.Fields("ARG FROM WORKDIR COPY RUN ENV VOLUME USER ENTRYPOINT CMD EXPOSE HEALTHCHECK")
	joined := regexp.MustCompile(`\\\n\s*`).ReplaceAllString(text, "")
	for line := range strings.Lines(joined) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		if !slices.Contains(known, name) || rest == "" {
			t.Fatalf("%q is no instruction", line)
		}
		out = append(out, instruction{name, rest})
	}
	return out
}

// The image was never built here. What can be held without that is held: every base has a version, every stage and every
// file that is copied exists, no one becomes root again, and the last stage is that of windlass.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	var (
		args   = map[string]string{}
		stages = map[string]map[string]string{} // what each has set
		set    map[string]string
		last   string
		build  strings.Builder
	)
	for _, i := range parse(t, read(t, filepath.Join(root(t), "Dockerfile"))) {
		words := strings.Fields(i.rest)
		switch i.name {
		case "ARG":
			name, value, _ := strings.Cut(i.rest, "=")
			args[name] = value
		case "FROM":
			base := os.Expand(words[0], func(name string) string { return args[name] })
			before, ours := stages[base]
			if !ours && !regexp.MustCompile(`^[a-z]+:\d+\.\d+(\.\d+)?-`).MatchString(base) {
				t.Errorf("the base %s has no full version", base)
			}
			set = map[string]string{}
			for k, v := range before {
				set[k] = v
			}
			last = fmt.Sprint(len(stages))
			if len(words) == 3 && words[1] == "AS" {
				last = words[2]
			}
			stages[last] = set
		case "COPY":
			copied(t, words, stages)
		case "RUN":
			build.WriteString(i.rest + "\n")
		default:
			set[i.name] = i.rest
		}
	}
	if args["GO_VERSION"] != strings.TrimPrefix(runtime.Version(), "go") {
		t.Errorf("the image has Go %s, and this is %s", args["GO_VERSION"], runtime.Version())
	}
	for _, name := range []string{"windlass", "serve", last} {
		s := stages[name]
		if s["USER"] != "10001:10001" || s["ENTRYPOINT"] != `["windlass"]` || !strings.Contains(s["ENV"], "WINDLASS_CACHE=/opt/windlass/cache") {
			t.Errorf("the stage %s has %q", name, s)
		}
	}
	if _, checks := stages[last]["HEALTHCHECK"]; checks || stages["serve"]["HEALTHCHECK"] == "" {
		t.Error("the image that serves, and only that, has a health check")
	}
	for _, want := range []string{"go run ./dist ", "windlass fetch engine vectors"} {
		if !strings.Contains(build.String(), want) {
			t.Errorf("the image is built without %q", want)
		}
	}
}

// copied demands that what an instruction copies is there, and not left out by .dockerignore.
func copied(t *testing.T, words []string, stages map[string]map[string]string) {
	t.Helper()
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		if stage, ok := strings.CutPrefix(words[0], "--from="); ok {
			if stages[stage] == nil {
				t.Errorf("there is no stage %s", stage)
			}
			return
		}
		words = words[1:]
	}
	for _, name := range words[:len(words)-1] {
		if _, err := os.Stat(filepath.Join(root(t), name)); err != nil {
			t.Error(err)
		}
	}
}

// What the image is built from does not have what .dockerignore leaves out, and no more is left out than can be.
func TestDockerIgnore(t *testing.T) {
	t.Parallel()
	dir := copyOf(t)
	for line := range strings.Lines(read(t, filepath.Join(dir, ".dockerignore"))) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		pattern, anywhere := strings.CutPrefix(line, "**/")
		check(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			if anywhere {
				name = filepath.Base(path)
			}
			if ok, _ := filepath.Match(pattern, name); !ok || path == dir {
				return nil
			}
			if err := os.RemoveAll(path); err != nil || !d.IsDir() {
				return err
			}
			return filepath.SkipDir
		}))
	}
	out := filepath.Join(t.TempDir(), "dist")
	run(t, filepath.Join(dir, "tools"), nil, "go", "run", "./dist", "-out", out, "-version", version, "-commit", commit, "-time", "1700000000", runtime.GOOS+"/"+runtime.GOARCH)
}

// requireFormula holds the formula against the archives: each of its addresses names one of them, with its checksum, and
// what it installs is in it.
func requireFormula(t *testing.T, archives map[string]string) {
	t.Helper()
	formula := archives["windlass.rb"]
	sums := map[string]string{}
	for line := range strings.Lines(archives["SHA256SUMS"]) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		sums[name] = sum
	}
	found := regexp.MustCompile(`url "https://github\.com/windlass-run/windlass/releases/download/v1\.2\.3/([^"]+)"\n\s+sha256 "([0-9a-f]{64})"`).FindAllStringSubmatch(formula, -1)
	if len(found) != 4 || strings.Contains(formula, "@") {
		t.Fatalf("the formula has %d archives:\n%s", len(found), formula)
	}
	for _, m := range found {
		if sums[m[1]] != m[2] {
			t.Errorf("%s has the checksum %s, and SHA256SUMS %q", m[1], m[2], sums[m[1]])
		}
		files := unpack(t, strings.TrimSuffix(m[1], ".tar.gz"), archives)
		for _, name := range regexp.MustCompile(`(?m)\.install (.+)$`).FindAllStringSubmatch(formula, -1) {
			what, _, _ := strings.Cut(name[1], " =>")
			for _, quoted := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(what, -1) {
				there := false
				for file := range files {
					there = there || file == quoted[1] || strings.HasPrefix(file, quoted[1]+"/")
				}
				if !there {
					t.Errorf("%s has no %s", m[1], quoted[1])
				}
			}
		}
	}
}
