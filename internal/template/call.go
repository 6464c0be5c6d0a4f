package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// macro is the value of {% macro %}: a function that returns text.
type macro struct{ *syntax.Macro }

// Kind names the value in errors.
func (*macro) Kind() string { return "a macro" }

// call calls a macro, or a function that every template has.
func (f *frame) call(e *syntax.Call) (any, error) {
	if err := f.spend(e); err != nil {
		return nil, err
	}
	args, named, err := f.arguments(&e.Args)
	if err != nil {
		return nil, err
	}
	var v any
	if bound, ok := f.scope.get(e.Name); !ok {
		v, err = f.function(e.Name, args, named)
	} else if m, isMacro := bound.(*macro); isMacro {
		v, err = m.call(f, args, named)
	} else {
		err = fmt.Errorf("%s is %s, not a macro", e.Name, value.Kind(bound))
	}
	return v, fail(e.Pos, err)
}

func (f *frame) function(name string, args []any, named map[string]any) (any, error) {
	switch {
	case name == "range" && len(named) == 0:
		return f.Range(args)
	case name == "range":
		return f.Range(nil) // which says what to write
	case name != "dict" && name != "namespace":
		return nil, fmt.Errorf("there is no function or macro %s", name)
	case len(args) > 0 && name == "dict":
		return nil, errors.New("dict takes named arguments: dict(a=1)")
	case len(args) > 0:
		return nil, errors.New("namespace takes named arguments: namespace(count=0)")
	}
	if named == nil {
		named = map[string]any{}
	}
	if name == "dict" {
		return named, nil
	}
	return &value.Namespace{Members: named}, nil
}

func (m *macro) call(f *frame, args []any, named map[string]any) (any, error) {
	if f.calls++; f.calls > maxCalls {
		return nil, value.Limitf("macros call each other deeper than %d levels", maxCalls)
	}
	defer func() { f.calls-- }()
	if len(args) > len(m.Params) {
		return nil, fmt.Errorf("the macro %s takes %d arguments, not %d", m.Name, len(m.Params), len(args))
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
			return nil, fmt.Errorf("the macro %s needs the argument %s", m.Name, p)
		default:
			var err error
			if v, err = in.plain(m.Defaults[i]); err != nil {
				return nil, err
			}
		}
		in.set(p, v)
	}
	for _, n := range slices.Sorted(maps.Keys(named)) {
		return nil, fmt.Errorf("the macro %s has no parameter %s", m.Name, n)
	}
	return capture(in, m.Body)
}
