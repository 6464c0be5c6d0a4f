package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/template/hint"
	"github.com/windlass-run/windlass/internal/template/quote"
	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

const (
	maxCalls    = 50  // macros inside macros
	maxWarnings = 100 // different ones of one rendering
)

// run is one rendering in one goroutine. Failures panic; [Template.Render] recovers them.
type run struct {
	value.Run
	place    syntax.Pos // of a failure; see [run.at]
	vars     map[string]any
	out      []byte
	words    quote.Words
	calls    int
	warnings []string
	anyHint  bool // see [Template.RenderRules1]
}

// at says where the operation stands that comes next; evaluating operands changes it.
func (r *run) at(p syntax.Pos) *value.Run {
	r.place = p
	return &r.Run
}

func (r *run) fail(at syntax.Pos, format string, args ...any) {
	r.place = at
	panic(value.Failf(format, args...))
}

// frame is where an expression is evaluated: the run and the names that tags have bound so far.
type frame struct {
	*run
	scope *scope
}

// scope is one level of bound names. Bodies of loops, macros and with make one; if does not.
type scope struct {
	parent *scope
	bound  map[string]any
}

func newScope(parent *scope) *scope { return &scope{parent, map[string]any{}} }

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.parent {
		if v, ok := s.bound[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (s *scope) set(name string, v any) { s.bound[name] = v }

func (f *frame) inner() *frame { return &frame{f.run, newScope(f.scope)} }

// namesIn returns every name that is bound to a value.
func namesIn(f *frame) []string {
	names := slices.Collect(maps.Keys(f.vars))
	for s := f.scope; s != nil; s = s.parent {
		for name, v := range s.bound {
			if f.anyHint || isPlain(v) {
				names = append(names, name)
			}
		}
	}
	return names
}

// isPlain reports whether a bound name can stand for a value by itself.
func isPlain(v any) bool {
	switch v.(type) {
	case *macro, *value.Namespace:
		return false
	}
	return true
}

// memberHint says what there is instead of a member that is missing, in the words of a template.
func (f *frame) memberHint(v, key any, path string) string {
	if f.anyHint {
		return value.HintFor(v, key, path)
	}
	if ns, ok := v.(*value.Namespace); ok {
		v = ns.Members
	}
	members, isObject := v.(map[string]any)
	name, isName := key.(string)
	if !isObject || !isName {
		return value.HintFor(v, key, path)
	}
	var names []string
	for n := range members {
		if syntax.IsName(n) {
			names = append(names, n)
		}
	}
	return hint.Guess(name, strings.TrimPrefix(path, expressionPath)+".", names)
}

// undefined is the value of a variable that is not there.
type undefined struct {
	at   syntax.Pos
	name string
	hint string
	soft bool // an entry of state or outputs: empty with a warning instead of an error
}

// value evaluates e to a value that is there.
func (f *frame) value(e syntax.Expr) any { return f.force(f.eval(e)) }

// plain evaluates e to a value of JSON.
func (f *frame) plain(e syntax.Expr) any {
	v := f.value(e)
	switch v.(type) {
	case *macro, *value.Namespace:
		f.place = e.Place()
		panic(value.NotPlain())
	}
	return v
}

func (f *frame) truth(e syntax.Expr) bool { return value.Truthy(f.value(e)) }

// force turns an undefined into what its use means: an error, or an empty text with a warning.
func (f *frame) force(v any) any {
	u, ok := v.(*undefined)
	if !ok {
		return v
	}
	if !u.soft {
		panic(&MissingError{Line: u.at.Line, Col: u.at.Col, Name: u.name, Hint: u.hint})
	}
	w := hint.After(fmt.Sprintf("%s is missing and rendered as empty", u.name), u.hint)
	if !slices.Contains(f.warnings, w) && len(f.warnings) < maxWarnings {
		f.warnings = append(f.warnings, w)
	}
	return ""
}

func (f *frame) plains(list []syntax.Expr) []any {
	values := make([]any, len(list))
	for i, e := range list {
		values[i] = f.plain(e)
	}
	return values
}

func (f *frame) arguments(args *syntax.Args) (list []any, named map[string]any) {
	list = f.plains(args.List)
	if len(args.Named) > 0 {
		named = make(map[string]any, len(args.Named))
	}
	for _, a := range args.Named {
		named[a.Name] = f.plain(a.X)
	}
	return list, named
}
