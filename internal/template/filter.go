package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// filterExpr is a | filter(...).
type filterExpr struct {
	at    pos
	x     expr
	name  string
	fn    filter
	args  []expr
	named map[string]expr
}

func (e *filterExpr) place() pos { return e.at }

func (e *filterExpr) eval(f *frame) (any, error) {
	if err := f.spend(1); err != nil {
		return nil, e.at.fail(err)
	}
	v, err := f.plainValue(e.x)
	if err != nil {
		return nil, err
	}
	args, named, err := f.arguments(e.args, e.named)
	if err != nil {
		return nil, err
	}
	out, err := e.fn.apply(f.run, e.name, v, args, named)
	return out, e.at.fail(err)
}

func applyFilter(r *run, name string, v any, args []any) (any, error) {
	fn, ok := filterOf(name)
	if !ok {
		return nil, fmt.Errorf("there is no filter %s", name)
	}
	return fn.apply(r, name, v, args, nil)
}

func (fn filter) apply(r *run, name string, v any, args []any, named map[string]any) (any, error) {
	c := &call{run: r, v: v, args: args, named: named}
	out, err := fn(c)
	if err == nil {
		err = c.leftOver()
	}
	if err != nil {
		return nil, fmt.Errorf("filter %s: %w", name, err)
	}
	return out, nil
}

// defaultExpr is a | default(b): the one filter that is shown a variable that is missing.
type defaultExpr struct {
	at      pos
	x       expr
	instead expr
	falsy   expr // also instead of empty values; may be nil
}

func newDefault(at pos, x expr, args []expr, named map[string]expr) (expr, error) {
	e := &defaultExpr{at: at, x: x, instead: literal{at, ""}}
	if v, ok := named["default_value"]; ok {
		args = append([]expr{v}, args...)
	}
	if v, ok := named["boolean"]; ok {
		e.falsy = v
	}
	for n := range named {
		if n != "default_value" && n != "boolean" {
			return nil, at.syntax("the filter default has no argument %s", n)
		}
	}
	if len(args) > 2 {
		return nil, at.syntax("the filter default takes at most 2 arguments")
	}
	if len(args) > 0 {
		e.instead = args[0]
	}
	if len(args) > 1 {
		e.falsy = args[1]
	}
	return e, nil
}

func (e *defaultExpr) place() pos { return e.at }

func (e *defaultExpr) eval(f *frame) (any, error) {
	if err := f.spend(1); err != nil {
		return nil, e.at.fail(err)
	}
	v, err := e.x.eval(f)
	if err != nil {
		return nil, err
	}
	if _, missing := v.(*undefined); missing {
		return e.instead.eval(f)
	}
	if e.falsy == nil || truthy(v) {
		return v, nil
	}
	too, err := f.truth(e.falsy)
	if err != nil || !too {
		return v, err
	}
	return e.instead.eval(f)
}

// call is one use of a filter: the value and the arguments, which are taken one by one.
type call struct {
	*run
	v     any
	args  []any
	named map[string]any
	taken int
}

// arg takes the next argument, by place or by name.
func (c *call) arg(name string) (any, bool) {
	i := c.taken
	c.taken++
	if v, ok := c.named[name]; ok {
		delete(c.named, name)
		return v, true
	}
	if i < len(c.args) {
		return c.args[i], true
	}
	return nil, false
}

func (c *call) stringArg(name, otherwise string) (string, error) {
	v, ok := c.arg(name)
	if !ok {
		return otherwise, nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("the argument %s is %s, not a string", name, kindOf(v))
	}
	return s, nil
}

func (c *call) intArg(name string, otherwise int) (int, error) {
	v, ok := c.arg(name)
	if !ok {
		return otherwise, nil
	}
	n, ok := v.(int64)
	if !ok || n < -maxItems*100 || n > maxItems*100 {
		return 0, fmt.Errorf("the argument %s is not an integer of a sensible size", name)
	}
	return int(n), nil
}

// boolArg reports whether an argument is given and counts as true.
func (c *call) boolArg(name string) bool {
	v, ok := c.arg(name)
	return ok && truthy(v)
}

// leftOver refuses arguments that the filter did not take.
func (c *call) leftOver() error {
	for n := range c.named {
		return fmt.Errorf("there is no argument %s", n)
	}
	if len(c.args) > c.taken {
		return fmt.Errorf("it takes at most %d arguments, not %d", c.taken, len(c.args))
	}
	return nil
}

// text returns the value as a text and counts the work on it.
func (c *call) text() (string, error) {
	s, err := c.run.text(c.v)
	if err != nil {
		return "", err
	}
	return s, c.spendBytes(len(s))
}

// itemsBy returns the value's items and the argument that names a member of theirs.
func (c *call) itemsBy() (items []any, path string, err error) {
	if path, err = c.stringArg("attribute", ""); err != nil {
		return nil, "", err
	}
	items, err = c.items()
	return items, path, err
}

// items returns the value's items, in a slice of the caller's own.
func (c *call) items() ([]any, error) {
	l, err := c.iterate(c.v)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(l)
	for i := range out {
		out[i] = plain(out[i])
	}
	return out, nil
}

type filter func(c *call) (any, error)

func filterOf(name string) (filter, bool) {
	for _, table := range []map[string]filter{textFilters(), listFilters(), numberFilters()} {
		if f, ok := table[name]; ok {
			return f, true
		}
	}
	return nil, false
}

func filterNames() []string {
	names := []string{"default", "raw"}
	names = append(names, namesOf(textFilters())...)
	names = append(names, namesOf(listFilters())...)
	return append(names, namesOf(numberFilters())...)
}

func namesOf[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// keys returns the keys of an object, sorted, as JSON objects have no order.
func keys(m map[string]any) []any {
	out := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k)
	}
	return out
}

func pairs(m map[string]any) []any {
	out := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, []any{k, plain(m[k])})
	}
	return out
}

var errEmpty = errors.New("the list is empty")
