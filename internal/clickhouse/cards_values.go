package clickhouse

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// The driver takes arrays apart element by element, which for the cards of a session takes ten times as long as all the
// rest. So they come packed, in the format RowBinary: the number of elements, and the elements.

// unpackVector reads a packed Array(Float32).
func unpackVector(packed string) ([]float32, error) {
	b := []byte(packed)
	n, head := binary.Uvarint(b)
	if b = b[max(head, 0):]; head <= 0 || n != uint64(len(b))/4 || len(b)%4 != 0 {
		return nil, fmt.Errorf("%d bytes are no list of numbers", len(packed))
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out, nil
}

// unpackTexts reads a packed Array(String), nil when it is empty.
func unpackTexts(packed string) ([]string, error) {
	// next takes a number off the front.
	rest := packed
	next := func() (int, bool) {
		var head [binary.MaxVarintLen64]byte
		n, used := binary.Uvarint(head[:copy(head[:], rest)])
		if used <= 0 || n > uint64(len(packed)) {
			return 0, false
		}
		rest = rest[used:]
		return int(n), true
	}
	count, ok := next()
	var out []string
	for ok && len(out) < count {
		var n int
		if n, ok = next(); ok && n <= len(rest) {
			out, rest = append(out, rest[:n]), rest[n:]
		} else {
			ok = false
		}
	}
	if !ok || rest != "" {
		return nil, fmt.Errorf("%d bytes are no list of texts", len(packed))
	}
	return out, nil
}

// vectorLiteral writes a vector in SQL. It reports false for one without a direction.
func vectorLiteral(v []float32) (sql string, ok bool) {
	square := 0.0
	out := []byte{'['}
	for i, x := range v {
		square += float64(x) * float64(x)
		if i > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendFloat(out, float64(x), 'g', -1, 32)
	}
	if !(square > 0) || math.IsInf(square, 1) { // NaN is not above 0 either
		return "", false
	}
	return string(append(out, ']')), true
}
