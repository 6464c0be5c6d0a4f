package inspect_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/inspect"
)

// TestMatrix: of every frozen session the matrix says of each call what its request says, in one piece and in stretches.
func TestMatrix(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../../cmd/windlass/testdata/frozen/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(paths), 20)
	cells := 0
	for _, path := range paths {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		r, err := inspect.New("s", rec.Entries)
		require.NoError(t, err)
		for _, window := range [][2]int{{1, len(r.Calls)}, {2, 3}, {len(r.Calls), len(r.Calls) + 10}} {
			m, err := r.Matrix(window[0], window[1])
			require.NoError(t, err)
			for n := m.First; n <= m.Last; n++ {
				cells += sameAsRequest(t, r, m, n)
			}
		}
		m, err := r.Matrix(5, 4)
		require.NoError(t, err)
		require.Empty(t, m.Rows)
	}
	require.Greater(t, cells, 500)
}

// sameAsRequest holds the cells of a call against its request, and returns how many there are.
func sameAsRequest(t *testing.T, r *inspect.Record, m *inspect.Matrix, n int) int {
	t.Helper()
	c := &r.Calls[n-1]
	shown, err := r.Show(c)
	require.NoError(t, err)
	cells := map[uint64]*inspect.Strip{}
	for i := range m.Strips {
		s := &m.Strips[i]
		require.True(t, s.First >= m.First && s.Last <= m.Last && s.First <= s.Last)
		if s.First <= n && n <= s.Last {
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
