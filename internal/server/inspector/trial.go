package inspector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/selected"
)

// Selections makes trial selections on what a session has recorded. It is safe for concurrent use.
type Selections interface {
	// Strategies are the names of the ways to select.
	Strategies() []cascade.SelectionStrategy
	// Try selects among what finished phases of the entries said. It pays nothing, fetches nothing and writes nothing: what would
	// have to is an error of [failure.InvalidRequest], as is a trial that makes no sense.
	Try(ctx context.Context, session string, entries []*echo.Entry, t Trial) (*phasecontext.Tried, error)
}

// Trial is what a trial selection is asked for.
type Trial struct {
	Task     string
	Strategy cascade.SelectionStrategy
	Budget   int64 // the most tokens
}

// trialView is the form for another selection, and what it came to.
type trialView struct {
	Offered    bool // it can be made here
	Strategies []cascade.SelectionStrategy
	Strategy   string
	Budget     string
	Task       string
	Asked      bool
	Problem    string
	Command    string // that makes it in a terminal
	Later      bool   // the visit is not the first of its phase: the command selects from less
	Table      *selectionTable
}

// trialTime is how long a trial may take that a browser waits for.
const trialTime = billTime

// trial makes the selection that the address asks for. The status is that of the answer.
func (v *visit) trial(f *found) (*trialView, int, error) {
	q := v.Query()
	t := &trialView{
		Offered: v.Selections != nil, Asked: q.Has("strategy") || q.Has("budget"), Strategy: q.Get("strategy"), Budget: strings.TrimSpace(q.Get("budget")), Task: q.Get("for"),
	}
	visit, phase := f.key.VisitKey(), f.key.Path()
	t.Later = phase.Visit > 1
	if strings.TrimSpace(t.Task) == "" {
		t.Task = v.of.taskOf(f.visit)
	}
	if t.Strategy == "" {
		t.Strategy = string(f.Strategy)
	}
	if t.Budget == "" {
		t.Budget = strconv.FormatInt(f.Budget, 10)
	}
	t.Command = t.command(v.of.ID, phase.Phase)
	if t.Offered {
		t.Strategies = v.Selections.Strategies()
	}
	if !t.Offered || !t.Asked {
		return t, http.StatusOK, nil
	}
	budget, err := strconv.ParseInt(t.Budget, 10, 64)
	if err != nil {
		t.Problem = fmt.Sprintf("A budget of %.50q: expected a whole number of tokens, 1 or more.", t.Budget)
		return t, http.StatusUnprocessableEntity, nil
	}
	ctx, cancel := context.WithTimeout(v.Context(), trialTime)
	defer cancel()
	tried, err := v.Selections.Try(ctx, v.of.ID, before(v.of.Entries, visit), Trial{Task: t.Task, Strategy: cascade.SelectionStrategy(t.Strategy), Budget: budget})
	var known *failure.Error
	switch {
	case err == nil:
		t.Table = newTried(v.of.ID, t.Strategy, tried, f)
		t.Table.shorten()
		return t, http.StatusOK, nil
	case ctx.Err() != nil && v.Context().Err() == nil:
		t.Problem = "This takes longer than a page waits. The command does it, too."
	case errors.As(err, &known) && known.Kind == failure.InvalidRequest:
		t.Problem = sentenceOf(known)
	default:
		return nil, 0, err
	}
	return t, http.StatusUnprocessableEntity, nil
}

// sentenceOf writes an error as a sentence.
func sentenceOf(e *failure.Error) string {
	text := excerpt.Clip(e.Error(), mostWords) + "."
	if e.Try != "" {
		text += " Try: " + e.Try
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// before returns the entries before a visit began.
func before(entries []*echo.Entry, visit echo.Key) []*echo.Entry {
	at := slices.IndexFunc(entries, func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Key.VisitKey() == visit })
	if at < 0 {
		return entries
	}
	return entries[:at]
}

// taskOf returns the task of a visit or a branch; "" when it is not recorded.
func (o *opened) taskOf(visit echo.Key) string {
	for _, e := range o.Entries {
		if e.Message == nil || e.Message.Kind() != echo.KindTask || record.Conversation(e.Key) != visit {
			continue
		}
		if at := e.Key.Path(); at.Last().Kind == echo.StepTask { // and none that was brought in
			return e.Message.Text()
		}
	}
	return ""
}

// command is the line that makes the trial in a terminal.
func (t *trialView) command(id, phase string) string {
	parts := []string{"windlass context select", oneline.Quoted(id), "--for", oneline.Quoted(oneline.Of(t.Task)), "--strategy", oneline.Quoted(t.Strategy), "--budget", oneline.Quoted(t.Budget)}
	if !t.Later {
		parts = append(parts, "--phase", oneline.Quoted(phase))
	}
	if cascade.SelectionStrategy(t.Strategy).AsksModel() {
		parts = append(parts, "--model", "MODEL")
	}
	return strings.Join(parts, " ")
}

// newTried shows a trial against the selection as it was made.
func newTried(id, asked string, tried *phasecontext.Tried, was *found) *selectionTable {
	t := &selectionTable{InterSelection: &tried.InterSelection, How: strategyText(tried.Strategy, echo.Strategy(asked)), Use: selected.Budget(&tried.InterSelection, quantity.Grouped)}
	t.Notes = slices.Concat(tried.Notes, tried.Degraded)
	var parts func(*phasecontext.Explained) []string
	t.Heads, parts = termParts(tried.Explained)
	t.fill(id, tried.Explained, tried.Cut, parts)
	came := map[string]string{}
	for _, a := range was.Anchors {
		came[string(a.ID)] = "anchor"
	}
	for i := range was.Scores {
		if was.Scores[i].Chosen {
			came[string(was.Scores[i].ID)] = "chosen"
		}
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Changed = came[r.Hash]; r.Changed == "" {
			r.Changed = "left out"
		}
	}
	return t
}
