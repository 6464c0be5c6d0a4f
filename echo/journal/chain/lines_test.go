package chain

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reader that follows a file for hours does not keep the memory that its longest line needed.
func TestLongLinesAreNotKept(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 1<<16) + "\n" + strings.Repeat("short\n", 100)
	l := NewLines(strings.NewReader(text), Bounds{Block: 64, Max: MaxLine}, 0)
	line, err := l.Next()
	require.NoError(t, err)
	require.Len(t, line, 1<<16+1)
	for range 100 {
		line, err = l.Next()
		require.NoError(t, err)
		require.Equal(t, "short\n", string(line))
	}
	_, err = l.Next()
	require.ErrorIs(t, err, io.EOF)
	require.LessOrEqual(t, cap(l.buf), 128)
}

// Who changes, moves, adds or leaves out a line is found.
func TestSums(t *testing.T) {
	t.Parallel()
	var zero Sum
	one := End([]byte(`{"a":1`), zero.Next([]byte(`{"a":1`)))
	first, err := zero.Check(one)
	require.NoError(t, err)
	two := End([]byte(`{"a":2`), first.Next([]byte(`{"a":2`)))
	_, err = first.Check(two)
	require.NoError(t, err)
	for name, line := range map[string]string{
		"moved": string(one), "changed": strings.Replace(string(two), "2", "3", 1), "without a sum": "{\"a\":2}\n", "empty": "\n", "nothing": "",
	} {
		_, err := first.Check([]byte(line))
		require.ErrorIs(t, err, ErrSum, name)
	}
}

func TestCheckLength(t *testing.T) {
	t.Parallel()
	require.NoError(t, CheckLength(MaxLine-Size))
	require.EqualError(t, CheckLength(MaxLine-Size+1), "the line has more than 256 MiB")
}
