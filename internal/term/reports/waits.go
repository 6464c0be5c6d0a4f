package reports

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/waits"
)

// Waits has a row for each wait.
func Waits(list []*waits.Wait, now time.Time) *term.Table {
	t := term.NewTable("id", "kind", "asked", ">age", "ends in", "session", "phase", ">cost")
	for _, w := range list {
		cost := "unknown"
		if w.CostUSD != nil {
			cost = term.USD(*w.CostUSD)
		}
		t.Add(w.ID, string(w.Kind), term.OneLine(w.Asked), quantity.Duration(now.Sub(w.Since)), endsIn(w, now), w.Session, w.Phase, cost)
	}
	return t.Key("id", "session").Drop("cost", "phase", "ends in", "age")
}

func endsIn(w *waits.Wait, now time.Time) string {
	switch {
	case w.Answer != nil:
		return "answered"
	case w.Deadline == nil:
		return "never"
	case !now.Before(*w.Deadline):
		return "ended"
	}
	return quantity.Duration(w.Deadline.Sub(now))
}

// Wait has the lines that show one wait whole: what is asked, and everything that an answer is about.
func Wait(w *waits.Wait, now time.Time) []string {
	lines := []string{
		fmt.Sprintf("%s %s of session %s, phase %s, asked %s ago", strings.ToUpper(string(w.Kind[:1]))+string(w.Kind[1:]), w.ID, w.Session, w.Phase, quantity.Duration(now.Sub(w.Since))),
		"",
	}
	switch {
	case w.Call != nil:
		lines = append(lines, "Tool: "+w.Call.Tool, "Arguments, exactly as they will run:", indented(waiting.Visible(w.Call.Arguments)))
	case w.Form != nil:
		lines = append(lines, formLines(w)...)
		if len(w.Any) > 0 {
			lines = append(lines, "", "It ends with "+effect.Signals(w.Any)+", too")
		}
	default:
		lines = append(lines, w.Asked)
	}
	switch {
	case w.Answer != nil:
		lines = append(lines, "", fmt.Sprintf("It was answered by %s, and the run has not taken it yet: windlass resume %s", w.Answer.By, w.Root))
	case IsOver(w, now):
		lines = append(lines, "", fmt.Sprintf("It ended without an answer %s ago: windlass resume %s continues the run", quantity.Duration(now.Sub(*w.Deadline)), w.Root))
	}
	return lines
}

// IsOver reports whether nothing can end a wait any more: it has its answer, or its deadline has passed.
func IsOver(w *waits.Wait, now time.Time) bool {
	return w.Answer != nil || w.Deadline != nil && !now.Before(*w.Deadline)
}

func formLines(w *waits.Wait) []string {
	f := w.Form
	lines := []string{f.Question}
	if f.Context != "" {
		lines = append(lines, "", f.Context)
	}
	if w.Output != "" {
		lines = append(lines, "", "The output:", indented(w.Output), "")
	}
	if f.Data != nil {
		if data, err := json.Marshal(f.Data); err == nil {
			lines = append(lines, "", indented(waiting.Visible(data)))
		}
	}
	lines = append(lines, imageLines(w)...)
	if f.HTML != "" {
		lines = append(lines, "", "There is more to see in a browser: windlass serve")
	}
	if f.Choose != nil {
		lines = append(lines, candidateLines(f.Choose)...)
	}
	for i, o := range f.Options {
		line := optionLine(o)
		if i < len(f.Actions) && followed[f.Actions[i]] != "" {
			line += " (" + followed[f.Actions[i]] + ")"
		} else if i < len(f.Actions) && !waiting.IsAction(f.Actions[i]) {
			line += " (then " + f.Actions[i] + ")"
		}
		lines = append(lines, line)
	}
	for _, x := range f.Fields {
		line := fmt.Sprintf("  %s (%s)", x.Name, x.Kind)
		if x.Required {
			line += " required"
		}
		if x.Label != "" {
			line += ": " + x.Label
		}
		lines = append(lines, line)
		for _, o := range x.Options {
			lines = append(lines, "  "+optionLine(o))
		}
	}
	return lines
}

// imageLines lists the images that a question shows, and says how they are seen.
func imageLines(w *waits.Wait) []string {
	if len(w.Images()) == 0 {
		return nil
	}
	lines := []string{""}
	for i, x := range w.Images() {
		lines = append(lines, fmt.Sprintf("Image %d: %s (%s)", i+1, oneline.Of(x.Name), waits.AboutImage(&x)))
	}
	return append(lines, "To see them: windlass serve, or windlass answer "+w.ID+" --save-images FOLDER")
}

// SavedImages says which files were written.
func SavedImages(list []waits.Saved) []string {
	var lines []string
	for _, x := range list {
		lines = append(lines, fmt.Sprintf("Wrote %s (%s).", x.File, waits.AboutImage(&x.Image)))
	}
	return lines
}

// followed says what follows from a decision.
var followed = map[string]string{waiting.ActionRetry: "the phase runs again", waiting.ActionAbort: "the phase fails"}

func optionLine(o echo.Option) string {
	line := "  " + o.ID
	if o.Label != "" {
		line += "  " + o.Label
	}
	if o.Description != "" {
		line += ": " + o.Description
	}
	return line
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// Earlier says what was decided before on waits like one; no lines where nothing was.
func Earlier(list []waits.Decided, now time.Time) []string {
	if len(list) == 0 {
		return nil
	}
	lines := []string{"Earlier decisions like it:"}
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("  %s ago  %s (%s) in session %s: %s", quantity.Duration(now.Sub(d.Answer.At)), cmp.Or(d.Answer.By, "somebody"), d.Answer.Via,
			d.Session, term.Cut(oneline.Of(d.Text()), 120)))
	}
	return lines
}

// Asked shows one wait whole, what was decided before on waits like it, and how it is answered.
func Asked(w *waits.Wait, earlier []waits.Decided, now time.Time) []string {
	lines := Wait(w, now)
	if len(earlier) > 0 {
		lines = append(append(lines, ""), Earlier(earlier, now)...)
	}
	if IsOver(w, now) {
		return lines
	}
	lines = append(lines, "", "Answer it:")
	for _, line := range AnswerHow(w) {
		lines = append(lines, "  "+line)
	}
	return lines
}

// Edited says what an edit of a call changes in its arguments.
func Edited(call *echo.AwaitedCall, arguments json.RawMessage) []string {
	diff := term.Diff(waiting.Visible(call.Arguments), waiting.Visible(arguments))
	if diff == nil {
		return []string{"The edit changes nothing in the arguments of " + call.Tool + "."}
	}
	return append([]string{"The edit changes the arguments of " + call.Tool + ":"}, diff...)
}

// AnswerHow says what to type to answer a wait.
func AnswerHow(w *waits.Wait) []string {
	signals := signalHow(w)
	if !w.IsAnswered() {
		return signals
	}
	return append(formHow(w), signals...)
}

func signalHow(w *waits.Wait) []string {
	var out []string
	for _, name := range w.Signals() {
		out = append(out, "windlass signal "+term.ShellWord(name)+" --session "+w.Session)
	}
	return out
}

func formHow(w *waits.Wait) []string {
	answer := "windlass answer " + w.ID + " "
	switch {
	case w.Kind == echo.WaitApproval:
		return []string{answer + "allow", answer + `deny --reason "..."`, answer + `edit --arguments '{...}'`}
	case w.Form.Kind == echo.FormConfirmation:
		return []string{answer + "yes", answer + "no"}
	case w.Form.Kind == echo.FormReview:
		return []string{answer + "yes", answer + `no --reason "..."`}
	case w.Form.Feedback:
		first := answer + term.ShellWord(w.Form.Options[0].ID)
		return []string{first, first + ` --reason "..."`}
	case w.Form.Kind == echo.FormChoice:
		return []string{answer + term.ShellWord(w.Form.Options[0].ID)}
	case w.Form.Kind == echo.FormMultiChoice:
		return []string{answer + term.ShellWord(w.Form.Options[0].ID) + ",..."}
	case w.Form.Kind == echo.FormRating:
		return []string{fmt.Sprintf("%sN, from 1 to %d", answer, w.Form.Most)}
	case w.Form.Kind == echo.FormCandidates:
		return chooseHow(answer, w.Form.Choose)
	case w.Form.Kind == echo.FormFields:
		return []string{answer + "--field NAME=VALUE ..."}
	}
	return []string{answer + `"..."`}
}
