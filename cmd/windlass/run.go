package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/commandline/inputflags"
	"github.com/windlass-run/windlass/internal/commandline/limitflags"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/protection"
)

// runOptions are the flags of windlass run.
type runOptions struct {
	app.RunOptions
	showOptions
	given  inputflags.Given
	models []string
}

func newRunCommand(con *console) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade. The result goes to standard output, progress to standard error.

Exit codes: 0 done; 1 the cascade failed; 2 wrong usage; 3 the file is invalid; 4 the provider failed;
5 a budget was reached; 6 storage is not available; 7 it waits for an answer; 130 interrupted.

On a terminal with a live view the run asks there what it waits for.`,
		Example: `  windlass run examples/cascades/minimal.json --offline
  windlass run examples/cascades/log_triage.json --offline --price-as gpt-5
  windlass run triage.json --input service=checkout --input hours=3
  windlass run triage.json --input-file input.json --model gpt-5-mini --json
  windlass run fix.json --allow-commands --model fix=gpt-5
  windlass run audit.json --max-usd 0.50 --max-seconds 600`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.typed = commandline.Typed(cmd.Flags(), "input", "input-json", "input-file", "session")
			return runCascade(cmd.Context(), con, args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.given.Values, "input", "i", nil, "one input as `NAME=VALUE`, or NAME=@FILE for an image or a PDF (repeatable)")
	f.StringVar(&o.given.JSON, "input-json", "", "the input as a JSON `OBJECT`")
	f.StringVar(&o.given.File, "input-file", "", "a `FILE` with the input as JSON or YAML (- is standard input)")
	f.StringArrayVarP(&o.models, "model", "m", nil, "default `MODEL`, or PHASE=MODEL for one phase (repeatable)")
	f.StringVar(&o.SessionID, "session", "", "the `ID` of the new session (default: a new one)")
	f.BoolVar(&o.Offline, "offline", false, "answer from the script beside the cascade instead of a model")
	f.StringVar(&o.PriceAs, "price-as", "", "with --offline: count what a script takes at the prices of this `MODEL`; nothing is paid")
	o.flags(con, cmd, "print every entry of the record as a line of JSON, as it happens")
	f.StringArrayVar(&o.Rights.Roots, "root", nil, "a `FOLDER` that file tools may use (repeatable; default: the working folder)")
	f.StringArrayVar(&o.Rights.AllowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.Rights.AllowCommands, "allow-commands", false, "let models run any command with run_command")
	allowWriteFlag(cmd, &o.Rights.AllowWrite)
	f.BoolVar(&o.NoClickHouse, "no-clickhouse", false, "keep the journal only")
	con.noFetchFlag(cmd, fetch.PolicyBegin)
	limitflags.Add(cmd.Flags(), &o.Limits)
	return cmd
}

// allowWriteFlag adds the flag that grants what no tool writes otherwise.
func allowWriteFlag(cmd *cobra.Command, patterns *[]string) {
	cmd.Flags().StringArrayVar(patterns, "allow-write", nil,
		"a `PATTERN` of files that file tools may write although programs run them, as 'cascades/*.json' (repeatable)")
}

// checkAllowWrite says what is wrong with the patterns of --allow-write.
func checkAllowWrite(patterns []string) error {
	for _, p := range patterns {
		if err := protection.CheckGrant(p); err != nil {
			return exit.UsageError(fmt.Errorf("--allow-write %q: %w", p, err), "--allow-write 'cascades/*.json', or --allow-write '.git/hooks/*'")
		}
	}
	return nil
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return exit.UsageError(fmt.Errorf("%s takes one cascade file, got %d", cmd.CommandPath(), len(args)), cmd.CommandPath()+" --help")
	}
	return nil
}

// runCascade checks all that costs nothing to check, starts the run, and shows how it ended.
func runCascade(ctx context.Context, con *console, file string, o runOptions) error {
	if err := checkStdin(file, o); err != nil {
		return err
	}
	if err := checkAllowWrite(o.Rights.AllowWrite); err != nil {
		return err
	}
	c, err := loadCascade(ctx, con, file)
	if err != nil {
		return err
	}
	input, files, err := o.given.Read(con.in, c)
	if err != nil {
		return exit.UsageError(err, inputflags.Hint("windlass run "+file+o.typed, c))
	}
	if violations := c.CheckInput(input); len(violations) > 0 {
		return exit.UsageError(inputflags.Misfit(file, violations), o.given.Hint("windlass run "+file+o.typed, c, violations))
	}
	if o.Models, err = readModels(o.models); err != nil {
		return err
	}
	if len(o.Rights.Roots) == 0 {
		wd, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find the working folder: %w", err)
		}
		o.Rights.Roots = []string{wd}
	}
	return follow(ctx, con, o.showOptions, func(ctx context.Context, runs *app.App, w app.Watch) (*app.Run, error) {
		r, err := runs.Start(ctx, app.Job{Cascade: c, File: file, Input: input, Files: files}, o.RunOptions, w)
		return r, withoutEngine(err)
	})
}

// withoutEngine says how a run begins when the engine may not be downloaded.
func withoutEngine(err error) error {
	if !fetch.IsRefused(err) {
		return err
	}
	return exit.With(exit.Storage, err, "windlass fetch engine, or windlass run --no-clickhouse to keep the journal only")
}

// readModels reads --model.
func readModels(given []string) (app.Models, error) {
	m := app.Models{Phases: map[string]string{}}
	for _, text := range given {
		phase, model, one := strings.Cut(text, "=")
		switch {
		case text == "", one && (phase == "" || model == ""):
			return m, exit.UsageError(fmt.Errorf("--model %q: expected MODEL or PHASE=MODEL", text), "windlass run --help")
		case one:
			m.Phases[phase] = model
		default:
			m.Default = text
		}
	}
	return m, nil
}

// checkStdin refuses what a cascade on standard input cannot have.
func checkStdin(file string, o runOptions) error {
	switch {
	case file != app.Stdin:
		return nil
	case o.given.File == app.Stdin:
		return exit.UsageError(errors.New("the cascade and its input cannot both come from standard input"), "--input-file FILE, or --input-json '{...}'")
	case o.Offline:
		return exit.UsageError(errors.New("a cascade on standard input has no script beside it for --offline"), "windlass run FILE --offline, or a model in place of --offline")
	}
	return nil
}
