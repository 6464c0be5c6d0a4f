package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/input"
	"github.com/windlass-run/windlass/internal/commandline"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/protection"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/schema"
)

// runOptions are the flags of windlass run.
type runOptions struct {
	app.RunOptions
	showOptions
	inputs    []string
	inputJSON string
	inputFile string
	models    []string
}

func newRunCommand(con *console) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade. The result goes to standard output, progress to standard error.

Exit codes: 0 done; 1 the cascade failed; 2 wrong usage; 3 the file is invalid; 4 the provider failed;
5 a budget was reached; 6 storage is not available; 130 interrupted.`,
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
	f.StringArrayVarP(&o.inputs, "input", "i", nil, "one input as `NAME=VALUE`, or NAME=@FILE for an image or a PDF (repeatable)")
	f.StringVar(&o.inputJSON, "input-json", "", "the input as a JSON `OBJECT`")
	f.StringVar(&o.inputFile, "input-file", "", "a `FILE` with the input as JSON or YAML (- is standard input)")
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
	limitFlags(cmd, &o.Limits)
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
			return usageError(fmt.Errorf("--allow-write %q: %w", p, err), "--allow-write 'cascades/*.json', or --allow-write '.git/hooks/*'")
		}
	}
	return nil
}

func oneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError(fmt.Errorf("%s takes one cascade file, got %d", cmd.CommandPath(), len(args)), cmd.CommandPath()+" --help")
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
	input, files, err := readInput(con.in, c, o)
	if err != nil {
		return usageError(err, inputHint(file+o.typed, "", c))
	}
	if err := checkInput(file, c, input, o); err != nil {
		return err
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
	return withExit(exitStorage, err, "windlass fetch engine, or windlass run --no-clickhouse to keep the journal only")
}

// readModels reads --model.
func readModels(given []string) (app.Models, error) {
	m := app.Models{Phases: map[string]string{}}
	for _, text := range given {
		phase, model, one := strings.Cut(text, "=")
		switch {
		case text == "", one && (phase == "" || model == ""):
			return m, usageError(fmt.Errorf("--model %q: expected MODEL or PHASE=MODEL", text), "windlass run --help")
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
	case o.inputFile == app.Stdin:
		return usageError(errors.New("the cascade and its input cannot both come from standard input"), "--input-file FILE, or --input-json '{...}'")
	case o.Offline:
		return usageError(errors.New("a cascade on standard input has no script beside it for --offline"), "windlass run FILE --offline, or a model in place of --offline")
	}
	return nil
}

func checkInput(file string, c *cascade.Cascade, input map[string]any, o runOptions) error {
	violations := c.CheckInput(input)
	if len(violations) == 0 {
		return nil
	}
	var lines []string
	for _, v := range violations {
		lines = append(lines, "  "+v.String())
	}
	return usageError(fmt.Errorf("the input does not fit %s:\n%s", file, strings.Join(lines, "\n")), inputHint(file+o.typed, o.keptInputs(violations), c, violations...))
}

// keptInputs are the flags with input that was typed and is not wrong, to be typed again.
func (o *runOptions) keptInputs(wrong []schema.Violation) string {
	kept := ""
	if o.inputFile != "" {
		kept += " --input-file " + shellWord(o.inputFile)
	}
	if o.inputJSON != "" {
		kept += " --input-json " + commandline.Quote(o.inputJSON)
	}
	for _, pair := range o.inputs {
		name, _, _ := strings.Cut(pair, "=")
		if !slices.ContainsFunc(wrong, func(v schema.Violation) bool {
			return v.Property == name || strings.HasPrefix(v.Pointer+"/", "/"+name+"/")
		}) {
			kept += " --input " + commandline.Quote(pair)
		}
	}
	return kept
}

// inputHint shows how the input of a cascade is given, or what of it is missing: after the file with
// the flags that were typed, and those with input that are kept.
func inputHint(file, kept string, c *cascade.Cascade, violations ...schema.Violation) string {
	hint := "windlass run " + file
	var names []string
	if c.InputsSchema != nil {
		names = slices.Sorted(maps.Keys(c.InputsSchema.Names))
		if len(names) == 0 {
			names = slices.Sorted(maps.Keys(c.FileInputs()))
		}
	}
	if c.InputsSchema == nil || len(names) > 0 && len(violations) > 0 {
		names = nil
		for _, v := range violations {
			if v.Keyword == "required" {
				names = append(names, v.Property)
			}
		}
	}
	if len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return strings.ContainsAny(name, " .[") }) {
		return hint + " --input-json '{...}'"
	}
	hint += kept
	files := c.FileInputs()
	for _, name := range names {
		value := "..."
		if _, isFile := files[name]; isFile {
			value = "@FILE"
		}
		hint += fmt.Sprintf(" --input %s=%s", name, value)
	}
	return hint
}

// readInput merges the file, --input-json and single values; the later ones win. The files are those
// that inputs are.
func readInput(stdin io.Reader, c *cascade.Cascade, o runOptions) (out map[string]any, files []engine.File, err error) {
	if out, err = readInputObjects(stdin, o); err != nil {
		return nil, nil, err
	}
	kinds := c.FileInputs()
	given := map[string]*input.File{}
	for _, pair := range o.inputs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, nil, fmt.Errorf("--input %q: expected NAME=VALUE", pair)
		}
		kind, isFile := kinds[name]
		if !isFile {
			out[name] = c.ReadValue(name, value)
			continue
		}
		path, ok := strings.CutPrefix(value, "@")
		if !ok {
			return nil, nil, fmt.Errorf("--input %s: the input takes a file: expected %s=@FILE", pair, name)
		}
		f, err := input.ReadFile(name, path, kind)
		if err != nil {
			return nil, nil, fmt.Errorf("--input %s: %w", name, err)
		}
		out[name], given[name] = f.Marker(), f
	}
	files, err = input.Together(given)
	return out, files, err
}

// readInputObjects merges the file and --input-json.
func readInputObjects(stdin io.Reader, o runOptions) (map[string]any, error) {
	out := map[string]any{}
	if o.inputFile != "" {
		in, err := readInputFile(stdin, o.inputFile)
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	if o.inputJSON != "" {
		in, err := input.Object("--input-json", []byte(o.inputJSON))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, in)
	}
	return out, nil
}

func readInputFile(stdin io.Reader, path string) (map[string]any, error) {
	r := stdin
	if path != "-" {
		f, err := source.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--input-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read from
		r = f
	}
	out, err := input.Read(path, r)
	if err != nil {
		return nil, fmt.Errorf("--input-file %w", err)
	}
	return out, nil
}
