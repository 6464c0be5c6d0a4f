package main

import (
	"context"
	"fmt"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func listSessions(ctx context.Context, con *console, limit int, asJSON bool) error {
	arc, err := openArchive(con)
	if err != nil {
		return err
	}
	list, away, err := arc.List(ctx, limit)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(con, append([]archive.Listed{}, list...)) // an empty list is [], not null
	} else {
		err = printSessions(con, list)
	}
	if away != nil {
		fmt.Fprintf(con.err, "Warning: only the sessions of this machine are listed: %s\n", term.CleanLines(away.Error()))
	}
	return err
}

// printSessions shows a table, and what can be done with the sessions in it.
func printSessions(con *console, list []archive.Listed) error {
	if len(list) == 0 {
		fmt.Fprintln(con.err, "No sessions yet. Make one: windlass run FILE")
		return nil
	}
	if err := reports.Sessions(list).Render(con.out, term.Width(con.out)); err != nil {
		return err
	}
	if b := archive.BacklogOf(list); b.Rows > 0 {
		fmt.Fprintf(con.err, "Waiting for ClickHouse: %s\n", backlogText(b))
	}
	for _, s := range list {
		if s.Problem != "" {
			fmt.Fprintf(con.err, "Problem with session %s: %s\n", s.ID, s.Problem)
		}
	}
	return nil
}
