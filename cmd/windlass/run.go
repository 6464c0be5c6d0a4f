package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/oklog/ulid/v2"
	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/protection"
)

// runOptions are the flags of windlass run.
type runOptions struct {
	inputs        []string
	inputJSON     string
	inputFile     string
	models        []string
	session       string
	roots         []string
	allowEnv      []string
	allowWrite    []string
	offline       bool
	asJSON        bool
	events        bool
	quiet         bool
	allowCommands bool
	noClickHouse  bool
	budget        budgetOverride
}

func newRunCommand(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run FILE",
		Short: "Run a cascade",
		Long: `Run a cascade. The result goes to standard output, progress to standard error.

Exit codes: 0 done; 1 the cascade failed; 2 wrong usage; 3 the file is invalid; 4 the provider failed;
5 a budget was reached; 6 storage is not available; 130 interrupted.`,
		Example: `  windlass run examples/cascades/minimal.json --offline
  windlass run triage.json --input service=checkout --input hours=3
  windlass run triage.json --input-file input.json --model gpt-5-mini --json
  windlass run fix.json --allow-commands --model fix=gpt-5
  windlass run audit.json --max-usd 0.50 --max-seconds 600`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runCascade(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.inputs, "input", "i", nil, "one input as `NAME=VALUE` (repeatable)")
	f.StringVar(&o.inputJSON, "input-json", "", "the input as a JSON `OBJECT`")
	f.StringVar(&o.inputFile, "input-file", "", "a `FILE` with the input as JSON or YAML (- is standard input)")
	f.StringArrayVarP(&o.models, "model", "m", nil, "default `MODEL`, or PHASE=MODEL for one phase (repeatable)")
	f.StringVar(&o.session, "session", "", "the `ID` of the new session (default: a new one)")
	f.BoolVar(&o.offline, "offline", false, "answer from the script beside the cascade instead of a model")
	f.BoolVar(&o.asJSON, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.events, "events", false, "print every entry of the record as a line of JSON, as it happens")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	f.StringArrayVar(&o.roots, "root", nil, "a `FOLDER` that file tools may use (repeatable; default: the working folder)")
	f.StringArrayVar(&o.allowEnv, "allow-env", nil, "an environment variable `NAME` that templates and tools may see (repeatable)")
	f.BoolVar(&o.allowCommands, "allow-commands", false, "let models run any command with run_command")
	allowWriteFlag(cmd, &o.allowWrite)
	f.BoolVar(&o.noClickHouse, "no-clickhouse", false, "keep the journal only")
	o.budget.flags(cmd)
	exclude(cmd, "json", "events")
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

// runCascade checks everything that can be checked for nothing, makes the session, runs, and shows how it ended.
func (a *app) runCascade(ctx context.Context, file string, o runOptions) error {
	if err := checkStdin(file, o); err != nil {
		return err
	}
	if err := checkAllowWrite(o.allowWrite); err != nil {
		return err
	}
	c, err := loadCascade(ctx, a, file)
	if err != nil {
		return err
	}
	input, err := readInput(a.in, c, o)
	if err != nil {
		return usageError(err, inputHint(file, c))
	}
	if err := checkInput(file, c, input); err != nil {
		return err
	}
	notices := newNotices(a.err)
	ctx, stop := interruptible(ctx, notices)
	defer stop()
	defer surviveClosedPipes()()
	if len(o.roots) == 0 {
		if o.roots, err = workingFolder(); err != nil {
			return err
		}
	}
	s, err := a.openSession(ctx, file, c, input, notices, o)
	if err != nil {
		return err
	}
	return s.finish(s.run(ctx))
}

// workingFolder is what file tools may use when nothing else is granted.
func workingFolder() ([]string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the working folder: %w", err)
	}
	return []string{wd}, nil
}

// checkStdin refuses what a cascade on standard input cannot have.
func checkStdin(file string, o runOptions) error {
	switch {
	case file != stdinName:
		return nil
	case o.inputFile == stdinName:
		return usageError(errors.New("the cascade and its input cannot both come from standard input"), "--input-file FILE, or --input-json '{...}'")
	case o.offline:
		return usageError(errors.New("a cascade on standard input has no script beside it for --offline"), "windlass run FILE --offline, or a model in place of --offline")
	}
	return nil
}

func checkInput(file string, c *cascade.Cascade, input map[string]any) error {
	violations := c.CheckInput(input)
	if len(violations) == 0 {
		return nil
	}
	var lines []string
	for _, v := range violations {
		lines = append(lines, "  "+v.String())
	}
	return usageError(fmt.Errorf("the input does not fit %s:\n%s", file, strings.Join(lines, "\n")), inputHint(file, c))
}

// inputHint shows how the input of a cascade is given.
func inputHint(file string, c *cascade.Cascade) string {
	hint := "windlass run " + file
	if c.InputsSchema == nil || len(c.InputsSchema.Names) == 0 {
		return hint + " --input-json '{...}'"
	}
	for _, name := range sortedNames(c.InputsSchema.Names) {
		hint += fmt.Sprintf(" --input %s=...", name)
	}
	return hint
}

// sessionIDs are names of folders, so they are kept plain.
var sessionIDs = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func sessionID(wanted string) (string, error) {
	if wanted == "" {
		return strings.ToLower(ulid.Make().String()), nil
	}
	if !sessionIDs.MatchString(wanted) {
		return "", usageError(fmt.Errorf("session id %q: use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit", wanted), "--session nightly-7, or none for a new id")
	}
	return wanted, nil
}

// createJournal makes the session's folder and its journal.
func createJournal(home string, h journal.Header) (*journal.Journal, error) {
	j, err := journal.Create(config.SessionDir(home, h.SessionID), h)
	switch {
	case errors.Is(err, journal.ErrExists), errors.Is(err, journal.ErrBusy):
		return nil, usageError(err, "another --session ID, or none for a new one")
	case err != nil:
		return nil, withExit(exitStorage, err, "set WINDLASS_HOME to a folder on a disk with room that you may write to")
	}
	return j, nil
}

// workDir is the session's own folder for files.
func workDir(home, id string) string { return filepath.Join(config.SessionDir(home, id), "work") }

func makeWorkDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return withExit(exitStorage, fmt.Errorf("make the session's work folder: %w", err), "")
	}
	return nil
}
