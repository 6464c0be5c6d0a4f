package engine

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
)

// lookLimit is how long reading the files may take. It holds also when the run's context has ended.
const lookLimit = time.Second

// handOff records where the run stands at the end of a visit. It is recorded directly before that end: what a run is
// taken up without is a handoff and the ends after it.
func (v *visit) handOff(ctx context.Context, err error) error {
	h, known, failed := reading[echo.Handoff](ctx, v.rec, v.at(echo.StepHandoff), v.place(), func() echo.Payload {
		if err != nil || v.touched {
			if files := v.readFiles(ctx); files != nil {
				v.files = files
			}
		}
		return *v.standing(err).handoff()
	})
	if failed != nil || !known {
		return failed
	}
	v.files = h.Workspace
	return nil
}

// readFiles reads what is known of the files; nil when that is nothing.
func (r *run) readFiles(ctx context.Context) *echo.Workspace {
	if r.Workspace == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookLimit)
	defer cancel()
	return r.Workspace(ctx)
}

// standing returns where the run stands at the end of a visit, which an error may have brought about.
func (v *visit) standing(err error) *standing {
	s := &standing{
		cascade: v.cascade, cascadeID: v.cascade.CascadeID, session: v.session, input: v.spec.Input, routes: v.taken,
		refusal: v.refusal, visit: v.key.String(), attempt: v.attempt, turn: v.turn,
		status: v.result.Status, reason: v.result.Reason, workspace: v.files,
	}
	if s.status != echo.StatusCompleted && s.status != echo.StatusInterrupted && err != nil {
		s.problem = err.Error()
	}
	return s
}

// refused keeps what a check said for handoffs.
func (v *visit) refused(check string, valid bool, reason string) {
	v.refusal = ""
	if !valid {
		v.refusal = refusalText(check, reason)
	}
}

func refusalText(check, reason string) string { return check + " did not pass: " + reason }

// HandoffOf says where a recorded run stands now. For a process that died no handoff is recorded; the record has all that
// one is made of. What it says of the files is what was read last. A handoff that is recorded is what this returns for
// the record up to the end of its phase.
func HandoffOf(entries []*echo.Entry) (*echo.Handoff, error) {
	if len(entries) == 0 {
		return nil, errors.New("the session has no entries yet")
	}
	end := endOf(entries)
	var live []*echo.Entry
	aside := setAside(entries)
	var files *echo.Workspace
	for _, e := range entries {
		if e.NodeType == echo.NodeHandoff {
			files = filesOf(e, files)
		}
		if !aside[e.Seq] && !e.Background() {
			live = append(live, e)
		}
	}
	r := &run{
		Runner: &Runner{}, session: echo.NewSession(entries[0].SessionID),
		index: autocontext.NewIndex(), known: map[string]ModelFacts{},
	}
	r.restore(live, "")
	s := &standing{session: r.session, status: echo.StatusRunning, workspace: files}
	t := &trail{standing: s}
	for _, e := range live {
		t.follow(e)
	}
	if end.whole {
		s.status, s.reason = end.status, end.reason
	}
	return s.handoff(), nil
}

// filesOf returns what a handoff says of the files, or what was known before.
func filesOf(e *echo.Entry, before *echo.Workspace) *echo.Workspace {
	h, err := echo.Read[echo.Handoff](e)
	if err != nil || h.Workspace == nil {
		return before
	}
	return h.Workspace
}

// trail reads off a record what its histories do not say.
type trail struct {
	*standing
	visits int // that have begun
}

func (t *trail) follow(e *echo.Entry) {
	if t.cascadeID == "" {
		t.cascadeID = e.CascadeID
	}
	switch e.NodeType {
	case echo.NodeRunStart:
		t.begin(e)
	case echo.NodePhaseStart:
		t.visits++
		t.visit, t.attempt, t.turn = e.Key.VisitKey().String(), 0, 0
		t.status, t.reason, t.problem, t.refusal = echo.StatusRunning, "", "", ""
	case echo.NodePhaseEnd, echo.NodeRunEnd:
		t.end(e)
	case echo.NodeRoute:
		if r, err := echo.Read[echo.Route](e); err == nil {
			t.routes = append(t.routes, r)
		}
	case echo.NodeVerdict:
		t.verdict(e)
	case echo.NodeState:
		if d, err := echo.Read[echo.State](e); err == nil && t.visits > 0 && t.visits <= len(t.session.Phases) {
			t.session.Set(t.session.Phases[t.visits-1], d.Key, d.Value)
		}
	}
	if e.Attempt > 0 && e.NodeType != echo.NodePhaseEnd {
		t.attempt, t.turn = e.Attempt, e.Turn
	}
}

func (t *trail) begin(e *echo.Entry) {
	start, err := echo.Read[echo.RunStart](e)
	if err != nil {
		return
	}
	t.input = start.Input
	h, err := journal.HeaderOf(e)
	var c cascade.Cascade
	if err == nil && json.Unmarshal(h.Cascade, &c) == nil && len(c.Phases) > 0 {
		t.cascade = &c
	}
}

func (t *trail) end(e *echo.Entry) {
	t.status, t.reason = statusOf(e)
	t.problem = ""
	if e.Error != nil && t.status != echo.StatusInterrupted {
		t.problem = e.Error.Message
	}
}

func (t *trail) verdict(e *echo.Entry) {
	t.refusal = ""
	if d, err := echo.Read[echo.Verdict](e); err == nil && !d.Valid {
		t.refusal = refusalText(d.Validator, d.Reason)
	}
}
