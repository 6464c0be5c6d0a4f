package template

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// macro is the value of {% macro %}: a function that returns text.
type macro struct{ *syntax.Macro }

// Kind names the value in errors.
func (*macro) Kind() string { return "a macro" }

func (f *frame) call(e *syntax.Call) any {
	f.at(e.Pos).Spend(1)
	args, named := f.arguments(&e.Args)
	f.place = e.Pos
	bound, ok := f.scope.get(e.Name)
	if !ok {
		return f.function(e.Name, args, named)
	}
	m, ok := bound.(*macro)
	if !ok {
		panic(value.Failf("%s is %s, not a macro", e.Name, value.Kind(bound)))
	}
	return m.call(f, e.Pos, args, named)
}

func (f *frame) function(name string, args []any, named map[string]any) any {
	switch {
	case name == "range" && len(named) == 0:
		return f.Range(args)
	case name == "range":
		return f.Range(nil) // which says what to write
	case name != "dict" && name != "namespace":
		panic(value.Failf("there is no function or macro %s", name))
	case len(args) > 0 && name == "dict":
		panic(value.Failf("dict takes named arguments: dict(a=1)"))
	case len(args) > 0:
		panic(value.Failf("namespace takes named arguments: namespace(count=0)"))
	}
	if named == nil {
		named = map[string]any{}
	}
	if name == "dict" {
		return named
	}
	return &value.Namespace{Members: named}
}

func (m *macro) call(f *frame, at syntax.Pos, args []any, named map[string]any) any {
	if f.calls++; f.calls > maxCalls {
		panic(value.Limitf("macros call each other deeper than %d levels", maxCalls))
	}
	if len(args) > len(m.Params) {
		f.fail(at, "the macro %s takes %d arguments, not %d", m.Name, len(m.Params), len(args))
	}
	in := f.inner()
	for i, p := range m.Params {
		v, ok := named[p]
		delete(named, p)
		switch {
		case i < len(args):
			v = args[i]
		case ok:
		case m.Defaults[i] == nil:
			f.fail(at, "the macro %s needs the argument %s", m.Name, p)
		default:
			v = in.plain(m.Defaults[i])
		}
		in.scope.set(p, v)
	}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		f.fail(at, "the macro %s has no parameter %s", m.Name, n)
	}
	text := capture(in, m.Body)
	f.calls--
	return text
}
