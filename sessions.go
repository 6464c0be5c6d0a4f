package windlass

import (
	"context"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Session is one run in figures.
type Session struct {
	ID        string
	CascadeID string
	Status    string // the name of an echo.Status, or "killed", "unfinished", "damaged", "other_version"
	Reason    echo.StopReason
	Error     string // that the run failed of, or why its journal cannot be read
	StartedAt time.Time
	LastAt    time.Time // of the newest entry
	Resumable bool      // as far as its record says
	Place

	Visits int // to phases
	CallCounts
	Usage        echo.Usage // its In, Cached and Out
	CostUSD      *float64   // of the calls whose cost is known; nil: there are only others
	UnknownCosts int        // calls whose cost is not known
}

// CallCounts say how many calls a run made. Requests for embeddings are no model calls.
type CallCounts struct {
	ModelCalls     int
	EmbeddingCalls int
	ToolCalls      int
}

// Place says where the record of a session is.
type Place struct {
	Here    bool   // its journal is on this machine
	Pending uint64 // entries that ClickHouse does not have yet, as [Windlass.Sessions] reports them
}

// SessionDetail is what one run did.
type SessionDetail struct {
	Session
	Output any // of the last phase that ended well
	Phases []PhaseDetail
}

// PhaseDetail is what one visit to a phase did.
type PhaseDetail struct {
	Visit      string // the name of the phase, with ~2 behind it on the second visit
	Phase      string
	Status     string
	Reason     echo.StopReason
	Error      string
	StartedAt  time.Time
	LastAt     time.Time
	Attempts   int
	Turns      int
	ModelCalls int
	ToolCalls  int
	CostUSD    *float64
	Output     any
}

// Verification is what [Windlass.Verify] found: Holds, and the first Difference when it does not;
// how many Entries, Requests, Views and Selections were compared; the Status of the run, and
// whether the last line of its journal was Torn by a crash.
type Verification = app.Verification

// Sessions lists the newest sessions of this machine and of ClickHouse, the newest first; all of
// them when limit is 0. Those that another session has begun are not among them, see [Run.Children].
// When ClickHouse cannot be asked, the sessions of this machine are returned
// together with an error that says why.
func (w *Windlass) Sessions(ctx context.Context, limit int) ([]Session, error) {
	if err := w.ready("list sessions"); err != nil {
		return nil, err
	}
	listed, away, err := archive.ListRuns(ctx, w.archive, limit, clickhouse.Filter{})
	if err != nil {
		return nil, explain(err)
	}
	list := make([]Session, len(listed))
	for i := range listed {
		l := &listed[i]
		list[i] = newSession(&l.SessionState, &l.SessionTimes, &l.SessionFigures)
		list[i].Here, list[i].Resumable, list[i].Pending = l.Here, l.Resumable, l.Pending
		if l.Problem != "" {
			list[i].Error = l.Problem
		}
	}
	return list, explain(away)
}

func newSession(s *clickhouse.SessionState, t *clickhouse.SessionTimes, f *clickhouse.SessionFigures) Session {
	return Session{
		ID: s.ID, CascadeID: s.CascadeID, Status: s.Status, Reason: echo.StopReason(s.Reason), Error: s.Error, StartedAt: t.StartedAt, LastAt: t.LastAt,
		Visits: int(f.Phases), CallCounts: CallCounts{int(f.Calls), int(f.EmbeddingCalls), int(f.ToolCalls)},
		CostUSD: f.CostUSD, UnknownCosts: int(f.UnknownCostCalls),
		Usage: echo.Usage{In: f.TokensIn, Cached: f.TokensCached, Out: f.TokensOut},
	}
}

// Session sums a session up, also while it runs. It is named as everywhere: by its id, "last" or
// "last~N", the end of its id (5 characters or more), its beginning, or the id of a cascade, whose
// newest session it is. The first of these that fits counts.
func (w *Windlass) Session(ctx context.Context, id string) (*SessionDetail, error) {
	if err := w.ready("sum up a session"); err != nil {
		return nil, err
	}
	d, err := w.archive.Detail(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	out := &SessionDetail{Session: newSession(&d.SessionState, &d.SessionTimes, &d.SessionFigures), Output: d.Output}
	out.Here, out.Resumable = d.Here, d.Resumable
	for i := range d.PhaseReports {
		p := &d.PhaseReports[i]
		out.Phases = append(out.Phases, PhaseDetail{
			Visit: p.Visit, Phase: p.Phase, Status: p.Status, Reason: echo.StopReason(p.Reason), Error: p.Error, StartedAt: p.StartedAt,
			LastAt: p.LastAt, Attempts: p.Attempts, Turns: p.Turns, ModelCalls: p.Calls, ToolCalls: p.ToolCalls, CostUSD: p.CostUSD, Output: p.Output,
		})
	}
	return out, nil
}

// Verify runs a session again with nothing but its record: no model is asked, no tool runs, nothing
// is written. It compares everything that the run would record with what is recorded, byte for
// byte. Other cascades that the run has begun are verified with it, see [Run.Children]. It must be given
// the tools that the session was started with.
func (w *Windlass) Verify(ctx context.Context, id string, opts ...RunOption) (*Verification, error) {
	if err := w.ready("verify a session"); err != nil {
		return nil, err
	}
	s, err := w.settingsToResume(opts)
	if err != nil {
		return nil, explain(err)
	}
	rec, err := recording(ctx, w, id)
	if err != nil {
		return nil, err
	}
	v, err := app.VerifyTree(ctx, w.app, rec, s.Extensions)
	return v, explain(err)
}

// Handoff says where a run stands, for a person or another agent who continues it, also when its
// process died.
func (w *Windlass) Handoff(ctx context.Context, id string) (*echo.Handoff, error) {
	r, err := w.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	return r.Handoff()
}

// Rebuild has the journal of a session on this machine: it makes that of one that was run on
// another machine again from ClickHouse, and reports whether it did. It returns the whole id. The
// session must not be resumed in two places. What resumes, forks, verifies or freezes a session
// rebuilds it by itself.
func (w *Windlass) Rebuild(ctx context.Context, id string) (whole string, rebuilt bool, err error) {
	if err := w.ready("rebuild a session"); err != nil {
		return "", false, err
	}
	whole, rebuilt, err = w.archive.Bring(ctx, id)
	return whole, rebuilt, explain(err)
}

// Shipped is what became of one session that was to be delivered: its ID; the Outcome, "delivered",
// "running" (left to the process that runs it) or "failed" with its Error; how many rows were
// Delivered and how many are Pending.
type Shipped = archive.Shipped

// Ship delivers to ClickHouse what it does not have yet of sessions on this machine: of those that
// are named, or of all; with again everything once more. Nothing is counted twice. The error ends
// the whole delivery; what is wrong with one session alone is in its result.
func (w *Windlass) Ship(ctx context.Context, again bool, ids ...string) ([]Shipped, error) {
	if err := w.ready("deliver sessions"); err != nil {
		return nil, err
	}
	if w.journals {
		return nil, invalid("deliver sessions: there is no ClickHouse, see Options.NoClickHouse")
	}
	shipment, err := w.archive.Shipment(ids, again)
	if err != nil {
		return nil, explain(err)
	}
	done, err := shipment.Deliver(ctx, func(int, *sessions.Session) archive.Progress { return silent{} })
	return done, explain(err)
}

// Deliver is [Windlass.Ship] of what is pending. It returns how many rows were delivered. Runs
// deliver by themselves; it is needed when ClickHouse was away and no later run made up for it.
func (w *Windlass) Deliver(ctx context.Context, ids ...string) (rows int, err error) {
	done, err := w.Ship(ctx, false, ids...)
	for i := range done {
		rows += done[i].Delivered
	}
	return rows, err
}

// silent shows no progress.
type silent struct{}

func (silent) Show(_, _ uint64) {}
func (silent) End()             {}
