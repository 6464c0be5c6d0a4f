package term

import (
	"io"
	"os"
	"strings"
)

// Colour is an escape sequence that begins a colour or a weight.
type Colour string

// The colours and weights in use.
const (
	Bold   Colour = "\x1b[1m"
	Dim    Colour = "\x1b[2m"
	Red    Colour = "\x1b[31m"
	Green  Colour = "\x1b[32m"
	Yellow Colour = "\x1b[33m"
	Cyan   Colour = "\x1b[36m"

	reset Colour = "\x1b[0m"
)

// Painter colours text, or leaves it alone.
type Painter struct{ On bool }

// Paint returns s in a colour.
func (p Painter) Paint(c Colour, s string) string {
	if !p.On {
		return s
	}
	return string(c) + s + string(reset)
}

// WantsColour reports whether w is a terminal and NO_COLOR is not set (https://no-color.org).
func WantsColour(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && CanDraw(w) }

// StripColour removes what Paint adds.
func StripColour(s string) string {
	for _, c := range []Colour{Bold, Dim, Red, Green, Yellow, Cyan, reset} {
		s = strings.ReplaceAll(s, string(c), "")
	}
	return s
}
