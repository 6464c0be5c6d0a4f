package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// expr is an expression. eval may return an *undefined; whoever uses the value forces it ([frame.force]).
type expr interface {
	eval(f *frame) (any, error)
	place() pos
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

// value evaluates e to a value that is there.
func (f *frame) value(e expr) (any, error) {
	v, err := e.eval(f)
	if err != nil {
		return nil, err
	}
	return f.force(v)
}

// plainValue evaluates e to a value of JSON.
func (f *frame) plainValue(e expr) (any, error) {
	v, err := f.value(e)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case *macro, *namespace:
		return nil, e.place().fail(errNotPlain)
	}
	return v, nil
}

func (f *frame) truth(e expr) (bool, error) {
	v, err := f.value(e)
	return truthy(v), err
}

// force turns an undefined into what it means when it is used: an error, or an empty text with a warning.
func (f *frame) force(v any) (any, error) {
	u, ok := v.(*undefined)
	if !ok {
		return v, nil
	}
	if !u.soft {
		return nil, &MissingError{Line: u.at.line, Col: u.at.col, Name: u.name, Hint: u.hint}
	}
	w := withHint(fmt.Sprintf("%s is missing and rendered as empty", u.name), u.hint)
	if !slices.Contains(f.warnings, w) && len(f.warnings) < maxWarnings {
		f.warnings = append(f.warnings, w)
	}
	return "", nil
}

// maxWarnings bounds the different warnings of one rendering.
const maxWarnings = 100

// literal is a constant.
type literal struct {
	at pos
	v  any
}

func (e literal) place() pos               { return e.at }
func (e literal) eval(*frame) (any, error) { return e.v, nil }

// lookup is a name with the members and items taken of it: input.a["b"][0].
type lookup struct {
	at    pos
	root  string
	base  expr // instead of root: the value of any other expression
	steps []step
}

// step takes one member or item.
type step struct {
	at    pos
	key   string // of a member
	index expr   // of an item, instead of key
}

func (e *lookup) place() pos { return e.at }

func (e *lookup) eval(f *frame) (any, error) {
	if err := f.spend(1 + len(e.steps)); err != nil {
		return nil, e.at.fail(err)
	}
	v, soft, err := e.start(f)
	if err != nil {
		return nil, err
	}
	for i, s := range e.steps {
		if _, ok := v.(*undefined); ok {
			return v, nil
		}
		key, err := s.eval(f)
		if err != nil {
			return nil, err
		}
		next, ok := member(v, key)
		if !ok {
			path := e.path(f, i)
			return &undefined{at: e.at, name: path + keyText(key), hint: hintOf(v, key, path), soft: soft}, nil
		}
		v = plain(next)
	}
	return v, nil
}

// start returns the value that the steps begin at, and whether its missing entries are only warned about.
func (e *lookup) start(f *frame) (v any, soft bool, err error) {
	if e.base != nil {
		v, err = e.base.eval(f)
		return v, false, err
	}
	if v, ok := f.scope.get(e.root); ok {
		return v, false, nil
	}
	if v, ok := f.vars[e.root]; ok {
		return plain(v), e.root == "state" || e.root == "outputs", nil
	}
	return &undefined{at: e.at, name: e.root, hint: guess(e.root, "", f.names())}, false, nil
}

func (f *frame) names() []string {
	names := slices.Collect(maps.Keys(f.vars))
	for s := f.scope; s != nil; s = s.parent {
		names = append(names, s.names...)
	}
	return names
}

func (s step) eval(f *frame) (any, error) {
	if s.index == nil {
		return s.key, nil
	}
	return f.plainValue(s.index)
}

// path writes the lookup up to the nth step, for messages.
func (e *lookup) path(f *frame, n int) string {
	p := e.root
	if e.base != nil {
		p = "(expression)"
	}
	for _, s := range e.steps[:n] {
		key, err := s.eval(f)
		if err != nil {
			return p + "[...]"
		}
		p += keyText(key)
	}
	return p
}

func keyText(key any) string {
	switch k := key.(type) {
	case string:
		if identifier(k) == k && k != "" {
			return "." + k
		}
		return fmt.Sprintf("[%q]", k)
	case int64:
		return "[" + strconv.FormatInt(k, 10) + "]"
	default:
		return fmt.Sprintf("[%v]", k)
	}
}

func hintOf(v, key any, path string) string {
	switch x := v.(type) {
	case map[string]any:
		if k, ok := key.(string); ok {
			return guess(k, path+".", slices.Collect(maps.Keys(x)))
		}
	case *namespace:
		return hintOf(x.members, key, path)
	case []any:
		return fmt.Sprintf("%s is a list of %d", path, len(x))
	}
	return fmt.Sprintf("%s is %s", path, kindOf(v))
}

// member returns one member of an object, item of a list, or character of a string.
func member(v, key any) (any, bool) {
	switch x := v.(type) {
	case map[string]any:
		k, ok := key.(string)
		if !ok {
			return nil, false
		}
		m, ok := x[k]
		return m, ok
	case *namespace:
		return member(x.members, key)
	case []any:
		i, ok := index(key, len(x))
		if !ok {
			return nil, false
		}
		return x[i], true
	case string:
		runes := []rune(x)
		i, ok := index(key, len(runes))
		if !ok {
			return nil, false
		}
		return string(runes[i]), true
	}
	return nil, false
}

func index(key any, n int) (int, bool) {
	i, ok := key.(int64)
	if !ok {
		return 0, false
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

// listExpr is [a, b].
type listExpr struct {
	at    pos
	items []expr
}

func (e *listExpr) place() pos { return e.at }

func (e *listExpr) eval(f *frame) (any, error) {
	if err := f.spendItems(len(e.items)); err != nil {
		return nil, e.at.fail(err)
	}
	l := make([]any, len(e.items))
	for i, x := range e.items {
		v, err := f.plainValue(x)
		if err != nil {
			return nil, err
		}
		l[i] = v
	}
	return l, nil
}

// dictExpr is {"a": b}.
type dictExpr struct {
	at   pos
	keys []expr
	vals []expr
}

func (e *dictExpr) place() pos { return e.at }

func (e *dictExpr) eval(f *frame) (any, error) {
	if err := f.spendItems(len(e.keys)); err != nil {
		return nil, e.at.fail(err)
	}
	m := make(map[string]any, len(e.keys))
	for i, k := range e.keys {
		key, err := f.plainValue(k)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, k.place().fail(fmt.Errorf("the key of an object is %s, not a string", kindOf(key)))
		}
		if m[name], err = f.plainValue(e.vals[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// sliceExpr is x[from:to:by].
type sliceExpr struct {
	at           pos
	x            expr
	from, to, by expr // nil: not given
}

func (e *sliceExpr) place() pos { return e.at }

func (e *sliceExpr) eval(f *frame) (any, error) {
	v, err := f.value(e.x)
	if err != nil {
		return nil, err
	}
	var items []any
	s, isText := v.(string)
	if isText {
		if err := f.spendBytes(len(s)); err != nil {
			return nil, e.at.fail(err)
		}
		items = runesOf(s)
	} else if l, ok := v.([]any); ok {
		items = l
	} else {
		return nil, e.at.fail(fmt.Errorf("cannot take a slice of %s", kindOf(v)))
	}
	if err := f.spend(len(items)); err != nil {
		return nil, e.at.fail(err)
	}
	bounds := [3]*int64{}
	for i, x := range []expr{e.from, e.to, e.by} {
		if bounds[i], err = f.optionalInt(x); err != nil {
			return nil, err
		}
	}
	out, err := slice(items, bounds[0], bounds[1], bounds[2])
	if err != nil {
		return nil, e.at.fail(err)
	}
	if isText {
		return joinRunes(out), nil
	}
	return out, nil
}

func (f *frame) optionalInt(e expr) (*int64, error) {
	if e == nil {
		return nil, nil //nolint:nilnil // no bound is a valid bound
	}
	v, err := f.value(e)
	if err != nil {
		return nil, err
	}
	i, ok := v.(int64)
	if !ok {
		return nil, e.place().fail(fmt.Errorf("the bound of a slice is %s, not an integer", kindOf(v)))
	}
	return &i, nil
}

// slice takes items as Python does.
func slice(items []any, from, to, by *int64) ([]any, error) {
	n, step := int64(len(items)), int64(1)
	if by != nil {
		step = *by
	}
	if step == 0 {
		return nil, fmt.Errorf("the step of a slice is 0")
	}
	lo, hi := int64(0), n
	if step < 0 {
		lo, hi = n-1, -1
	}
	clamp := func(i int64) int64 {
		if i < 0 {
			i += n
		}
		if step < 0 {
			return min(max(i, -1), n-1)
		}
		return min(max(i, 0), n)
	}
	if from != nil {
		lo = clamp(*from)
	}
	if to != nil {
		hi = clamp(*to)
	}
	out := []any{}
	// A step beyond the length takes one item; bounding it keeps the sum below from overflowing.
	step = min(max(step, -n-1), n+1)
	for i := lo; step > 0 && i < hi || step < 0 && i > hi; i += step {
		out = append(out, items[i])
	}
	return out, nil
}

func runesOf(s string) []any {
	out := make([]any, 0, len(s))
	for _, r := range s {
		out = append(out, string(r))
	}
	return out
}

func joinRunes(items []any) string {
	var b []byte
	for _, x := range items {
		b = append(b, x.(string)...) //nolint:forcetypeassert // made by runesOf
	}
	return string(b)
}

// choice is a if b else c.
type choice struct {
	at           pos
	when         expr
	then, orElse expr // orElse may be nil: empty
}

func (e *choice) place() pos { return e.at }

func (e *choice) eval(f *frame) (any, error) {
	ok, err := f.truth(e.when)
	switch {
	case err != nil:
		return nil, err
	case ok:
		return e.then.eval(f)
	case e.orElse != nil:
		return e.orElse.eval(f)
	}
	return "", nil
}

// notExpr is not a.
type notExpr struct {
	at pos
	x  expr
}

func (e *notExpr) place() pos { return e.at }

func (e *notExpr) eval(f *frame) (any, error) {
	ok, err := f.truth(e.x)
	return !ok, err
}

// negExpr is -a or +a.
type negExpr struct {
	at  pos
	x   expr
	neg bool
}

func (e *negExpr) place() pos { return e.at }

func (e *negExpr) eval(f *frame) (any, error) {
	v, err := f.value(e.x)
	if err != nil {
		return nil, err
	}
	switch n := v.(type) {
	case int64:
		if e.neg {
			return -n, nil
		}
		return n, nil
	case float64:
		if e.neg {
			return -n, nil
		}
		return n, nil
	case json.Number:
		return n, nil
	}
	return nil, e.at.fail(fmt.Errorf("cannot put a sign before %s", kindOf(v)))
}
