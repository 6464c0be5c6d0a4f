package term

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/source"
)

// Clean replaces what would control the terminal or the order of words, and line breaks.
func Clean(s string) string { return source.Printable(s) }

// CleanLines is Clean for a text of several lines: it may quote what a tool or an endpoint wrote.
func CleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// OneLine is Clean with each stretch of white space as one space.
func OneLine(s string) string { return Clean(oneline.Of(s)) }

// Cell is a value for a table: with marks for line breaks, without what controls the terminal.
func Cell(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return '⏎'
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, s)
}

// WithoutControls removes what would control a terminal or change the order of words. Line breaks
// and tabs stay, and so do the marks that texts from right to left have between words.
func WithoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		embeds := r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
		if embeds || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// Cut shortens a line to a width in columns, at least one, with an ellipsis at its end.
func Cut(s string, width int) string { return runewidth.Truncate(s, max(width, 1), "…") }

// CutValue cuts a value to the bytes that a terminal of this width can show: a value may have
// megabytes, and a table is kept until its columns are known. With width 0 nothing is cut.
func CutValue(s string, width int) string {
	keep := 4 * (width + 1) // a character has four bytes at most
	if width == 0 || len(s) <= keep {
		return s
	}
	return strings.ToValidUTF8(s[:keep], "") + "…"
}

// Tail returns the last n bytes of a text, from a whole character on.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}

// ShellWord writes a text so that a shell takes it for one word.
func ShellWord(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.~") == "" && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(Cell(text), "'", `'\''`) + "'"
}
