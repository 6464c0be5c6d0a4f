package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/term"
)

// saying is something that stays on the screen above the frame: a failure, a verdict, a warning.
type saying struct {
	mark  string
	style term.Colour
	text  string
	more  []string // lines below it, such as what a command printed
}

// Bounds of a saying.
const (
	mostWrapped = 4 // lines of the text
	mostBelow   = 6 // lines of what is below it: the last ones, which say why
	mostBytes   = 2000
)

var (
	passed  = saying{mark: "✓", style: term.Green}
	failed  = saying{mark: "✗", style: term.Red}
	warned  = saying{mark: "!", style: term.Yellow}
	waiting = saying{mark: "■", style: term.Yellow}
	retried = saying{mark: "↻", style: term.Yellow}
	spoken  = saying{mark: "›", style: term.Cyan}
)

func (s saying) of(format string, args ...any) *saying {
	s.text = term.Clean(fmt.Sprintf(format, args...))
	return &s
}

// sayingOf returns what an entry says that stays, nil when it says nothing of the kind.
func sayingOf(e *echo.Entry) *saying {
	place := placeAt(e)
	switch e.NodeType {
	case echo.NodeModelCall:
		if e.Error != nil {
			return failed.of("%s: %s", place, modelFailure(e))
		}
	case echo.NodeToolCall:
		if e.Error != nil && e.Key.Validator() == "" { // the verdict says it
			return failed.of("%s: %s", place, toolFailure(e))
		}
	case echo.NodeVerdict:
		return verdictSaying(place, e)
	case echo.NodeChoice:
		if text := choiceText(e); text != "" {
			return passed.of("%s: %s", place, text)
		}
	case echo.NodeWarning:
		if d, err := echo.Read[echo.Warning](e); err == nil {
			return warned.of("%s: warning: %s", place, term.OneLine(d.Message))
		}
	case echo.NodeWait:
		if text := waitText(e); text != "" {
			return waiting.of("%s: %s", place, text)
		}
	case echo.NodeAnswer:
		if text := answerText(e); text != "" {
			return passed.of("%s: %s", place, text)
		}
	case echo.NodeValue:
		if text := audibleText(e); text != "" {
			return spoken.of("%s: %s", place, text)
		}
	case echo.NodePhaseEnd:
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil && d.Status == echo.StatusFailed {
			return failed.of("%s: %s", endPlace(e), joined(": ", fmt.Sprintf("%s (%s)", d.Status, d.Reason), reasonOf(e)))
		}
	}
	return nil
}

func verdictSaying(place string, e *echo.Entry) *saying {
	d, err := echo.Read[echo.Verdict](e)
	if err != nil {
		return nil
	}
	name := wardLabel(&d) + term.Cut(term.OneLine(d.Validator), 40)
	if !d.Valid && d.Mode == wardAdvisory { // a warning says it
		return nil
	}
	if d.Valid {
		return passed.of("%s: %s passed", place, name)
	}
	lines := linesOf(d.Reason)
	if len(lines) == 1 {
		return failed.of("%s: %s did not pass: %s", place, name, lines[0])
	}
	s := failed.of("%s: %s did not pass:", place, name)
	if d.Validator == "output_schema" { // which says the rule first, and then each violation
		s.more = lines[:min(len(lines), mostBelow)]
		return s
	}
	s.more = strings.Split(excerpt.Last(strings.Join(lines, "\n"), mostBelow, mostBytes), "\n")
	return s
}

// retrySaying says why a request is sent again.
func retrySaying(ev engine.Event) *saying {
	return retried.of("%s: %s", placeIn(ev.Key, ev.Site.Phase, ev.Site.Attempt, ev.Site.Turn), retryText(ev))
}

func retryText(ev engine.Event) string {
	return fmt.Sprintf("trying again in %s: %s", ev.Delta.RetryWait.Round(100*time.Millisecond), term.OneLine(ev.Delta.Retrying))
}

// render returns the lines of a saying, none wider than width.
func (s *saying) render(width int, color bool) []string {
	paint := term.Painter{On: color}.Paint
	rows := term.Wrapped(s.text, max(width-4, 1))
	if len(rows) > mostWrapped {
		rows = rows[:mostWrapped]
		rows[mostWrapped-1] += " …"
	}
	var out []string
	for i, row := range rows {
		margin, room := "    ", term.Cut(row, max(width-4, 1))
		if i == 0 {
			out = append(out, "  "+paint(s.style, s.mark)+" "+room)
			continue
		}
		out = append(out, margin+room)
	}
	for _, line := range s.more {
		out = append(out, paint(term.Dim, term.Cut("      "+line, width)))
	}
	for i := range out { // a terminal of a few columns
		out[i] = cutColoured(out[i], width)
	}
	return out
}

// cutColoured cuts a line only where it is too wide, and takes its colour from it then.
func cutColoured(line string, width int) string {
	if plain := term.StripColour(line); term.Cut(plain, width) != plain {
		return term.Cut(plain, width)
	}
	return line
}

// linesOf returns the lines of a text that have something, without what controls a terminal.
func linesOf(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(term.Clean(strings.ReplaceAll(lines[i], "\t", "    ")), " ")
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" && len(lines) > 1 })
}
