package value

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

func intFilter(c *call) any {
	otherwise, has := c.arg("default")
	switch x := c.v.(type) {
	case int64, json.Number:
		return x
	case bool:
		return map[bool]int64{true: 1}[x]
	case float64:
		if math.Abs(x) < 1<<63 {
			return int64(x)
		}
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(x), 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(strings.TrimSpace(x), 64); err == nil && math.Abs(f) < 1<<63 {
			return int64(f)
		}
	}
	if has {
		return otherwise
	}
	panic(Failf("%s is not an integer; give a default: int(0)", shown(c.v)))
}

func floatFilter(c *call) any {
	otherwise, has := c.arg("default")
	if f, ok := toFloat(c.v); ok {
		return f
	}
	if s, ok := c.v.(string); ok {
		if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil && finite(f) != nil {
			return f
		}
	}
	if has {
		return otherwise
	}
	panic(Failf("%s is not a number; give a default: float(0)", shown(c.v)))
}

// shown names a value in an error: short strings by their text.
func shown(v any) string {
	if s, ok := v.(string); ok && len(s) <= 40 {
		return strconv.Quote(s)
	}
	return Kind(v)
}

func absFilter(c *call) any {
	switch x := c.v.(type) {
	case int64:
		if x == math.MinInt64 {
			return -float64(x)
		}
		return max(x, -x)
	case float64:
		return math.Abs(x)
	}
	panic(Failf("%s is not a number", Kind(c.v)))
}

func roundFilter(c *call) any {
	precision, method := c.intArg("precision", 0), c.stringArg("method", "common")
	x, ok := toFloat(c.v)
	if !ok {
		panic(Failf("%s is not a number", Kind(c.v)))
	}
	fn, ok := map[string]func(float64) float64{"common": math.Round, "floor": math.Floor, "ceil": math.Ceil}[method]
	if !ok {
		panic(Failf("there is no method %q: write common, floor or ceil", method))
	}
	if precision < -15 || precision > 15 {
		panic(Failf("the precision is not between -15 and 15"))
	}
	scale := math.Pow(10, float64(precision))
	rounded := fn(x*scale) / scale
	if finite(rounded) == nil {
		return x
	}
	return rounded
}

func sumFilter(c *call) any {
	path := c.stringArg("attribute", "")
	var total any = int64(0)
	for _, x := range c.items() {
		total = arithmetic("+", total, c.attribute(x, path))
	}
	return total
}

// extreme returns the least item (sign -1) or the greatest one.
func (c *call) extreme(sign int) any {
	path := c.stringArg("attribute", "")
	items := c.items()
	if len(items) == 0 {
		panic(Failf(emptyList))
	}
	best, bestKey := items[0], c.attribute(items[0], path)
	for _, x := range items[1:] {
		key := c.attribute(x, path)
		if c.compare(key, bestKey) == sign {
			best, bestKey = x, key
		}
	}
	return best
}
