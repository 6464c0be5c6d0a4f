package archive

import (
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Session is one run in figures.
type Session struct {
	clickhouse.SessionState
	Resumable bool `json:"resumable"` // it can be resumed, as far as its record says
	clickhouse.SessionTimes
	Entries uint64 `json:"entries,omitempty"` // 0: not known
	clickhouse.SessionFigures
}

func newSession(s clickhouse.Session) Session {
	return Session{SessionState: s.SessionState, SessionTimes: s.SessionTimes, SessionFigures: s.SessionFigures}
}

// Started returns a session that runs, of which not more is known yet than when it began.
func Started(id, cascadeID string, at time.Time, entries uint64) *Session {
	return &Session{
		SessionState: clickhouse.SessionState{ID: id, CascadeID: cascadeID, Status: sessions.Running},
		SessionTimes: clickhouse.SessionTimes{StartedAt: at, LastAt: at}, Entries: entries,
	}
}

// Detail is what one run did.
type Detail struct {
	Session
	Here         bool    `json:"-"`      // its journal is on this machine
	Output       any     `json:"output"` // of the last phase that ended well, nil before that
	PhaseReports []Phase `json:"phase_reports"`
}

// Phase is what one visit to a phase did.
type Phase struct {
	Visit     string    `json:"visit"` // the phase's name, with ~2 after it on its second visit
	Phase     string    `json:"phase_name"`
	Status    string    `json:"status"`
	Reason    string    `json:"reason,omitempty"`
	Error     string    `json:"error,omitempty"`
	StartedAt time.Time `json:"started_at"`
	LastAt    time.Time `json:"last_at"`
	Attempts  int       `json:"attempts"`
	Turns     int       `json:"turns"`
	Calls     int       `json:"calls"`
	ToolCalls int       `json:"tool_calls"`
	CostUSD   *float64  `json:"cost_usd"`
	Output    any       `json:"output"`
}

// The statuses of a session whose end is not recorded, besides the names of [echo.Status].
const (
	Killed     = sessions.Killed // its process died
	Unfinished = "unfinished"    // it has not ended as far as ClickHouse knows

	noEnd = "running or interrupted" // the same in lists and reports, as ClickHouse's view of sessions says it
)

// summarize returns what a session did. open is the status of one whose end is not recorded.
func summarize(id string, f *record.Fold, open string) *Detail {
	d := &Detail{Session: newSession(figures(id, f)), Output: f.Output(), PhaseReports: []Phase{}}
	d.Entries = f.Entries()
	// A process that died while it recorded why the run stopped has left the reason.
	end := f.End()
	if diedStopping := open == Killed && end.Status != echo.StatusRunning; !end.Whole && !diedStopping {
		d.Status, d.Reason = open, ""
	}
	openVisit := d.Status
	if open == Unfinished {
		openVisit = echo.StatusRunning.String()
	}
	for _, v := range f.Visits() {
		d.PhaseReports = append(d.PhaseReports, phaseOf(&v, openVisit))
	}
	return d
}

func figures(id string, f *record.Fold) clickhouse.Session {
	end, spent := f.End(), f.Spent()
	t := spent.Totals
	return clickhouse.Session{
		SessionState: clickhouse.SessionState{
			ID: id, CascadeID: f.CascadeID(), Status: end.Status.String(), Reason: string(end.Reason), Error: end.Error,
		},
		SessionTimes: clickhouse.SessionTimes{StartedAt: f.StartedAt(), LastAt: spent.LastAt},
		SessionFigures: clickhouse.SessionFigures{
			Phases: uint64(len(f.Visits())), Calls: uint64(t.Calls), ToolCalls: uint64(spent.ToolCalls),
			UnknownCostCalls: uint64(t.UnknownCosts), ScriptedCalls: uint64(t.Scripted),
			Tokens: tokensOf(&t.Usage), CostUSD: t.KnownUSD(),
		},
	}
}

// phaseOf returns what a visit did. open is the status of one that has not ended.
func phaseOf(v *record.Visit, open string) Phase {
	p := Phase{
		Visit: v.Key.String(), Phase: v.Phase, Status: v.Status.String(), Reason: string(v.Reason), Error: v.Error, StartedAt: v.StartedAt,
		LastAt: v.Spent.LastAt, Attempts: v.Attempts, Turns: v.Turns, Calls: v.Spent.Totals.Calls, ToolCalls: v.Spent.ToolCalls,
		CostUSD: v.Spent.Totals.KnownUSD(), Output: v.Output,
	}
	if v.Status == echo.StatusRunning {
		p.Status = open
	}
	return p
}
