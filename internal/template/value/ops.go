package value

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// Apply calculates a op b. The operators and and or are no operations on values.
func (r *Run) Apply(op string, a, b any) any {
	switch op {
	case "==", "!=":
		return r.equal(a, b) == (op == "==")
	case "<", "<=", ">", ">=":
		c := r.compare(a, b)
		return op[0] == '<' && c < 0 || op[0] == '>' && c > 0 || len(op) == 2 && c == 0
	case "in":
		return r.contains(b, a)
	case "~":
		return r.concat(a, b)
	case "+":
		return r.add(a, b)
	case "*":
		if s, n, ok := repetition(a, b); ok {
			return r.repeat(s, n)
		}
	case "%":
		if _, ok := a.(string); ok {
			panic(Failf("strings are not formatted with %%; join the parts with ~"))
		}
	}
	return arithmetic(op, a, b)
}

func (r *Run) concat(a, b any) any {
	s, t := r.Text(a), r.Text(b)
	r.SpendBytes(len(s) + len(t))
	return s + t
}

func (r *Run) add(a, b any) any {
	switch x := a.(type) {
	case string:
		if _, ok := b.(string); ok {
			return r.concat(a, b)
		}
	case []any:
		if y, ok := b.([]any); ok {
			r.SpendItems(len(x) + len(y))
			return slices.Concat(x, y)
		}
	}
	if IsNumber(a) && IsNumber(b) {
		return arithmetic("+", a, b)
	}
	panic(Failf("cannot add %s and %s; join texts with ~", Kind(a), Kind(b)))
}

func repetition(a, b any) (s string, n int64, ok bool) {
	if s, ok = a.(string); ok {
		n, ok = b.(int64)
		return s, n, ok
	}
	if s, ok = b.(string); ok {
		n, ok = a.(int64)
	}
	return s, n, ok
}

func (r *Run) repeat(s string, n int64) any {
	if n <= 0 || s == "" {
		return ""
	}
	if n > int64(maxOutput) {
		panic(tooLong())
	}
	r.SpendBytes(len(s) * int(n))
	return strings.Repeat(s, int(n))
}

// IsNumber reports whether a value is written as a number.
func IsNumber(v any) bool { return is[int64](v) || is[float64](v) || is[json.Number](v) }

func toFloat(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	}
	return 0, false
}

// arithmetic calculates with integers as long as the result is one, and with floats otherwise.
func arithmetic(op string, a, b any) any {
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	if !okA || !okB {
		panic(Failf("cannot calculate %s %s %s", Kind(a), op, Kind(b)))
	}
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		panic(Failf("division by zero"))
	}
	i, okI := a.(int64)
	j, okJ := b.(int64)
	if okI && okJ {
		if v, ok := integers(op, i, j); ok {
			return v
		}
	}
	v := finite(floats[op](x, y))
	if v == nil {
		panic(Failf("the result is too large for a number"))
	}
	return v
}

var floats = map[string]func(x, y float64) float64{
	"+":  func(x, y float64) float64 { return x + y },
	"-":  func(x, y float64) float64 { return x - y },
	"*":  func(x, y float64) float64 { return x * y },
	"/":  func(x, y float64) float64 { return x / y },
	"//": func(x, y float64) float64 { return math.Floor(x / y) },
	"%":  func(x, y float64) float64 { return x - y*math.Floor(x/y) },
	"**": math.Pow,
}

// integers calculates exactly; ok is false when the result is not an integer or does not fit.
func integers(op string, i, j int64) (v int64, ok bool) {
	switch op {
	case "+":
		v = i + j
		return v, (v > i) == (j > 0)
	case "-":
		v = i - j
		return v, (v < i) == (j > 0)
	case "*":
		v = i * j
		return v, i == 0 || v/i == j && (i != -1 || j != math.MinInt64) && (j != -1 || i != math.MinInt64)
	case "//", "%":
		if j == -1 {
			return 0, false // the smallest integer has no positive counterpart
		}
		quotient, rest := i/j, i%j
		if rest != 0 && (rest < 0) != (j < 0) { // rounded down, as Python does
			quotient, rest = quotient-1, rest+j
		}
		if op == "%" {
			return rest, true
		}
		return quotient, true
	case "**":
		return power(i, j)
	}
	return 0, false
}

func power(i, j int64) (int64, bool) {
	f := math.Pow(float64(i), float64(j))
	if j < 0 || math.Abs(f) >= 1<<53 {
		return 0, false
	}
	return int64(f), true
}

// equal compares by value, at any depth.
func (r *Run) equal(a, b any) bool { return r.equalAt(a, b, 0) }

func (r *Run) equalAt(a, b any, depth int) bool {
	a, b = Plain(a), Plain(b)
	r.Spend(1)
	checkDepth(depth)
	inside := func(x, y any) bool { return r.equalAt(x, y, depth+1) }
	switch x := a.(type) {
	case nil, bool, string:
		return a == b
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, inside)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, inside)
	}
	order, ok := numberOrder(a, b)
	return ok && order == 0
}

// compare orders two numbers or two strings.
func (r *Run) compare(a, b any) int {
	r.Spend(1)
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return strings.Compare(s, t)
		}
	}
	order, ok := numberOrder(a, b)
	if !ok {
		panic(Failf("cannot compare %s with %s", Kind(a), Kind(b)))
	}
	return order
}

// numberOrder orders two numbers, integers exactly.
func numberOrder(a, b any) (order int, ok bool) {
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return cmp.Compare(i, j), true
		}
	}
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	return cmp.Compare(x, y), okA && okB
}

// contains reports whether x is an item of a list, a key of an object or a part of a string.
func (r *Run) contains(in, x any) bool {
	switch c := in.(type) {
	case string:
		s, ok := x.(string)
		if !ok {
			panic(Failf("cannot look for %s in a string", Kind(x)))
		}
		r.SpendBytes(len(c))
		return strings.Contains(c, s)
	case map[string]any:
		s, ok := x.(string)
		_, has := c[s]
		return ok && has
	case []any:
		return slices.ContainsFunc(c, func(e any) bool { return r.equal(e, x) })
	}
	panic(Failf("cannot look for something in %s", Kind(in)))
}
