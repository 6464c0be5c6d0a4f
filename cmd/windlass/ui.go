package main

import (
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/serveflags"
)

func newUICommand(con *console) *cobra.Command {
	var o serveflags.Options
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Look at runs in a browser: what was sent, why, and what it cost",
		Long: `Look at runs in a browser: those of this machine, and those in ClickHouse. It is windlass serve with the folder that you are
in as its root and a port of its own. It prints an address that opens the page once, within 10 minutes; the browser then has it
for 12 hours. It opens no browser by itself: other users of the machine can see the arguments of its command.
"windlass serve token --page" prints another address. docs/inspector.md shows the screens. Ctrl-C ends it as it ends windlass serve.`,
		Example: "  windlass ui\n  windlass ui --listen 127.0.0.1:9000\n  windlass ui --root cascades --offline",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("root") {
				o.Grants.Roots = []string{"."}
			}
			return runServer(cmd.Context(), con, &o)
		},
	}
	serverFlags(con, cmd, &o, "127.0.0.1:8766")
	o.EditFlag(cmd.Flags())
	return cmd
}
