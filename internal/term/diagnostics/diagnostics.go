// Package diagnostics writes for people what is wrong with a file.
package diagnostics

import (
	"fmt"
	"io"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/term"
)

// Write writes each diagnostic with its place, its source line with a mark, and its hint.
func Write(w io.Writer, found cascade.Diagnostics) {
	p := term.Painter{On: term.WantsColour(w)}
	for _, d := range found {
		severity := p.Paint(term.Red, string(d.Severity))
		if d.Severity == cascade.SeverityWarning {
			severity = p.Paint(term.Yellow, string(d.Severity))
		}
		fmt.Fprintf(w, "%s %s: %s %s\n", p.Paint(term.Bold, fmt.Sprintf("%s:%d:%d:", term.Clean(d.File), d.Line, d.Col)),
			severity, term.Clean(d.Message), p.Paint(term.Dim, "["+string(d.Code)+"]"))
		text, carets := source.Snippet{
			Line: d.Line, Col: d.Col - d.SourceCol + 1, EndCol: d.EndCol - d.SourceCol + 1, Source: d.Source,
		}.Lines()
		fmt.Fprintf(w, "%s\n%s\n", text, p.Paint(term.Red, carets))
		if d.Hint != "" {
			fmt.Fprintf(w, "      = hint: %s\n", term.Clean(d.Hint))
		}
		fmt.Fprintln(w)
	}
}
