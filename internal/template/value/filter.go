package value

import (
	"maps"
	"slices"
	"strings"
)

// filter makes a value of another one.
type filter func(c *call) any

var filters map[string]filter

func init() {
	filters = map[string]filter{
		"lower": mapText(strings.ToLower), "upper": mapText(strings.ToUpper),
		"capitalize": mapText(capitalize), "title": mapText(titleCase),
		"string": mapText(func(s string) string { return s }), "trim": trimFilter, "truncate": truncateFilter,
		"replace": replaceFilter, "indent": indentFilter, "wordcount": wordcountFilter, "lines": linesFilter,
		"split": func(c *call) any { return split(c.Run, c.text(), c.stringArg("sep", "")) }, "tojson": jsonFilter, "json": jsonFilter, "fromjson": fromJSONFilter,
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
func (r *Run) Filter(name string, v any, args []any, named map[string]any) any {
	fn, ok := filters[name]
	if !ok {
		panic(Failf("there is no filter %q", name))
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case Failure:
			panic(Failf("filter %s: %w", name, p.Err))
		default:
			panic(p)
		}
	}()
	c := &call{Run: r, v: v, args: args, named: named}
	out := fn(c)
	for _, n := range slices.Sorted(maps.Keys(c.named)) {
		panic(Failf("there is no argument %s", n))
	}
	if len(c.args) > c.taken {
		panic(Failf("it takes at most %d arguments, not %d", c.taken, len(c.args)))
	}
	return out
}

type call struct {
	*Run
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

func (c *call) stringArg(name, otherwise string) string {
	v, ok := c.arg(name)
	if !ok {
		return otherwise
	}
	s, ok := v.(string)
	if !ok {
		panic(Failf("the argument %s is %s, not a string", name, Kind(v)))
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
		panic(Failf("the argument %s is not an integer of a sensible size", name))
	}
	return int(n)
}

// boolArg reports whether an argument is given and counts as true.
func (c *call) boolArg(name string) bool {
	v, ok := c.arg(name)
	return ok && Truthy(v)
}

// rest takes all arguments by place that are left.
func (c *call) rest() []any {
	rest := c.args[min(c.taken, len(c.args)):]
	c.taken = len(c.args)
	return rest
}

// text returns the value as a text and counts the work on it.
func (c *call) text() string {
	s := c.Text(c.v)
	c.SpendBytes(len(s))
	return s
}

// items returns the value's items, in a slice of the caller's own.
func (c *call) items() []any {
	out := slices.Clone(c.Iterate(c.v))
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
