// Package quote decides how values are written into a template's text: as they are, or quoted as a
// command of a POSIX shell, a URL, a form or a JSON document needs.
//
// [Plan] refuses values where no quoting makes them safe; [Words] checks rendered commands once
// more.
package quote

import (
	"strings"

	"github.com/windlass-run/windlass/internal/template/syntax"
	"github.com/windlass-run/windlass/internal/template/value"
)

// Mode is the kind of text that a template makes. It decides how interpolated values are quoted.
type Mode string

// The modes.
const (
	ModeText  Mode = "a text"          // values are written as they are: strings bare, everything else as JSON
	ModeShell Mode = "a command"       // each value is one quoted word of a POSIX shell, a list is one word for each item
	ModeURL   Mode = "a URL"           // values are percent-encoded
	ModeForm  Mode = "a form"          // as in a URL, for a body of name=value pairs
	ModeJSON  Mode = "a JSON document" // values are JSON; inside a JSON string, the inside of one
)

// style is how one value is written ([syntax.Output.Style]).
type style = uint8

const (
	asText     style = iota // unquoted
	asWords                 // of a shell
	asPercent               // percent-encoded
	asJSON                  // a JSON value
	insideJSON              // a part of a JSON string
)

// Words are the words of a command that values were written as. The zero value is ready.
type Words struct{ list []word }

// word is a part of the output.
type word struct {
	start, end int
	number     bool // so that there is nothing in it for a shell to evaluate
}

// Write returns a value as the output writes it, at an offset of the rendered text.
func (ws *Words) Write(r *value.Run, out *syntax.Output, v any, offset int) string {
	switch out.Style {
	case asWords:
		return ws.quoted(r, v, offset)
	case asPercent:
		return r.PercentEncode(v)
	case asJSON:
		return r.JSON(v, "")
	case insideJSON:
		quoted := value.QuoteJSON(r.Text(v))
		return quoted[1 : len(quoted)-1]
	}
	return r.Text(v)
}

// quoted writes a value as one word of a POSIX shell, and a list as one word for each of its items.
func (ws *Words) quoted(r *value.Run, v any, offset int) string {
	l, ok := v.([]any)
	if !ok {
		return ws.word(r, v, offset)
	}
	words := make([]string, len(l))
	for i, x := range l {
		words[i] = ws.word(r, value.Plain(x), offset)
		offset += len(words[i]) + 1
	}
	return strings.Join(words, " ")
}

func (ws *Words) word(r *value.Run, v any, offset int) string {
	s := r.Text(v)
	if strings.IndexByte(s, 0) >= 0 {
		panic(value.Failf("a value with a NUL character cannot be put into a command"))
	}
	r.SpendBytes(len(s))
	w := "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	ws.list = append(ws.list, word{offset, offset + len(w), value.IsNumber(v)})
	return w
}

// Check reports the first value that may not stand where it does in a rendered command.
func (ws *Words) Check(command []byte) error {
	if len(ws.list) == 0 {
		return nil
	}
	var b strings.Builder
	at, n := 0, 0
	for _, w := range ws.list {
		if w.number {
			continue
		}
		b.Write(command[at:w.start])
		b.WriteString("'" + placeholder(n) + "'")
		at, n = w.end, n+1
	}
	b.Write(command[at:])
	return checkCommand(b.String(), n)
}
