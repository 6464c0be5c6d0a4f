package form

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/waits"
)

// divide divides a line into pieces of a width.
func divide(line string, width int) []string {
	if runewidth.StringWidth(line) <= width {
		return []string{line}
	}
	var out []string
	var b strings.Builder
	n := 0
	for _, r := range line {
		w := runewidth.RuneWidth(r)
		if n+w > width && n > 0 {
			out = append(out, b.String())
			b.Reset()
			n = 0
		}
		b.WriteRune(r)
		n += w
	}
	return append(out, b.String())
}

// more says how many lines are above and below those that are shown.
func more(above, below int) string {
	switch {
	case above == 0:
		return fmt.Sprintf("⋮ %s below: PgDn", term.Plural(below, "line"))
	case below == 0:
		return fmt.Sprintf("⋮ %s above: PgUp", term.Plural(above, "line"))
	}
	return fmt.Sprintf("⋮ %s above, %d below: PgUp, PgDn", term.Plural(above, "line"), below)
}

// title says what is waited for, and where.
func title(w *waits.Wait) string {
	text := "waits for " + w.For()
	if w.Phase != "" {
		text = w.Phase + " " + text
	}
	return strings.Join([]string{text, "wait " + w.ID, "session " + w.Session}, "  ")
}

// bodyOf returns the lines of what is asked: all that an answer is about.
func bodyOf(w *waits.Wait, width int, paint func(term.Colour, string) string) []string {
	switch {
	case w.Call != nil:
		out := []string{cut("Tool: "+w.Call.Tool, width), "Arguments, exactly as they will run:"}
		for _, line := range wrapCode(waiting.Visible(w.Call.Arguments), width-2) {
			out = append(out, "  "+line)
		}
		return out
	case w.Form != nil:
		return append(formLines(w, width, paint), signals(w, "A signal ends it, too", width)...)
	}
	return append(wrap(w.Asked, width), signals(w, "Send it", width)...)
}

// signals returns the commands that send the signals that end a wait.
func signals(w *waits.Wait, label string, width int) []string {
	var out []string
	for _, name := range w.Signals() {
		out = append(out, wrap(label+": windlass signal "+term.ShellWord(name)+" --session "+w.Session, width)...)
	}
	return out
}

// wrapCode divides lines where they are too wide, and nowhere else.
func wrapCode(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, divide(term.Clean(line), max(width, 1))...)
	}
	return out
}

func formLines(w *waits.Wait, width int, paint func(term.Colour, string) string) []string {
	f := w.Form
	var out []string
	if f.Severity != "" {
		out = append(out, paint(term.Yellow, cut("Severity: "+f.Severity, width)))
	}
	for _, line := range wrap(f.Question, width) {
		out = append(out, paint(term.Bold, line))
	}
	if f.Context != "" {
		out = append(append(out, ""), wrap(f.Context, width)...)
	}
	if w.Output != "" {
		out = append(out, "", "The output:")
		for _, line := range wrap(w.Output, width-2) {
			out = append(out, "  "+line)
		}
	}
	if f.Data != nil {
		out = append(append(out, ""), wrapCode(waiting.Visible(asJSON(f.Data)), width)...)
	}
	out = append(out, images(w, width)...)
	if f.HTML != "" {
		out = append(out, cut("It comes with HTML, which the page of windlass serve shows.", width))
	}
	if f.Choose != nil {
		out = append(append(out, ""), candidates(f.Choose, width, paint)...)
	}
	return out
}

// images lists the images that a question shows, and says how they are seen.
func images(w *waits.Wait, width int) []string {
	if len(w.Images()) == 0 {
		return nil
	}
	out := []string{""}
	for i, x := range w.Images() {
		out = append(out, wrap(fmt.Sprintf("Image %d: %s (%s)", i+1, oneline.Of(x.Name), waits.AboutImage(&x)), width)...)
	}
	return append(out, wrap("To see them: windlass serve, or windlass answer "+w.ID+" --save-images FOLDER", width)...)
}

// narrowest is the least width of a candidate that stands next to others.
const narrowest = 44

// candidates returns them next to each other where there is room, else one below the other.
func candidates(c *echo.Choose, width int, paint func(term.Colour, string) string) []string {
	n := len(c.Candidates)
	each := (width - 3*(n-1)) / max(n, 1)
	if n < 2 || each < narrowest {
		var out []string
		for i := range c.Candidates {
			x := &c.Candidates[i]
			out = append(out, paint(term.Cyan, cut("── "+heading(x), width)))
			out = append(append(out, wrap(x.Text, width)...), "")
		}
		return out
	}
	columns, rows := make([][]string, n), 0
	for i := range c.Candidates {
		columns[i] = append([]string{cut(heading(&c.Candidates[i]), each)}, wrap(c.Candidates[i].Text, each)...)
		rows = max(rows, len(columns[i]))
	}
	var out []string
	for row := range rows {
		cells := make([]string, n)
		for i, column := range columns {
			text := ""
			if row < len(column) {
				text = column[row]
			}
			cells[i] = runewidth.FillRight(text, each)
			if row == 0 {
				cells[i] = paint(term.Cyan, cells[i])
			}
		}
		out = append(out, strings.TrimRight(strings.Join(cells, " │ "), " "))
	}
	return out
}

func heading(x *echo.Offered) string {
	if x.Note == "" {
		return x.Label
	}
	return x.Label + "  " + x.Note
}

// labelOf is how an option is shown.
func labelOf(o echo.Option) string {
	text := cmp.Or(o.Label, o.ID)
	if o.Label != "" && o.Label != o.ID {
		text += " (" + o.ID + ")"
	}
	if o.Description != "" {
		text += ": " + o.Description
	}
	return text
}
