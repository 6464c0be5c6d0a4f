package source

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"
)

// maxSnippet bounds the characters of a line that are shown; longer lines are cut around the caret.
const maxSnippet = 110

// Snippet is a line of a file with a mark under some of its characters.
type Snippet struct {
	Line        int    // the line's number, from one
	Col, EndCol int    // the marked characters, from one; EndCol is the first one after them
	Source      string // the line's text
}

// Lines returns the source line and the carets behind a gutter with the line's number. Control
// characters, which could command a terminal, are replaced.
func (s Snippet) Lines() (text, carets string) {
	chars := []rune(s.Source)
	col := min(max(s.Col-1, 0), len(chars))
	end := min(max(s.EndCol-1, col+1), max(len(chars), col+1))
	from, to := s.cut(len(chars), col)
	end = min(end, max(to, col+1))
	var b strings.Builder
	for _, r := range chars[from:to] {
		b.WriteRune(printable(r))
	}
	left, right := ellipsis(from > 0), ellipsis(to < len(chars))
	gutter := fmt.Sprintf("%5d | ", s.Line)
	text = gutter + left + b.String() + right
	pad := width(chars[from:col]) + runewidth.StringWidth(left)
	mark := max(1, width(chars[col:min(end, len(chars))]))
	carets = strings.Repeat(" ", len(gutter)-2) + "| " + strings.Repeat(" ", pad) + strings.Repeat("^", mark)
	return text, carets
}

func (s Snippet) cut(length, col int) (from, to int) {
	if length <= maxSnippet {
		return 0, length
	}
	from = max(0, min(col-maxSnippet/3, length-maxSnippet))
	return from, min(length, from+maxSnippet)
}

func ellipsis(cut bool) string {
	if cut {
		return "..."
	}
	return ""
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return unicode.ReplacementChar
	default:
		return r
	}
}

func width(chars []rune) int {
	n := 0
	for _, r := range chars {
		n += runewidth.RuneWidth(printable(r))
	}
	return n
}

// Printable replaces the control characters of a text, which could command a terminal.
func Printable(s string) string { return strings.Map(printable, s) }
