package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
)

func newVerifyCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify SESSION",
		Short: "Prove that a session's record is what its run did",
		Long: `Run a session again with nothing but its record: no model is asked, no tool runs, nothing is written. Every view,
selection, request and decision is made again from the recorded answers and compared, byte for byte, with what is
recorded. The checksums of the journal say that no byte of it was changed.

Exit codes: 0 it holds; 1 it does not: the first difference is shown; 6 the record cannot be read.`,
		Example: "  windlass verify 01jz4k\n  windlass verify 01jz4k --json",
		Args:    oneSession,
		RunE:    func(cmd *cobra.Command, args []string) error { return a.verify(cmd.Context(), args[0], asJSON) },
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// verification is what verify found.
type verification struct {
	SessionID  string `json:"session_id"`
	Holds      bool   `json:"holds"`
	Status     string `json:"status"`         // of the run
	Entries    int    `json:"entries"`        // recorded
	Requests   int    `json:"requests"`       // model calls, whose requests were made again
	Views      int    `json:"views"`          // selections inside phases
	Selections int    `json:"selections"`     // between phases
	Torn       bool   `json:"torn,omitempty"` // the last line was cut off by a crash; it is left out
	Difference string `json:"difference,omitempty"`
}

func (a *app) verify(ctx context.Context, given string, asJSON bool) error {
	home, rec, err := a.readSession(ctx, given)
	if err != nil {
		return err
	}
	id := rec.Header.SessionID
	v, err := verifyRecord(ctx, home, rec)
	if err != nil {
		return err
	}
	if asJSON {
		err = a.printJSON(v)
	} else if v.Holds {
		fmt.Fprintf(a.out, "Session %s holds: %s, %s, %s and %s follow from its record (%s).\n", id, plural(v.Entries, "entry"),
			plural(v.Requests, "request"), plural(v.Views, "view"), plural(v.Selections, "selection"), v.Status)
	}
	if v.Holds || err != nil {
		return err
	}
	return withExit(exitFailed, fmt.Errorf("session %s does not hold: %s", id, v.Difference),
		"windlass version: windlass "+rec.Header.Windlass+" began the session, and another version may decide otherwise; or the record was changed")
}

// readSession finds a session by its id or the beginning of it, and reads its journal.
func (a *app) readSession(ctx context.Context, given string) (home string, rec *journal.Recording, err error) {
	if home, err = config.Home(); err != nil {
		return "", nil, withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	id, err := a.findSession(ctx, home, given)
	if err != nil {
		return "", nil, err
	}
	if rec, err = journal.Read(journalPath(home, id)); err != nil {
		return "", nil, openError(id, err)
	}
	return home, rec, nil
}

// verifyRecord runs a record again. The error says that it could not be tried.
func verifyRecord(ctx context.Context, home string, rec *journal.Recording) (*verification, error) {
	runner, spec, done, err := replayer(home, rec.Header)
	if err != nil {
		return nil, withExit(exitStorage, err, "verify the session with the windlass that began it")
	}
	defer done() //nolint:errcheck // nothing was opened that could be lost
	end := record.EndOf(rec.Entries)
	v := &verification{SessionID: rec.Header.SessionID, Status: end.Status.String(), Entries: len(rec.Entries), Torn: rec.Torn}
	for _, e := range record.Counted(rec.Entries) {
		switch e.NodeType {
		case echo.NodeModelCall:
			v.Requests++
		case echo.NodeSelection:
			v.Views++
		case echo.NodeInter:
			v.Selections++
		}
	}
	spec.Recording = rec.Entries
	if len(spec.Recording) == 0 {
		v.Holds = true
		return v, nil
	}
	res, err := runner.Run(ctx, *spec)
	var differs *effect.DivergenceError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &differs):
		v.Difference = differs.Error()
	case errors.Is(err, effect.ErrEndOfRecord):
		v.Holds = end.Status != echo.StatusCompleted && end.Status != echo.StatusFailed
	case end.Status == echo.StatusRunning, res.Status == end.Status:
		v.Holds = true
	}
	if !v.Holds && v.Difference == "" {
		v.Difference = fmt.Sprintf("the run is recorded as %s, and comes to %s: %v", end.Status, res.Status, err)
	}
	return v, nil
}
