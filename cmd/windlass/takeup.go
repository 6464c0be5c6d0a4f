package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/vault"
)

// takeUpOptions say how a session is taken up. What it was begun with holds; only what is here may be different.
type takeUpOptions struct {
	cascade string // a file that is gone on with in place of the recorded cascade; "": none
	budget  budgetOverride
	asJSON  bool
	events  bool
	quiet   bool

	noClickHouse bool // also when it was begun with ClickHouse
}

// takeUpSession opens a session on this machine that did not come to its end, to go on with it. It is openSession for a
// session that there is: what can be checked is checked before anything is paid for, and when it fails nothing is changed.
func (a *app) takeUpSession(ctx context.Context, home, id string, n *notices, o takeUpOptions) (*session, error) {
	j, rec, err := journal.Open(config.SessionDir(home, id))
	if err != nil {
		return nil, openError(id, err)
	}
	s, err := a.takeUp(ctx, home, j, rec, n, o)
	if err != nil {
		return nil, errors.Join(err, j.Close(ctx))
	}
	return s, nil
}

func (a *app) takeUp(ctx context.Context, home string, j *journal.Journal, rec *journal.Recording, n *notices, o takeUpOptions) (*session, error) {
	id := rec.Header.SessionID
	if err := engine.CheckResumable(rec.Entries); err != nil {
		return nil, usageError(fmt.Errorf("session %s: %w", id, err), fmt.Sprintf("%s resume %s --fork ENTRY, to go on from an entry of it in a new session; %s replay %s --list numbers them",
			selfCommand(), id, selfCommand(), id))
	}
	if missing := int(rec.Header.ParentSeq) - len(rec.Entries); missing > 0 {
		return nil, usageError(fmt.Errorf("session %s: its process died before the fork of %s was whole: %s of %d are missing", id, rec.Header.Parent,
			plural(missing, "entry"), rec.Header.ParentSeq), fmt.Sprintf("%s resume %s --fork %d", selfCommand(), rec.Header.Parent, rec.Header.ParentSeq))
	}
	c, input, begun, err := readHeader(rec.Header)
	if err != nil {
		return nil, withExit(exitStorage, err, "take the session up with the windlass that began it")
	}
	if o.cascade != "" {
		if c, err = loadCascade(ctx, a, o.cascade); err != nil {
			return nil, err
		}
	}
	cfg, err := config.Open(begun.Dir, home)
	if err != nil {
		return nil, usageError(err, "correct the file; docs/models.md describes it")
	}
	s := &session{
		app: a, options: begun.options(), file: rec.Header.File, cascade: c, input: input, notices: n, id: id,
		header: rec.Header, past: rec.Entries, workDir: begun.WorkDir, name: begun.Name,
	}
	s.options.asJSON, s.options.events, s.options.quiet, s.options.budget = o.asJSON, o.events, o.quiet, o.budget
	s.options.noClickHouse = s.options.noClickHouse || o.noClickHouse
	s.know(cfg, begun.AllowEnv)
	if o.cascade == "" {
		s.tellIfChanged()
	}
	s.runner = &engine.Runner{Env: grantedEnv(begun.AllowEnv), Mask: s.secrets}
	if _, err := s.chooseModels(cfg); err != nil {
		return nil, err
	}
	return s, s.equip(ctx, home, cfg, j)
}

// openError says why a session's journal cannot be gone on with.
func openError(id string, err error) error {
	var damage *journal.DamageError
	switch {
	case errors.Is(err, os.ErrNotExist):
		return usageError(fmt.Errorf("no session %q on this machine", id), "windlass sessions list")
	case errors.Is(err, journal.ErrBusy):
		return usageError(err, "wait for its end, or stop that process")
	case errors.As(err, &damage):
		return withExit(exitStorage, err, "put a sound copy of the journal in its place")
	case isOtherVersion(err):
		return withExit(exitStorage, err, "") // it says itself what to do
	}
	return withExit(exitStorage, err, "windlass doctor")
}

// tellIfChanged says when the file that the session was begun from says something else by now.
func (s *session) tellIfChanged() {
	h, c := s.header, s.cascade
	if h.File == stdinName {
		return
	}
	now, _, err := cascade.Load(h.File, knownNames())
	if err != nil || now == nil || string(s.secrets.JSON(encoded(now))) == string(encoded(c)) {
		return
	}
	s.notices.tell(fmt.Sprintf("%s has changed since the session began. The session goes on with the cascade as it was; --cascade %s takes the new one.", h.File, h.File))
}

// bringUp brings what stands on the log to where the record of a session that is taken up ends: the view of a terminal shows
// what was done, and cards that are kept are not made again. What ClickHouse does not have its sink reads off the journal.
func (s *session) bringUp(ctx context.Context) {
	if len(s.past) == 0 {
		return
	}
	kept := record.Kept(s.past)
	live, _ := s.view.(*liveView)
	if live != nil {
		for _, e := range kept {
			_ = live.Write(e) // it only draws
		}
	}
	if live == nil && !s.options.quiet {
		t := record.Of(kept).Totals()
		fmt.Fprintf(s.app.err, "%s: session %s is taken up after %s, %s answered from its record\n",
			s.cascade.CascadeID, s.id, plural(len(s.past), "entry"), plural(t.Calls-t.Failed, "model call"))
	}
	if s.cards == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, loadCardsLimit)
	defer cancel()
	if err := s.cards.pipeline.Load(ctx, s.id); err != nil {
		s.warn(oneLine(err.Error()))
	}
}

// loadCardsLimit bounds how long a session that is taken up waits for its cards.
const loadCardsLimit = 10 * time.Second

// replayer returns what runs a recorded session again with nothing but its record: no model, no tool, nothing written.
//
// Tools are there to be described only: what a model was told of them is part of what it was sent.
func replayer(home string, h journal.Header) (*engine.Runner, *engine.Spec, func() error, error) {
	c, input, begun, err := readHeader(h)
	if err != nil {
		return nil, nil, nil, err
	}
	cfg, err := config.Open(begun.Dir, home)
	if err != nil {
		cfg = &config.Config{} // of another machine: what counts of it is in the record
	}
	s := &session{options: begun.options(), file: h.File, cascade: c}
	s.secrets = knownSecrets(cfg, begun.AllowEnv)
	s.runner = &engine.Runner{Env: grantedEnv(begun.AllowEnv), Mask: s.secrets}
	if err := s.splitModels(cfg); err != nil {
		return nil, nil, nil, err
	}
	s.runner.Facts = llm.NewRouter(cfg, vault.Getenv).Facts
	tools, err := tool.New(tool.Options{Roots: []string{os.TempDir()}, Declared: c.Tools, AllowEnv: begun.AllowEnv, Getenv: vault.LookupEnv, Secrets: s.secrets})
	if err != nil {
		return nil, nil, nil, err
	}
	s.runner.Tools = tools
	spec := &engine.Spec{Cascade: c, Input: input, Name: cmp.Or(begun.Name, h.SessionID), WorkDir: begun.WorkDir}
	return s.runner, spec, tools.Close, nil
}
