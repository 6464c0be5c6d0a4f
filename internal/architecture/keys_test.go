package architecture

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// keyTexts is the rule about the text of a key: what a [echo.Key] prints, in whole or below a
// parent. A text with more in it, such as a line of output, is none.
type keyTexts struct{}

var keySources = []string{"(echo.Key).String", "(echo.Key).From", "(echo.Key).MarshalText"}

func (keyTexts) source(info *types.Info, e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	switch name := calleeName(info, call); name {
	case "fmt.Sprint", "fmt.Sprintln", "encoding/json.Marshal":
		return len(call.Args) == 1 && isKey(info.TypeOf(call.Args[0]))
	case "fmt.Sprintf":
		return len(call.Args) == 2 && isKey(info.TypeOf(call.Args[1])) && onlyVerb.MatchString(constantText(info, call.Args[0]))
	default:
		return slices.Contains(keySources, name)
	}
}

// field finds what is scanned from a column with the text of a key.
func (keyTexts) field(tag reflect.StructTag) bool {
	return slices.Contains([]string{"key", "branch"}, tag.Get("ch"))
}

var onlyVerb = regexp.MustCompile(`^%[sqv]$`)

func (keyTexts) passes(callee string) bool { return slices.Contains(samePieces, callee) }

// samePieces are functions whose result is the text, or the list of texts, that they are given.
var samePieces = []string{
	"strings.Clone", "bytes.Clone", "slices.Clone", "slices.Sorted", "slices.Collect", "slices.Concat", "maps.Clone", "cmp.Or",
	"strings.ToLower", "strings.ToUpper", "strings.TrimSpace",
}

func isKey(t types.Type) bool {
	return t != nil && strings.TrimPrefix(types.TypeString(t, nil), module) == "echo.Key"
}

// constantText returns the value of an expression that is a text in the code, "" for any other.
func constantText(info *types.Info, e ast.Expr) string {
	if v := info.Types[e].Value; v != nil && v.Kind() == constant.String {
		return constant.StringVal(v)
	}
	return ""
}

// calleeName names what a call calls: strings.Cut, (echo.Key).String, (*regexp.Regexp).MatchString,
// append.
func calleeName(info *types.Info, call *ast.CallExpr) string {
	if fn := callee(info, call); fn != nil {
		return strings.ReplaceAll(fn.Origin().FullName(), module, "")
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && info.Types[call.Fun].IsBuiltin() {
		return id.Name
	}
	return ""
}

// keyCuts returns where a package takes the text of a key apart, matches it, or makes a key of
// texts.
func (c *checked) keyCuts(f *flow, p *checkedPackage) (out []use) {
	f.info = p.info
	k := keyCutter{f}
	p.functions(func(name string, d ast.Decl) {
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

type keyCutter struct{ *flow }

// is reports whether an expression is the text of a key.
func (k keyCutter) is(e ast.Expr) bool {
	t := k.info.TypeOf(e)
	return (isText(t) || t != nil && types.IsInterface(t)) && k.of(e)&about != 0
}

// cut says what a node does to the text of a key that only echo does, "" when it does nothing such.
func (k keyCutter) cut(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		return k.calls(n)
	case *ast.IndexExpr:
		return k.indexes(n)
	case *ast.SliceExpr:
		if k.is(n.X) {
			return "a slice"
		}
	case *ast.RangeStmt:
		if k.is(n.X) {
			return "a loop"
		}
	case *ast.BinaryExpr:
		return k.operates(n)
	case *ast.SwitchStmt:
		if n.Tag != nil && k.is(n.Tag) {
			return "a switch"
		}
	}
	return ""
}

// wholeTexts are functions that leave a text in one piece.
var wholeTexts = []string{
	"strings.Join", "strings.Repeat", "strings.Compare", "strings.ToUpper", "strings.ToLower", "strings.ToValidUTF8", "strings.Clone",
	"strings.NewReader", "bytes.Compare", "bytes.Join", "bytes.Clone", "bytes.NewReader", "bytes.NewBuffer", "bytes.NewBufferString",
	"strings.TrimSpace", "bytes.TrimSpace", "strings.Map", "regexp.QuoteMeta",
}

var (
	takesApart = regexp.MustCompile(`^(strings|bytes|regexp|path|path/filepath|text/scanner|unicode/utf8)\.|^\(\*(regexp\.Regexp|strings\.Replacer)\)\.|^fmt\.S?[Ss]can`)
	finds      = regexp.MustCompile(`^slices\.(Contains|Index|BinarySearch)$`)
	parses     = regexp.MustCompile(`^echo\.(ParseKey|MustKey)$|^\(\*echo\.Key\)\.UnmarshalText$`)
)

func (k keyCutter) calls(n *ast.CallExpr) string {
	name := calleeName(k.info, n)
	switch {
	case parses.MatchString(name) && k.of(n.Args[0])&assembled != 0:
		return name + " of texts put together"
	case finds.MatchString(name) && k.is(n.Args[1]) && k.of(n.Args[0])&literal != 0,
		finds.MatchString(name) && k.of(n.Args[0])&about != 0 && isLiteral(k.info, n.Args[1]):
		return name + " with a literal"
	case (name == "strings.Join" || name == "bytes.Join") && k.of(n.Args[0])&about != 0 && constantText(k.info, n.Args[1]) == "/",
		name == "fmt.Sprintf" && k.formats(n.Args), name == "fmt.Appendf" && k.formats(n.Args[1:]):
		return "pasting"
	case slices.ContainsFunc(n.Args, k.is) && takesApart.MatchString(name) && !slices.Contains(wholeTexts, name):
		return name
	}
	return ""
}

var verb = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z%]`)

// formats reports whether a format and its arguments put a slash before or after a key.
func (k keyCutter) formats(args []ast.Expr) bool {
	format := constantText(k.info, args[0])
	arg := 0
	for _, at := range verb.FindAllStringIndex(format, -1) {
		if format[at[1]-1] == '%' {
			continue
		}
		if arg++; arg >= len(args) {
			return false
		}
		slash := strings.HasSuffix(format[:at[0]], "/") || strings.HasPrefix(format[at[1]:], "/")
		if e := args[arg]; slash && (isKey(k.info.TypeOf(e)) || k.is(e)) {
			return true
		}
	}
	return false
}

// indexes finds a byte of a text, and the element of a map with literal texts for the text of a
// key, or the other way round.
func (k keyCutter) indexes(n *ast.IndexExpr) string {
	if t := k.info.TypeOf(n.X); (isText(t) || isRunes(t)) && k.of(n.X)&about != 0 {
		return "an index"
	}
	if t := k.info.TypeOf(n.X); t == nil {
		return ""
	} else if _, ok := t.Underlying().(*types.Map); !ok {
		return ""
	}
	m := k.of(n.X)
	if id, ok := ast.Unparen(n.X).(*ast.Ident); ok {
		m = k.markOf(id)
	}
	if m&literal != 0 && k.is(n.Index) || m&keyed != 0 && isLiteral(k.info, n.Index) {
		return "a map with literals"
	}
	return ""
}

func (k keyCutter) operates(n *ast.BinaryExpr) string {
	switch n.Op {
	case token.ADD:
		if k.is(n.Y) && strings.HasSuffix(k.lastText(n.X), "/") || k.is(k.lastOperand(n.X)) && strings.HasPrefix(constantText(k.info, n.Y), "/") {
			return "pasting"
		}
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		if k.is(n.X) && k.isFixed(n.Y) || k.is(n.Y) && k.isFixed(n.X) {
			return "a comparison"
		}
	}
	return ""
}

// isFixed reports whether an expression is a text in the code, or a variable that is set to one
// and to no text of a key.
func (k keyCutter) isFixed(e ast.Expr) bool {
	return isLiteral(k.info, e) || isText(k.info.TypeOf(e)) && k.of(e)&(literal|about) == literal
}

// lastOperand returns the right end of a sum: c of a + b + c.
func (k keyCutter) lastOperand(e ast.Expr) ast.Expr {
	if b, ok := ast.Unparen(e).(*ast.BinaryExpr); ok && b.Op == token.ADD {
		return k.lastOperand(b.Y)
	}
	return e
}

func (k keyCutter) lastText(e ast.Expr) string { return constantText(k.info, k.lastOperand(e)) }
