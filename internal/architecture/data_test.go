package architecture

import (
	"go/ast"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// entryData is the rule about the data of an entry: Entry.Data, and the outcome of Effects.Value,
// which is the data of the entry that records it.
type entryData struct{ data types.Object }

func (r entryData) source(info *types.Info, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return info.Uses[e.Sel] == r.data
	case *ast.CallExpr:
		fn := callee(info, e)
		if by := calleeName(info, e); by == "encoding/json.Marshal" || by == "encoding/json.MarshalIndent" {
			return isEntry(info.TypeOf(e.Args[0]))
		}
		if in, ok := info.TypeOf(e.Fun).(*types.Signature); fn == nil && ok {
			return isReading(in) // a method in a variable
		}
		return fn != nil && fn.Name() == "Value" && fn.Signature().Recv() != nil && isReading(fn.Signature())
	}
	return false
}

// isEntry reports whether values of a type are entries, or have one.
func isEntry(t types.Type) bool {
	return t != nil && strings.TrimPrefix(strings.TrimLeft(types.TypeString(t, nil), "*[]"), module) == "echo.Entry"
}

// field finds what is scanned from the column with the data of an entry.
func (entryData) field(tag reflect.StructTag) bool { return tag.Get("ch") == "data_json" }

// isReading reports whether a function has the form of Effects.Value.
func isReading(s *types.Signature) bool {
	return s.Params().Len() > 1 && isKey(s.Params().At(1).Type()) &&
		s.Results().Len() == 2 && types.TypeString(s.Results().At(0).Type(), nil) == "encoding/json.RawMessage"
}

// passes names functions whose result holds the bytes that they are given.
func (entryData) passes(callee string) bool {
	return slices.Contains([]string{
		"bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString", "strings.NewReader", "bytes.Clone", "slices.Clone",
		"bytes.TrimSpace", "strings.TrimSpace", "strings.Clone", "io.NopCloser", "bufio.NewReader", "bufio.NewReaderSize", "cmp.Or",
		"io.LimitReader", "io.TeeReader", "io.MultiReader", "io.ReadAll",
	}, callee)
}

var (
	decodes    = regexp.MustCompile(`^encoding/json\.(Unmarshal|NewDecoder)$|\.UnmarshalJSON$|^encoding/json/(v2|jsontext)\.(Unmarshal|NewDecoder)`)
	readsBytes = regexp.MustCompile(`^(strings|bytes|regexp)\.(Contains|Index|LastIndex|Split|Cut|HasPrefix|HasSuffix|Trim[A-RT-Z]|Fields|Match)|^\(\*regexp\.Regexp\)\.`)
)

// dataCuts returns where a package decodes the data of an entry, or looks for something in its
// bytes.
func (c *checked) dataCuts(f *flow, p *checkedPackage) (out []use) {
	f.info = p.info
	is := func(e ast.Expr) bool { return f.of(e)&about != 0 }
	p.functions(func(name string, d ast.Decl) {
		ast.Inspect(d, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			by := calleeName(p.info, call)
			if len(call.Args) == 2 && isEntry(p.info.TypeOf(call.Args[1])) {
				return true
			}
			if decodes.MatchString(by) && is(call.Args[0]) || readsBytes.MatchString(by) && slices.ContainsFunc(call.Args, is) {
				file, line := c.at(n)
				out = append(out, use{place: name, file: file, line: line, by: strings.TrimPrefix(by, "encoding/")})
			}
			return true
		})
	})
	return out
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
