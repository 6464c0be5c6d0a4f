package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a package, a type and a struct may have at most.
const (
	mostLines   = 5000
	mostMethods = 25
	mostFields  = 15
)

// mirrors are the structs with more than 15 fields because what they stand for has as many.
var mirrors = map[string]string{
	"cascade.Phase":                 "mirrors a file: a phase of a cascade",
	"cascade.Cascade":               "mirrors a file: a cascade",
	"echo/journal.Header":           "mirrors a file: the first line of a journal",
	"cascade/soundings.Soundings":   "mirrors a file: soundings of a phase or a cascade",
	"cascade/settings.IntraContext": "mirrors a file: intra_context of a cascade",
	"cascade/settings.Intra":        "mirrors a file: intra_context of a cascade, with its defaults",
	"contextcards.Card":             "mirrors a row: context_cards",
	"echo.Entry":                    "mirrors a file: a line of the journal",
	"echo.Carry":                    "mirrors a file: carry of a context_selection in the journal",
	"echo.Handoff":                  "mirrors a file: a handoff in the journal",
	"internal/config.Model":         "mirrors a file: a model of windlass.json",
	"internal/simulate.Summary":     "mirrors a wire message: a policy in simulate --json",
	"internal/inspect.Candidate":    "mirrors a wire message: a candidate in soundings --json",
	"internal/inspect.Call":         "mirrors a wire message: a call in context --json",
	"internal/inspect.Sums":         "mirrors a wire message: the sums in context --json",
}

// excess is a size above its limit: of a package "NAME: lines", of a type "NAME: methods" or "NAME:
// fields".
type excess struct {
	what string
	size int
}

// No package has more than 5,000 lines without tests, no type more than 25 methods, no struct more
// than 15 fields.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, complaint := range moduleSizes(t).complaints(mirrors) {
		t.Error(complaint)
	}
}

func TestSizesAreComplainedAbout(t *testing.T) {
	t.Parallel()
	s := newSizes()
	s.lines["autocontext"], s.lines["echo"] = 5001, 5000
	s.fields["echo.Entry"], s.fields["echo.Small"], s.fields["engine.run"] = 16, 15, 17
	require.Equal(t, []string{
		"autocontext: lines: 5001, at most 5000: divide it by what its parts do",
		"engine.run: fields: 17, at most 15: divide it by what its parts do",
		"echo.Small: remove it from mirrors: it is within the limit",
	}, s.complaints(map[string]string{"echo.Entry": "mirrors a file", "echo.Small": "mirrors a file"}))
}

// sizes are what the sources of the module have, without tests: lines by package, methods and
// fields by type.
type sizes struct {
	lines   map[string]int
	methods map[string]map[string]bool // the names, as a method may be declared once for each platform
	fields  map[string]int
}

func newSizes() sizes {
	return sizes{lines: map[string]int{}, methods: map[string]map[string]bool{}, fields: map[string]int{}}
}

// complaints says what is above a limit and in no table, and which entries of the table are not
// needed.
func (s sizes) complaints(mirrors map[string]string) []string {
	var out []string
	found := map[string]bool{}
	for _, e := range s.excesses() {
		found[e.what] = true
		name, kind, _ := strings.Cut(e.what, ": ")
		if kind == "fields" && mirrors[name] != "" {
			continue
		}
		most := map[string]int{"lines": mostLines, "methods": mostMethods, "fields": mostFields}[kind]
		out = append(out, fmt.Sprintf("%s: %d, at most %d: divide it by what its parts do", e.what, e.size, most))
	}
	for _, name := range slices.Sorted(maps.Keys(mirrors)) {
		if !found[name+": fields"] {
			out = append(out, name+": remove it from mirrors: it is within the limit")
		}
	}
	return out
}

// excesses lists what is above a limit.
func (s sizes) excesses() []excess {
	var out []excess
	add := func(name, kind string, size, most int) {
		if size > most {
			out = append(out, excess{name + ": " + kind, size})
		}
	}
	for name, n := range s.lines {
		add(name, "lines", n, mostLines)
	}
	for name, names := range s.methods {
		add(name, "methods", len(names), mostMethods)
	}
	for name, n := range s.fields {
		add(name, "fields", n, mostFields)
	}
	slices.SortFunc(out, func(a, b excess) int { return strings.Compare(a.what, b.what) })
	return out
}

// moduleSizes measures every package of the module, for all platforms.
func moduleSizes(t *testing.T) sizes {
	t.Helper()
	s := newSizes()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(path)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		return s.add(filepath.ToSlash(folder), path)
	}))
	require.Greater(t, len(s.lines), 30, "too few packages were found to mean anything")
	return s
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// add measures one file of a package.
func (s sizes) add(pkg, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s.lines[pkg] += strings.Count(string(text), "\n")
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				name := pkg + "." + receiver(n.Recv.List[0].Type)
				if s.methods[name] == nil {
					s.methods[name] = map[string]bool{}
				}
				s.methods[name][n.Name.Name] = true
			}
		case *ast.TypeSpec:
			if st, ok := n.Type.(*ast.StructType); ok {
				s.fields[pkg+"."+n.Name.Name] = max(s.fields[pkg+"."+n.Name.Name], fieldsOf(st))
			}
		}
		return true
	})
	return nil
}

// fieldsOf counts the fields of a struct; an embedded type is one.
func fieldsOf(st *ast.StructType) int {
	n := 0
	for _, f := range st.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}
