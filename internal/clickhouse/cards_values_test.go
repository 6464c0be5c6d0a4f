package clickhouse

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzUnpack(f *testing.F) {
	for _, seed := range []string{"", "\x00", "\x01", "\x01\x03abc", "\x02\x00\x01x", "\x01\x00\x00\xc0\x3f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, packed string) {
		if texts, err := unpackTexts(packed); err == nil {
			again := binary.AppendUvarint(nil, uint64(len(texts)))
			for _, text := range texts {
				again = append(binary.AppendUvarint(again, uint64(len(text))), text...)
			}
			require.LessOrEqual(t, len(again), len(packed), "numbers may be written longer than they need be")
		} else {
			require.ErrorContains(t, err, "bytes are no list of texts")
		}
		if vector, err := unpackVector(packed); err == nil {
			require.LessOrEqual(t, 4*len(vector), len(packed))
		} else {
			require.ErrorContains(t, err, "bytes are no list of numbers")
		}
	})
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	for packed, want := range map[string][]string{"\x00": nil, "\x01\x00": {""}, "\x02\x03abc\x01\n": {"abc", "\n"}} {
		got, err := unpackTexts(packed)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, packed := range []string{"", "\x01", "\x01\x02a", "\x00x", "\x02\x01a", "\x80"} {
		_, err := unpackTexts(packed)
		require.ErrorContains(t, err, "bytes are no list of texts", "%q", packed)
	}
	vector, err := unpackVector("\x02\x00\x00\xc0\x3f\x00\x00\x00\xc0")
	require.NoError(t, err)
	require.Equal(t, []float32{1.5, -2}, vector)
	for _, packed := range []string{"", "\x01", "\x01\x00\x00\xc0", "\x02\x00\x00\xc0\x3f", "\x00\x00"} {
		_, err := unpackVector(packed)
		require.ErrorContains(t, err, "bytes are no list of numbers", "%q", packed)
	}
}

func TestVectorLiteral(t *testing.T) {
	t.Parallel()
	sql, ok := vectorLiteral([]float32{0.1, -2, 1e-20})
	require.True(t, ok)
	require.Equal(t, "[0.1,-2,1e-20]", sql)
	for _, v := range [][]float32{nil, {}, {0, 0}, {1, float32(math.NaN())}, {float32(math.Inf(-1)), 1}} {
		_, ok := vectorLiteral(v)
		require.False(t, ok, "%v", v)
	}
}
