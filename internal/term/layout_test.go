package term_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
)

func rendered(t *testing.T, tb *term.Table, room term.Room) string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, tb.Render(&b, room))
	return b.String()
}

// Columns go in the order of the table, and a line says which did; a key is never one of them.
func TestColumnsAreDropped(t *testing.T) {
	t.Parallel()
	tb := term.NewTable("session", ">calls", ">cached", "outcome", ">time").Key("session").Drop("cached", "none", "session", "time", "calls")
	tb.Add("01jz4k9qw3e5r7t2y4u67k2mq", "1,200", "900", "failed: the file is not there", "1.5s")
	for width, want := range map[int]string{
		0: "" +
			"session                    calls  cached  outcome                        time\n" +
			"-------------------------  -----  ------  -----------------------------  ----\n" +
			"01jz4k9qw3e5r7t2y4u67k2mq  1,200     900  failed: the file is not there  1.5s\n",
		70: "" +
			"session                    calls  cached  outcome                 time\n" +
			"-------------------------  -----  ------  ----------------------  ----\n" +
			"01jz4k9qw3e5r7t2y4u67k2mq  1,200     900  failed: the file is n…  1.5s\n",
		60: "" +
			"session                    calls  outcome               time\n" +
			"-------------------------  -----  --------------------  ----\n" +
			"01jz4k9qw3e5r7t2y4u67k2mq  1,200  failed: the file is…  1.5s\n" +
			"not shown: cached (--wide)\n",
		40: "" +
			"session                    outcome\n" +
			"-------------------------  -------------\n" +
			"01jz4k9qw3e5r7t2y4u67k2mq  failed: the …\n" +
			"not shown: cached, time, calls (--wide)\n",
		34: "" +
			"session                   outcome\n" +
			"------------------------  --------\n" +
			"01jz4k9qw3e5r7t2y4u67k2mq\n" +
			"                          failed:…\n" +
			"not shown: cached and 2 more (--wide)\n",
	} {
		require.Equal(t, want, rendered(t, tb, term.Room{Width: width}), "%d columns", width)
	}
	require.True(t, strings.HasSuffix(rendered(t, tb, term.Room{Width: 60, Painter: term.Painter{On: true}}), string(term.Dim)+"not shown: cached (--wide)\x1b[0m\n"))
}

// What follows a key that is too long goes below it, under its heads.
func TestBelowAKey(t *testing.T) {
	t.Parallel()
	tb := term.NewTable("where", ">tokens", "outcome").Key("where")
	long := "a_phase_with_a_name_that_is_longer_than_all/attempt1/turn12/tool3"
	tb.Add("read/attempt1/turn1/model", "1,234", "ok")
	tb.Add(long, "5", "ok")
	require.Equal(t, ""+
		"where                                        tokens  outcome\n"+
		"-------------------------------------------  ------  -------\n"+
		"read/attempt1/turn1/model                     1,234  ok\n"+
		long+"\n"+
		"                                                  5  ok\n", rendered(t, tb, term.Room{Width: 60}))
}

// A cell of the last column may go on in the next line. A word that is too long is not cut.
func TestWrapLast(t *testing.T) {
	t.Parallel()
	tb := term.NewTable("what", "finding").WrapLast()
	tb.Add("engine", "ready in /a/folder/of/a/long/name/in/another, with 3 files")
	tb.Add("home", "here")
	require.Equal(t, ""+
		"what    finding\n"+
		"------  ------------------------\n"+
		"engine  ready in\n"+
		"/a/folder/of/a/long/name/in/another,\n"+
		"        with 3 files\n"+
		"home    here\n", rendered(t, tb, term.Room{Width: 32}))
}

// TestNoRowWraps draws random tables: no line is longer than the terminal but for a key or a word
// that is; no key is cut, wherever it goes; what is left out is named; every row is there.
func TestNoRowWraps(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	word := func(n int) string { return strings.Repeat(string("abcdefgh漢"[r.IntN(8)]), 1+r.IntN(n)) }
	for range 3000 {
		width := 45 + r.IntN(125)
		tb := &term.Table{}
		var heads, keys, drops, all []string
		for i := range 1 + r.IntN(12) {
			head := fmt.Sprintf("%c%s", 'A'+i, word(9))
			heads = append(heads, head)
			tb.Column(head, i%3 == 1)
			switch r.IntN(4) {
			case 0:
				keys = append(keys, head)
			case 1, 2:
				drops = append(drops, head)
			}
		}
		tb.Key(keys...).Drop(drops...)
		for range 1 + r.IntN(4) {
			cells := make([]string, len(heads))
			for i := range cells {
				if cells[i] = word(12); slices.Contains(keys, heads[i]) {
					cells[i] = word(12) + fmt.Sprintf("%d", len(all)) + word(60)
					all = append(all, cells[i])
				}
			}
			tb.Add(cells...)
		}
		shown := rendered(t, tb, term.Room{Width: width})
		for _, key := range all {
			require.Contains(t, shown, key)
		}
		for line := range strings.Lines(shown) {
			line = strings.TrimSuffix(line, "\n")
			if runewidth.StringWidth(line) > width {
				require.True(t, slices.Contains(all, strings.TrimSpace(line)), "%d columns, %q in\n%s", width, line, shown)
			}
		}
		for _, head := range heads {
			if first, _, _ := strings.Cut(shown, "---"); !strings.Contains(first, head[:1]) {
				require.Contains(t, drops, head)
				require.Contains(t, shown, "\nnot shown: ")
			}
		}
	}
}
