package inspect_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/inspect"
)

// TestMatrix: of every frozen session the matrix says of each call what its request says, whole and in parts.
func TestMatrix(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, r := range records(t) {
		whole, err := r.Matrix()
		require.NoError(t, err)
		require.Len(t, whole.Calls, len(r.Calls))
		for _, window := range [][2]int{{0, len(r.Calls) - 1}, {1, 2}, {len(r.Calls) - 1, len(r.Calls) + 10}} {
			m := whole.Between(window[0], window[1])
			for column, n := range m.Calls {
				cells += sameAsRequest(t, r, m, column, n)
			}
		}
		require.Empty(t, whole.Between(5, 4).Rows)
	}
	require.Greater(t, cells, 500)
}

// sameAsRequest holds the cells of a call against its request, and returns how many there are.
func sameAsRequest(t *testing.T, r *inspect.Record, m *inspect.Matrix, column, n int) int {
	t.Helper()
	c := &r.Calls[n-1]
	shown, err := r.Show(c)
	require.NoError(t, err)
	cells := map[uint64]*inspect.Strip{}
	for i := range m.Strips {
		s := &m.Strips[i]
		require.True(t, s.First >= 0 && s.Last < len(m.Calls) && s.First <= s.Last)
		if s.First <= column && column <= s.Last {
			seq := m.Rows[s.Row].Seq
			require.Nil(t, cells[seq], "one cell for a message in a call")
			cells[seq] = s
		}
	}
	require.Len(t, cells, len(shown.Forms))
	var sum int64
	for _, f := range shown.Forms {
		s := cells[f.MessageSeq]
		require.NotNil(t, s)
		sum += f.Tokens
		require.Equal(t, []any{f.Form, f.Reason, f.Tokens, f.Tokens > 0 && sum <= c.SharedSize}, []any{s.Form, s.Reason, s.Tokens, s.Cached})
		row := m.Rows[s.Row]
		require.Equal(t, []any{f.Hash, f.Role, f.Tool}, []any{row.Hash, row.Role, row.Tool})
		require.GreaterOrEqual(t, row.Tokens, f.Tokens)
	}
	return len(cells)
}
