package main

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/server"
)

// summarize reads off the entries of a session what it did. A session without an end is running, as far as entries can
// tell.
func summarize(id string, entries []*echo.Entry) *server.SessionDetail {
	d := &server.SessionDetail{PhaseReports: []server.PhaseReport{}}
	d.ID, d.Status = id, echo.StatusRunning.String()
	visits := map[echo.Key]int{} // a visit's place among the reports
	for _, e := range entries {
		if d.Entries == 0 {
			d.StartedAt, d.CascadeID = e.At, e.CascadeID
		}
		d.Entries, d.LastAt = e.Seq, e.At
		visit := e.Key.VisitKey()
		if e.NodeType == echo.NodePhaseStart {
			if _, again := visits[visit]; !again { // a resumed visit begins once
				visits[visit] = len(d.PhaseReports)
				d.PhaseReports = append(d.PhaseReports, server.PhaseReport{Visit: visit.String(), Phase: e.Phase, StartedAt: e.At})
				d.Phases++
			}
		}
		if i, ok := visits[visit]; ok {
			addToPhase(&d.PhaseReports[i], e)
		}
		addToRun(d, e)
	}
	return d
}

// addToRun takes in what an entry says of the whole run.
func addToRun(d *server.SessionDetail, e *echo.Entry) {
	switch e.NodeType {
	case echo.NodePhaseEnd:
		if end := readEnd(e); end.Status.IsSuccess() {
			d.Output = end.Output
		}
	case echo.NodeRunEnd:
		end := readEnd(e)
		d.Status, d.Reason, d.Error = end.Status.String(), string(end.Reason), ""
		if e.Error != nil {
			d.Error = e.Error.Message
		}
	case echo.NodeResume: // what ended it before is set aside
		d.Status, d.Reason, d.Error = echo.StatusRunning.String(), "", ""
		if n := len(d.PhaseReports); n > 0 && d.PhaseReports[n-1].Status != echo.StatusCompleted.String() {
			p := &d.PhaseReports[n-1]
			p.Status, p.Reason, p.Error = echo.StatusRunning.String(), "", ""
		}
	}
	switch e.NodeType {
	case echo.NodeModelCall:
		d.Calls++
		if e.Scripted {
			d.ScriptedCalls++
		}
		if e.Usage != nil {
			d.TokensIn += e.Usage.In
			d.TokensCached += e.Usage.Cached
			d.TokensOut += e.Usage.Out
		}
		if !addCost(&d.CostUSD, e.CostUSD) {
			d.UnknownCostCalls++
		}
	case echo.NodeToolCall:
		d.ToolCalls++
	}
}

// addToPhase takes in what an entry says of the visit that it belongs to. A route stands under the visit that it follows.
func addToPhase(p *server.PhaseReport, e *echo.Entry) {
	if e.NodeType == echo.NodeRoute {
		return
	}
	p.LastAt = e.At
	p.Attempts = max(p.Attempts, e.Attempt)
	switch e.NodeType {
	case echo.NodePhaseStart:
		p.Status = echo.StatusRunning.String()
	case echo.NodeModelCall:
		p.Calls++
		addCost(&p.CostUSD, e.CostUSD)
	case echo.NodeToolCall:
		p.ToolCalls++
	case echo.NodePhaseEnd:
		end := readEnd(e)
		p.Status, p.Reason, p.Error, p.Output, p.Turns = end.Status.String(), string(end.Reason), "", end.Output, end.Turns
		if e.Error != nil {
			p.Error = e.Error.Message
		}
	}
}

// addCost adds a cost to a sum and reports whether it is known. A sum is nil until one is.
func addCost(sum **float64, cost *float64) bool {
	if cost == nil {
		return false
	}
	total := *cost
	if *sum != nil {
		total += **sum
	}
	*sum = &total
	return true
}
