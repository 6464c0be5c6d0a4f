package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/initflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/scaffold"
	"github.com/windlass-run/windlass/internal/term"
)

func newInitCommand(con *console) *cobra.Command {
	var o scaffold.Options
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a first cascade that runs as it is",
		Long: `Make a first cascade in a folder (default: the working folder): the cascade, a script so that it runs with --offline
at once, windlass.json, the JSON Schema for editors, and a line in .gitignore. On a terminal it asks for what no flag
says; elsewhere it takes the defaults. It overwrites nothing: when one of the files exists, it writes none and the exit
code is 2.

Templates: minimal has one phase; tools has file tools, a command as a tool and a command that validates; context has
three phases, the last of which gets selected messages of the earlier ones.`,
		Example: "  windlass init\n  windlass init reports --template tools\n" +
			"  windlass init reports --name weekly --task 'Summarise the week.' --model gpt-5-mini",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return takes(1, "at most one folder", "")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			return initialise(con, cmd, dir, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the `NAME` of the cascade and its file (default: that of the folder)")
	f.StringVar(&o.Template, "template", scaffold.DefaultTemplate, "the `TEMPLATE`: "+strings.Join(scaffold.Names(), ", "))
	f.StringVar(&o.Task, "task", "", "the `TEXT` of what the first phase does")
	f.StringVar(&o.Model, "model", scaffold.DefaultModel, "the default `MODEL`, for windlass.json")
	con.jsonFlag(cmd)
	return cmd
}

func initialise(con *console, cmd *cobra.Command, dir string, o scaffold.Options) error {
	folder, err := filepath.Abs(dir)
	if err != nil {
		return exit.UsageError(err, "windlass init DIR")
	}
	given := cmd.Flags().Changed
	if !given("name") {
		o.Name = scaffold.NameFor(folder)
	}
	if !given("task") {
		o.Task = scaffold.DefaultTask(o.Template)
	}
	if term.IsTerminalInput(con.in) && term.IsTerminal(con.err) && !con.asJSON {
		q := &initflags.Questions{In: bufio.NewReader(con.in), Out: con.err}
		q.Ask(!given("name"), "Name of the cascade", &o.Name)
		q.Ask(!given("task"), "What the first phase does", &o.Task)
		q.Ask(!given("model"), "Model", &o.Model)
		if q.Err != nil {
			return exit.With(exit.Interrupted, q.Err, "")
		}
	}
	above := initflags.ConfigAbove(folder)
	m, err := initflags.Make(dir, o)
	if err != nil {
		return err
	}
	if above != "" {
		fmt.Fprintf(con.err, "Note: in this folder %s no longer counts: the new windlass.json does.\n", term.Clean(above))
	}
	return con.print(m, func() error { return m.Write(con.out, o) })
}
