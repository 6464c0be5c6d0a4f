package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline/checkflags"
)

func newValidateCommand(con *console) *cobra.Command {
	var o app.RunOptions
	cmd := &cobra.Command{
		Use:   "validate FILE|FOLDER...",
		Short: "Check cascade files and say everything that is wrong with them",
		Long: `Check cascade files, JSON or YAML, without running them. Everything that is wrong is reported at once, with its
place in the file. "-" reads standard input. The *.tool.json files beside a cascade are checked with it; they and the
scripts of the scripted model (*.script.json) can be checked by themselves.

In a folder, and those below it, the cascades are the JSON and YAML files that have "cascade_id" or "phases"; files of tools
and scripts are checked, too. The report then has a line for each file.

Exit codes: 0 when no file has errors (warnings may have been printed), 3 when one has, 2 when one cannot be read.`,
		Example: "  windlass validate cascade.json\n  windlass validate examples/cascades\n  windlass validate --json cascade.yaml\n" +
			"  generate-cascade | windlass validate -",
		Args: atLeastOne("cascade file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := checkflags.New(con.in, app.KnownFor(o), func(err error) { reportError(con, err) })
			v.Check(cmd.Context(), args)
			if err := con.print(v.Result(), func() error { return v.Write(con.out, con.err) }); err != nil {
				return err
			}
			return v.Err()
		},
	}
	cmd.Flags().BoolVar(&con.asJSON, "json", false, "print the diagnostics as a JSON array; of a folder an object, with the files")
	cmd.Flags().BoolVar(&o.Rights.AllowCommands, "allow-commands", false, "the runs will have that right: run_command is not refused")
	cmd.Flags().BoolVar(&o.NoClickHouse, "no-clickhouse", false, "the runs will have no ClickHouse: sql_query is refused")
	return cmd
}

// loadCascade loads a cascade and prints its diagnostics, which the error does not repeat.
func loadCascade(ctx context.Context, con *console, path string) (*cascade.Cascade, error) {
	return checkflags.Load(ctx, path, con.in, con.err)
}
