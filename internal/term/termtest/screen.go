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
	lines         [][]rune // all there ever were; the last height ones are on the screen
	wrapped       map[int]bool
	row, col      int // of the cursor; row counts in lines
}

// NewScreen returns an empty terminal of so many columns and lines.
func NewScreen(width, height int) *Screen {
	return &Screen{width: width, height: height, lines: [][]rune{nil}, wrapped: map[int]bool{}}
}

var escape = regexp.MustCompile(`^\x1b\[(\d*)([A-Za-z])`)

// Write shows a text with its escape sequences; those that no view has a use for fail the test.
func (s *Screen) Write(t *testing.T, text string) {
	t.Helper()
	for text != "" {
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
		line = append(line, ' ')
	}
	line[s.col] = r
	s.lines[s.row] = line
	s.col++
	for range runewidth.RuneWidth(r) - 1 { // the second half of a wide character
		s.lines[s.row] = append(s.lines[s.row][:s.col:s.col], 0)
		s.col++
	}
}

// Text returns what was not erased, scrolled away or not. Lines that were wrapped are whole.
func (s *Screen) Text() string {
	var b strings.Builder
	for i, l := range s.lines {
		if i > 0 && !s.wrapped[i] {
			b.WriteString("\n")
		}
		b.WriteString(strings.ReplaceAll(string(l), "\x00", ""))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}
