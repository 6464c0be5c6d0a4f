package term_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
)

func TestTable(t *testing.T) {
	t.Parallel()
	sample := func() *term.Table {
		tb := term.NewTable("name", ">count")
		tb.Add("漢字 and more text", "1,234")
		tb.Add("a\nb\x1b[31mred\u202e", "5")
		return tb
	}
	for name, tc := range map[string]struct {
		width int
		want  string
	}{
		"off a terminal nothing is cut": {0, "" +
			"name                count\n" +
			"------------------  -----\n" +
			"漢字 and more text  1,234\n" +
			"a⏎b[31mred              5\n"},
		"text is cut to the width, numbers are not": {18, "" +
			"name         count\n" +
			"-----------  -----\n" +
			"漢字 and m…  1,234\n" +
			"a⏎b[31mred       5\n"},
		"no column is cut to nothing: it goes below": {1, "" +
			"name\n  count\n" +
			"--------\n  -----\n" +
			"漢字 an…\n  1,234\n" +
			"a⏎b[31m…\n      5\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			require.NoError(t, sample().Render(&b, term.Room{Width: tc.width}))
			require.Equal(t, tc.want, b.String())
			require.NotContains(t, b.String(), "\x1b")
		})
	}
}

// An id is shown whole where there is room, else short, and never cut.
func TestTableOfIDs(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		0: "" +
			"id                      status\n" +
			"----------------------  ----------------------\n" +
			"01jz4k0000000000007k2m  interrupted, resumable\n" +
			"a-name-that-was-chosen  completed\n",
		46: "" +
			"id                      status\n" +
			"----------------------  ----------------------\n" +
			"01jz4k0000000000007k2m  interrupted, resumable\n" +
			"a-name-that-was-chosen  completed\n",
		36: "" +
			"id                      status\n" +
			"----------------------  ------------\n" +
			"07k2m                   interrupted…\n" +
			"a-name-that-was-chosen  completed\n",
		8: "" +
			"id\n  status\n" +
			"--------\n  --------\n" +
			"07k2m\n  interru…\n" +
			"a-name-that-was-chosen\n  complet…\n",
	} {
		tb := term.NewTable("id", "status")
		tb.Add("01jz4k0000000000007k2m", "interrupted, resumable")
		tb.Add("a-name-that-was-chosen", "completed")
		tb.Shorten("id", []string{"07k2m", "a-name-that-was-chosen"})
		var b strings.Builder
		require.NoError(t, tb.Render(&b, term.Room{Width: width}))
		require.Equal(t, want, b.String(), "%d columns", width)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	half := 0.5
	require.Equal(t, "", term.Cost(nil, 0, 0))
	require.Equal(t, "unknown", term.Cost(nil, 2, 2))
	require.Equal(t, "$0.5000 + unknown", term.Cost(&half, 2, 1))
	require.Equal(t, "$0.5000", term.Cost(&half, 2, 0))
	for usd, want := range map[float64]string{0: "$0.00", 12.345: "$12.35", 0.00031: "$0.0003", 0.0001: "$0.0001", 0.000045: "$0.000045", 1.5e-7: "$0.00000015"} {
		require.Equal(t, want, term.USD(usd))
	}
}

// TestCutValue cuts what a terminal cannot show, and nothing that it can.
func TestCutValue(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("漢", 1<<20)
	require.Equal(t, long, term.CutValue(long, 0), "off a terminal nothing is cut")
	require.Equal(t, "short", term.CutValue("short", 80))
	require.Less(t, len(term.CutValue(long, 80)), 400)
	tb := term.NewTable("text")
	tb.Add(term.CutValue(long, 20))
	var b strings.Builder
	require.NoError(t, tb.Render(&b, term.Room{Width: 20}))
	require.Contains(t, b.String(), strings.Repeat("漢", 9)+"…\n")
}
