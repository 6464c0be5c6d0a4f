package term

import (
	"io"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Hang returns a text as it is written to w: on a terminal its first line is divided between its words
// where it is wider, and what continues it is indented. Elsewhere it stays as it is, as do lines after
// the first, which may be a piece of a file with marks below it.
func Hang(w io.Writer, text string, indent int) string {
	return hang(text, indent, Width(w))
}

func hang(text string, indent, width int) string {
	first, rest, more := strings.Cut(text, "\n")
	if indent+minHung > width || runewidth.StringWidth(StripColour(first)) <= width {
		return text
	}
	var lines []string
	room := width
	for first != "" {
		line := Wrapped(first, room)[0]
		lines = append(lines, strings.TrimRight(line, " "))
		first = strings.TrimLeft(first[len(line):], " ")
		room = width - indent
	}
	first = strings.Join(lines, "\n"+strings.Repeat(" ", indent))
	if more {
		return first + "\n" + rest
	}
	return first
}

// minHung is the least room for which lines are divided, beside their indent.
const minHung = 20
