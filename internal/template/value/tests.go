package value

import (
	"strings"
)

// test decides a test; without a function, whoever evaluates the expression decides it.
type test struct {
	args   int
	passes func(r *Run, v any, args []any) bool
}

var tests = map[string]test{
	"defined": {}, "undefined": {},
	"none": kind(isNull), "null": kind(isNull), "empty": kind(func(v any) bool { return !Truthy(v) }),
	"true": kind(func(v any) bool { return v == any(true) }), "false": kind(func(v any) bool { return v == any(false) }),
	"boolean": kind(is[bool]), "integer": kind(is[int64]), "float": kind(is[float64]), "number": kind(IsNumber),
	"string": kind(is[string]), "mapping": kind(is[map[string]any]), "sequence": kind(iterable), "iterable": kind(iterable),
	"lower": unchanged(strings.ToLower), "upper": unchanged(strings.ToUpper), "divisibleby": {1, divisible},
	"odd":  {0, func(r *Run, v any, _ []any) bool { return !divisible(r, v, []any{int64(2)}) }},
	"even": {0, func(r *Run, v any, _ []any) bool { return divisible(r, v, []any{int64(2)}) }},
	"in":   relation("in"), "eq": relation("=="), "equalto": relation("=="), "sameas": relation("=="), "ne": relation("!="),
	"lt": relation("<"), "le": relation("<="), "gt": relation(">"), "ge": relation(">="),
}

// Tests says how many arguments each test takes, by name.
func Tests() map[string]int {
	args := make(map[string]int, len(tests))
	for name, t := range tests {
		args[name] = t.args
	}
	return args
}

// Test decides a test on values that are there. The arguments are as many as [Tests] says.
func (r *Run) Test(name string, v any, args []any) bool {
	return tests[name].passes(r, v, args)
}

func is[T any](v any) bool {
	_, ok := v.(T)
	return ok
}

func isNull(v any) bool { return v == nil }

func iterable(v any) bool { return is[string](v) || is[[]any](v) || is[map[string]any](v) }

func kind(passes func(any) bool) test {
	return test{0, func(_ *Run, v any, _ []any) bool { return passes(v) }}
}

func unchanged(by func(string) string) test {
	return test{0, func(r *Run, v any, _ []any) bool {
		s, ok := v.(string)
		r.SpendBytes(len(s))
		return ok && s == by(s)
	}}
}

func divisible(_ *Run, v any, args []any) bool {
	n, ok := v.(int64)
	if !ok {
		panic(Failf("%s is not an integer", Kind(v)))
	}
	by, ok := args[0].(int64)
	if !ok || by == 0 {
		panic(Failf("divisibleby takes an integer that is not 0"))
	}
	return n%by == 0
}

func relation(op string) test {
	return test{1, func(r *Run, v any, args []any) bool { return Truthy(r.Apply(op, v, args[0])) }}
}
