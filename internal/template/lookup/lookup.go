// Package lookup says which variables a template looks up, without rendering it: each with the
// place, the members that are taken of it, and what the template itself makes sure of before.
//
// It follows the scopes of the evaluator: names that tags bind are no variables, a macro sees the
// names of whoever calls it, and the body of an if binds for what follows.
package lookup

import (
	"slices"

	"github.com/windlass-run/windlass/internal/template/syntax"
)

// Lookup is one place where a template looks up a variable that it does not bind itself.
type Lookup struct {
	syntax.Pos

	// Path is the variable and the members that are taken of it, strings, or items, integers, up to
	// the first that only the rendering knows.
	Path []any

	// Safe is how much of Path cannot fail here: all of it behind default and before "is defined",
	// and as far as a condition around it has made sure that it is there.
	Safe int

	// Perhaps says that what it stands in is not evaluated in every rendering.
	Perhaps bool
}

// In returns the lookups of a template, in the order in which they are evaluated.
func In(body syntax.Block) []Lookup {
	w := &walker{ever: map[string]bool{}}
	bindings(body, w.ever)
	w.block(body, state{scope: &scope{bound: map[string]syntax.Expr{}}})
	return w.found
}

type walker struct {
	found []Lookup
	ever  map[string]bool // the names that are bound anywhere
}

// scope is one level of bound names, with the expression that a name was set to, or nil.
type scope struct {
	parent *scope
	bound  map[string]syntax.Expr
}

func (s *scope) get(name string) (syntax.Expr, bool) {
	for ; s != nil; s = s.parent {
		if x, ok := s.bound[name]; ok {
			return x, true
		}
	}
	return nil, false
}

// state is what is known where the walk is.
type state struct {
	scope   *scope
	there   [][]any // paths that a condition has found to be there
	perhaps bool
	macro   bool // in a macro, which sees the names of its caller
	shown   bool // a value that is missing is no error: before default, or a test of being defined
}

func (s state) inner(names ...string) state {
	s.scope = &scope{parent: s.scope, bound: map[string]syntax.Expr{}}
	for _, n := range names {
		s.scope.bound[n] = nil
	}
	return s
}

// given is the state where a condition has turned out to be true, or false.
func (s state) given(when syntax.Expr, truth bool) state {
	f := facts{scope: s.scope}
	f.find(when, truth)
	s.there = slices.Concat(s.there, f.there)
	s.perhaps = true
	return s
}

func (s state) perhapsNot() state {
	s.perhaps = true
	return s
}

func (w *walker) block(b syntax.Block, s state) {
	for _, stmt := range b {
		w.stmt(stmt, s)
	}
}

func (w *walker) stmt(stmt syntax.Stmt, s state) {
	switch n := stmt.(type) {
	case *syntax.Output:
		w.output(n, s)
	case *syntax.If:
		for _, a := range n.Arms {
			w.expr(a.When, s)
			w.block(a.Body, s.given(a.When, true))
			s = s.given(a.When, false)
		}
		w.block(n.Else, s)
	case *syntax.For:
		w.loop(n, s)
	case *syntax.Set:
		w.set(n, s)
	case *syntax.With:
		in := s.inner()
		for i, name := range n.Names {
			w.expr(n.Values[i], s)
			in.scope.bound[name] = n.Values[i]
		}
		w.block(n.Body, in)
	case *syntax.Macro:
		s.scope.bound[n.Name] = nil
		in := s.inner(n.Params...).perhapsNot()
		in.macro = true
		for _, d := range n.Defaults {
			w.expr(d, in)
		}
		w.block(n.Body, in)
	}
}

func (w *walker) output(n *syntax.Output, s state) {
	for ; n != nil; n = n.Else {
		if n.When == nil {
			w.expr(n.X, s)
			return
		}
		w.expr(n.When, s)
		w.expr(n.X, s.given(n.When, true))
		s = s.given(n.When, false)
	}
}

func (w *walker) loop(n *syntax.For, s state) {
	w.expr(n.List, s)
	in := s.inner(n.Names...).perhapsNot()
	if n.When != nil {
		w.expr(n.When, in)
		in = in.given(n.When, true)
	}
	in.scope.bound["loop"] = nil
	w.block(n.Body, in)
	w.block(n.Else, s.perhapsNot())
}

func (w *walker) set(n *syntax.Set, s state) {
	w.expr(n.Value, s)
	w.block(n.Body, s.inner())
	if n.Member == "" {
		s.scope.bound[n.Name] = n.Value
	}
}

// exprs walks expressions whose values are used.
func (w *walker) exprs(s state, list ...syntax.Expr) {
	for _, x := range list {
		w.expr(x, s)
	}
}

func (w *walker) args(a *syntax.Args, s state) {
	w.exprs(s, a.List...)
	for _, n := range a.Named {
		w.expr(n.X, s)
	}
}

func (w *walker) expr(x syntax.Expr, s state) {
	used := s
	used.shown = false
	switch n := x.(type) {
	case *syntax.Lookup:
		w.lookup(n, s)
	case *syntax.Default:
		shown := s
		shown.shown = true
		w.expr(n.X, shown)
		w.expr(n.Falsy, used.perhapsNot())
		w.expr(n.Instead, s.perhapsNot())
	case *syntax.Test:
		tested := used
		tested.shown = n.Name == "defined" || n.Name == "undefined"
		w.expr(n.X, tested)
		w.args(&n.Args, used)
	case *syntax.Binary:
		w.binary(n, used)
	case *syntax.Choice:
		w.expr(n.When, used)
		w.expr(n.Then, s.given(n.When, true))
		w.expr(n.Else, s.given(n.When, false))
	default:
		w.parts(x, used)
	}
}

// parts walks expressions of which every part is evaluated.
func (w *walker) parts(x syntax.Expr, s state) {
	switch n := x.(type) {
	case *syntax.Slice:
		w.exprs(s, n.X, n.From, n.To, n.By)
	case *syntax.List:
		w.exprs(s, n.Items...)
	case *syntax.Object:
		w.exprs(s, n.Keys...)
		w.exprs(s, n.Values...)
	case *syntax.Not:
		w.expr(n.X, s)
	case *syntax.Sign:
		w.expr(n.X, s)
	case *syntax.Filter:
		w.expr(n.X, s)
		w.args(&n.Args, s)
	case *syntax.Call:
		w.args(&n.Args, s)
	case *syntax.Method:
		w.expr(n.X, s)
		w.args(&n.Args, s)
	}
}

func (w *walker) binary(n *syntax.Binary, s state) {
	w.expr(n.A, s)
	switch n.Op {
	case "and":
		s = s.given(n.A, true)
	case "or":
		s = s.given(n.A, false)
	}
	w.expr(n.B, s)
}

func (w *walker) lookup(n *syntax.Lookup, s state) {
	used := s
	used.shown = false
	for i := range n.Steps {
		w.expr(n.Steps[i].Index, used)
	}
	if n.Base != nil {
		w.expr(n.Base, s)
		return
	}
	if _, bound := s.scope.get(n.Name); bound || s.macro && w.ever[n.Name] {
		return
	}
	path := pathOf(n)
	l := Lookup{Pos: n.Pos, Path: path, Perhaps: s.perhaps}
	for _, there := range s.there {
		l.Safe = max(l.Safe, common(path, there))
	}
	if s.shown {
		l.Safe = len(path)
	}
	w.found = append(w.found, l)
}

// pathOf returns the path of a lookup, as far as it is written out.
func pathOf(n *syntax.Lookup) []any {
	path := []any{n.Name}
	for _, step := range n.Steps {
		if step.Index == nil {
			path = append(path, step.Key)
			continue
		}
		literal, ok := step.Index.(*syntax.Literal)
		if !ok {
			return path
		}
		switch literal.Value.(type) {
		case string, int64:
			path = append(path, literal.Value)
		default:
			return path
		}
	}
	return path
}

// common is how many members two paths begin with alike.
func common(a, b []any) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// bindings notes every name that a block binds, in whatever scope.
func bindings(b syntax.Block, names map[string]bool) {
	add := func(list ...string) {
		for _, n := range list {
			names[n] = true
		}
	}
	for _, stmt := range b {
		switch n := stmt.(type) {
		case *syntax.If:
			for _, a := range n.Arms {
				bindings(a.Body, names)
			}
			bindings(n.Else, names)
		case *syntax.For:
			add(append(slices.Clone(n.Names), "loop")...)
			bindings(n.Body, names)
			bindings(n.Else, names)
		case *syntax.Set:
			if n.Member == "" {
				add(n.Name)
			}
			bindings(n.Body, names)
		case *syntax.With:
			add(n.Names...)
			bindings(n.Body, names)
		case *syntax.Macro:
			add(append(slices.Clone(n.Params), n.Name)...)
			bindings(n.Body, names)
		}
	}
}

// maxFacts bounds how much of a condition is looked at: there are conditions of any length.
const maxFacts = 200

// facts are the paths that are there when a condition is true, or false.
type facts struct {
	scope *scope
	there [][]any
	work  int
}

func (f *facts) find(x syntax.Expr, truth bool) {
	if f.work++; f.work > maxFacts {
		return
	}
	switch n := x.(type) {
	case *syntax.Not:
		f.find(n.X, !truth)
	case *syntax.Test:
		l, ok := n.X.(*syntax.Lookup)
		if ok && l.Base == nil && (n.Name == "defined" && truth || n.Name == "undefined" && !truth) {
			f.there = append(f.there, pathOf(l))
		}
	case *syntax.Binary:
		switch {
		case n.Op == "and" && truth, n.Op == "or" && !truth:
			f.find(n.A, truth)
			f.find(n.B, truth)
		case n.Op == "in" && truth:
			f.there = append(f.there, members(n)...)
		}
	case *syntax.Lookup:
		if set, ok := f.scope.get(n.Name); ok && n.Base == nil && len(n.Steps) == 0 {
			f.find(set, truth)
		}
	}
}

// members returns what "name" in object, or in its keys, says to be there.
func members(n *syntax.Binary) [][]any {
	name, ok := n.A.(*syntax.Literal)
	if !ok {
		return nil
	}
	x := n.B
	for {
		switch of := x.(type) {
		case *syntax.Lookup:
			if path := pathOf(of); of.Base == nil && len(path) == len(of.Steps)+1 {
				return [][]any{append(path, name.Value)}
			}
			return nil
		case *syntax.Method:
			x = of.X
		case *syntax.Filter:
			x = of.X
		default:
			return nil
		}
	}
}
