// Package architecture holds the structure of the code against docs/architecture.md.
package architecture

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/windlass-run/windlass/"

// root is the name of the root package in the tables.
const root = "windlass"

// nameOf returns the name of a package of this module in the tables: its path below the root.
func nameOf(path string) (name string, ours bool) {
	if path == strings.TrimSuffix(module, "/") {
		return root, true
	}
	return strings.CutPrefix(path, module)
}

// TestImportsAreThoseOfTheTable: the table of docs/architecture.md has a row for each package, with its direct imports. A
// package imports only packages above it in the table, and packages for tests are imported by such packages only.
func TestImportsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	page := readPage(t)
	above := map[string]bool{}
	packages := listImports(t)
	require.Greater(t, len(packages), 30, "go list named too few packages")
	for _, r := range page.packages {
		p, ok := packages[r.name]
		require.True(t, ok, "docs/architecture.md has a row for %s: there is no such package", r.name)
		require.False(t, above[r.name], "docs/architecture.md has two rows for %s", r.name)
		if !slices.Equal(r.imports, []string{"any"}) {
			require.Equal(t, r.imports, p.imports, "imports of %s in docs/architecture.md (expected) and in its code (actual)", r.name)
		}
		for _, name := range p.imports {
			require.True(t, above[name], "%s imports %s, which is not above it in the table of docs/architecture.md", r.name, name)
			require.False(t, forTests(name) && !forTests(r.name), "%s imports %s, which is for tests", r.name, name)
		}
		above[r.name] = true
	}
	for name := range packages {
		require.True(t, above[name], "package %s has no row in docs/architecture.md", name)
	}
}

// TestImportsOfTestsAreThoseOfTheTable: what the tests of a package import, besides what the package depends on and packages
// for tests, is in the second table of docs/architecture.md.
func TestImportsOfTestsAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	listed := map[string][]string{}
	for _, r := range readPage(t).tests {
		listed[r.name] = r.imports
	}
	for name, p := range listImports(t) {
		require.Equal(t, listed[name], p.besides(name), "imports of the tests of %s in docs/architecture.md (expected) and in their code (actual)", name)
		delete(listed, name)
	}
	require.Empty(t, listed, "rows of docs/architecture.md without a package")
}

// The engine and what decides about context never see a database or a provider's library.
func TestEngineStaysFreeOfDriversAndProviders(t *testing.T) {
	t.Parallel()
	for _, pkg := range []string{"engine", "engine/effect", "autocontext", "contextcards", "echo", "cascade"} {
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", module+pkg).Output()
		require.NoError(t, err)
		for _, foreign := range []string{"ClickHouse/", "openai/", "spf13/", "database/sql"} {
			require.NotContains(t, string(out), foreign, pkg)
		}
	}
}

// What runs and serves cascades can be used without the command: nothing of it imports cobra, the command or what is about a
// terminal, and it ends no process. What ends one on purpose is a child process of its own.
func TestServerNeedsNoCommand(t *testing.T) {
	t.Parallel()
	ends := []string{"internal/clickhouse/embedded", "internal/jq", "internal/vault"} // a child that has its own process
	for _, pkg := range []string{"", "internal/app", "internal/archive", "internal/inspect", "internal/server/serve"} {
		path := strings.TrimSuffix(module+pkg, "/")
		out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{.ImportPath}} {{.Dir}}", path).Output()
		require.NoError(t, err)
		for _, foreign := range []string{"spf13/", module + "cmd/", module + "internal/term"} {
			require.NotContains(t, string(out), foreign, pkg)
		}
		for line := range strings.Lines(string(out)) {
			path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
			name, own := strings.CutPrefix(path+"/", module)
			if own && !slices.Contains(ends, strings.TrimSuffix(name, "/")) {
				require.Empty(t, exitsIn(t, dir), "%s ends the process of %s", name, pkg)
			}
		}
	}
}

// exitsIn returns the files of a folder, but those of tests, that end the process.
func exitsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		if endsProcess(t, string(data)) {
			names = append(names, name)
		}
	}
	return names
}

// endsProcess reports whether the code of a file names os.Exit.
func endsProcess(t *testing.T, source string) (found bool) {
	t.Helper()
	if !strings.Contains(source, "os.Exit") {
		return false
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Exit" {
			of, ok := s.X.(*ast.Ident)
			found = found || ok && of.Name == "os"
		}
		return !found
	})
	return found
}

func TestEndsProcess(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		`os.Exit(1)`:                             true,
		`if path == "a/b" { os.Exit(1 / 1) }`:    true,
		`do := os.Exit; do(1)`:                   true,
		`println("os.Exit(1)") // or os.Exit(1)`: false,
		`/* os.Exit(1) */ process.Exit(1)`:       false,
		`if path == "os.Exit(1)" { return }`:     false,
	} {
		require.Equal(t, want, endsProcess(t, "package p\nfunc f() { "+code+"\n}\n"), code)
	}
}

// row is a row of a table of docs/architecture.md: a package and the packages that it names, sorted.
type row struct {
	name    string
	imports []string
}

// page is what docs/architecture.md says of imports.
type page struct{ packages, tests []row }

func readPage(t *testing.T) page {
	t.Helper()
	text, err := os.ReadFile("../../docs/architecture.md")
	require.NoError(t, err)
	_, text, found := bytes.Cut(text, []byte("\n## Packages\n"))
	require.True(t, found)
	text, _, _ = bytes.Cut(text, []byte("\n## "))
	packages, tests, found := bytes.Cut(text, []byte("\n### What tests import besides\n"))
	require.True(t, found)
	return page{
		packages: rowsOf(packages, regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|[^|]*\\| ([^|]*) \\|$")),
		tests:    rowsOf(tests, regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| ([^|]*) \\|[^|]*\\|$")),
	}
}

func rowsOf(text []byte, pattern *regexp.Regexp) (rows []row) {
	for _, m := range pattern.FindAllStringSubmatch(string(text), -1) {
		r := row{name: m[1]}
		if m[2] != "none" {
			for name := range strings.SplitSeq(m[2], ", ") {
				r.imports = append(r.imports, strings.Trim(name, "`"))
			}
		}
		slices.Sort(r.imports)
		rows = append(rows, r)
	}
	return rows
}

// imports are those of a package and of its tests, as far as they are of this module: without its path, sorted.
type imports struct{ imports, deps, tests []string }

// besides returns what the tests of a package import of ours that is neither for tests nor a dependency of the package.
func (i imports) besides(name string) (names []string) {
	for _, n := range i.tests {
		if n != name && !forTests(n) && !slices.Contains(i.deps, n) {
			names = append(names, n)
		}
	}
	return names
}

// forTests reports whether a package is for tests only.
func forTests(name string) bool { return strings.HasSuffix(name, "test") }

// listImports returns the imports of each package of the module, as built for Linux, whatever this platform is.
func listImports(t *testing.T) map[string]imports {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,TestImports,XTestImports", module+"...")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	require.NoError(t, err)
	all := map[string]imports{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p struct {
			ImportPath                               string
			Imports, Deps, TestImports, XTestImports []string
		}
		require.NoError(t, dec.Decode(&p))
		name, _ := nameOf(p.ImportPath)
		all[name] = imports{ours(p.Imports), ours(p.Deps), ours(append(p.TestImports, p.XTestImports...))}
	}
	return all
}

// ours returns the packages of this module, each once, sorted.
func ours(paths []string) (names []string) {
	for _, path := range paths {
		if name, ok := nameOf(path); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
