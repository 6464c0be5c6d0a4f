package architecture

import (
	"go/ast"
	"go/token"
	"go/types"
)

func (f *flow) object(id *ast.Ident) types.Object {
	if obj := f.info.Defs[id]; obj != nil {
		return obj
	}
	return f.info.Uses[id]
}

// markOf returns the marks of the object that an identifier names.
func (f *flow) markOf(id *ast.Ident) mark {
	obj := f.object(id)
	if v, ok := obj.(*types.Var); ok {
		obj = v.Origin()
	}
	return f.marks[obj]
}

// of returns the marks of an expression.
func (f *flow) of(e ast.Expr) mark {
	e = ast.Unparen(e)
	if f.source(f.info, e) {
		return marked
	}
	switch e := e.(type) {
	case *ast.Ident:
		return f.markOf(e)
	case *ast.SelectorExpr:
		return f.markOf(e.Sel)
	case *ast.CallExpr:
		return f.result(e, 0)
	case *ast.IndexExpr:
		if !isText(f.info.TypeOf(e.X)) {
			return f.of(e.X) & about
		}
	case *ast.SliceExpr:
		return f.of(e.X)
	case *ast.StarExpr:
		return f.of(e.X)
	case *ast.UnaryExpr:
		if e.Op == token.AND {
			return f.of(e.X)
		}
	case *ast.TypeAssertExpr:
		return f.of(e.X)
	case *ast.BinaryExpr:
		if e.Op == token.ADD && isText(f.info.TypeOf(e)) && f.info.Types[e].Value == nil {
			return assembled
		}
	case *ast.CompositeLit:
		return f.elements(e)
	}
	return 0
}

// elements returns the marks of a literal of a map, an array or a slice.
func (f *flow) elements(n *ast.CompositeLit) (m mark) {
	if _, ok := types.Unalias(f.info.TypeOf(n)).Underlying().(*types.Struct); ok {
		return 0
	}
	_, isMap := f.info.TypeOf(n).Underlying().(*types.Map)
	for _, e := range n.Elts {
		kv, pair := e.(*ast.KeyValueExpr)
		if pair {
			e = kv.Value
		}
		m |= f.of(e) & about
		switch {
		case isMap:
			m |= f.asKey(kv.Key)
		case isLiteral(f.info, e):
			m |= literal
		}
	}
	return m
}

// result returns the marks of one of the results of an expression.
func (f *flow) result(e ast.Expr, i int) (m mark) {
	n, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		if i == 0 { // m[k], x.(T) and such, with their second result
			return f.of(e)
		}
		return 0
	}
	if i == 0 && f.source(f.info, n) {
		return marked
	}
	if f.info.Types[n.Fun].IsType() {
		return f.of(n.Args[0])
	}
	if in := f.signature(n); in != nil && i < in.Results().Len() {
		m = f.marks[in.Results().At(i)] | f.generic(n, in, i)
	}
	if name := calleeName(f.info, n); i == 0 && len(n.Args) > 0 {
		if name == "fmt.Sprintf" || name == "fmt.Sprint" || name == "strings.Join" {
			m |= assembled
		}
		if name == "append" || f.passes(name) {
			for _, arg := range n.Args {
				m |= f.of(arg) & (about | literal)
			}
		}
	}
	return m
}

// generic returns the marks of a result whose type is a parameter of the function: it is likely to
// be one of the arguments of that type.
func (f *flow) generic(n *ast.CallExpr, in *types.Signature, i int) (m mark) {
	t, ok := in.Results().At(i).Type().(*types.TypeParam)
	if !ok {
		return 0
	}
	for j := range in.Params().Len() {
		switch {
		case in.Params().At(j).Type() != t:
		case len(n.Args) == in.Params().Len():
			m |= f.of(n.Args[j]) & about
		case len(n.Args) == 1: // the results of another call
			m |= f.result(n.Args[0], j) & about
		}
	}
	return m
}

// signature returns what a call calls, as it is declared; nil for a conversion and what is built
// in.
func (f *flow) signature(n *ast.CallExpr) *types.Signature {
	if fn := callee(f.info, n); fn != nil {
		return fn.Origin().Signature()
	}
	in, _ := f.info.TypeOf(n.Fun).(*types.Signature)
	return in
}

// callee returns the function or method that a call names, nil when it calls something else.
func callee(info *types.Info, call *ast.CallExpr) *types.Func {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr: // with its types
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var fn *types.Func
	switch x := fun.(type) {
	case *ast.SelectorExpr:
		fn, _ = info.Uses[x.Sel].(*types.Func)
	case *ast.Ident:
		fn, _ = info.Uses[x].(*types.Func)
	}
	return fn
}

// isLiteral reports whether an expression is a text that is written in the code, and not "".
func isLiteral(info *types.Info, e ast.Expr) bool {
	return constantText(info, e) != ""
}

// isRunes reports whether values of a type are texts as lists of characters.
func isRunes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	if !ok {
		return false
	}
	b, ok := s.Elem().Underlying().(*types.Basic)
	return ok && b.Kind() == types.Rune
}

// isText reports whether values of a type are texts.
func isText(t types.Type) bool {
	if t == nil {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Info()&types.IsString != 0
	case *types.Slice:
		b, ok := u.Elem().Underlying().(*types.Basic)
		return ok && b.Kind() == types.Byte
	}
	return false
}
