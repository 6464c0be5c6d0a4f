package value

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func lengthFilter(c *call) any {
	switch x := c.v.(type) {
	case string:
		return c.result(int64(utf8.RuneCountInString(x)), c.SpendBytes(len(x)))
	case []any:
		return int64(len(x))
	case map[string]any:
		return int64(len(x))
	}
	return c.fail("%s has no length", Kind(c.v))
}

func joinFilter(c *call) any {
	sep, attribute := c.stringArg("d", ""), c.stringArg("attribute", "")
	var b strings.Builder
	for i, x := range c.items() {
		s, err := c.Text(c.attribute(x, attribute))
		if i > 0 {
			b.WriteString(sep)
		}
		b.WriteString(s)
		if c.note(err); b.Len() > c.MaxOutput {
			c.note(c.tooLong())
		}
		if c.err != nil {
			return nil
		}
	}
	return c.result(b.String(), c.SpendBytes(b.Len()))
}

// attribute returns a member, at a dotted path, of an item; without a path the item itself.
func (c *call) attribute(x any, path string) any {
	v, err := c.memberAt(x, path)
	return c.result(v, err)
}

func (c *call) memberAt(x any, path string) (any, error) {
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
			return nil, fmt.Errorf("an item has no member %q; %s", name, HintFor(x, key, "it"))
		}
		x = Plain(next)
	}
	return x, c.Spend(1)
}

func (c *call) at(i int64) any {
	items := c.items()
	if len(items) == 0 {
		return c.fail(emptyList)
	}
	v, _ := Member(items, i)
	return v
}

const emptyList = "the list is empty"

func (c *call) members(of func(map[string]any) []any) any {
	m, ok := c.v.(map[string]any)
	if !ok {
		return c.fail("%s is not an object", Kind(c.v))
	}
	return c.result(of(m), c.SpendItems(len(m)))
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
	if c.err != nil {
		return nil
	}
	slices.SortStableFunc(list, func(a, b keyed) int {
		n, err := c.compare(a.key, b.key)
		c.note(err)
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
		key, err := c.JSON(x, "")
		if c.note(err); err != nil {
			return nil
		}
		if !seen[key] {
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
	name, rest := "", c.args
	if !byAttribute {
		if name = c.stringArg("filter", ""); name == "" || name == "map" {
			return c.fail(`write map("filter") or map(attribute="name")`)
		}
		if filters[name] == nil {
			return c.fail("there is no filter %q", name)
		}
		rest = c.args[min(1, len(c.args)):]
		c.taken = len(c.args)
	}
	for i, x := range items {
		var err error
		if byAttribute {
			items[i], err = c.memberAt(x, path)
		} else {
			items[i], err = c.Filter(name, x, rest, nil)
		}
		if err != nil && byAttribute && hasDefault && !errors.Is(err, ErrLimit) {
			items[i], err = instead, nil
		}
		if c.note(err); err != nil {
			return nil
		}
	}
	return items
}

// choose keeps the items that pass a test, or do not. Without a test: those that are not empty.
func (c *call) choose(byAttribute, want bool) any {
	items, path := c.items(), ""
	if byAttribute {
		if path = c.stringArg("attribute", ""); path == "" {
			return c.fail("the name of the member is missing")
		}
	}
	test := c.stringArg("test", "")
	args := c.args[min(c.taken, len(c.args)):]
	c.taken = len(c.args)
	out := []any{}
	for _, x := range items {
		ok, err := c.passes(x, path, test, args)
		if c.note(err); err != nil {
			return nil
		}
		if ok == want {
			out = append(out, x)
		}
	}
	return out
}

func (c *call) passes(x any, path, test string, args []any) (bool, error) {
	v, err := c.memberAt(x, path)
	if test == "defined" || test == "undefined" {
		return (err == nil) == (test == "defined"), nil
	}
	if err != nil || test == "" {
		return Truthy(v), err
	}
	if op, ok := map[string]string{"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}[test]; ok {
		test = op
	}
	if t, ok := tests[test]; !ok || t.args != len(args) {
		return false, fmt.Errorf("there is no test %s with %d arguments", test, len(args))
	}
	return c.Test(test, v, args)
}

// groupFilter groups items by a member: a list of [value, items], in the order of the values.
func groupFilter(c *call) any {
	items, path := c.items(), c.stringArg("attribute", "")
	if path == "" {
		return c.fail("the name of the member is missing")
	}
	out := []any{}
	for _, x := range c.sorted(items, path, false, true) {
		key := c.attribute(x, path)
		if len(out) > 0 {
			last := out[len(out)-1].([]any) //nolint:forcetypeassert // made below
			if eq, err := c.equal(last[0], key); err != nil || eq {
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
		return c.fail("the size of a batch is not a positive integer")
	}
	out := []any{}
	for chunk := range slices.Chunk(items, n) {
		out = append(out, chunk)
	}
	return out
}
