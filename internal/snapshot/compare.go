package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Difference is an aspect in which a run is not what is expected.
type Difference struct {
	Aspect Aspect `json:"aspect"`
	Diff   string `json:"diff"` // unified, of the aspect's text
}

// DiffText writes differences one below the other.
func DiffText(all []Difference) string {
	var b strings.Builder
	for _, d := range all {
		fmt.Fprintf(&b, "%s:\n%s", d.Aspect, d.Diff)
	}
	return b.String()
}

// Compare returns the chosen aspects in which two runs differ, in the order of [Aspects].
func Compare(expected, now Observed, chosen []Aspect) []Difference {
	var out []Difference
	for _, a := range Aspects() {
		if !slices.Contains(chosen, a) {
			continue
		}
		d := diff.Diff("expected", []byte(expected.Text(a)), "now", []byte(now.Text(a)))
		if len(d) == 0 {
			continue
		}
		_, rest, _ := bytes.Cut(d, []byte("\n")) // the first line is a command that nobody can run
		out = append(out, Difference{a, string(rest)})
	}
	return out
}

// Text returns an aspect as lines, so that the change of one thing is the change of one line.
func (o *Observed) Text(a Aspect) string {
	var lines []string
	switch a {
	case Phases:
		lines = o.Phases
	case Routes:
		lines = o.Routes
	case Tools:
		for _, c := range o.Tools {
			line := fmt.Sprintf("%s %s %s", c.At, c.Tool, encoded(c.Arguments))
			if c.Failed != "" {
				line += " failed: " + c.Failed
			}
			lines = append(lines, line)
		}
	case Output:
		var v any
		_ = decode(o.Output, &v) // it came out of JSON
		lines = valueLines(v)
	case State:
		for _, name := range slices.Sorted(maps.Keys(o.State)) {
			lines = append(lines, name+":")
			for _, l := range valueLines(o.State[name]) {
				lines = append(lines, "  "+l)
			}
		}
	case Context:
		lines = o.Context
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func valueLines(v any) []string {
	if text, ok := v.(string); ok {
		return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	var b bytes.Buffer
	if json.Indent(&b, encoded(v), "", "  ") != nil {
		return nil
	}
	return strings.Split(b.String(), "\n")
}
