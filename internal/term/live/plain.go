package live

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Plain writes a line for everything that has ended. One goroutine at a time may call Write.
type Plain struct {
	out io.Writer
}

// NewPlain returns the view of a run in lines.
func NewPlain(out io.Writer) *Plain { return &Plain{out: out} }

// Observe implements engine.Observer: only retries are worth a line of their own.
func (v *Plain) Observe(ev engine.Event) {
	if ev.Kind == engine.EventDelta && ev.Delta.Retrying != "" {
		v.line("%s: trying again in %s: %s", placeOf(ev.Site.Phase, ev.Site.Attempt, ev.Site.Turn),
			ev.Delta.RetryWait.Round(100*time.Millisecond), term.OneLine(ev.Delta.Retrying))
	}
}

// Close implements echo.Sink.
func (v *Plain) Close(context.Context) error { return nil }

// Write implements echo.Sink.
func (v *Plain) Write(e *echo.Entry) error {
	place := placeOf(e.Phase, e.Attempt, e.Turn)
	switch e.NodeType {
	case echo.NodeRunStart:
		v.line("%s: session %s", e.CascadeID, e.SessionID)
	case echo.NodeModelCall:
		v.modelCall(place, e)
	case echo.NodeToolCall:
		outcome := ""
		if e.Error != nil {
			outcome = "failed (" + e.Error.Kind + ")"
		}
		v.line("%s: %s", place, columns("tool "+joined(" ", term.OneLine(e.Tool.Name), argumentHint(e.Tool.Arguments)), outcome, term.Millis(e.DurationMS)))
	case echo.NodeVerdict:
		v.verdict(place, e)
	case echo.NodeWarning:
		if d, err := echo.Read[echo.Warning](e); err == nil {
			v.line("%s: warning: %s", place, term.OneLine(d.Message))
		}
	case echo.NodeGuard:
		if line := guardLine(e); line != "" {
			v.line("%s: %s", place, line)
		}
	case echo.NodeInter:
		if line := selectionLine(e); line != "" {
			v.line("%s: %s", place, line)
		}
	case echo.NodePhaseEnd:
		if d, err := echo.Read[echo.PhaseEnd](e); err == nil {
			v.line("%s: %s (%s)  %s", e.Phase, d.Status, d.Reason, term.Millis(e.DurationMS))
		}
	}
	return nil
}

func (v *Plain) modelCall(place string, e *echo.Entry) {
	switch purpose := e.Key.Purpose(); {
	case purpose == echo.PurposeEmbed && e.Error == nil:
		return // one for nearly every message: the sums have them
	case purpose == echo.PurposeValidator:
		place += ": validator " + e.Key.Validator()
	case purpose != "":
		place += ": " + purposeWords(purpose)
	}
	if e.Error != nil {
		v.line("%s: model %s failed (%s): %s", place, e.Model, e.Error.Kind, term.OneLine(e.Error.Message))
		return
	}
	var t record.Totals
	t.Add(e)
	scripted := ""
	if e.Scripted {
		scripted = " (scripted)"
	}
	v.line("%s: model %s%s  %s  %s  %s", place, e.Model, scripted, Tokens(t.Usage), quantity.Cost(t.KnownUSD(), t.UnknownCosts), term.Millis(e.DurationMS))
}

func (v *Plain) verdict(place string, e *echo.Entry) {
	d, err := echo.Read[echo.Verdict](e)
	if err != nil {
		return
	}
	outcome := "passed"
	if !d.Valid {
		outcome = "did not pass: " + reasonLine(&d)
	}
	v.line("%s: %s %s", place, term.Cut(term.OneLine(d.Validator), 60), outcome)
}

// reasonLine is why an answer did not pass: of what a program printed the last lines, which say so.
func reasonLine(d *echo.Verdict) string {
	reason := strings.TrimSpace(d.Reason)
	if d.Validator != "output_schema" && strings.Contains(reason, "\n") {
		reason = excerpt.Last(reason, 6, 160)
	}
	return term.Cut(term.OneLine(reason), 160)
}

func (v *Plain) line(format string, args ...any) {
	_, _ = fmt.Fprintln(v.out, term.Clean(fmt.Sprintf(format, args...))) // a pipe that was closed does not stop the run
}

func placeOf(phase string, attempt, turn int) string {
	s := phase
	if attempt > 1 {
		s += fmt.Sprintf(" attempt %d", attempt)
	}
	if turn > 0 {
		s += fmt.Sprintf(" turn %d", turn)
	}
	if s == "" {
		return "run"
	}
	return s
}

// columns joins the parts that there are with two spaces.
func columns(parts ...string) string { return joined("  ", parts...) }

func joined(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
