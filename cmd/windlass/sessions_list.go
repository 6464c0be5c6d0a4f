package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/internal/archive"
)

func (a *app) listSessions(ctx context.Context, limit int, asJSON bool) error {
	arc, err := a.archive()
	if err != nil {
		return err
	}
	list, away, err := arc.List(ctx, limit)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.printJSON(append([]archive.Listed{}, list...)) // an empty list is [], not null
	} else {
		err = a.printSessions(list)
	}
	if away != nil {
		fmt.Fprintf(a.err, "Warning: only the sessions of this machine are listed: %s\n", cleanLines(away.Error()))
	}
	return err
}

// printSessions shows a table, and what can be done with the sessions in it.
func (a *app) printSessions(list []archive.Listed) error {
	if len(list) == 0 {
		fmt.Fprintln(a.err, "No sessions yet. Make one: windlass run FILE")
		return nil
	}
	heads := []string{
		"session", "cascade", "status", "started", ">duration", ">phases", ">calls",
		">tokens in", ">cached", ">tokens out", ">cost",
	}
	anyWaits := slices.ContainsFunc(list, func(s archive.Listed) bool { return s.Pending > 0 })
	if anyWaits {
		heads = append(heads, ">waiting")
	}
	t := newTable(heads...)
	for _, s := range list {
		cells := sessionCells(&s)
		if anyWaits && s.Pending > 0 {
			cells = append(cells, formatCount(int64(s.Pending)))
		} else if anyWaits {
			cells = append(cells, "")
		}
		t.add(cells...)
	}
	if err := a.show(t); err != nil {
		return err
	}
	if b := archive.BacklogOf(list); b.Rows > 0 {
		fmt.Fprintf(a.err, "Waiting for ClickHouse: %s\n", backlogText(b))
	}
	for _, s := range list {
		if s.Problem != "" {
			fmt.Fprintf(a.err, "Problem with session %s: %s\n", s.ID, s.Problem)
		}
	}
	return nil
}

func sessionCells(l *archive.Listed) []string {
	status := l.Status
	if l.Resumable {
		status += ", resumable"
	}
	started := ""
	if !l.StartedAt.IsZero() { // it is in the header, which may be unreadable
		started = l.StartedAt.Local().Format(time.DateTime)
	}
	return []string{
		l.ID, l.CascadeID, status, started, formatDuration(l.Duration()),
		formatCount(int64(l.Phases)), formatCount(int64(l.Calls)),
		formatCount(l.TokensIn), formatCount(l.TokensCached), formatCount(l.TokensOut),
		formatCost(l.CostUSD, l.Calls, l.UnknownCostCalls),
	}
}
