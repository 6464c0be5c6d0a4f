// Command windlass runs cascades: LLM workflows declared phase by phase in JSON or YAML files.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/completion"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	_ "github.com/windlass-run/windlass/internal/vault" // takes secrets out of the environment first
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit code. It is main without the process.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	con := &console{in: in, out: out, err: errw}
	root := newRootCommand(con)
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	con.close()
	if err == nil {
		return exit.OK
	}
	return reportError(con, err)
}

func newRootCommand(con *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "windlass",
		Short: "Run LLM workflows declared phase by phase, and see what they did and cost",
		Long: `Run LLM workflows declared phase by phase, and see what they did and cost.

Exit codes: 0 done; 1 the cascade failed; 2 wrong usage; 3 the file is invalid; 4 the provider failed;
5 a budget was reached; 6 storage or engine not available; 7 it waits for an answer; 130 interrupted.`,
		Example: `  windlass run examples/cascades/minimal.json --offline
  windlass init hello
  windlass validate incident.json
  windlass cost --by phase
  windlass sql "SELECT * FROM sessions ORDER BY started_at DESC LIMIT 5"`,
		DisableFlagsInUseLine: true,
		SilenceErrors:         true,
		SilenceUsage:          true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.UsageError(commandline.FlagError(err), fmt.Sprintf("%s --help", cmd.CommandPath()))
	})
	root.SuggestionsMinimumDistance = 2 // cobra sets it only for its own message
	root.Args = func(_ *cobra.Command, args []string) error { return unknownCommand(root, args) }
	showVersion := root.Flags().Bool("version", false, "print the version, like windlass version")
	root.PersistentFlags().BoolVar(&con.direct, "no-pager", false, "do not page long output")
	con.jsonFlag(root)
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *showVersion {
			return printVersion(cmd.Context(), con)
		}
		return cmd.Help()
	}
	for _, newCommand := range commands {
		root.AddCommand(newCommand(con))
	}
	markErrors(root)
	commandline.CompleteBashAlone(root)
	completion.Add(root)
	return root
}

// commands make every command, in the order of the help text.
var commands = []func(*console) *cobra.Command{
	newRunCommand,
	newShowCommand,
	newDiffCommand,
	newResumeCommand,
	newExportCommand,
	newServeCommand,
	newUICommand,
	newValidateCommand,
	newInitCommand,
	newGraphCommand,
	newSchemaCommand,
	newSQLCommand,
	newCostCommand,
	newModelsCommand,
	newSimulateCommand,
	newSessionsCommand,
	newShipCommand,
	newContextCommand,
	newSoundingsCommand,
	newWaitingCommand,
	newAnswerCommand,
	newSignalCommand,
	newAudibleCommand,
	newMemoryCommand,
	newMemosCommand,
	newGrantsCommand,
	newAuditCommand,
	newArtifactsCommand,
	newTriggersCommand,
	newVerifyCommand,
	newReplayCommand,
	newTestCommand,
	newDoctorCommand,
	newFetchCommand,
	newVersionCommand,
	newEngineCommand,
}

func unknownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "windlass --help"
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "windlass " + strings.Join(near, ", or windlass ")
	}
	return exit.UsageError(fmt.Errorf("unknown command %q", args[0]), hint)
}

// markErrors makes the errors of commands known from those that cobra finds in the command line.
func markErrors(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		markErrors(c)
	}
	work := cmd.RunE
	if work == nil {
		return
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return exit.Of(work(cmd, args))
	}
}

// reportError shows an error the way every command does and returns its exit code.
func reportError(con *console, err error) int {
	ee, ok := errors.AsType[*exit.Error](err)
	if !ok { // cobra's own: see markErrors
		ee = &exit.Error{Code: exit.Usage, Hint: "windlass --help"}
	}
	if ee.Silent {
		return ee.Code
	}
	label := "Error: "
	if ee.Code == exit.Waiting { // which is none
		label = "Waiting: "
	}
	con.labelled(label, err.Error())
	if ee.Hint != "" {
		con.labelled("Try: ", ee.Hint)
	}
	return ee.Code
}

// labelled writes a text to standard error; a terminal shows it without broken words.
func (con *console) labelled(label, text string) {
	fmt.Fprintln(con.err, term.Hang(con.err, label+term.CleanLines(text), len(label)))
}

// newEngineCommand is the hidden command by which this executable is the embedded engine.
func newEngineCommand(*console) *cobra.Command {
	return &cobra.Command{
		Use:                embedded.ServeCommand,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := embedded.Serve(append([]string{embedded.ServeCommand}, args...)); code != exit.OK {
				return exit.Shown(exit.Storage, errors.New("the engine process failed"))
			}
			return nil
		},
	}
}
