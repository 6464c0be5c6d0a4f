package architecture

import (
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rawData are the places outside echo that handle the data of entries as bytes, each with its reason. All others use
// echo.Read and echo.Entry.Set.
var rawData = map[string]string{
	"engine/effect.withoutSecrets":         "secrets are taken out of the JSON, whatever it says",
	"engine/effect.comparable":             "what is verified are the recorded bytes",
	"engine/effect.(Writer).Reading":       "the outcome of an effect is what is recorded of it",
	"engine/effect.(Recorder).Value":       "the outcome of an effect is what is recorded of it",
	"engine/effect.(Answered).Value":       "the outcome of an effect is what is recorded of it",
	"engine/effect.answerReading":          "a recorded reading is recorded again as it is",
	"internal/snapshot.answerOf":           "a frozen test keeps an outcome as it is recorded",
	"internal/snapshot.(Answer).entry":     "a frozen test keeps an outcome as it is recorded",
	"internal/clickhouse.logTable":         "data_json is a column",
	"internal/clickhouse.(logRow).restore": "data_json is a column",
	"internal/clickhouse.entrySize":        "memory is counted",
}

// What an entry says is read and written by the types of echo: nothing else knows the form of Entry.Data. Tests may, as
// they hold recorded bytes against what they should be.
func TestOnlyEchoKnowsTheDataOfEntries(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	field := c.dataOfEntry(t)
	used := map[string]bool{}
	for _, p := range c.outsideEcho() {
		for _, u := range c.dataUses(p, field) {
			used[u.place] = true
			if rawData[u.place] == "" {
				t.Errorf("%s:%d (%s) uses the data of an entry as JSON: use echo.Read or Entry.Set, with a type in echo/data_*.go", u.file, u.line, u.place)
			}
		}
	}
	for place := range rawData {
		require.True(t, used[place], "%s is listed, and does not use the data of an entry any more", place)
	}
}

// What is in a key, Key.Path and the other methods say. The text is for people, and for columns and files that keep it.
func TestOnlyEchoTakesKeysApart(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	for _, p := range c.outsideEcho() {
		for _, u := range c.keyCuts(p) {
			t.Errorf("%s:%d (%s) takes the text of a key apart by %s: use Key.Path, Under, From, VisitKey, ...", u.file, u.line, u.place, u.by)
		}
	}
}

// Both rules find what they are made for, and nothing else. Lines of the fixture say what is to be found there.
func TestRulesOfTheRecordFindTheFixture(t *testing.T) {
	t.Parallel()
	c := wholeModule(t)
	const name = "testdata/record.go"
	p, err := c.check("fixture", name)
	require.NoError(t, err)
	found := map[int]string{}
	for _, u := range c.dataUses(p, c.dataOfEntry(t)) {
		found[u.line] = "data"
	}
	for _, u := range c.keyCuts(p) {
		found[u.line] = u.by
	}
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	want := map[int]string{}
	for i, line := range strings.Split(string(text), "\n") {
		if m := regexp.MustCompile(`// want (.+)$`).FindStringSubmatch(line); m != nil {
			want[i+1] = m[1]
		}
	}
	require.NotEmpty(t, want)
	require.Equal(t, want, found)
}

// outsideEcho returns the packages that are not echo and not below it.
func (c *checked) outsideEcho() []*checkedPackage {
	return slices.DeleteFunc(slices.Clone(c.packages), func(p *checkedPackage) bool {
		return p.path == "echo" || strings.HasPrefix(p.path, "echo/")
	})
}

// use is a place where a rule applies.
type use struct {
	place, file string
	line        int
	by          string
}

func (c *checked) echo(t *testing.T) *types.Scope {
	t.Helper()
	p, err := c.importer.Import(module + "echo")
	require.NoError(t, err)
	return p.Scope()
}

// dataOfEntry returns the field Data of echo.Entry.
func (c *checked) dataOfEntry(t *testing.T) types.Object {
	t.Helper()
	entry, ok := c.echo(t).Lookup("Entry").Type().Underlying().(*types.Struct)
	require.True(t, ok)
	for f := range entry.Fields() {
		if f.Name() == "Data" {
			return f
		}
	}
	t.Fatal("echo.Entry has no field Data")
	return nil
}

// dataUses returns where a package reads or writes a field.
func (c *checked) dataUses(p *checkedPackage, field types.Object) (out []use) {
	p.functions(func(name string, d ast.Decl) {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && p.info.Uses[id] == field {
				file, line := c.at(id)
				out = append(out, use{place: name, file: file, line: line})
			}
			return true
		})
	})
	return out
}

// keyCuts returns where a package takes the text of a key apart. It follows the text through the variables of a function,
// and not into other functions.
func (c *checked) keyCuts(p *checkedPackage) (out []use) {
	p.functions(func(name string, d ast.Decl) {
		k := &keyTexts{info: p.info, vars: map[types.Object]bool{}}
		for k.follow(d) {
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if by := k.cut(n); by != "" {
				file, line := c.at(n)
				out = append(out, use{place: name, file: file, line: line, by: by})
			}
			return true
		})
	})
	return out
}

// keyTexts knows which expressions of a function are the text of a key.
type keyTexts struct {
	info *types.Info
	vars map[types.Object]bool
}

// follow finds variables that are set to the text of a key. It reports whether there are more than before.
func (k *keyTexts) follow(d ast.Decl) bool {
	before := len(k.vars)
	set := func(left, right ast.Expr) {
		if id, ok := left.(*ast.Ident); ok && k.is(right) {
			if obj := k.object(id); obj != nil {
				k.vars[obj] = true
			}
		}
	}
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i := range n.Lhs {
				if len(n.Lhs) == len(n.Rhs) {
					set(n.Lhs[i], n.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			for i := range min(len(n.Names), len(n.Values)) {
				set(n.Names[i], n.Values[i])
			}
		}
		return true
	})
	return len(k.vars) > before
}

func (k *keyTexts) object(id *ast.Ident) types.Object {
	if obj := k.info.Defs[id]; obj != nil {
		return obj
	}
	return k.info.Uses[id]
}

// is reports whether an expression is the text of a key.
func (k *keyTexts) is(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return k.vars[k.object(e)]
	case *ast.CallExpr:
		if k.info.Types[e.Fun].IsType() { // a conversion
			return len(e.Args) == 1 && k.is(e.Args[0])
		}
		switch name := k.callee(e); name {
		case "(echo.Key).String", "(echo.Key).From", "(echo.Key).MarshalText":
			return true
		case "fmt.Sprint", "fmt.Sprintf":
			return len(e.Args) == map[string]int{"fmt.Sprint": 1, "fmt.Sprintf": 2}[name] && isKey(k.info.TypeOf(e.Args[len(e.Args)-1]))
		}
	}
	return false
}

func isKey(t types.Type) bool {
	return strings.TrimPrefix(types.TypeString(t, nil), module) == "echo.Key"
}

// callee names what a call calls: strings.Cut, (echo.Key).String, (*regexp.Regexp).MatchString.
func (k *keyTexts) callee(call *ast.CallExpr) string {
	var id *ast.Ident
	switch fun := ast.Unparen(call.Fun).(type) {
	case *ast.SelectorExpr:
		id = fun.Sel
	case *ast.Ident:
		id = fun
	default:
		return ""
	}
	fn, ok := k.info.Uses[id].(*types.Func)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(fn.FullName(), module, "")
}

// whole are functions that leave a text in one piece.
var whole = []string{"strings.Join", "strings.Repeat", "strings.Compare", "strings.EqualFold", "strings.ToUpper", "strings.ToLower", "strings.ToValidUTF8", "bytes.Equal", "bytes.Compare", "bytes.Join", "bytes.Clone"}

var parts = regexp.MustCompile(`^(strings|bytes|regexp|path|path/filepath)\.|^\(\*regexp\.Regexp\)\.|^fmt\.S?[Ss]can`)

// cut says how a node takes the text of a key apart, "" when it does not.
func (k *keyTexts) cut(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if name := k.callee(n); slices.ContainsFunc(n.Args, k.is) && parts.MatchString(name) && !slices.Contains(whole, name) {
			return name
		}
	case *ast.IndexExpr:
		if k.is(n.X) {
			return "an index"
		}
	case *ast.SliceExpr:
		if k.is(n.X) {
			return "a slice"
		}
	case *ast.RangeStmt:
		if k.is(n.X) {
			return "a loop"
		}
	}
	return ""
}
