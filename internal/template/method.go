package template

import (
	"fmt"
	"strings"
)

// methodExpr is x.method(...): the few methods of strings and objects that templates use.
type methodExpr struct {
	at   pos
	x    expr
	name string
	args []expr
}

func (e *methodExpr) place() pos { return e.at }

func (e *methodExpr) eval(f *frame) (any, error) {
	if err := f.spend(1); err != nil {
		return nil, e.at.fail(err)
	}
	v, err := f.value(e.x)
	if err != nil {
		return nil, err
	}
	args, _, err := f.arguments(e.args, nil)
	if err != nil {
		return nil, err
	}
	out, err := f.method(v, e.name, args)
	return out, e.at.fail(err)
}

// methodTable says how many arguments each method takes at least and at most.
func methodTable() map[string][2]int {
	return map[string][2]int{
		"items": {0, 0}, "keys": {0, 0}, "values": {0, 0}, "get": {1, 2},
		"lower": {0, 0}, "upper": {0, 0}, "title": {0, 0}, "capitalize": {0, 0},
		"strip": {0, 1}, "lstrip": {0, 1}, "rstrip": {0, 1}, "split": {0, 1}, "splitlines": {0, 0},
		"startswith": {1, 1}, "endswith": {1, 1}, "replace": {2, 2}, "join": {1, 1},
	}
}

func isMethod(name string) bool {
	_, ok := methodTable()[name]
	return ok
}

func methodNames() []string { return namesOf(methodTable()) }

func (r *run) method(v any, name string, args []any) (any, error) {
	if n := methodTable()[name]; len(args) < n[0] || len(args) > n[1] {
		return nil, fmt.Errorf("the method %s does not take %d arguments", name, len(args))
	}
	switch x := v.(type) {
	case map[string]any:
		switch name {
		case "items", "keys", "values":
			return applyFilter(r, name, x, nil)
		case "get":
			if got, ok := member(x, args[0]); ok {
				return plain(got), nil
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
	return nil, fmt.Errorf("%s has no method %s", kindOf(v), name)
}

func (r *run) stringMethod(s, name string, args []any) (any, error) {
	if err := r.spendBytes(len(s)); err != nil {
		return nil, err
	}
	if name == "join" {
		return applyFilter(r, "join", args[0], []any{s})
	}
	words := make([]string, len(args), len(args)+2)
	for i, a := range args {
		word, ok := a.(string)
		if !ok {
			return nil, fmt.Errorf("the argument of %s is %s, not a string", name, kindOf(a))
		}
		words[i] = word
	}
	switch name {
	case "startswith":
		return strings.HasPrefix(s, words[0]), nil
	case "endswith":
		return strings.HasSuffix(s, words[0]), nil
	case "replace":
		return r.replace(s, words[0], words[1], -1)
	case "splitlines":
		return applyFilter(r, "lines", s, nil)
	case "split":
		return r.split(s, strings.Join(words, ""))
	case "strip", "lstrip", "rstrip":
		return strip(s, name, words), nil
	}
	return applyFilter(r, name, s, nil)
}

func strip(s, name string, chars []string) string {
	set := " \t\r\n"
	if len(chars) > 0 {
		set = chars[0]
	}
	if name != "rstrip" {
		s = strings.TrimLeft(s, set)
	}
	if name != "lstrip" {
		s = strings.TrimRight(s, set)
	}
	return s
}
