package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/term/page"
)

const aboutNames = `SESSION is a session's id, its end (5 characters or more) or its beginning; last for the newest session on this machine,
last~1 for the one before; or the id of a cascade, for its newest session.`

func newShowCommand(con *console) *cobra.Command { return showCommand(con, "show SESSION", "show") }

// showCommand makes the command that shows one session: it has two names.
func showCommand(con *console, use, name string) *cobra.Command {
	var calls, items bool
	cmd := &cobra.Command{
		Use:   use,
		Short: "Show what a run did and cost, where it is, and what to do next",
		Long: `Shows a run on one page: how it ended, what each phase did and cost, what its model calls were sent of their full
history, where the run is, and what to do next. --calls lists every call, --items every element of a list. The children
of the run are listed with their own figures; "with children" is a session and all below it.

` + aboutNames,
		Example: "  windlass " + name + " last\n  windlass " + name + " 7k2mq --calls\n  windlass " + name + " last~1 --json",
		Args:    oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			return showSession(cmd.Context(), con, args[0], calls, items)
		},
	}
	cmd.Flags().BoolVar(&calls, "calls", false, "list every model and tool call")
	cmd.Flags().BoolVar(&items, "items", false, "list every element of lists")
	con.wideFlag(cmd)
	con.jsonFlag(cmd)
	return cmd
}

func showSession(ctx context.Context, con *console, given string, calls, items bool) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	d, err := arc.Report(ctx, given)
	if err != nil {
		return err
	}
	return con.print(d, func() error {
		out := con.contexts()
		s := &page.Session{Report: d, Place: placeOf(con.app, d), Command: commandline.Self(), Name: con.nameOf(out.Width, d.ID), Calls: calls, Items: items}
		if r, err := inspect.New(d.ID, d.Entries); err == nil { // else what was sent cannot be said
			s.Contexts, s.Taken = r.Calls, groups.Taken(con.app.Home(), d.ID, d.Entries)
			s.Soundings, _ = r.AllSoundings() // likewise
		}
		if err := page.Write(out, s); err != nil {
			return err
		}
		con.noteUnknown(d.UnknownCostCalls)
		return nil
	})
}

// narrow is how many columns a terminal has that has little room for whole ids.
const narrow = 120

// nameOf returns the id of a session as a terminal of a width has room for it.
func (con *console) nameOf(width int, id string) string {
	if width == 0 || width >= narrow {
		return id
	}
	known, err := archive.Local(con.app.Home())
	if err != nil {
		return id
	}
	return names.Short([]string{id}, known)[0]
}

// placeOf says where a session is, as far as its record says.
func placeOf(runs *app.App, d *archive.Report) page.Place {
	var p page.Place
	if d.Here {
		p.Journal = archive.JournalPath(runs.Home(), d.ID)
	}
	if len(d.Entries) == 0 || d.Entries[0].NodeType != echo.NodeRunStart {
		return p
	}
	h, err := journal.HeaderOf(d.Entries[0])
	if err != nil {
		return p
	}
	p.File = h.File
	if origin, err := app.ReadHeader(h); err == nil && d.Here {
		p.WorkDir = origin.Started.WorkDir
	}
	return p
}
