package value

import (
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/internal/template/hint"
)

// HintFor says what there is instead of a member that is missing. The path is that of v.
func HintFor(v, key any, path string) string {
	switch x := v.(type) {
	case map[string]any:
		if k, ok := key.(string); ok {
			return hint.Guess(k, path+".", slices.Collect(maps.Keys(x)))
		}
	case *Namespace:
		return HintFor(x.Members, key, path)
	case []any:
		return fmt.Sprintf("%s is a list of %d", path, len(x))
	}
	return fmt.Sprintf("%s is %s", path, Kind(v))
}

// Member returns one member of an object, item of a list, or character of a string.
func Member(v, key any) (any, bool) {
	switch x := v.(type) {
	case map[string]any:
		k, ok := key.(string)
		if !ok {
			return nil, false
		}
		m, ok := x[k]
		return m, ok
	case *Namespace:
		return Member(x.Members, key)
	case []any:
		if i, ok := index(key, len(x)); ok {
			return x[i], true
		}
	case string:
		runes := []rune(x)
		if i, ok := index(key, len(runes)); ok {
			return string(runes[i]), true
		}
	}
	return nil, false
}

func index(key any, n int) (int, bool) {
	i, ok := key.(int64)
	if !ok {
		return 0, false
	}
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

// Slice returns v[from:to:by] of a list or a string; a bound that is nil is not given.
func (r *Run) Slice(v any, from, to, by *int64) any {
	switch v.(type) {
	case string:
		return joinRunes(slice(r.Iterate(v), from, to, by))
	case []any:
		return slice(r.Iterate(v), from, to, by)
	}
	panic(Failf("cannot take a slice of %s", Kind(v)))
}

// slice takes items as Python does.
func slice(items []any, from, to, by *int64) []any {
	n, step := int64(len(items)), int64(1)
	if by != nil {
		step = *by
	}
	if step == 0 {
		panic(Failf("the step of a slice is 0"))
	}
	first, end := int64(0), n
	if step < 0 {
		first, end = n-1, -1
	}
	bound := func(given *int64, i int64) int64 {
		if given == nil {
			return i
		}
		if i = *given; i < 0 {
			i += n
		}
		return min(max(i, min(first, end)), max(first, end))
	}
	out := []any{}
	// A step beyond the length takes one item; bounding it keeps the sum below from overflowing.
	step = min(max(step, -n-1), n+1)
	for i, stop := bound(from, first), bound(to, end); step > 0 && i < stop || step < 0 && i > stop; i += step {
		out = append(out, items[i])
	}
	return out
}

func runesOf(s string) []any {
	out := make([]any, 0, len(s))
	for _, r := range s {
		out = append(out, string(r))
	}
	return out
}

func joinRunes(items []any) string {
	var b []byte
	for _, x := range items {
		b = append(b, x.(string)...) //nolint:forcetypeassert // made by runesOf
	}
	return string(b)
}

// Iterate returns the items of a list, the sorted keys of an object, or a string's characters.
func (r *Run) Iterate(v any) []any {
	var items []any
	switch x := v.(type) {
	case []any:
		items = x
	case map[string]any:
		items = keys(x)
	case string:
		r.SpendBytes(len(x))
		items = runesOf(x)
	default:
		panic(Failf("cannot loop over %s", Kind(v)))
	}
	r.Spend(len(items))
	return items
}

// Range returns the integers that range(...) stands for.
func (r *Run) Range(args []any) any {
	bounds := make([]int64, len(args))
	for i, a := range args {
		n, ok := a.(int64)
		if !ok {
			panic(Failf("range takes integers, not %s", Kind(a)))
		}
		bounds[i] = n
	}
	var lo, hi int64
	step := int64(1)
	switch len(bounds) {
	case 1:
		hi = bounds[0]
	case 2:
		lo, hi = bounds[0], bounds[1]
	case 3:
		lo, hi, step = bounds[0], bounds[1], bounds[2]
	default:
		panic(Failf("write range(stop), range(start, stop) or range(start, stop, step)"))
	}
	if step == 0 {
		panic(Failf("the step of a range is 0"))
	}
	span, stride := uint64(hi)-uint64(lo), uint64(step) // exact, as they wrap around
	if step < 0 {
		span, stride = uint64(lo)-uint64(hi), -stride
	}
	if (step > 0) != (lo < hi) || lo == hi {
		return []any{}
	}
	count := (span-1)/stride + 1
	if count > maxItems {
		panic(Limitf("a range has more than %d items", maxItems))
	}
	out := make([]any, count)
	for i := range out {
		out[i] = lo + int64(i)*step
	}
	r.Spend(len(out))
	return out
}
