package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/export"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/server/page"
	"github.com/windlass-run/windlass/internal/term"
)

func newExportCommand(con *console) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "export SESSION --html FILE",
		Short: "Write the screens of a session as one HTML file, which opens anywhere",
		Long: `Writes what windlass ui shows of a session as one HTML file. It needs no server and no network, runs no script, and asks for
nothing: send it to whoever should see the run. Everything that models and tools have said in the session is in it, as far as
there is room: 2,000 pages or 64 MiB. What of the screens changes something, or draws with a script, is left out.`,
		Example: "  windlass export last --html run.html",
		Args:    oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if file == "" {
				return exit.UsageError(errors.New("--html says which file is written"), "windlass export "+args[0]+" --html FILE")
			}
			return exportHTML(cmd.Context(), con, args[0], file)
		},
	}
	cmd.Flags().StringVar(&file, "html", "", "the `FILE` to write; one that exists stays as it is")
	con.jsonFlag(cmd)
	return cmd
}

func exportHTML(ctx context.Context, con *console, name, file string) error {
	arc, err := con.archive()
	if err != nil {
		return err
	}
	id, err := arc.Find(ctx, name)
	if err != nil {
		return err
	}
	line := term.NewLine(con.err)
	done, err := export.ToFile(ctx, file, export.Options{
		Session: id, Screens: []page.Screens{inspector.New(inspector.Options{Archive: arc, Price: con.app.Price})}, Now: time.Now(),
		Step: func(n int) { line.Draw(quantity.Of(n, "page")) },
	})
	line.Clear()
	if errors.As(err, new(*export.FileError)) {
		return exit.UsageError(fmt.Errorf("--html: %w", err), "--html with a file that does not exist yet, in a folder that does")
	}
	if err != nil {
		return err
	}
	return con.print(done, func() error {
		fmt.Fprintf(con.out, "Wrote %s: %s, %s.\n", term.Clean(file), quantity.Of(done.Pages, "page"), quantity.MB(int64(done.Bytes)))
		if done.LeftOut > 0 {
			fmt.Fprintf(con.err, "There was no room for %s.\n", quantity.Of(done.LeftOut, "page"))
		}
		return nil
	})
}
