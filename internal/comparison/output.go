package comparison

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/windlass-run/windlass/internal/failure"
)

// Output compares what two visits, or two runs, put out. A value is compared as its JSON, with a line
// for each part.
type Output struct {
	Equal  bool   `json:"equal"`
	LinesA int    `json:"lines_a"` // how many A has; 0: it put nothing out
	LinesB int    `json:"lines_b"`
	Line   int    `json:"line,omitempty"` // the first that differs, from 1; 0: none does
	A      string `json:"a,omitempty"`    // that line; "" also where there is none
	B      string `json:"b,omitempty"`

	was, is []string // all lines
}

func newOutput(a, b any) *Output {
	o := &Output{was: linesOf(a), is: linesOf(b)}
	o.LinesA, o.LinesB = len(o.was), len(o.is)
	if o.Equal = slices.Equal(o.was, o.is); o.Equal {
		return o
	}
	n := 0
	for n < min(len(o.was), len(o.is)) && o.was[n] == o.is[n] {
		n++
	}
	o.Line = n + 1
	if n < len(o.was) {
		o.A = o.was[n]
	}
	if n < len(o.is) {
		o.B = o.is[n]
	}
	return o
}

// linesOf returns a text, or a value as JSON, as lines; none for no output.
func linesOf(v any) []string {
	if v == nil {
		return nil
	}
	text, isText := v.(string)
	if !isText {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(v) // it came from JSON
		text = b.String()
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// Unified returns the differences as a unified diff; "" for none. The names are those of the sides.
func (o *Output) Unified(a, b string) string {
	d := diff.Diff(a, joined(o.was), b, joined(o.is))
	_, rest, _ := bytes.Cut(d, []byte("\n")) // the first line is a command that nobody can run
	return string(rest)
}

func joined(lines []string) []byte {
	if len(lines) == 0 {
		return nil
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// PhaseOutput compares the outputs of one visit, as a whole.
type PhaseOutput struct {
	Visit string `json:"visit"`
	*Output
	Diff string `json:"unified"` // "": they are equal
}

// Of compares the outputs of a visit. The error is of [failure.InvalidRequest] when neither session has
// it.
func (c *Comparison) Of(visit string) (*PhaseOutput, error) {
	var names []string
	for _, p := range c.Phases {
		if p.Visit == visit {
			return &PhaseOutput{visit, p.Output, p.Output.Unified("A "+c.A.ID, "B "+c.B.ID)}, nil
		}
		names = append(names, p.Visit)
	}
	try := "two sessions with phases"
	if len(names) > 0 {
		try = "one of " + strings.Join(names, ", ")
	}
	return nil, failure.New(failure.InvalidRequest, fmt.Errorf("--phase %q: neither session has this phase", visit), try)
}
