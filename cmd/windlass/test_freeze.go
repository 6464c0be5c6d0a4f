package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/snapshot/frozen"
	"github.com/windlass-run/windlass/internal/term"
)

// freezeOptions are the flags of windlass test freeze.
type freezeOptions struct {
	frozen.Options
	match []string
}

func newTestFreezeCommand(con *console) *cobra.Command {
	var o freezeOptions
	cmd := &cobra.Command{
		Use:   "freeze SESSION",
		Short: "Make a test of a recorded run",
		Long: `Make a test of a run that has ended: one file, DIR/NAME.test.json, with the answers that its models and tools gave and
what it came to. The folders of this machine and the values of granted variables are replaced in it; what models and
tools answered is not looked at otherwise, so read the file before you share it.

What a test compares: phases, routes, tools (their calls), output, state, and context (what each model call was sent). All but
context unless --match says otherwise.`,
		Example: `  windlass test freeze last
  windlass test freeze last --name refund
  windlass test freeze last --name refund-prompts --match phases,output,context
  windlass test freeze last --name refund --dir cascades/tests --cascade cascades/refund.json`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error { return freezeSession(cmd.Context(), con, args[0], o) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the `NAME` of the test (default: the id of the session's cascade)")
	f.StringVar(&o.Dir, "dir", testsDir, "the `FOLDER` of tests that it is written to")
	f.StringSliceVar(&o.match, "match", nil, "the `ASPECTS` that must match, with commas (default: all but context)")
	f.StringVar(&o.Cascade, "cascade", "", "the `FILE` that the test runs (default: the one that the run was begun with)")
	f.StringArrayVar(&o.KeepEnv, "keep-env", nil, "keep the value of the granted variable `NAME` in the test (repeatable)")
	con.jsonFlag(cmd)
	return cmd
}

// frozenTest is what "test freeze --json" prints.
type frozenTest struct {
	File      string            `json:"file"`
	Name      string            `json:"name"`
	SessionID string            `json:"session_id"`
	Cascade   string            `json:"cascade"`
	Match     []snapshot.Aspect `json:"match"`
	Answers   int               `json:"answers"`
}

func freezeSession(ctx context.Context, con *console, given string, o freezeOptions) error {
	var err error
	if o.Match, err = readAspects(o.match); err != nil {
		return err
	}
	if o.Name != "" {
		if err := checkTestName(o.Name, given); err != nil {
			return err
		}
	}
	rec, err := readSession(ctx, con, given)
	if err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = sessions.CascadeID(rec.Header.Cascade)
		err = checkTestName(o.Name, given)
	}
	if err != nil {
		return err
	}
	o.Warn = func(text string) { fmt.Fprintf(con.err, "Warning: %s\n", text) }
	t, err := frozen.Make(ctx, rec, o.Options)
	if err != nil {
		return freezeError(rec.Header.SessionID, err)
	}
	path := t.Path()
	made := frozenTest{path, t.Name, rec.Header.SessionID, t.Cascade, t.Match, len(t.Answers)}
	return con.print(made, func() error {
		fmt.Fprintf(con.out, "Wrote %s: %s of session %s; it compares %s.\n", path, term.Plural(made.Answers, "answer"), made.SessionID, snapshot.Joined(t.Match))
		fmt.Fprintf(con.err, "It holds what models and tools answered: read it before you share it. Run it: windlass test run %s\n", o.Dir)
		return nil
	})
}

func checkTestName(name, session string) error {
	if journal.IsSessionID(name) {
		return nil
	}
	return exit.UsageError(fmt.Errorf("--name %q: use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit", name),
		"windlass test freeze "+session+" --name refund")
}

// freezeError says in flags why a session cannot be frozen, and what to try.
func freezeError(id string, err error) error {
	var (
		ended      *frozen.NotEndedError
		variable   *frozen.VariableError
		file       *frozen.CascadeError
		unfaithful *snapshot.UnfaithfulError
	)
	switch {
	case errors.As(err, &ended) && ended.Status == echo.StatusRunning:
		return exit.UsageError(err, "wait for its end; or windlass resume "+id)
	case errors.As(err, &ended):
		return exit.UsageError(err, "windlass resume "+id+", and then freeze it")
	case errors.As(err, new(*frozen.ExistsError)):
		return exit.UsageError(err, "another --name; or remove the file, if it is to be replaced")
	case errors.As(err, new(*frozen.WriteError)):
		return exit.With(exit.Storage, err, "--dir FOLDER with a folder that you may write to")
	case errors.As(err, new(*frozen.OriginError)):
		return exit.With(exit.Storage, err, "freeze the session with the windlass that began it")
	case errors.As(err, &variable) && variable.Granted:
		return exit.UsageError(fmt.Errorf("--keep-env %w", err), "set it to what it was in the run")
	case errors.As(err, &variable):
		return exit.UsageError(fmt.Errorf("--keep-env %w", err), "one that it was begun with as --allow-env NAME")
	case errors.As(err, &file):
		return exit.UsageError(err, cascadeHints[file.Problem])
	case errors.As(err, &unfaithful):
		return exit.With(exit.Failed, err, "--keep-env NAME, if it depends on the value of a granted variable; windlass verify "+id)
	}
	return err
}

// cascadeHints are the next steps for a test whose cascade has no file that can be used.
var cascadeHints = map[frozen.CascadeProblem]string{
	frozen.NoCascadeFile:      "--cascade FILE",
	frozen.UnreadableCascade:  "--cascade FILE, where it is now",
	frozen.UnreachableCascade: "--dir FOLDER beside the cascade",
}

// readAspects reads what a test is to compare.
func readAspects(given []string) ([]snapshot.Aspect, error) {
	if len(given) == 0 {
		return snapshot.Usual(), nil
	}
	chosen := map[snapshot.Aspect]bool{}
	for _, name := range given {
		a := snapshot.Aspect(strings.TrimSpace(name))
		if !slices.Contains(snapshot.Aspects(), a) {
			return nil, exit.UsageError(fmt.Errorf("--match %q: there is no such aspect", name), "--match "+strings.ReplaceAll(snapshot.Joined(snapshot.Aspects()), ", ", ","))
		}
		chosen[a] = true
	}
	return slices.DeleteFunc(snapshot.Aspects(), func(a snapshot.Aspect) bool { return !chosen[a] }), nil
}
