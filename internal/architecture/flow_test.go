package architecture

import (
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"strconv"
)

// mark is what is known of a value: that it is the text of a key, that it is the data of an entry.
type mark uint8

const (
	marked    mark = 1 << iota // it is, or contains as an element, what a rule is about
	given                      // the same, of a parameter: some caller passes such a value
	keyed                      // of a map: its keys are
	literal                    // of a map, an array or a slice: literal texts are among its keys or elements; of a text: it is set to one
	assembled                  // of a text: it is put together from others
)

// about are the marks of a value that a rule is about.
const about = marked | given

// rule says where values come from that a rule is about. [flow] follows them from there.
type rule interface {
	// source reports whether an expression is what the rule is about.
	source(info *types.Info, e ast.Expr) bool
	// field reports whether a field with a tag holds what the rule is about.
	field(tag reflect.StructTag) bool
	// passes reports whether a function returns what it is given, in a form that the rule is about
	// as well.
	passes(callee string) bool
}

// flow follows values through the module: through variables, fields, elements, results of
// functions, and into parameters. It knows neither paths nor callers: a variable has the marks of
// everything that it is ever set to, and what a parameter is given does not come out of the
// function again, neither as a result nor in a field; only a result whose type is a parameter of
// the function is taken for the argument of that type. It does not follow values through channels,
// files and other programs, from a method of an interface into its implementations, nor into
// functions outside the module apart from those that the rule names.
type flow struct {
	rule
	info    *types.Info // of the package at hand
	marks   map[types.Object]mark
	changed bool
}

// newFlow follows values through packages until nothing new is found.
func newFlow(r rule, packages ...*checkedPackage) *flow {
	f := &flow{rule: r, marks: map[types.Object]mark{}, changed: true}
	for f.changed {
		f.changed = false
		for _, p := range packages {
			f.info = p.info
			for _, file := range p.files {
				ast.Walk(&flowVisitor{f: f}, file)
			}
		}
	}
	return f
}

// flowVisitor follows the values of a function.
type flowVisitor struct {
	f  *flow
	in *types.Signature
}

// Visit implements [ast.Visitor].
func (v *flowVisitor) Visit(n ast.Node) ast.Visitor {
	f := v.f
	switch n := n.(type) {
	case *ast.FuncDecl:
		if fn, ok := f.info.Defs[n.Name].(*types.Func); ok {
			return &flowVisitor{f: f, in: fn.Signature()}
		}
	case *ast.FuncLit:
		in, _ := f.info.TypeOf(n).(*types.Signature)
		return &flowVisitor{f: f, in: in}
	case *ast.AssignStmt:
		if n.Tok == token.ASSIGN || n.Tok == token.DEFINE {
			f.assign(n.Lhs, n.Rhs)
		}
	case *ast.ValueSpec:
		names := make([]ast.Expr, len(n.Names))
		for i, name := range n.Names {
			names[i] = name
		}
		f.assign(names, n.Values)
	case *ast.ReturnStmt:
		f.returns(v.in, n.Results)
	case *ast.RangeStmt:
		f.ranges(n)
	case *ast.CallExpr:
		f.call(n)
	case *ast.CompositeLit:
		f.fields(n)
	case *ast.Field:
		f.tagged(n)
	}
	return v
}

// set adds marks to an object.
func (f *flow) set(obj types.Object, m mark) {
	if v, ok := obj.(*types.Var); ok {
		obj = v.Origin()
	}
	if obj != nil && f.marks[obj]|m != f.marks[obj] {
		f.marks[obj] |= m
		f.changed = true
	}
}

// assign follows right into left: one each, or the results of one call.
func (f *flow) assign(left, right []ast.Expr) {
	for i, l := range left {
		switch {
		case len(left) == len(right):
			f.store(l, f.of(right[i])|f.fixed(l, right[i]))
		case len(right) == 1:
			f.store(l, f.result(right[0], i))
		}
	}
}

// fixed is the mark of a variable that is set to a text in the code.
func (f *flow) fixed(left, right ast.Expr) mark {
	if _, ok := ast.Unparen(left).(*ast.Ident); ok && isLiteral(f.info, right) {
		return literal
	}
	return 0
}

// store adds marks to what an assignment sets.
func (f *flow) store(left ast.Expr, m mark) {
	switch l := ast.Unparen(left).(type) {
	case *ast.Ident:
		f.set(f.object(l), m)
	case *ast.SelectorExpr:
		f.set(f.object(l.Sel), m&^given)
	case *ast.StarExpr:
		f.store(l.X, m)
	case *ast.IndexExpr:
		f.store(l.X, m&about)
		f.indexed(l)
	}
}

// indexed notes what a map is indexed with.
func (f *flow) indexed(e *ast.IndexExpr) {
	if _, ok := f.info.TypeOf(e.X).Underlying().(*types.Map); ok {
		f.store(e.X, f.asKey(e.Index))
	}
}

// asKey is what it says about a map that an expression is among its keys.
func (f *flow) asKey(e ast.Expr) (m mark) {
	if f.of(e)&about != 0 {
		m = keyed
	}
	if isLiteral(f.info, e) {
		m |= literal
	}
	return m
}

func (f *flow) returns(in *types.Signature, results []ast.Expr) {
	for i := range in.Results().Len() {
		switch {
		case len(results) == in.Results().Len():
			f.set(in.Results().At(i), f.of(results[i])&^given)
		case len(results) == 1:
			f.set(in.Results().At(i), f.result(results[0], i)&^given)
		default: // named results
			f.set(in.Results().At(i), f.marks[in.Results().At(i)]&^given)
		}
	}
}

func (f *flow) ranges(n *ast.RangeStmt) {
	m, t := f.of(n.X), f.info.TypeOf(n.X)
	if n.Key != nil && m&keyed != 0 {
		f.store(n.Key, marked)
	}
	if n.Value != nil && !isText(t) {
		f.store(n.Value, m&about)
	}
}

// call follows arguments into the parameters of a function.
func (f *flow) call(n *ast.CallExpr) {
	in := f.signature(n)
	if in == nil {
		return
	}
	if calleeName(f.info, n) == "encoding/json.Unmarshal" {
		f.unmarshals(n.Args[0], n.Args[1])
	}
	for i, arg := range n.Args {
		m := f.of(arg)
		if m&about != 0 {
			m = m&^about | given
		}
		if at := min(i, in.Params().Len()-1); at >= 0 && (i == at || in.Variadic()) {
			f.set(in.Params().At(at), m&^assembled)
		}
	}
}

// unmarshals follows JSON into the text that it is read into.
func (f *flow) unmarshals(from, into ast.Expr) {
	if u, ok := ast.Unparen(into).(*ast.UnaryExpr); ok && u.Op == token.AND && isText(f.info.TypeOf(u.X)) {
		f.store(u.X, f.of(from)&about)
	}
}

// fields follows the elements of a literal into the fields of its type.
func (f *flow) fields(n *ast.CompositeLit) {
	t, ok := types.Unalias(f.info.TypeOf(n)).Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			name, _ := kv.Key.(*ast.Ident)
			f.set(f.object(name), f.of(kv.Value)&^given)
		} else {
			f.set(t.Field(i), f.of(e)&^given)
		}
	}
}

// tagged marks a field by its tag.
func (f *flow) tagged(n *ast.Field) {
	if n.Tag == nil {
		return
	}
	if tag, err := strconv.Unquote(n.Tag.Value); err != nil || !f.field(reflect.StructTag(tag)) {
		return
	}
	for _, name := range n.Names {
		f.set(f.object(name), marked)
	}
}
