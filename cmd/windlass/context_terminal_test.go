//go:build unix

package main

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// TestContextOnTerminal shows the commands in terminals of several widths: nothing is broken at the
// edge of a table or a bar, colours come with a terminal only, and what a model wrote does not
// reach the terminal's controls.
func TestContextOnTerminal(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	for _, width := range []int{50, 80, 140} {
		s := termtest.NewScreen(width, 200)
		for _, args := range [][]string{{"stats", "01k0cc"}, {"diff", "01k0cc", "3", "5"}, {"why", "01k0cc", "0b9d"}} {
			shown := l.onTerminal(width, 200, exitOK, nil, append([]string{"context"}, args...)...)
			if args[0] == "stats" {
				require.Contains(t, shown, string(term.Cyan))
			}
			s.Write(t, shown+"\n")
		}
		golden(t, fmt.Sprintf("context-%d.golden", width), s.Text())
	}
	shown := l.onTerminal(80, 200, exitOK, nil, "context", "show", "01k0cc", "--call", "2")
	require.Contains(t, shown, "I look at the file")
	requireHarmless(t, shown)
	piped := l.run(exitOK, "context", "show", "01k0cc", "--call", "2")
	require.Contains(t, piped.out.String(), "I look at the file\x1b]0;owned\x07 and the tests.\n", "a pipe gets the very bytes")
	require.NotContains(t, piped.out.String(), string(term.Cyan))
}
