package value

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// methods says how many arguments each method takes at least and at most.
var methods = map[string][2]int{
	"items": {0, 0}, "keys": {0, 0}, "values": {0, 0}, "get": {1, 2},
	"lower": {0, 0}, "upper": {0, 0}, "title": {0, 0}, "capitalize": {0, 0},
	"strip": {0, 1}, "lstrip": {0, 1}, "rstrip": {0, 1}, "split": {0, 1}, "splitlines": {0, 0},
	"startswith": {1, 1}, "endswith": {1, 1}, "replace": {2, 2}, "join": {1, 1},
}

// MethodNames returns the names of all methods.
func MethodNames() []string { return slices.Sorted(maps.Keys(methods)) }

// Method calls one of the few methods of strings and objects that templates use.
func (r *Run) Method(v any, name string, args []any) (any, error) {
	if n := methods[name]; len(args) < n[0] || len(args) > n[1] {
		return nil, fmt.Errorf("the method %s does not take %d arguments", name, len(args))
	}
	switch x := v.(type) {
	case map[string]any:
		switch name {
		case "items", "keys", "values":
			return r.Filter(name, x, nil, nil)
		case "get":
			if got, ok := Member(x, args[0]); ok {
				return Plain(got), nil
			}
			if len(args) > 1 {
				return args[1], nil
			}
			return nil, nil //nolint:nilnil // none is the value, as in Jinja
		}
	case string:
		if name == "items" || name == "keys" || name == "values" || name == "get" {
			break
		}
		return r.stringMethod(x, name, args)
	}
	return nil, fmt.Errorf("%s has no method %s", Kind(v), name)
}

func (r *Run) stringMethod(s, name string, args []any) (any, error) {
	if err := r.SpendBytes(len(s)); err != nil {
		return nil, err
	}
	if name == "join" {
		return r.Filter("join", args[0], []any{s}, nil)
	}
	words := [2]string{}
	for i, a := range args {
		var ok bool
		if words[i], ok = a.(string); !ok {
			return nil, fmt.Errorf("the argument of %s is %s, not a string", name, Kind(a))
		}
	}
	chars := words[0]
	if len(args) == 0 {
		chars = " \t\r\n"
	}
	switch name {
	case "startswith":
		return strings.HasPrefix(s, words[0]), nil
	case "endswith":
		return strings.HasSuffix(s, words[0]), nil
	case "replace":
		return r.replace(s, words[0], words[1], -1)
	case "splitlines":
		return r.Filter("lines", s, nil, nil)
	case "split":
		return split(r, s, words[0])
	case "strip":
		return strings.Trim(s, chars), nil
	case "lstrip":
		return strings.TrimLeft(s, chars), nil
	case "rstrip":
		return strings.TrimRight(s, chars), nil
	}
	return r.Filter(name, s, nil, nil)
}
