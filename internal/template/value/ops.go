package value

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// Apply calculates a op b. The operators and and or are no operations on values.
func (r *Run) Apply(op string, a, b any) (any, error) {
	switch op {
	case "==", "!=":
		eq, err := r.equal(a, b)
		return eq == (op == "=="), err
	case "<", "<=", ">", ">=":
		c, err := r.compare(a, b)
		return op[0] == '<' && c < 0 || op[0] == '>' && c > 0 || len(op) == 2 && c == 0, err
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
			return nil, errors.New("strings are not formatted with %; join the parts with ~")
		}
	}
	return arithmetic(op, a, b)
}

func (r *Run) concat(a, b any) (any, error) {
	s, err := r.Text(a)
	if err != nil {
		return nil, err
	}
	t, err := r.Text(b)
	if err != nil {
		return nil, err
	}
	if err := r.SpendBytes(len(s) + len(t)); err != nil {
		return nil, err
	}
	return s + t, nil
}

func (r *Run) add(a, b any) (any, error) {
	switch x := a.(type) {
	case string:
		if _, ok := b.(string); ok {
			return r.concat(a, b)
		}
	case []any:
		if y, ok := b.([]any); ok {
			if err := r.SpendItems(len(x) + len(y)); err != nil {
				return nil, err
			}
			return append(append(make([]any, 0, len(x)+len(y)), x...), y...), nil
		}
	}
	if v, err := arithmetic("+", a, b); err == nil || IsNumber(a) && IsNumber(b) {
		return v, err
	}
	return nil, fmt.Errorf("cannot add %s and %s; join texts with ~", Kind(a), Kind(b))
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

func (r *Run) repeat(s string, n int64) (any, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > int64(r.MaxOutput) {
		return nil, r.tooLong()
	}
	if err := r.SpendBytes(len(s) * int(n)); err != nil {
		return nil, err
	}
	return strings.Repeat(s, int(n)), nil
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
func arithmetic(op string, a, b any) (any, error) {
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	if !okA || !okB {
		return nil, fmt.Errorf("cannot calculate %s %s %s", Kind(a), op, Kind(b))
	}
	if y == 0 && (op == "/" || op == "//" || op == "%") {
		return nil, errors.New("division by zero")
	}
	i, okI := a.(int64)
	j, okJ := b.(int64)
	if okI && okJ {
		if v, ok := integers(op, i, j); ok {
			return v, nil
		}
	}
	v := floats[op](x, y)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, errors.New("the result is too large for a number")
	}
	return v, nil
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
func (r *Run) equal(a, b any) (bool, error) {
	return r.equalAt(Plain(a), Plain(b), 0)
}

func (r *Run) equalAt(a, b any, depth int) (bool, error) {
	if err := r.Spend(1); err != nil {
		return false, err
	}
	if depth > maxDepth {
		return false, Limitf("a value nests deeper than %d levels", maxDepth)
	}
	switch x := a.(type) {
	case nil, bool, string:
		return a == b, nil
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if eq, err := r.equalAt(Plain(x[i]), Plain(y[i]), depth+1); !eq {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for k := range x {
			w, ok := y[k]
			if !ok {
				return false, nil
			}
			if eq, err := r.equalAt(Plain(x[k]), Plain(w), depth+1); !eq {
				return false, err
			}
		}
		return true, nil
	}
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return i == j, nil
		}
	}
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	return okA && okB && x == y, nil
}

// compare orders two numbers or two strings.
func (r *Run) compare(a, b any) (int, error) {
	if err := r.Spend(1); err != nil {
		return 0, err
	}
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			return strings.Compare(s, t), nil
		}
	}
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return cmp.Compare(i, j), nil
		}
	}
	x, okA := toFloat(a)
	y, okB := toFloat(b)
	if !okA || !okB {
		return 0, fmt.Errorf("cannot compare %s with %s", Kind(a), Kind(b))
	}
	return cmp.Compare(x, y), nil
}

// contains reports whether x is an item of a list, a key of an object or a part of a string.
func (r *Run) contains(in, x any) (bool, error) {
	switch c := in.(type) {
	case string:
		s, ok := x.(string)
		if !ok {
			return false, fmt.Errorf("cannot look for %s in a string", Kind(x))
		}
		return strings.Contains(c, s), r.SpendBytes(len(c))
	case map[string]any:
		s, ok := x.(string)
		_, has := c[s]
		return ok && has, nil
	case []any:
		for _, e := range c {
			if eq, err := r.equal(e, x); eq || err != nil {
				return eq, err
			}
		}
		return false, nil
	}
	return false, fmt.Errorf("cannot look for something in %s", Kind(in))
}
