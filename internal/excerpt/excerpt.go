// Package excerpt shortens texts for people and models: to a number of bytes, to one line, to a
// beginning and an end.
package excerpt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Clip cuts a text to n bytes, at a character, and marks the cut with an ellipsis.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// FirstLine returns the first line of a text, cut to a length that fits a log.
func FirstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return Clip(s, 300)
}

// Line puts a text into one line without control characters, cut to n bytes.
func Line(s string, n int) string {
	if len(s) > 4*n+64 { // text far behind the cut is not read
		s = Clip(s, 4*n+64)
	}
	return Clip(oneline.Of(Clean(s)), n)
}

// Clean removes control characters from a text; white space becomes blanks.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, s)
}

// The size of what Of returns. Most of it is the end of the text, where a program says why it
// failed.
const (
	mostBytes = 2000
	mostLines = 20
)

// Of shortens the output of a failed tool to its beginning and its end.
func Of(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if left := len(lines) - mostLines; left > 0 {
		head, tail := lines[:mostLines/4], lines[mostLines/4+left:]
		lines = slices.Concat(head, []string{fmt.Sprintf("[... %s left out ...]", quantity.Of(left, "line"))}, tail)
	}
	text := strings.Join(lines, "\n")
	if len(text) <= mostBytes {
		return text
	}
	tail := text[len(text)-mostBytes*3/4:]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return Clip(text, mostBytes/4) + "\n" + tail
}
