// Command licences lists the modules that are linked into windlass on any platform, each with its version and the licences
// that its files name, as CSV. It fails when a module has a licence that is not allowed, or none that is known.
//
//	go run ./licences [-check] FILE
//
// It is run in the folder tools. With -check it writes nothing, and fails when FILE is not what it would write.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	classifier "github.com/google/licenseclassifier/v2"
	"github.com/google/licenseclassifier/v2/assets"

	"github.com/windlass-run/windlass/tools/internal/modules"
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
	linked, err := modules.Linked(context.Background(), "..", platforms...)
	if err != nil {
		return err
	}
	text, err := table(linked)
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

// table returns the list as CSV. The error names every module that may not be linked in.
func table(linked []modules.Module) ([]byte, error) {
	c, err := assets.DefaultClassifier()
	if err != nil {
		return nil, fmt.Errorf("load the texts of licences: %w", err)
	}
	c.AddContent("License", "MIT-0", "license.txt", mit0) // newer than the collection
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	rows := [][]string{{"module", "version", "licences"}}
	var problems []error
	for _, m := range linked {
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
func licences(c *classifier.Classifier, m modules.Module) ([]string, error) {
	files, err := m.Licences()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(m.Dir, file))
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
