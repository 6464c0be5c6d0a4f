package reports

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
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
		t.Add(w.ID, string(w.Kind), oneline.Of(w.Asked), quantity.Duration(now.Sub(w.Since)), endsIn(w, now), w.Session, w.Phase, cost)
	}
	return t.Key("id").Drop("cost", "phase", "session", "ends in")
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
		lines = append(lines, "Tool: "+w.Call.Tool, "Arguments, exactly as they will run:", indentedJSON(w.Call.Arguments))
	case w.Form != nil:
		lines = append(lines, formLines(w.Form)...)
	default:
		lines = append(lines, w.Asked)
	}
	if w.Answer != nil {
		lines = append(lines, "", fmt.Sprintf("It was answered by %s, and the run has not taken it yet: windlass resume %s", w.Answer.By, w.Root))
	}
	return lines
}

func formLines(f *echo.Form) []string {
	lines := []string{f.Question}
	if f.Context != "" {
		lines = append(lines, "", f.Context)
	}
	for _, o := range f.Options {
		lines = append(lines, optionLine(o))
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

func indentedJSON(raw json.RawMessage) string {
	text, err := json.MarshalIndent(raw, "  ", "  ")
	if err != nil {
		return "  " + string(raw)
	}
	return "  " + string(text)
}

// AnswerHow says what to type to answer a wait.
func AnswerHow(w *waits.Wait) []string {
	answer := "windlass answer " + w.ID + " "
	switch {
	case w.Kind == echo.WaitSignal:
		return []string{"windlass signal " + term.ShellWord(w.Signal) + " --session " + w.Session}
	case w.Kind == echo.WaitApproval:
		return []string{answer + "allow", answer + `deny --reason "..."`, answer + `edit --arguments '{...}'`}
	case w.Form.Kind == echo.FormConfirmation:
		return []string{answer + "yes", answer + "no"}
	case w.Form.Kind == echo.FormReview:
		return []string{answer + "yes", answer + `no --reason "..."`}
	case w.Form.Kind == echo.FormChoice:
		return []string{answer + term.ShellWord(w.Form.Options[0].ID)}
	case w.Form.Kind == echo.FormMultiChoice:
		return []string{answer + term.ShellWord(w.Form.Options[0].ID) + ",..."}
	case w.Form.Kind == echo.FormRating:
		return []string{fmt.Sprintf("%sN, from 1 to %d", answer, w.Form.Most)}
	case w.Form.Kind == echo.FormFields:
		return []string{answer + "--field NAME=VALUE ..."}
	}
	return []string{answer + `"..."`}
}
