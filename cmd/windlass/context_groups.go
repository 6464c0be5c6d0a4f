package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/contextflags"
)

// newContextGroupCommands makes the commands that change the context of a session.
func newContextGroupCommands(con *console) []*cobra.Command {
	return contextflags.Commands(&contextflags.Door{
		Session: func(ctx context.Context, given string) (home, id string, err error) {
			desk, id, err := deskOf(ctx, con, []string{given})
			return desk.Home, id, err
		},
		Print: con.print, Table: con.table, Self: commandline.Self,
		Out:   func() io.Writer { return con.out },
		Err:   func() io.Writer { return con.err },
		Flags: func(cmd *cobra.Command) { con.jsonFlag(con.wideFlag(cmd)) },
	})
}
