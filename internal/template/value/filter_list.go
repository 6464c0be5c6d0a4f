package value

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func lengthFilter(c *call) any {
	switch x := c.v.(type) {
	case string:
		c.SpendBytes(len(x))
		return int64(utf8.RuneCountInString(x))
	case []any:
		return int64(len(x))
	case map[string]any:
		return int64(len(x))
	}
	panic(Failf("%s has no length", Kind(c.v)))
}

func joinFilter(c *call) any {
	sep, attribute := c.stringArg("d", ""), c.stringArg("attribute", "")
	var b strings.Builder
	for i, x := range c.items() {
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(c.Text(c.attribute(x, attribute)))
		if b.Len() > maxOutput {
			panic(tooLong())
		}
	}
	c.SpendBytes(b.Len())
	return b.String()
}

// attribute returns a member, at a dotted path, of an item; without a path the item itself.
func (c *call) attribute(x any, path string) any {
	v, missing := c.memberAt(x, path)
	if missing != nil {
		panic(*missing)
	}
	return v
}

// memberAt is attribute that returns the failure when there is no such member.
func (c *call) memberAt(x any, path string) (v any, missing *Failure) {
	if path == "" {
		return x, nil
	}
	for name := range strings.SplitSeq(path, ".") {
		var key any = name
		if i, err := strconv.Atoi(name); err == nil {
			key = int64(i)
		}
		next, ok := Member(x, key)
		if !ok {
			f := Failf("an item has no member %q; %s", name, HintFor(x, key, "it"))
			return nil, &f
		}
		x = Plain(next)
	}
	c.Spend(1)
	return x, nil
}

func (c *call) at(i int64) any {
	items := c.items()
	if len(items) == 0 {
		panic(Failf(emptyList))
	}
	v, _ := Member(items, i)
	return v
}

const emptyList = "the list is empty"

func (c *call) members(of func(map[string]any) []any) any {
	m, ok := c.v.(map[string]any)
	if !ok {
		panic(Failf("%s is not an object", Kind(c.v)))
	}
	c.SpendItems(len(m))
	return of(m)
}

func values(m map[string]any) []any {
	out := pairs(m)
	for i, p := range out {
		out[i] = p.([]any)[1] //nolint:forcetypeassert // made by pairs
	}
	return out
}

func reverseFilter(c *call) any {
	items := c.items()
	slices.Reverse(items)
	if _, ok := c.v.(string); ok {
		return joinRunes(items)
	}
	return items
}

func sortFilter(c *call) any {
	descending, caseMatters, path := c.boolArg("reverse"), c.boolArg("case_sensitive"), c.stringArg("attribute", "")
	return c.sorted(c.items(), path, descending, caseMatters)
}

func (c *call) sorted(items []any, path string, descending, caseMatters bool) []any {
	type keyed struct{ key, item any }
	list := make([]keyed, len(items))
	for i, x := range items {
		key := c.attribute(x, path)
		if s, ok := key.(string); ok && !caseMatters {
			key = strings.ToLower(s)
		}
		list[i] = keyed{key, x}
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		n := c.compare(a.key, b.key)
		if descending {
			return -n
		}
		return n
	})
	for i, k := range list {
		items[i] = k.item
	}
	return items
}

func uniqueFilter(c *call) any {
	out := []any{}
	seen := map[string]bool{}
	for _, x := range c.items() {
		if key := c.JSON(x, ""); !seen[key] {
			seen[key] = true
			out = append(out, x)
		}
	}
	return out
}

// mapFilter takes a member of each item, or puts each through a filter: map("upper").
func mapFilter(c *call) any {
	items := c.items()
	attribute, byAttribute := c.named["attribute"]
	instead, hasDefault := c.named["default"]
	delete(c.named, "attribute")
	delete(c.named, "default")
	path, _ := attribute.(string)
	if byAttribute {
		for i, x := range items {
			v, missing := c.memberAt(x, path)
			switch {
			case missing == nil:
				items[i] = v
			case hasDefault:
				items[i] = instead
			default:
				panic(*missing)
			}
		}
		return items
	}
	name := c.stringArg("filter", "")
	if name == "" || name == "map" {
		panic(Failf(`write map("filter") or map(attribute="name")`))
	}
	if filters[name] == nil {
		panic(Failf("there is no filter %q", name))
	}
	rest := c.rest()
	for i, x := range items {
		items[i] = c.Filter(name, x, rest, nil)
	}
	return items
}

// choose keeps the items that pass a test, or do not. Without a test: those that are not empty.
func (c *call) choose(byAttribute, want bool) any {
	items, path := c.items(), ""
	if byAttribute {
		if path = c.stringArg("attribute", ""); path == "" {
			panic(Failf("the name of the member is missing"))
		}
	}
	test, args := c.stringArg("test", ""), c.rest()
	return slices.DeleteFunc(items, func(x any) bool { return c.passes(x, path, test, args) != want })
}

func (c *call) passes(x any, path, test string, args []any) bool {
	if test == "defined" || test == "undefined" {
		_, missing := c.memberAt(x, path)
		return (missing == nil) == (test == "defined")
	}
	v := c.attribute(x, path)
	if test == "" {
		return Truthy(v)
	}
	if op, ok := map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[test]; ok {
		test = op
	}
	if t, ok := tests[test]; !ok || t.args != len(args) {
		panic(Failf("there is no test %s with %d arguments", test, len(args)))
	}
	return c.Test(test, v, args)
}

// groupFilter groups items by a member: a list of [value, items], in the order of the values.
func groupFilter(c *call) any {
	items, path := c.items(), c.stringArg("attribute", "")
	if path == "" {
		panic(Failf("the name of the member is missing"))
	}
	out := []any{}
	for _, x := range c.sorted(items, path, false, true) {
		key := c.attribute(x, path)
		if len(out) > 0 {
			last := out[len(out)-1].([]any) //nolint:forcetypeassert // made below
			if c.equal(last[0], key) {
				last[1] = append(last[1].([]any), x) //nolint:forcetypeassert // made below
				continue
			}
		}
		out = append(out, []any{key, []any{x}})
	}
	return out
}

func batchFilter(c *call) any {
	items, n := c.items(), c.intArg("linecount", 0)
	if n < 1 {
		panic(Failf("the size of a batch is not a positive integer"))
	}
	out := []any{}
	for chunk := range slices.Chunk(items, n) {
		out = append(out, chunk)
	}
	return out
}
