package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// A wait is open until its answer is recorded, in the order in which waits began; what a resumption has set aside counts
// for nothing.
func TestOpenWaits(t *testing.T) {
	t.Parallel()
	wait := func(key string) *echo.Entry {
		return echo.NewEntry(echo.MustKey(key), echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: key}})
	}
	entries := []*echo.Entry{
		wait("a/wait"), wait("b/wait"), echo.NewEntry(echo.MustKey("a/wait"), echo.Answer{Value: "x"}), wait("c/wait"),
		echo.NewEntry(echo.MustKey("run/resume1"), echo.Resume{SetAside: []uint64{3, 4}}),
	}
	for i, e := range entries {
		e.Seq = uint64(i + 1)
	}
	keys := func(n int) (out []string) {
		for _, e := range record.OpenWaits(entries[:n]) {
			out = append(out, e.Key.String())
		}
		return out
	}
	require.Empty(t, keys(0))
	require.Equal(t, []string{"a/wait", "b/wait"}, keys(2))
	require.Equal(t, []string{"b/wait"}, keys(3))
	require.Equal(t, []string{"b/wait", "c/wait"}, keys(4))
	require.Equal(t, []string{"a/wait", "b/wait"}, keys(5))
}
