package inspect_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/inspector/inspectortest"
)

// records are those of every frozen session, and one that is longer and has messages masked.
func records(t *testing.T) (out []*inspect.Record) {
	t.Helper()
	paths, err := filepath.Glob("../../cmd/windlass/testdata/frozen/*/*.jsonl")
	require.NoError(t, err)
	require.Greater(t, len(paths), 20)
	home := t.TempDir()
	inspectortest.Long{Calls: 30, Results: 3, Characters: 300, Every: 8}.Write(t, home, "long")
	for _, path := range append(paths, filepath.Join(config.SessionDir(home, "long"), journal.File)) {
		rec, err := journal.Read(path)
		require.NoError(t, err)
		r, err := inspect.New("s", rec.Entries)
		require.NoError(t, err)
		out = append(out, r)
	}
	return out
}

// TestCarried: what a message took is what the requests say that had it, as itself or in the place of another.
func TestCarried(t *testing.T) {
	t.Parallel()
	inPlace := 0
	for _, r := range records(t) {
		want := map[echo.Hash]*inspect.Carried{}
		for i := range r.Calls {
			if c := &r.Calls[i]; !c.Copied {
				inPlace += carriedBy(t, r, c, want)
			}
		}
		known, err := r.Messages()
		require.NoError(t, err)
		for h := range known {
			is, err := r.Carried(h)
			require.NoError(t, err)
			was := want[h]
			if was == nil {
				was = &inspect.Carried{}
			}
			require.Equal(t, []any{was.Calls, was.Tokens, was.Cached}, []any{is.Calls, is.Tokens, is.Cached}, "%s", h)
		}
	}
	require.Greater(t, inPlace, 20)
}

// carriedBy adds what the request of a call has of each message, and returns how many stood in the place of another.
func carriedBy(t *testing.T, r *inspect.Record, c *inspect.Call, want map[echo.Hash]*inspect.Carried) (inPlace int) {
	t.Helper()
	shown, err := r.Show(c)
	require.NoError(t, err)
	counted := map[echo.Hash]bool{}
	at := int64(0)
	for _, f := range shown.Forms {
		of := []echo.Hash{f.Hash}
		for _, m := range f.Sent {
			if h := m.Hash(); !slices.Contains(of, h) {
				of = append(of, h)
				inPlace++
			}
		}
		if at += f.Tokens; f.Tokens == 0 {
			continue
		}
		for _, h := range of {
			if want[h] == nil {
				want[h] = &inspect.Carried{}
			}
			x := want[h]
			if !counted[h] {
				counted[h] = true
				x.Calls++
			}
			x.Tokens += f.Tokens
			if at <= c.SharedSize {
				x.Cached += f.Tokens
			}
		}
	}
	return inPlace
}
