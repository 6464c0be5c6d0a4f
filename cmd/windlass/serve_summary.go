package main

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/server"
)

// summarize returns what a session did, as far as its entries say it. open is the status of one whose end is not recorded.
func summarize(id string, entries []*echo.Entry, open string) *server.SessionDetail {
	f := record.Of(entries)
	end, spent := f.End(), f.Spent()
	d := &server.SessionDetail{
		Session: server.Session{
			ID: id, CascadeID: f.CascadeID(), Status: end.Status.String(), Reason: string(end.Reason), Error: end.Error,
			StartedAt: f.StartedAt(), LastAt: spent.LastAt, Entries: f.Entries(), ToolCalls: spent.ToolCalls,
		},
		Output: f.Output(), PhaseReports: []server.PhaseReport{},
	}
	d.Session = withTotals(d.Session, spent.Totals)
	// A process that died while it recorded why the run stopped has left the reason.
	if diedStopping := open == statusKilled && end.Status != echo.StatusRunning; !end.Whole && !diedStopping {
		d.Status, d.Reason = open, ""
	}
	openVisit := d.Status
	if open == statusUnfinished {
		openVisit = echo.StatusRunning.String()
	}
	for _, v := range f.Visits() {
		d.PhaseReports = append(d.PhaseReports, phaseReport(&v, openVisit))
	}
	d.Phases = len(d.PhaseReports)
	return d
}

func withTotals(s server.Session, t record.Totals) server.Session {
	s.Calls, s.UnknownCostCalls, s.ScriptedCalls = t.Calls, t.UnknownCosts, t.Scripted
	s.TokensIn, s.TokensCached, s.TokensOut, s.CostUSD = t.Usage.In, t.Usage.Cached, t.Usage.Out, t.KnownUSD()
	return s
}

// phaseReport returns what a visit did. open is the status of one that has not ended.
func phaseReport(v *record.Visit, open string) server.PhaseReport {
	p := server.PhaseReport{
		Visit: v.Key.String(), Phase: v.Phase, Status: v.Status.String(), Reason: string(v.Reason), Error: v.Error, StartedAt: v.StartedAt,
		LastAt: v.Spent.LastAt, Attempts: v.Attempts, Turns: v.Turns, Calls: v.Spent.Totals.Calls, ToolCalls: v.Spent.ToolCalls,
		CostUSD: v.Spent.Totals.KnownUSD(), Output: v.Output,
	}
	if v.Status == echo.StatusRunning {
		p.Status = open
	}
	return p
}
