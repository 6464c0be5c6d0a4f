// Command licences lists the modules that are linked into windlass on any platform, each with its version and the licences
// that its files name, as CSV. It fails when a module has a licence that is not allowed, or none that is known.
//
//	go run ./licences [-check] FILE
//
// It is run in the folder tools. With -check it writes nothing, and fails when FILE is not what it would write.
package main

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"
)

// platforms are those that windlass is built for; the modules differ.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

// allowed are the licences under which a module may be linked into a program under the Apache License. The Mozilla licence
// asks for the sources of its own files only, which are published as they are.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0"}

//go:embed mit-0.txt
var mit0 []byte

func main() {
	check := flag.Bool("check", false, "write nothing; fail when the file is not current")
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(file string, check bool) error {
	modules, err := linked()
	if err != nil {
		return err
	}
	text, err := table(modules)
	if err != nil {
		return err
	}
	if !check {
		return os.WriteFile(file, text, 0o644) // it is published
	}
	was, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(was, text) {
		return fmt.Errorf("%s is not what is linked: make licences writes it", file)
	}
	return nil
}

// module is a module that is linked in.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

// linked returns the modules of the packages that windlass is made of, sorted by path.
func linked() ([]module, error) {
	found := map[string]module{}
	for _, p := range platforms {
		system, machine, _ := strings.Cut(p, "/")
		cmd := exec.Command("go", "list", "-deps", "-json=Module", "./cmd/windlass")
		cmd.Dir, cmd.Stderr = "..", os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked for %s: %w", p, err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var pkg struct{ Module *module }
			if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("read what is linked for %s: %w", p, err)
			}
			if m := pkg.Module; m != nil && !m.Main {
				found[m.Path] = *m
			}
		}
	}
	out := make([]module, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// table returns the list as CSV. The error names every module that may not be linked in.
func table(modules []module) ([]byte, error) {
	c, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("load the texts of licences: %w", err)
	}
	c.AddContent("License", "MIT-0", "license.txt", mit0) // newer than the collection
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"module", "version", "licences"}}
	var problems []error
	for _, m := range modules {
		names, err := licences(c, m)
		switch {
		case err != nil:
			problems = append(problems, err)
		case len(names) == 0:
			problems = append(problems, fmt.Errorf("%s %s: no file in it is a licence that is known", m.Path, m.Version))
		}
		for _, name := range names {
			if !slices.Contains(allowed, name) {
				problems = append(problems, fmt.Errorf("%s %s: the licence %s is not among the allowed ones", m.Path, m.Version, name))
			}
		}
		rows = append(rows, []string{m.Path, m.Version, strings.Join(names, " ")})
	}
	if err := w.WriteAll(rows); err != nil {
		problems = append(problems, err)
	}
	return b.Bytes(), errors.Join(problems...)
}

// licences returns the licences that the files at the root of a module name, sorted.
func licences(c *classifier.Classifier, m module) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	var names []string
	for _, e := range entries {
		if !isLicence(e.Name()) || e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
		}
		for _, match := range c.Match(data).Matches {
			if match.MatchType == "License" {
				names = append(names, match.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// isLicence reports whether a file's name says that it is a licence.
func isLicence(name string) bool {
	upper := strings.ToUpper(name)
	for _, word := range []string{"LICENSE", "LICENCE", "COPYING", "UNLICENSE"} {
		if strings.HasPrefix(upper, word) {
			return true
		}
	}
	return false
}
