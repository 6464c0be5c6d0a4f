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

// Running returns a session that runs, as far as it is recorded; before that, at is when it began.
func Running(id, cascadeID string, at time.Time, s record.Sums) *Session {
	if s.Entries == 0 {
		s.StartedAt, s.LastAt = at, at
	}
	return &Session{
		SessionState: clickhouse.SessionState{ID: id, CascadeID: cascadeID, Status: sessions.Running},
		SessionTimes: clickhouse.SessionTimes{StartedAt: s.StartedAt, LastAt: s.LastAt}, Entries: s.Entries, SessionFigures: figuresOf(&s),
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
	Unfinished = "unfinished"    // it has not ended as far as ClickHouse knows, whose view of sessions says it so
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
	for _, v := range f.Visits() {
		d.PhaseReports = append(d.PhaseReports, phaseOf(&v, d.Status))
	}
	return d
}

func figures(id string, f *record.Fold) clickhouse.Session {
	end, sums := f.End(), f.Sums()
	return clickhouse.Session{
		SessionState: clickhouse.SessionState{
			ID: id, CascadeID: f.CascadeID(), Status: end.Status.String(), Reason: string(end.Reason), Error: end.Error,
		},
		SessionTimes: clickhouse.SessionTimes{StartedAt: sums.StartedAt, LastAt: sums.LastAt}, SessionFigures: figuresOf(&sums),
	}
}

func figuresOf(s *record.Sums) clickhouse.SessionFigures {
	t := s.Totals
	return clickhouse.SessionFigures{
		Phases: uint64(s.Phases), Calls: uint64(t.Calls), EmbeddingCalls: uint64(t.Embeddings), ToolCalls: uint64(s.ToolCalls),
		UnknownCostCalls: uint64(t.UnknownCosts), ScriptedCalls: uint64(t.Scripted), Tokens: tokensOf(&t.Usage), CostUSD: t.KnownUSD(),
		RanMS: float64(s.Ran.Microseconds()) / 1000, Pretend: pretendOf(&t), Copied: copiedOf(&s.Copied), Below: belowOf(t, &s.Children),
	}
}

// belowOf returns what a session with these totals and its children came to, as far as its record says.
func belowOf(own record.Totals, b *record.Below) clickhouse.Below {
	if b.Begun == 0 {
		return clickhouse.Below{}
	}
	all := own.Plus(b.Totals)
	return clickhouse.Below{
		ChildrenBegun: uint64(b.Begun), ChildrenEnded: uint64(b.Ended), ChildrenUnknown: uint64(b.Totals.UnknownCosts),
		WithChildren: uint64(all.Calls), WithChildrenUSD: all.KnownUSD(),
	}
}

func pretendOf(t *record.Totals) clickhouse.Pretend {
	if t.PriceAs == "" {
		return clickhouse.Pretend{}
	}
	return clickhouse.Pretend{PriceAs: t.PriceAs, PretendUSD: &t.PretendUSD}
}

func copiedOf(c *record.Copied) clickhouse.Copied {
	if c.Session == "" {
		return clickhouse.Copied{}
	}
	return clickhouse.Copied{
		ForkedFrom: c.Session, CopiedCalls: uint64(c.Totals.Requests()), CopiedUnknown: uint64(c.Totals.UnknownCosts), CopiedCostUSD: c.Totals.KnownUSD(),
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
