// Package excerpt shortens texts for people and models: to a number of bytes, to one line, to a
// beginning and an end.
package excerpt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
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
		lines = slices.Concat(head, []string{leftOut(left)}, tail)
	}
	text := strings.Join(lines, "\n")
	if len(text) <= mostBytes {
		return text
	}
	return Clip(text, mostBytes/4) + "\n" + tail(text, mostBytes*3/4)
}

// The size of what Verdict returns: what a model needs to mend what a check has found.
const (
	verdictBytes = 8000
	verdictLines = 100
)

// Verdict returns the last lines of what a check printed, which say why it failed.
func Verdict(s string) string { return Last(s, verdictLines, verdictBytes) }

// End returns the last lines of a text in the size of Of.
func End(s string) string { return Last(s, mostLines, mostBytes) }

// Last returns the last lines of a text, all of it where that fits, and before them how many are left
// out. Of a text that Last has shortened it knows how many there were.
func Last(s string, lines, bytes int) string {
	all := strings.Split(strings.TrimRight(s, "\n"), "\n")
	left := 0
	if m := leftOutLine.FindStringSubmatch(all[0]); m != nil {
		left, _ = strconv.Atoi(m[1])
	}
	if len(all) <= lines && len(s) <= bytes {
		return s
	}
	if left > 0 {
		all = all[1:]
	}
	bytes -= len(leftOut(left + len(all)))
	from := len(all)
	for from > 0 && len(all)-from < lines-1 && bytes >= len(all[from-1])+1 {
		from--
		bytes -= len(all[from]) + 1
	}
	kept := all[from:]
	if len(kept) == 0 { // the last line alone is too long
		from--
		kept = []string{"…" + tail(all[from], bytes-len("…"))}
	}
	if left += from; left > 0 {
		kept = slices.Insert(slices.Clone(kept), 0, leftOut(left))
	}
	return strings.Join(kept, "\n")
}

var leftOutLine = regexp.MustCompile(`^\[\.\.\. ([0-9]+) lines? left out \.\.\.\]$`)

func leftOut(lines int) string {
	return fmt.Sprintf("[... %s left out ...]", quantity.Of(lines, "line"))
}

// tail returns the last n bytes of a text, from a whole character on.
func tail(s string, n int) string {
	s = s[len(s)-min(max(n, 0), len(s)):]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}
