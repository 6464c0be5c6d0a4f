package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
)

// resumeOptions are the flags of windlass resume.
type resumeOptions struct {
	takeUpOptions
	fork    uint64
	session string
}

func newResumeCommand(a *app) *cobra.Command {
	var o resumeOptions
	cmd := &cobra.Command{
		Use:   "resume SESSION",
		Short: "Go on with a run that was interrupted, killed, or stopped by a budget or a provider",
		Long: `Go on with a run that did not come to its end. The cascade runs again and is answered from the session's record as far
as that goes, so nothing is paid for twice; then it goes on. The cascade, the input, the models and the rights are those
that the run was begun with. A tool that had begun and may do harm when it is run twice is not run again: the model is
told that its result is not known.

With --fork a new session goes on from an entry of the old one, which stays as it is. Exit codes are those of
windlass run.`,
		Example: `  windlass resume 01jz4k
  windlass resume 01jz4k --json
  windlass resume 01jz4k --fork 27
  windlass resume 01jz4k --fork 27 --cascade better.json`,
		Args: oneSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch set := cmd.Flags().Changed; {
			case set("fork") && o.fork == 0:
				return usageError(errors.New("--fork 0: entries are counted from 1"), "windlass replay "+args[0]+" --list")
			case o.fork == 0 && (o.cascade != "" || o.session != ""):
				return usageError(errors.New("--cascade and --session go with --fork: a session keeps the cascade and the id that it was begun with"),
					"windlass resume "+args[0]+" --fork ENTRY --cascade FILE")
			}
			return a.resume(cmd.Context(), args[0], o)
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.fork, "fork", 0, "go on after this `ENTRY` of the session, in a new session")
	f.StringVar(&o.session, "session", "", "the `ID` of the new session of a fork (default: a new one)")
	f.StringVar(&o.cascade, "cascade", "", "a `FILE` that a fork goes on with; what is recorded must follow from it, too")
	f.BoolVar(&o.asJSON, "json", false, "print the whole result as JSON")
	f.BoolVar(&o.events, "events", false, "print every new entry of the record as a line of JSON, as it happens")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "show no progress")
	o.budget.flags(cmd)
	exclude(cmd, "json", "events")
	return cmd
}

func oneSession(cmd *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return usageError(fmt.Errorf("%s takes one session id, got %q", cmd.CommandPath(), args), "windlass sessions list")
	}
	return nil
}

func (a *app) resume(ctx context.Context, given string, o resumeOptions) error {
	home, err := config.Home()
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	id, err := a.findSession(ctx, home, given)
	if err != nil {
		return err
	}
	notices := newNotices(a.err)
	ctx, stop := interruptible(ctx, notices)
	defer stop()
	defer surviveClosedPipes()()
	var s *session
	if o.fork > 0 {
		s, err = a.forkSession(ctx, home, id, notices, o)
	} else {
		s, err = a.takeUpSession(ctx, home, id, notices, o.takeUpOptions)
	}
	if err != nil {
		return err
	}
	res, runErr := s.run(ctx)
	return s.finish(res, runErr)
}

// forkSession makes a new session of the beginning of another one, which stays as it is, and takes it up.
func (a *app) forkSession(ctx context.Context, home, parent string, n *notices, o resumeOptions) (*session, error) {
	rec, err := journal.Read(journalPath(home, parent))
	if err != nil {
		return nil, openError(parent, err)
	}
	if o.fork > uint64(len(rec.Entries)) {
		return nil, usageError(fmt.Errorf("--fork %d: session %s has %s", o.fork, parent, plural(len(rec.Entries), "entry")), "windlass replay "+parent+" --list")
	}
	id, err := sessionID(o.session)
	if err != nil {
		return nil, err
	}
	h, err := forkHeader(ctx, a, rec.Header, id, o)
	if err != nil {
		return nil, err
	}
	if err := checkFork(ctx, home, h, rec.Entries[:o.fork]); err != nil {
		return nil, err
	}
	j, err := createJournal(home, h)
	if err != nil {
		return nil, err
	}
	s, err := a.copyAndTakeUp(ctx, home, j, h, rec.Entries[:o.fork], n, o)
	if err != nil {
		return nil, errors.Join(err, j.Close(ctx), removeSession(filepath.Dir(j.Path()), ""))
	}
	return s, nil
}

// forkHeader is the header of a fork: what its parent was begun with, under an id of its own.
func forkHeader(ctx context.Context, a *app, parent journal.Header, id string, o resumeOptions) (journal.Header, error) {
	h := parent
	_, _, begun, err := readHeader(parent)
	if err != nil {
		return h, withExit(exitStorage, err, "take the session up with the windlass that began it")
	}
	if o.cascade != "" {
		c, err := loadCascade(ctx, a, o.cascade)
		if err != nil {
			return h, err
		}
		h.Cascade, h.File = encoded(c), o.cascade
	}
	if begun.Name == "" {
		begun.Name = parent.SessionID
	}
	h.Options = encoded(begun)
	h.SessionID, h.Parent, h.ParentSeq = id, parent.SessionID, o.fork
	return h, nil
}

// checkFork finds out, before there is a session, whether what a fork has of its parent follows from its cascade.
func checkFork(ctx context.Context, home string, h journal.Header, entries []*echo.Entry) error {
	if err := engine.CheckResumable(entries); err != nil {
		return usageError(fmt.Errorf("entry %d of session %s: %w", h.ParentSeq, h.Parent, err), "an entry before it: windlass replay "+h.Parent+" --list")
	}
	v, err := verifyRecord(ctx, home, &journal.Recording{Header: h, Entries: entries})
	if err != nil || v.Holds {
		return err
	}
	return withExit(exitFailed, errors.New(v.Difference), "--fork with an entry before that one, or a cascade from which it follows")
}

func (a *app) copyAndTakeUp(ctx context.Context, home string, j *journal.Journal, h journal.Header, entries []*echo.Entry, n *notices, o resumeOptions) (*session, error) {
	rec := &journal.Recording{Header: h}
	for _, e := range entries {
		mine := *e
		mine.SessionID = h.SessionID
		if mine.NodeType == echo.NodeRunStart {
			if err := mine.SetHeader(encoded(h)); err != nil {
				return nil, withExit(exitFailed, err, "windlass verify "+h.Parent)
			}
		}
		if err := j.Write(&mine); err != nil {
			return nil, withExit(exitStorage, err, "free space, or set WINDLASS_HOME to a folder on another disk")
		}
		rec.Entries = append(rec.Entries, &mine)
	}
	if err := j.Wait(ctx); err != nil {
		return nil, withExit(exitStorage, err, "free space, or set WINDLASS_HOME to a folder on another disk")
	}
	o.cascade = "" // it is in the header
	return a.takeUp(ctx, home, j, rec, n, o.takeUpOptions)
}
