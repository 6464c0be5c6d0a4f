package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/commandline/testflags"
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
	if o.Match, err = testflags.Aspects(o.match); err != nil {
		return err
	}
	if o.Name != "" {
		if err := testflags.CheckName(o.Name, given); err != nil {
			return err
		}
	}
	rec, err := readSession(ctx, con, given)
	if err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = sessions.CascadeID(rec.Header.Cascade)
		err = testflags.CheckName(o.Name, given)
	}
	if err != nil {
		return err
	}
	o.Warn = func(text string) { fmt.Fprintf(con.err, "Warning: %s\n", text) }
	t, err := frozen.Make(ctx, rec, o.Options)
	if err != nil {
		return testflags.FreezeError(rec.Header.SessionID, err)
	}
	path := t.Path()
	made := frozenTest{path, t.Name, rec.Header.SessionID, t.Cascade, t.Match, len(t.Answers)}
	return con.print(made, func() error {
		fmt.Fprintf(con.out, "Wrote %s: %s of session %s; it compares %s.\n", path, term.Plural(made.Answers, "answer"), made.SessionID, snapshot.Joined(t.Match))
		fmt.Fprintf(con.err, "It holds what models and tools answered: read it before you share it. Run it: windlass test run %s\n", o.Dir)
		return nil
	})
}
