// Package modules lists the modules that are linked into windlass, and their licences.
package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// Module is a module that is linked in.
type Module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *Module
}

// Linked returns the modules of the packages that windlass, in the folder root, is made of on these platforms, sorted by
// path. The module of windlass itself is not among them.
func Linked(ctx context.Context, root string, platforms ...string) ([]Module, error) {
	found := map[string]Module{}
	for _, p := range platforms {
		system, machine, _ := strings.Cut(p, "/")
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Module", "./cmd/windlass")
		cmd.Dir, cmd.Stderr = root, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked for %s: %w", p, err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); ; {
			var pkg struct{ Module *Module }
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
	out := make([]Module, 0, len(found))
	for _, m := range found {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

// Licences returns the names of the files at the root of a module whose names say that they are licences, sorted.
func (m Module) Licences() ([]string, error) {
	return m.files("LICENSE", "LICENCE", "COPYING", "UNLICENSE")
}

// Notices returns the names of the files that go with a module wherever it goes: licences and notices, sorted.
func (m Module) Notices() ([]string, error) {
	return m.files("LICENSE", "LICENCE", "COPYING", "UNLICENSE", "NOTICE", "PATENTS")
}

func (m Module) files(beginnings ...string) ([]string, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", m.Path, m.Version, err)
	}
	var names []string
	for _, e := range entries {
		upper := strings.ToUpper(e.Name())
		named := slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(upper, b) })
		if named && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
