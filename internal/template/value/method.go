package value

import (
	"maps"
	"slices"
	"strings"
)

// method is one of the few methods of strings and objects that templates use.
type method struct {
	least, most int // arguments
	ofObject    func(r *Run, m map[string]any, args []any) any
	ofText      func(r *Run, s string, args []string) any
}

var methods = map[string]method{
	"items": ofObject("items"), "keys": ofObject("keys"), "values": ofObject("values"), "get": {1, 2, get, nil},
	"lower": ofText("lower"), "upper": ofText("upper"), "title": ofText("title"), "capitalize": ofText("capitalize"),
	"splitlines": ofText("lines"),
	"strip":      trimmed(strings.Trim), "lstrip": trimmed(strings.TrimLeft), "rstrip": trimmed(strings.TrimRight),
	"split":      {0, 1, nil, func(r *Run, s string, args []string) any { return split(r, s, append(args, "")[0]) }},
	"startswith": {1, 1, nil, func(_ *Run, s string, args []string) any { return strings.HasPrefix(s, args[0]) }},
	"endswith":   {1, 1, nil, func(_ *Run, s string, args []string) any { return strings.HasSuffix(s, args[0]) }},
	"replace":    {2, 2, nil, func(r *Run, s string, args []string) any { return r.replace(s, args[0], args[1], -1) }},
	"join":       {1, 1, nil, nil}, // of a text, with a list as its argument
}

func ofObject(filter string) method {
	return method{ofObject: func(r *Run, m map[string]any, _ []any) any { return r.Filter(filter, m, nil, nil) }}
}

func ofText(filter string) method {
	return method{ofText: func(r *Run, s string, _ []string) any { return r.Filter(filter, s, nil, nil) }}
}

func trimmed(trim func(s, chars string) string) method {
	return method{0, 1, nil, func(_ *Run, s string, args []string) any { return trim(s, append(args, " \t\r\n")[0]) }}
}

func get(_ *Run, m map[string]any, args []any) any {
	if v, ok := Member(m, args[0]); ok {
		return Plain(v)
	}
	return append(args, nil)[1]
}

// MethodNames returns the names of all methods.
func MethodNames() []string { return slices.Sorted(maps.Keys(methods)) }

// Method calls a method.
func (r *Run) Method(v any, name string, args []any) any {
	m := methods[name]
	if len(args) < m.least || len(args) > m.most {
		panic(Failf("the method %s does not take %d arguments", name, len(args)))
	}
	switch x := v.(type) {
	case map[string]any:
		if m.ofObject != nil {
			return m.ofObject(r, x, args)
		}
	case string:
		if m.ofObject == nil {
			return r.textMethod(m, x, name, args)
		}
	}
	panic(Failf("%s has no method %s", Kind(v), name))
}

func (r *Run) textMethod(m method, s, name string, args []any) any {
	r.SpendBytes(len(s))
	if name == "join" {
		return r.Filter(name, args[0], []any{s}, nil)
	}
	words := make([]string, len(args))
	for i, a := range args {
		var ok bool
		if words[i], ok = a.(string); !ok {
			panic(Failf("the argument of %s is %s, not a string", name, Kind(a)))
		}
	}
	return m.ofText(r, s, words)
}
