package template

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// listFilters are the filters over lists and objects.
func listFilters() map[string]filter {
	return map[string]filter{
		"length": lengthFilter, "count": lengthFilter,
		"join":  joinFilter,
		"first": func(c *call) (any, error) { return c.at(0) },
		"last":  func(c *call) (any, error) { return c.at(-1) },
		"list":  func(c *call) (any, error) { return c.items() },
		"items": func(c *call) (any, error) { return c.members(pairs) },
		"keys":  func(c *call) (any, error) { return c.members(keys) },
		"values": func(c *call) (any, error) {
			return c.members(values)
		},
		"dictsort":   func(c *call) (any, error) { return c.members(pairs) },
		"reverse":    reverseFilter,
		"sort":       sortFilter,
		"unique":     uniqueFilter,
		"map":        mapFilter,
		"select":     func(c *call) (any, error) { return c.choose("", true) },
		"reject":     func(c *call) (any, error) { return c.choose("", false) },
		"selectattr": func(c *call) (any, error) { return c.choose("attribute", true) },
		"rejectattr": func(c *call) (any, error) { return c.choose("attribute", false) },
		"groupby":    groupFilter,
		"batch":      batchFilter,
	}
}

// numberFilters are the filters over numbers.
func numberFilters() map[string]filter {
	return map[string]filter{
		"int": intFilter, "float": floatFilter, "abs": absFilter, "round": roundFilter, "sum": sumFilter,
		"min": func(c *call) (any, error) { return c.extreme(-1) },
		"max": func(c *call) (any, error) { return c.extreme(1) },
	}
}

func lengthFilter(c *call) (any, error) {
	switch x := c.v.(type) {
	case string:
		return int64(utf8.RuneCountInString(x)), c.spendBytes(len(x))
	case []any:
		return int64(len(x)), nil
	case map[string]any:
		return int64(len(x)), nil
	}
	return nil, fmt.Errorf("%s has no length", kindOf(c.v))
}

func joinFilter(c *call) (any, error) {
	sep, err := c.stringArg("d", "")
	if err != nil {
		return nil, err
	}
	items, attribute, err := c.itemsBy()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	for i, x := range items {
		if x, err = c.attribute(x, attribute); err != nil {
			return nil, err
		}
		s, err := c.run.text(x)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
		if b.Len() > c.maxOutput {
			return nil, c.tooLong()
		}
	}
	return b.String(), c.spendBytes(b.Len())
}

// attribute returns a member, at a dotted path, of an item; without a path the item itself.
func (c *call) attribute(x any, path string) (any, error) {
	if path == "" {
		return x, nil
	}
	for _, name := range strings.Split(path, ".") {
		var key any = name
		if i, err := strconv.Atoi(name); err == nil {
			key = int64(i)
		}
		next, ok := member(x, key)
		if !ok {
			return nil, fmt.Errorf("an item has no member %q; %s", name, hintOf(x, key, "it"))
		}
		x = plain(next)
	}
	return x, c.spend(1)
}

func (c *call) at(i int64) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errEmpty
	}
	v, _ := member(items, i)
	return v, nil
}

func (c *call) members(of func(map[string]any) []any) (any, error) {
	m, ok := c.v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", kindOf(c.v))
	}
	return of(m), c.spendItems(len(m))
}

func values(m map[string]any) []any {
	out := pairs(m)
	for i, p := range out {
		out[i] = p.([]any)[1] //nolint:forcetypeassert // made by pairs
	}
	return out
}

func reverseFilter(c *call) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	slices.Reverse(items)
	if _, ok := c.v.(string); ok {
		return joinRunes(items), nil
	}
	return items, nil
}

func sortFilter(c *call) (any, error) {
	descending, caseMatters := c.boolArg("reverse"), c.boolArg("case_sensitive")
	items, attribute, err := c.itemsBy()
	if err != nil {
		return nil, err
	}
	return c.sorted(items, attribute, descending, caseMatters)
}

func (c *call) sorted(items []any, attribute string, descending, caseMatters bool) ([]any, error) {
	type keyed struct{ key, item any }
	list := make([]keyed, len(items))
	for i, x := range items {
		key, err := c.attribute(x, attribute)
		if err != nil {
			return nil, err
		}
		if s, ok := key.(string); ok && !caseMatters {
			key = strings.ToLower(s)
		}
		list[i] = keyed{key, x}
	}
	var failed error
	slices.SortStableFunc(list, func(a, b keyed) int {
		n, err := c.compare(a.key, b.key)
		if failed == nil { // the first one tells; a sort would collect thousands
			failed = err
		}
		if descending {
			return -n
		}
		return n
	})
	for i, k := range list {
		items[i] = k.item
	}
	return items, failed
}

func uniqueFilter(c *call) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	out := []any{}
	seen := map[string]bool{}
	for _, x := range items {
		key, err := c.json(x, "")
		if err != nil {
			return nil, err
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, x)
		}
	}
	return out, nil
}

// mapFilter takes a member of each item, or puts each through a filter: map("upper").
func mapFilter(c *call) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	attribute, byAttribute := c.named["attribute"]
	instead, hasDefault := c.named["default"]
	delete(c.named, "attribute")
	delete(c.named, "default")
	path, _ := attribute.(string)
	name, rest := "", c.args
	if !byAttribute {
		if name, err = c.stringArg("filter", ""); err != nil || name == "" || name == "map" {
			return nil, errors.Join(err, errors.New(`write map("filter") or map(attribute="name")`))
		}
		rest = c.args[1:]
		c.taken = len(c.args)
	}
	fn, known := filterOf(name)
	if !byAttribute && !known {
		return nil, fmt.Errorf("there is no filter %q", name)
	}
	for i, x := range items {
		switch {
		case byAttribute:
			v, err := c.attribute(x, path)
			if err != nil && hasDefault && !errors.Is(err, ErrLimit) {
				v, err = instead, nil
			}
			if err != nil {
				return nil, err
			}
			items[i] = v
		default:
			if items[i], err = fn.apply(c.run, name, x, rest, nil); err != nil {
				return nil, err
			}
		}
	}
	return items, nil
}

// choose keeps the items that pass a test, or those that do not. Without a test: those that are not empty.
func (c *call) choose(attribute string, want bool) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	path := ""
	if attribute != "" {
		if path, err = c.stringArg(attribute, ""); err != nil || path == "" {
			return nil, errors.Join(err, errors.New("the name of the member is missing"))
		}
	}
	test, err := c.stringArg("test", "")
	if err != nil {
		return nil, err
	}
	args := c.args[min(c.taken, len(c.args)):]
	c.taken = len(c.args)
	out := []any{}
	for _, x := range items {
		ok, err := c.passes(x, path, test, args)
		if err != nil {
			return nil, err
		}
		if ok == want {
			out = append(out, x)
		}
	}
	return out, nil
}

func (c *call) passes(x any, path, test string, args []any) (bool, error) {
	v, err := c.attribute(x, path)
	if test == "defined" || test == "undefined" {
		return (err == nil) == (test == "defined"), nil
	}
	if err != nil || test == "" {
		return truthy(v), err
	}
	op, ok := map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[test]
	if ok {
		test = op
	}
	n, ok := testArgs(test)
	if !ok || n != len(args) {
		return false, fmt.Errorf("there is no test %s with %d arguments", test, len(args))
	}
	return c.test(test, v, args)
}

// groupFilter groups items by a member: a list of [value, items], in the order of the values.
func groupFilter(c *call) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	path, err := c.stringArg("attribute", "")
	if err != nil || path == "" {
		return nil, errors.Join(err, errors.New("the name of the member is missing"))
	}
	if items, err = c.sorted(items, path, false, true); err != nil {
		return nil, err
	}
	out := []any{}
	for _, x := range items {
		key, err := c.attribute(x, path)
		if err != nil {
			return nil, err
		}
		if len(out) > 0 {
			last := out[len(out)-1].([]any) //nolint:forcetypeassert // made below
			if eq, err := c.equal(last[0], key); err != nil || eq {
				last[1] = append(last[1].([]any), x) //nolint:forcetypeassert // made below
				continue
			}
		}
		out = append(out, []any{key, []any{x}})
	}
	return out, nil
}

func batchFilter(c *call) (any, error) {
	items, err := c.items()
	if err != nil {
		return nil, err
	}
	n, err := c.intArg("linecount", 0)
	if err != nil || n < 1 {
		return nil, errors.Join(err, errors.New("the size of a batch is not a positive integer"))
	}
	out := []any{}
	for chunk := range slices.Chunk(items, n) {
		out = append(out, chunk)
	}
	return out, nil
}

func intFilter(c *call) (any, error) {
	otherwise, has := c.arg("default")
	switch x := c.v.(type) {
	case int64, json.Number:
		return x, nil
	case bool:
		return map[bool]int64{true: 1}[x], nil
	case float64:
		if math.Abs(x) < 1<<63 {
			return int64(x), nil
		}
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(x), 10, 64); err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(x), 64); err == nil && math.Abs(f) < 1<<63 {
			return int64(f), nil
		}
	}
	if has {
		return otherwise, nil
	}
	return nil, fmt.Errorf("%s is not an integer; give a default: int(0)", shown(c.v))
}

func floatFilter(c *call) (any, error) {
	otherwise, has := c.arg("default")
	if f, ok := toFloat(c.v); ok {
		return f, nil
	}
	if s, ok := c.v.(string); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && finite(f) != nil {
			return f, nil
		}
	}
	if has {
		return otherwise, nil
	}
	return nil, fmt.Errorf("%s is not a number; give a default: float(0)", shown(c.v))
}

// shown names a value in an error: short strings by their text.
func shown(v any) string {
	if s, ok := v.(string); ok && len(s) <= 40 {
		return strconv.Quote(s)
	}
	return kindOf(v)
}

func absFilter(c *call) (any, error) {
	switch x := c.v.(type) {
	case int64:
		if x == math.MinInt64 {
			return -float64(x), nil
		}
		return max(x, -x), nil
	case float64:
		return math.Abs(x), nil
	}
	return nil, fmt.Errorf("%s is not a number", kindOf(c.v))
}

func roundFilter(c *call) (any, error) {
	precision, err := c.intArg("precision", 0)
	if err != nil {
		return nil, err
	}
	method, err := c.stringArg("method", "common")
	if err != nil {
		return nil, err
	}
	x, ok := toFloat(c.v)
	if !ok {
		return nil, fmt.Errorf("%s is not a number", kindOf(c.v))
	}
	rounders := map[string]func(float64) float64{"common": math.Round, "floor": math.Floor, "ceil": math.Ceil}
	fn, ok := rounders[method]
	if !ok {
		return nil, fmt.Errorf("there is no method %q: write common, floor or ceil", method)
	}
	if precision < -15 || precision > 15 {
		return nil, errors.New("the precision is not between -15 and 15")
	}
	scale := math.Pow(10, float64(precision))
	rounded := fn(x*scale) / scale
	if finite(rounded) == nil {
		return x, nil
	}
	return rounded, nil
}

func sumFilter(c *call) (any, error) {
	items, path, err := c.itemsBy()
	if err != nil {
		return nil, err
	}
	var total any = int64(0)
	for _, x := range items {
		v, err := c.attribute(x, path)
		if err != nil {
			return nil, err
		}
		if total, err = arithmetic("+", total, v); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// extreme returns the least item (sign -1) or the greatest one.
func (c *call) extreme(sign int) (any, error) {
	items, path, err := c.itemsBy()
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errEmpty
	}
	var best, bestKey any
	for i, x := range items {
		key, err := c.attribute(x, path)
		if err != nil {
			return nil, err
		}
		n := sign
		if i > 0 {
			if n, err = c.compare(key, bestKey); err != nil {
				return nil, err
			}
		}
		if n == sign || i == 0 {
			best, bestKey = x, key
		}
	}
	return best, nil
}
