// Package termtest holds a terminal for tests.
package termtest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"
)

// Screen is a terminal that knows text, line ends, cursor up, and two ways to erase.
type Screen struct {
	width, height int
	lines         [][]cell // all there ever were; the last height ones are on the screen
	wrapped       map[int]bool
	row, col      int    // of the cursor; row counts in lines
	style         string // of what is written now
}

// cell is a place for a character.
type cell struct {
	rune  rune // 0: the second half of a wide character
	style string
}

// styles are the names of colours and weights, by what switches them on.
var styles = map[int]string{0: "", 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow", 36: "cyan"}

// NewScreen returns an empty terminal of so many columns and lines.
func NewScreen(width, height int) *Screen {
	return &Screen{width: width, height: height, lines: [][]cell{nil}, wrapped: map[int]bool{}}
}

// modes asks a terminal to mark what is pasted, or not to.
var modes = regexp.MustCompile(`^\x1b\[\?2004[hl]`)

var escape = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

// Write shows a text with its escape sequences; those that no view has a use for fail the test.
func (s *Screen) Write(t *testing.T, text string) {
	t.Helper()
	for text != "" {
		if m := modes.FindString(text); m != "" { // it changes what keys send, and nothing that is shown
			text = text[len(m):]
			continue
		}
		if m := escape.FindStringSubmatch(text); m != nil {
			n, _ := strconv.Atoi(m[1]) // empty is one or none, by the command
			s.command(t, m[2], n)
			text = text[len(m[0]):]
			continue
		}
		r := []rune(text)[0]
		text = text[len(string(r)):]
		switch r {
		case '\r':
			s.col = 0
		case '\n': // a terminal of a person adds the return
			s.col = 0
			s.down()
		default:
			require.NotEqual(t, '\x1b', r, "an escape sequence that the view has no use for: %q", text[:min(len(text), 20)])
			s.put(r)
		}
	}
}

func (s *Screen) command(t *testing.T, name string, n int) {
	t.Helper()
	switch name {
	case "A":
		require.LessOrEqual(t, n, s.row, "the cursor goes above the beginning")
		s.row = max(s.row-n, len(s.lines)-s.height, 0) // a terminal stops at its top
	case "K":
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
	case "J":
		s.lines[s.row] = s.lines[s.row][:min(s.col, len(s.lines[s.row]))]
		for i := s.row + 1; i < len(s.lines); i++ {
			s.lines[i] = nil
			delete(s.wrapped, i)
		}
	case "m":
		style, ok := styles[n]
		require.True(t, ok, "the terminal of this test does not know style %d", n)
		s.style = style
	default:
		t.Fatalf("the terminal of this test does not know %q", name)
	}
}

func (s *Screen) down() {
	s.row++
	if s.row == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *Screen) put(r rune) {
	if s.col+runewidth.RuneWidth(r) > s.width {
		s.col = 0
		s.down()
		s.wrapped[s.row] = true
	}
	line := s.lines[s.row]
	for len(line) <= s.col {
		line = append(line, cell{rune: ' '})
	}
	line[s.col] = cell{r, s.style}
	s.lines[s.row] = line
	s.col++
	for range runewidth.RuneWidth(r) - 1 { // the second half of a wide character
		s.lines[s.row] = append(s.lines[s.row][:s.col:s.col], cell{0, s.style})
		s.col++
	}
}

// Text returns what was not erased, scrolled away or not. Lines that were wrapped are whole.
func (s *Screen) Text() string { return s.text(false) }

// Styled is Text with the names of styles before what has them: "<red>no</>".
func (s *Screen) Styled() string { return s.text(true) }

// Wraps reports whether a line was too wide.
func (s *Screen) Wraps() bool { return len(s.wrapped) > 0 }

func (s *Screen) text(styled bool) string {
	var b strings.Builder
	for i, line := range s.lines {
		if i > 0 && !s.wrapped[i] {
			b.WriteString("\n")
		}
		before := ""
		for _, c := range append(line[:len(line):len(line)], cell{}) {
			if styled && c.style != before && before != "" {
				b.WriteString("</>")
			}
			if styled && c.style != before && c.style != "" {
				b.WriteString("<" + c.style + ">")
			}
			if before = c.style; c.rune != 0 {
				b.WriteRune(c.rune)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
