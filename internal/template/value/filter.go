package value

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// filter makes a value of another one. Errors are noted in the call on the way.
type filter func(c *call) any

// filters has the filters by name. init fills it, as map and methods look filters up in it.
var filters map[string]filter

func init() {
	filters = map[string]filter{
		"lower": mapText(strings.ToLower), "upper": mapText(strings.ToUpper),
		"capitalize": mapText(capitalize), "title": mapText(titleCase),
		"string": mapText(func(s string) string { return s }), "trim": trimFilter, "truncate": truncateFilter,
		"replace": replaceFilter, "indent": indentFilter, "wordcount": wordcountFilter, "lines": linesFilter,
		"split": splitFilter, "tojson": jsonFilter, "json": jsonFilter, "fromjson": fromJSONFilter,
		"urlencode": urlencodeFilter,

		"length": lengthFilter, "count": lengthFilter,
		"join":       joinFilter,
		"first":      func(c *call) any { return c.at(0) },
		"last":       func(c *call) any { return c.at(-1) },
		"list":       func(c *call) any { return c.items() },
		"items":      func(c *call) any { return c.members(pairs) },
		"keys":       func(c *call) any { return c.members(keys) },
		"values":     func(c *call) any { return c.members(values) },
		"dictsort":   func(c *call) any { return c.members(pairs) },
		"reverse":    reverseFilter,
		"sort":       sortFilter,
		"unique":     uniqueFilter,
		"map":        mapFilter,
		"select":     func(c *call) any { return c.choose(false, true) },
		"reject":     func(c *call) any { return c.choose(false, false) },
		"selectattr": func(c *call) any { return c.choose(true, true) },
		"rejectattr": func(c *call) any { return c.choose(true, false) },
		"groupby":    groupFilter,
		"batch":      batchFilter,

		"int": intFilter, "float": floatFilter, "abs": absFilter, "round": roundFilter, "sum": sumFilter,
		"min": func(c *call) any { return c.extreme(-1) },
		"max": func(c *call) any { return c.extreme(1) },
	}
}

// FilterNames returns the names of all filters.
func FilterNames() []string { return slices.Sorted(maps.Keys(filters)) }

// Filter applies the filter of that name. The arguments by name are taken out of named.
func (r *Run) Filter(name string, v any, args []any, named map[string]any) (any, error) {
	fn, ok := filters[name]
	if !ok {
		return nil, fmt.Errorf("there is no filter %q", name)
	}
	c := &call{Run: r, v: v, args: args, named: named}
	out := fn(c)
	c.note(c.leftOver())
	if c.err != nil {
		return nil, fmt.Errorf("filter %s: %w", name, c.err)
	}
	return out, nil
}

// call is one use of a filter: the value and the arguments, which are taken one by one.
type call struct {
	*Run
	v     any
	args  []any
	named map[string]any
	taken int
	err   error // the first one
}

func (c *call) note(err error) {
	if c.err == nil {
		c.err = err
	}
}

// fail notes an error, and is what a filter returns then.
func (c *call) fail(format string, args ...any) any {
	c.note(fmt.Errorf(format, args...))
	return nil
}

// result returns what an operation returned.
func (c *call) result(v any, err error) any {
	c.note(err)
	return v
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

func (c *call) stringArg(name, otherwise string) string {
	v, ok := c.arg(name)
	if !ok {
		return otherwise
	}
	s, ok := v.(string)
	if !ok {
		c.fail("the argument %s is %s, not a string", name, Kind(v))
	}
	return s
}

func (c *call) intArg(name string, otherwise int) int {
	v, ok := c.arg(name)
	if !ok {
		return otherwise
	}
	n, ok := v.(int64)
	if !ok || n < -maxItems*100 || n > maxItems*100 {
		c.fail("the argument %s is not an integer of a sensible size", name)
		return 0
	}
	return int(n)
}

// boolArg reports whether an argument is given and counts as true.
func (c *call) boolArg(name string) bool {
	v, ok := c.arg(name)
	return ok && Truthy(v)
}

// leftOver refuses arguments that the filter did not take.
func (c *call) leftOver() error {
	for _, n := range slices.Sorted(maps.Keys(c.named)) {
		return fmt.Errorf("there is no argument %s", n)
	}
	if len(c.args) > c.taken {
		return fmt.Errorf("it takes at most %d arguments, not %d", c.taken, len(c.args))
	}
	return nil
}

// text returns the value as a text and counts the work on it.
func (c *call) text() string {
	s, err := c.Text(c.v)
	if err == nil {
		err = c.SpendBytes(len(s))
	}
	if err != nil {
		c.note(err)
		return ""
	}
	return s
}

// items returns the value's items, in a slice of the caller's own.
func (c *call) items() []any {
	l, err := c.Iterate(c.v)
	if err != nil {
		c.note(err)
		return nil
	}
	out := slices.Clone(l)
	for i := range out {
		out[i] = Plain(out[i])
	}
	return out
}

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
		out = append(out, []any{k, Plain(m[k])})
	}
	return out
}
