package template

import (
	"errors"
	"fmt"
)

// stmt is a part of a template that is rendered.
type stmt interface {
	render(f *frame) error
}

type block []stmt

func (b block) render(f *frame) error {
	for _, s := range b {
		if err := s.render(f); err != nil {
			return err
		}
	}
	return nil
}

// constant is text between the tags.
type constant struct {
	at   pos
	text string
}

func (s *constant) render(f *frame) error { return s.at.fail(f.write(s.text)) }

// output is {{ expression }}. write quotes the value for the place it stands in.
type output struct {
	x     expr
	write func(r *run, v any) (string, error)

	at     pos
	raw    bool // as it is, unquoted
	number bool // by its last filter
}

func (s *output) render(f *frame) error {
	v, err := f.value(s.x)
	if err != nil {
		return err
	}
	text, err := s.write(f.run, v)
	if err == nil {
		err = f.spendBytes(len(text))
	}
	if err == nil {
		err = f.write(text)
	}
	return s.x.place().fail(err)
}

// ifStmt is {% if %}, as an output with if is.
type ifStmt struct {
	arms      []ifArm
	otherwise stmt // may be nil
}

type ifArm struct {
	when expr
	body stmt
}

func (s *ifStmt) render(f *frame) error {
	for _, a := range s.arms {
		ok, err := f.truth(a.when)
		if err != nil {
			return err
		}
		if ok {
			return a.body.render(f)
		}
	}
	if s.otherwise == nil {
		return nil
	}
	return s.otherwise.render(f)
}

// forStmt is {% for %}.
type forStmt struct {
	at        pos
	names     []string // one or two
	list      expr
	when      expr // may be nil
	body      block
	otherwise block
	usesLoop  bool
}

func (s *forStmt) render(f *frame) error {
	items, err := s.items(f)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return s.otherwise.render(f)
	}
	depth := 1
	if outer, ok := f.scope.get("loop"); ok && s.usesLoop {
		if d, ok := member(outer, "depth"); ok {
			depth = int(d.(int64)) + 1 //nolint:forcetypeassert // made by loopVars
		}
	}
	for i, item := range items {
		if err := f.spend(1); err != nil {
			return s.at.fail(err)
		}
		in := f.inner()
		if err := s.bind(in, item); err != nil {
			return err
		}
		if s.usesLoop {
			in.scope.set("loop", loopVars(items, i, depth))
		}
		if err := s.body.render(in); err != nil {
			return err
		}
	}
	return nil
}

// items returns what the loop goes over, those left out by the condition after if removed.
func (s *forStmt) items(f *frame) ([]any, error) {
	v, err := f.value(s.list)
	if err != nil {
		return nil, err
	}
	all, err := f.iterate(v)
	if err != nil || s.when == nil {
		return all, s.list.place().fail(err)
	}
	var items []any
	for _, item := range all {
		in := f.inner()
		if err := s.bind(in, item); err != nil {
			return nil, err
		}
		ok, err := in.truth(s.when)
		if err != nil {
			return nil, err
		}
		if ok {
			items = append(items, item)
		}
	}
	return items, nil
}

func (s *forStmt) bind(f *frame, item any) error {
	item = plain(item)
	if len(s.names) == 1 {
		f.scope.set(s.names[0], item)
		return nil
	}
	pair, ok := item.([]any)
	if !ok || len(pair) != len(s.names) {
		return s.at.fail(fmt.Errorf("cannot take %d names from %s; for an object write .items()", len(s.names), kindOf(item)))
	}
	for i, n := range s.names {
		f.scope.set(n, plain(pair[i]))
	}
	return nil
}

// iterate returns the items of a list, the keys of an object in order, or the characters of a string.
func (r *run) iterate(v any) ([]any, error) {
	var items []any
	switch x := v.(type) {
	case []any:
		items = x
	case map[string]any:
		items = keys(x)
	case string:
		if err := r.spendBytes(len(x)); err != nil {
			return nil, err
		}
		items = runesOf(x)
	default:
		return nil, fmt.Errorf("cannot loop over %s", kindOf(v))
	}
	return items, r.spend(len(items))
}

func loopVars(items []any, i, depth int) map[string]any {
	n := len(items)
	vars := map[string]any{
		"index": int64(i + 1), "index0": int64(i), "revindex": int64(n - i), "revindex0": int64(n - i - 1),
		"first": i == 0, "last": i == n-1, "length": int64(n), "depth": int64(depth), "depth0": int64(depth - 1),
		"previtem": nil, "nextitem": nil,
	}
	if i > 0 {
		vars["previtem"] = plain(items[i-1])
	}
	if i < n-1 {
		vars["nextitem"] = plain(items[i+1])
	}
	return vars
}

// setStmt is {% set %}.
type setStmt struct {
	at     pos
	name   string
	member string // of a namespace
	value  expr   // nil: the text of body
	body   block
}

func (s *setStmt) render(f *frame) error {
	v, err := s.eval(f)
	if err != nil {
		return err
	}
	if s.member == "" {
		if _, ok := v.(*macro); ok {
			return s.at.fail(errNotPlain)
		}
		if f.scope == nil {
			f.scope = &scope{}
		}
		f.scope.set(s.name, v)
		return nil
	}
	target, _ := f.scope.get(s.name)
	ns, ok := target.(*namespace)
	if !ok {
		return s.at.fail(fmt.Errorf("%s is not a namespace: begin with {%% set %s = namespace() %%}", s.name, s.name))
	}
	if _, ok := v.(*namespace); ok {
		return s.at.fail(errNotPlain)
	}
	ns.members[s.member] = v
	return nil
}

func (s *setStmt) eval(f *frame) (any, error) {
	if s.value != nil {
		return f.value(s.value)
	}
	return f.capture(s.body)
}

// capture returns what b renders.
func (f *frame) capture(b block) (string, error) {
	outer := f.out
	f.out = nil
	err := b.render(f.inner())
	text := string(f.out)
	f.out = outer
	return text, err
}

// withStmt is {% with %}.
type withStmt struct {
	names  []string
	values []expr
	body   block
}

func (s *withStmt) render(f *frame) error {
	in := f.inner()
	for i, n := range s.names {
		v, err := f.value(s.values[i])
		if err != nil {
			return err
		}
		in.scope.set(n, v)
	}
	return s.body.render(in)
}

// macro is {% macro %}: a function that returns text. It is a statement, which binds it, and a value.
type macro struct {
	at       pos
	name     string
	params   []string
	defaults []expr // nil: the parameter must be given
	body     block
}

func (m *macro) render(f *frame) error {
	if f.scope == nil {
		f.scope = &scope{}
	}
	f.scope.set(m.name, m)
	return nil
}

func (m *macro) call(f *frame, args []any, named map[string]any) (any, error) {
	if f.calls++; f.calls > maxCalls {
		return nil, limitf("macros call each other deeper than %d levels", maxCalls)
	}
	defer func() { f.calls-- }()
	if len(args) > len(m.params) {
		return nil, fmt.Errorf("the macro %s takes %d arguments, not %d", m.name, len(m.params), len(args))
	}
	in := f.inner()
	for i, p := range m.params {
		v, ok := named[p]
		delete(named, p)
		switch {
		case i < len(args):
			v = args[i]
		case ok:
		case m.defaults[i] == nil:
			return nil, fmt.Errorf("the macro %s needs the argument %s", m.name, p)
		default:
			var err error
			if v, err = in.plainValue(m.defaults[i]); err != nil {
				return nil, err
			}
		}
		in.scope.set(p, v)
	}
	for n := range named {
		return nil, fmt.Errorf("the macro %s has no parameter %s", m.name, n)
	}
	return in.capture(m.body)
}

// callExpr calls a macro or a function of the dialect.
type callExpr struct {
	at    pos
	name  string
	args  []expr
	named map[string]expr
}

func (e *callExpr) place() pos { return e.at }

func (e *callExpr) eval(f *frame) (any, error) {
	if err := f.spend(1); err != nil {
		return nil, e.at.fail(err)
	}
	args, named, err := f.arguments(e.args, e.named)
	if err != nil {
		return nil, err
	}
	var v any
	if bound, ok := f.scope.get(e.name); ok {
		m, isMacro := bound.(*macro)
		if !isMacro {
			return nil, e.at.fail(fmt.Errorf("%s is %s, not a macro", e.name, kindOf(bound)))
		}
		v, err = m.call(f, args, named)
	} else if fn, ok := functionOf(e.name); ok {
		v, err = fn(f.run, args, named)
	} else {
		err = fmt.Errorf("there is no function or macro %s", e.name)
	}
	return v, e.at.fail(err)
}

func (f *frame) arguments(args []expr, named map[string]expr) ([]any, map[string]any, error) {
	vals := make([]any, len(args))
	for i, a := range args {
		v, err := f.plainValue(a)
		if err != nil {
			return nil, nil, err
		}
		vals[i] = v
	}
	if len(named) == 0 {
		return vals, nil, nil
	}
	byName := make(map[string]any, len(named))
	for n, a := range named {
		v, err := f.plainValue(a)
		if err != nil {
			return nil, nil, err
		}
		byName[n] = v
	}
	return vals, byName, nil
}

type function func(r *run, args []any, named map[string]any) (any, error)

// functionOf finds a function that every template has.
func functionOf(name string) (function, bool) {
	switch name {
	case "range":
		return rangeOf, true
	case "namespace":
		return newNamespace, true
	case "dict":
		return func(_ *run, args []any, named map[string]any) (any, error) {
			if len(args) > 0 {
				return nil, errors.New("dict takes named arguments: dict(a=1)")
			}
			if named == nil {
				named = map[string]any{}
			}
			return named, nil
		}, true
	}
	return nil, false
}

func newNamespace(_ *run, args []any, named map[string]any) (any, error) {
	if len(args) > 0 {
		return nil, errors.New("namespace takes named arguments: namespace(count=0)")
	}
	if named == nil {
		named = map[string]any{}
	}
	return &namespace{members: named}, nil
}

func rangeOf(r *run, args []any, named map[string]any) (any, error) {
	bounds := make([]int64, len(args))
	for i, a := range args {
		n, ok := a.(int64)
		if !ok {
			return nil, fmt.Errorf("range takes integers, not %s", kindOf(a))
		}
		bounds[i] = n
	}
	var lo, hi int64
	step := int64(1)
	switch {
	case len(named) > 0 || len(bounds) == 0 || len(bounds) > 3:
		return nil, errors.New("write range(stop), range(start, stop) or range(start, stop, step)")
	case len(bounds) == 1:
		hi = bounds[0]
	case len(bounds) == 3:
		step = bounds[2]
		fallthrough
	default:
		lo, hi = bounds[0], bounds[1]
	}
	if step == 0 {
		return nil, errors.New("the step of a range is 0")
	}
	// Floats, as the difference of two integers may not fit one; the limit is far below where they are inexact.
	count := (float64(hi) - float64(lo)) / float64(step)
	if count > maxItems {
		return nil, limitf("a range has more than %d items", maxItems)
	}
	out := []any{}
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, i)
		if len(out) > maxItems {
			return nil, limitf("a range has more than %d items", maxItems)
		}
		if next := i + step; (next > i) != (step > 0) {
			break // past the largest integer, or the smallest
		}
	}
	return out, r.spend(len(out))
}
