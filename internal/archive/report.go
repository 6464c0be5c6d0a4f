package archive

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/sessions"
)

// Report is what one run did, with each of its model and tool calls.
type Report struct {
	clickhouse.Session
	Family
	PhaseReports []PhaseReport `json:"phase_reports"`
	CallList     []Call        `json:"call_list"`

	Here      bool          `json:"-"` // its journal is on this machine
	Resumable bool          `json:"-"` // it can be resumed, as far as its record says
	Entries   []*echo.Entry `json:"-"`
}

// PhaseReport is what one visit to a phase did and used.
type PhaseReport struct {
	Visit  string `json:"visit"` // the phase's name, with ~2 after it on its second visit
	Phase  string `json:"phase_name"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	clickhouse.SessionTimes
	Attempts  int `json:"attempts"`
	Turns     int `json:"-"`
	ToolCalls int `json:"tool_calls"`
	clickhouse.Usage
	TookMS   float64        `json:"took_ms"`            // with tools, children and waits, without the time between resumes; until its end that of its model calls
	Branches []BranchReport `json:"branches,omitempty"` // such as the elements of its list, in their order
}

// BranchReport is what a branch of a visit did and used, such as an element of its list. The figures are
// in those of the visit.
type BranchReport struct {
	Branch string        `json:"branch"` // its key, such as each/item3
	Kind   echo.StepKind `json:"kind"`
	Number int           `json:"number"` // from 1
	Status string        `json:"status"` // pending: it has not begun
	Reason string        `json:"reason,omitempty"`
	Error  string        `json:"error,omitempty"`

	StartedAt time.Time `json:"started_at,omitzero"`
	LastAt    time.Time `json:"last_at,omitzero"`
	Attempts  int       `json:"attempts"`
	Turns     int       `json:"turns"`
	ToolCalls int       `json:"tool_calls"`
	clickhouse.Usage
	TookMS float64 `json:"took_ms"` // as of a visit; of a step of refinement from its first entry to its choice
}

// Call is one model or tool call of a session.
type Call struct {
	Seq      uint64        `json:"seq"`
	NodeType echo.NodeType `json:"node_type"` // model_call or tool_call
	Key      string        `json:"key"`
	Phase    string        `json:"phase_name"`
	Name     string        `json:"name"` // of the model or the tool
	clickhouse.Tokens
	CostUSD    *float64              `json:"cost_usd"`
	DurationMS float64               `json:"duration_ms"`
	Failed     bool                  `json:"failed"`
	Copied     bool                  `json:"copied,omitempty"`      // of the session that a fork comes from, which paid for it
	Retries    int                   `json:"retries,omitempty"`     // requests of a model call that failed before
	RetryKinds []echo.ModelErrorKind `json:"retry_kinds,omitempty"` // why each of them did
	Error      string                `json:"error,omitempty"`
}

// Report returns what a session did, call by call.
func (a *Archive) Report(ctx context.Context, given string) (*Report, error) {
	read, err := a.reading(ctx, given)
	if err != nil {
		return nil, err
	}
	d := read.Detail
	r := &Report{
		Session: clickhouse.Session{SessionState: d.SessionState, SessionTimes: d.SessionTimes, SessionFigures: d.SessionFigures, Tags: tagsOf(read.Entries)},
		Family:  familyOf(ctx, a, read), PhaseReports: []PhaseReport{}, CallList: []Call{}, Here: d.Here, Resumable: d.Resumable, Entries: read.Entries,
	}
	if !r.Here { // whoever resumes it brings it here
		r.Resumable = canResume(&r.Session) && record.ResumptionOf(read.Entries).Possible
	}
	durations := map[echo.Key]float64{} // of the model calls of each visit and branch, in ms
	took := map[echo.Key]float64{}      // by visits and branches, as their ends say
	origin := read.Fold.Sums().Copied.Origin
	for _, e := range read.Entries {
		if e.NodeType == echo.NodePhaseEnd && !origin.Has(e) {
			took[record.Conversation(e.Key)] = e.DurationMS
		}
		if e.NodeType == echo.NodeModelCall && !origin.Has(e) {
			for _, key := range slices.Compact([]echo.Key{e.Key.VisitKey(), record.Conversation(e.Key)}) {
				durations[key] += e.DurationMS
			}
		}
		if e.NodeType == echo.NodeModelCall || e.NodeType == echo.NodeToolCall {
			c := callOf(e)
			c.Copied = origin.Has(e)
			r.CallList = append(r.CallList, c)
		}
	}
	for i, v := range read.Fold.Visits() {
		p := &d.PhaseReports[i]
		report := PhaseReport{
			Visit: p.Visit, Phase: p.Phase, Status: p.Status, Reason: p.Reason,
			SessionTimes: clickhouse.SessionTimes{StartedAt: p.StartedAt, LastAt: p.LastAt}, Attempts: p.Attempts, Turns: p.Turns, ToolCalls: p.ToolCalls,
			Usage: usageOf(&v.Spent.Totals, durations[v.Key]), TookMS: cmp.Or(took[v.Key], durations[v.Key]),
		}
		for _, b := range read.Fold.Branches(v.Key) {
			one := branchOf(&b, d.Status, durations[b.Key])
			one.TookMS = cmp.Or(took[b.Key], stepMS(&b), one.DurationMS)
			report.Branches = append(report.Branches, one)
		}
		r.PhaseReports = append(r.PhaseReports, report)
	}
	return r, nil
}

// stepMS is how long a step of refinement took that has ended, 0 for what is none.
func stepMS(b *record.Branch) float64 {
	if b.Step.Kind != echo.StepReforge || b.EndedAt.IsZero() {
		return 0
	}
	return float64(b.EndedAt.Sub(b.StartedAt).Microseconds()) / 1000
}

func usageOf(t *record.Totals, ms float64) clickhouse.Usage {
	return clickhouse.Usage{
		Calls: uint64(t.Calls), EmbeddingCalls: uint64(t.Embeddings), UnknownCostCalls: uint64(t.UnknownCosts),
		FailedCalls: uint64(t.Failed), ScriptedCalls: uint64(t.Scripted),
		Tokens: tokensOf(&t.Usage), TokensReasoning: t.Usage.Reasoning, CostUSD: t.KnownUSD(), DurationMS: ms,
		Pretend: pretendOf(t),
	}
}

// branchOf returns what a branch of a visit did. open is the status of one that has not ended.
func branchOf(b *record.Branch, open string, ms float64) BranchReport {
	out := BranchReport{
		Branch: b.Key.String(), Kind: b.Step.Kind, Number: b.Step.Number, Status: b.Status.String(), Reason: string(b.Reason), Error: b.Error,
		StartedAt: b.StartedAt, LastAt: b.Spent.LastAt, Attempts: b.Attempts, Turns: b.Turns, ToolCalls: b.Spent.ToolCalls,
		Usage: usageOf(&b.Spent.Totals, ms),
	}
	switch {
	case b.Status == echo.StatusRunning:
		out.Status = open
	case b.FailedItem > 0:
		out.Error = fmt.Sprintf("it did not begin: element %d had failed", b.FailedItem)
	}
	if !b.EndedAt.IsZero() {
		out.LastAt = b.EndedAt
	}
	return out
}

// tagsOf returns the tags of a session's cascade, as the start of its run has them.
func tagsOf(entries []*echo.Entry) []string {
	if len(entries) == 0 || entries[0].NodeType != echo.NodeRunStart {
		return nil
	}
	h, err := journal.HeaderOf(entries[0])
	if err != nil {
		return nil
	}
	return sessions.Tags(h.Cascade)
}

func callOf(e *echo.Entry) Call {
	c := Call{
		Seq: e.Seq, NodeType: e.NodeType, Key: e.Key.String(), Phase: e.Phase, Name: e.Model,
		Tokens: tokensOf(cmp.Or(e.Usage, &echo.Usage{})), CostUSD: e.CostUSD, DurationMS: e.DurationMS,
		Failed: e.Error != nil || e.Message != nil && e.Message.Failed(),
	}
	if e.Error != nil {
		c.Error = e.Error.Message
	}
	if e.NodeType == echo.NodeModelCall {
		d, _ := echo.Read[echo.ModelCall](e) // of another version: how often it was tried is not known
		c.Retries, c.RetryKinds = d.Retries, d.RetryKinds
	} else if e.Tool != nil {
		c.Name = e.Tool.Name
	}
	return c
}

func tokensOf(u *echo.Usage) clickhouse.Tokens {
	return clickhouse.Tokens{TokensIn: u.In, TokensCached: u.Cached, TokensOut: u.Out}
}

// Costs returns what the calls that fit a filter cost, summed up.
func (a *Archive) Costs(ctx context.Context, by clickhouse.CostBy, f clickhouse.Filter) (rows []clickhouse.CostRow, err error) {
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		rows, err = db.Costs(ctx, by, f)
		return err
	})
	return rows, err
}

// CostTotal returns what all calls that fit a filter cost.
func CostTotal(ctx context.Context, a *Archive, f clickhouse.Filter) (total clickhouse.CostTotal, err error) {
	err = a.Database(ctx, func(ctx context.Context, db *clickhouse.DB) (err error) {
		total, err = db.CostTotal(ctx, f)
		return err
	})
	return total, err
}
