package clickhouse

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// The driver takes arrays apart element by element, which for the cards of a session takes ten
// times as long as all the rest. So they come packed, in the format RowBinary: the number of
// elements, and the elements.

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
	r := strings.NewReader(packed)
	var out []string
	count, err := binary.ReadUvarint(r)
	for ; err == nil && count > 0; count-- {
		var n uint64
		if n, err = binary.ReadUvarint(r); err == nil && n > uint64(r.Len()) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			from := len(packed) - r.Len()
			out = append(out, packed[from:from+int(n)])
			_, err = r.Seek(int64(n), io.SeekCurrent)
		}
	}
	if err != nil || r.Len() > 0 {
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
