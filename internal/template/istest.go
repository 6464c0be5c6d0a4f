package template

import (
	"errors"
	"fmt"
	"strings"
)

// testExpr is a is test.
type testExpr struct {
	at   pos
	x    expr
	name string
	args []expr
}

func (e *testExpr) place() pos { return e.at }

func (e *testExpr) eval(f *frame) (any, error) {
	v, err := e.x.eval(f)
	if err != nil {
		return nil, err
	}
	_, missing := v.(*undefined)
	switch e.name {
	case "defined":
		return !missing, nil
	case "undefined":
		return missing, nil
	}
	if v, err = f.force(v); err != nil {
		return nil, err
	}
	args, _, err := f.arguments(e.args, nil)
	if err != nil {
		return nil, err
	}
	ok, err := f.test(e.name, v, args)
	return ok, e.at.fail(err)
}

// testTable says how many arguments each test takes.
func testTable() map[string]int {
	return map[string]int{
		"defined": 0, "undefined": 0, "none": 0, "null": 0, "boolean": 0, "true": 0, "false": 0, "number": 0,
		"integer": 0, "float": 0, "string": 0, "mapping": 0, "sequence": 0, "iterable": 0, "odd": 0, "even": 0,
		"lower": 0, "upper": 0, "empty": 0,
		"divisibleby": 1, "in": 1, "eq": 1, "equalto": 1, "sameas": 1, "ne": 1, "lt": 1, "le": 1, "gt": 1, "ge": 1,
	}
}

func testArgs(name string) (int, bool) {
	n, ok := testTable()[name]
	return n, ok
}

func testNames() []string { return namesOf(testTable()) }

// test decides a test on values that are there.
func (r *run) test(name string, v any, args []any) (bool, error) {
	switch name {
	case "none", "null":
		return v == nil, nil
	case "true", "false":
		return v == any(name == "true"), nil
	case "boolean":
		_, ok := v.(bool)
		return ok, nil
	case "number":
		return isNumber(v), nil
	case "integer":
		_, ok := v.(int64)
		return ok, nil
	case "float":
		_, ok := v.(float64)
		return ok, nil
	case "mapping":
		_, ok := v.(map[string]any)
		return ok, nil
	case "empty":
		return !truthy(v), nil
	case "odd", "even", "divisibleby":
		return divides(name, v, args)
	case "string", "lower", "upper":
		s, ok := v.(string)
		return ok && (name == "string" || name == "lower" && s == strings.ToLower(s) ||
			name == "upper" && s == strings.ToUpper(s)), r.spendBytes(len(s))
	case "sequence", "iterable":
		return iterable(v), nil
	}
	return r.relation(name, v, args)
}

func iterable(v any) bool {
	switch v.(type) {
	case string, []any, map[string]any:
		return true
	}
	return false
}

func divides(name string, v any, args []any) (bool, error) {
	n, ok := v.(int64)
	if !ok {
		return false, fmt.Errorf("%s is not an integer", kindOf(v))
	}
	by, rest := int64(2), int64(0)
	if name == "odd" {
		return n%2 != 0, nil
	}
	if name == "divisibleby" {
		if by, ok = args[0].(int64); !ok || by == 0 {
			return false, errors.New("divisibleby takes an integer that is not 0")
		}
	}
	return n%by == rest, nil
}

func (r *run) relation(name string, v any, args []any) (bool, error) {
	op, ok := map[string]string{
		"in": "in", "eq": "==", "equalto": "==", "sameas": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
	}[name]
	if !ok || len(args) != 1 {
		return false, fmt.Errorf("there is no test %s with %d arguments", name, len(args))
	}
	res, err := r.apply(op, v, args[0])
	if err != nil {
		return false, err
	}
	return truthy(res), nil
}
