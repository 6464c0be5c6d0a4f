package template

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/internal/template/hint"
	"github.com/windlass-run/windlass/internal/template/quote"
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

const (
	maxCalls    = 50  // macros inside macros
	maxWarnings = 100 // different ones of one rendering
)

// run is one rendering: variables, output, what is left of its limits. One goroutine has it.
type run struct {
	value.Run
	vars     map[string]any
	out      []byte
	words    quote.Words
	calls    int
	warnings []string
}

// frame is where an expression is evaluated: the run and the names that tags have bound so far.
type frame struct {
	*run
	scope *scope
}

// scope is one level of bound names. Bodies of loops, macros and with make one; if does not.
type scope struct {
	parent *scope
	names  []string
	values []any
}

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		for i := len(s.names) - 1; i >= 0; i-- {
			if s.names[i] == name {
				return s.values[i], true
			}
		}
	}
	return nil, false
}

func (s *scope) set(name string, v any) {
	for i, n := range s.names {
		if n == name {
			s.values[i] = v
			return
		}
	}
	s.names, s.values = append(s.names, name), append(s.values, v)
}

func (f *frame) inner() *frame { return &frame{run: f.run, scope: &scope{parent: f.scope}} }

// set binds a name in the innermost scope.
func (f *frame) set(name string, v any) {
	if f.scope == nil {
		f.scope = &scope{}
	}
	f.scope.set(name, v)
}

// namesIn returns every name that is bound.
func namesIn(f *frame) []string {
	names := slices.Collect(maps.Keys(f.vars))
	for s := f.scope; s != nil; s = s.parent {
		names = append(names, s.names...)
	}
	return names
}

// undefined is the value of a variable that is not there.
type undefined struct {
	at   syntax.Pos
	name string
	hint string
	soft bool // an entry of state or outputs: empty with a warning instead of an error
}

// Kind names the value in errors.
func (*undefined) Kind() string { return "a value" }

// value evaluates e to a value that is there.
func (f *frame) value(e syntax.Expr) (any, error) {
	v, err := f.eval(e)
	if err != nil {
		return nil, err
	}
	return f.force(v)
}

// plain evaluates e to a value of JSON.
func (f *frame) plain(e syntax.Expr) (any, error) {
	v, err := f.value(e)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case *macro, *value.Namespace:
		return nil, fail(e.Place(), value.ErrNotPlain)
	}
	return v, nil
}

func (f *frame) truth(e syntax.Expr) (bool, error) {
	v, err := f.value(e)
	return value.Truthy(v), err
}

// force turns an undefined into what its use means: an error, or an empty text with a warning.
func (f *frame) force(v any) (any, error) {
	u, ok := v.(*undefined)
	if !ok {
		return v, nil
	}
	if !u.soft {
		return nil, &MissingError{Line: u.at.Line, Col: u.at.Col, Name: u.name, Hint: u.hint}
	}
	w := hint.After(fmt.Sprintf("%s is missing and rendered as empty", u.name), u.hint)
	if !slices.Contains(f.warnings, w) && len(f.warnings) < maxWarnings {
		f.warnings = append(f.warnings, w)
	}
	return "", nil
}

// plains evaluates expressions to values of JSON.
func (f *frame) plains(list []syntax.Expr) ([]any, error) {
	values := make([]any, len(list))
	for i, e := range list {
		var err error
		if values[i], err = f.plain(e); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// arguments evaluates arguments to values of JSON.
func (f *frame) arguments(args *syntax.Args) ([]any, map[string]any, error) {
	list, err := f.plains(args.List)
	if err != nil || len(args.Named) == 0 {
		return list, nil, err
	}
	named := make(map[string]any, len(args.Named))
	for _, a := range args.Named {
		if named[a.Name], err = f.plain(a.X); err != nil {
			return nil, nil, err
		}
	}
	return list, named, nil
}
