package term_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// screenOf returns what a terminal shows after a text.
func screenOf(t *testing.T, text string) string {
	t.Helper()
	s := termtest.NewScreen(60, 10)
	s.Write(t, text)
	return s.Text()
}

func TestLine(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := &term.Line{Out: &out, OnTerminal: true}
	l.Keep()
	l.Clear()
	require.Empty(t, out.String(), "nothing was drawn")
	l.Draw("a long text")
	l.Draw("short")
	require.True(t, l.IsOpen())
	require.Equal(t, "short\n", screenOf(t, out.String()))
	l.Keep()
	require.False(t, l.IsOpen())
	l.Draw("another")
	require.Equal(t, "short\nanother\n", screenOf(t, out.String()))
	l.Clear()
	require.Equal(t, "short\nnext\n", screenOf(t, out.String()+"next"))

	out.Reset()
	l = term.NewLine(&out)
	l.Draw("text")
	l.Clear()
	l.Keep()
	require.Empty(t, out.String(), "no terminal")
}

func TestCounter(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := term.NewCounter(&term.Line{Out: &out, OnTerminal: true}, "tests", 300)
	c.Step()
	c.Step()
	require.Empty(t, out.String(), "less than a percent")
	for range 150 {
		c.Step()
	}
	require.Equal(t, "150 of 300 tests (50 %)\n", screenOf(t, out.String()), "the last whole percent")
	c.Clear()
	require.Equal(t, "done\n", screenOf(t, out.String()+"done"))
}

func TestNotices(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	n := term.NewNotices(&out)
	n.Say("one")
	var said string
	n.Redirect(func(text string) { said = text })
	n.Say("two")
	require.Equal(t, "\none\n", out.String())
	require.Equal(t, "two", said)
}
