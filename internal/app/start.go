package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/git"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/tool"
)

// Start makes a session and everything that its run needs. What can be checked is checked before
// anything is paid for. The run has the rights of its options and no others. When it fails, nothing
// is left open and nothing is left of the session.
func (a *App) Start(ctx context.Context, job Job, o RunOptions, w Watch) (*Run, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	id, err := sessionID(o.SessionID)
	if err != nil {
		return nil, err
	}
	op := a.opening(cfg, o, w)
	op.dir = a.SessionDir(id)
	op.run.header = journal.Header{SessionID: id, File: job.File}
	op.run.cascade, op.run.input = job.Cascade, job.Input
	op.run.started.Off, op.run.started.Asked = cascade.SwitchedOff(cfg.Off), o.Models.Default
	op.run.started.Files = job.Files
	return op.start(ctx)
}

// start makes the session and what its run needs.
func (o *opening) start(ctx context.Context) (*Run, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := o.chooseModel(); err != nil {
		return nil, err
	}
	if err := o.checkFiles(); err != nil {
		return nil, err
	}
	if err := o.allowDownloads(ctx); err != nil {
		return nil, err
	}
	var err error
	if o.run.header, err = o.newHeader(); err != nil {
		return nil, err
	}
	j, err := o.app.createJournal(ctx, o.run.header)
	if err != nil {
		return nil, err
	}
	if err := o.equip(ctx, j); err != nil {
		return nil, errors.Join(err, j.Close(ctx), removeSession(o.dir, o.run.started.WorkDir))
	}
	return o.run, nil
}

// opening is a run that is being made.
type opening struct {
	app     *App
	config  *config.Config
	options RunOptions
	watch   Watch
	dir     string   // the session's folder
	parent  *opening // of a child: what it shares with the run that has begun it; nil: nothing

	ids library.IDs // that were read when models named cascades, for the whole tree

	run    *Run
	runner *engine.Runner // the run's
	router *llm.Router
	script string // the file of an offline run's script
	pool   *database.Pool
	cache  string

	notices *notices
}

// rootOf returns the opening of the run above that no other of this process has begun.
func rootOf(o *opening) *opening {
	for o.parent != nil {
		o = o.parent
	}
	return o
}

func (a *App) opening(cfg *config.Config, o RunOptions, w Watch) *opening {
	r := &Run{limits: o.Limits, secrets: KnownSecrets(cfg, o.Rights.AllowEnv)}
	r.runner = &engine.Runner{Env: grantedEnv(o.Rights.AllowEnv), Mask: r.secrets, Seams: effect.Seams{Now: a.options.Now}}
	op := &opening{app: a, config: cfg, options: o, watch: w.complete(), run: r, runner: r.runner}
	r.children = newChildren(op)
	r.runner.Children = r.children
	return op
}

// equip makes what a run needs besides its journal. Everything that can fail comes before anything
// that has to be closed.
func (o *opening) equip(ctx context.Context, j *journal.Journal) error {
	r := o.run
	defer func() {
		if p := recover(); p != nil { // of a child, which does not end the process: nobody else would close it
			_ = j.Close(ctx)
			panic(p)
		}
	}()
	if err := os.MkdirAll(r.started.WorkDir, 0o700); err != nil {
		return diskError(fmt.Errorf("make the session's work folder: %w", err))
	}
	db, err := o.app.database(o.config)
	if err != nil {
		return err
	}
	o.cache = db.CacheDir
	banks, err := openBanks(o)
	if err != nil {
		return err
	}
	memos, err := openMemos(o)
	if err != nil {
		return err
	}
	if err := o.chooseTools(db); err != nil {
		return err
	}
	if err := delivery.KeepHere(o.dir, o.options.NoClickHouse); err != nil {
		return diskError(err)
	}
	o.loadTokenizers()
	o.connect(ctx)
	plan := o.planCards(ctx)
	r.journal = j.Path()
	r.figures = figuresOf(r.Recorded())
	sinks := []echo.Sink{r.figures}
	observer, shown := o.watch.Follow(r)
	r.runner.Observer, sinks = observer, append(sinks, shown...)
	if r.store != nil {
		sinks = append(sinks, r.store.sink)
	}
	r.runner.Banks, r.runner.Memos = banks, memos
	box := &postbox{desk: deskOf(o.app), run: r, warn: o.watch.Notice}
	box.desk.Secrets = r.secrets
	o.notices = newNotices(o, box)
	r.runner.Changes = box
	r.runner.Mailbox, r.runner.Signals, r.runner.Audibles = &asking{Mailbox: o.notices, home: o.app.home, run: r, ask: o.watch.Ask, left: &rootOf(o).run.recheck.left}, box, box
	r.recheck.run, r.recheck.desk, r.recheck.tried = r, box.desk, map[string]bool{}
	r.runner.Ready = r.recheck.Ready
	r.log = echo.ContinueLog(r.ID(), uint64(len(r.Recorded())), o.app.options.Now, j, sinks...)
	o.startCards(ctx, plan)
	return nil
}

// connect opens ClickHouse in the background, for this run and for the delivery of earlier ones.
// The run depends on neither.
func (o *opening) connect(ctx context.Context) {
	s := o.run.store
	if s == nil {
		return
	}
	s.handle = o.pool.Open()
	if o.parent == nil {
		show, done := o.watch.Fetching()
		s.handle.Settle(ctx, show)
		done()
		s.delivery = database.Deliver(ctx, o.pool, o.dir)
	}
	s.sink = clickhouse.NewSink(s.handle.DB, clickhouse.SinkOptions{Dir: o.dir, To: o.pool.Address()})
}

func (o *opening) planCards(ctx context.Context) *cards.Plan { return o.cardsChoice().Plan(ctx) }

func (o *opening) cardsChoice() *cards.Choice {
	return &cards.Choice{
		Cascade: o.run.cascade, Config: o.config, Router: o.router, CacheDir: o.cache, Off: o.run.started.Off, Stored: o.run.store != nil,
		Offline: o.options.Offline, NoFetch: o.app.options.NoFetch, Gate: o.app.options.Gate,
		Notice: o.watch.Notice, Fetching: o.watch.Fetching,
	}
}

// allowDownloads asks the gate about what the run would download, before anything of the run is
// written. Without the engine nothing begins; without the word vectors the run does without.
func (o *opening) allowDownloads(ctx context.Context) error {
	if o.app.options.Gate == nil {
		return nil
	}
	db, err := o.app.database(o.config)
	if err != nil {
		return err
	}
	if !o.options.NoClickHouse {
		if err := database.AllowEngine(ctx, db); err != nil {
			return allowError(ctx, err)
		}
	}
	c := o.cardsChoice()
	c.CacheDir = db.CacheDir
	c.Allow(ctx)
	return allowError(ctx, ctx.Err())
}

// allowError makes the end of ctx while somebody is asked an interruption.
func allowError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return failure.New(failure.Interrupted, context.Cause(ctx), "")
	}
	return err
}

// startCards starts the cards of the run. Those of a session that is resumed are read, and not made
// again.
func (o *opening) startCards(ctx context.Context, plan *cards.Plan) {
	r := o.run
	t := cards.Target{CascadeID: r.cascade.CascadeID, Log: r.log, Mask: r.secrets.Text}
	if r.store != nil && plan != nil {
		t.Database = o.pool.Open().DB
	}
	if o.run.started.Off.Cards && r.cascade.UsesCards() && len(r.Recorded()) == 0 {
		cards.Warn(t, "no cards are made: auto_context.cards is off in windlass.json; messages are chosen by what can be extracted from them at once")
	}
	r.cards = plan.Start(t)
	r.cards.Equip(r.runner, plan)
	if len(r.Recorded()) > 0 {
		r.cards.Load(ctx, r.ID())
	}
}

// private returns what tools leave alone: the records, what keeps them, who may do what and who did it, and fetched engines, which are run.
func private(sessions, home, cache string) []string {
	return append([]string{
		sessions, config.CommitDir(home), config.MailboxDir(home), config.GrantsDir(home), config.BanksDir(home), config.MemosDir(home), config.ServeDir(home), clickhouse.EngineDir(home), cache,
	}, audit.Files(home)...)
}

func (o *opening) chooseTools(db clickhouse.Options) error {
	rights := o.options.Rights
	t := tool.Options{
		Roots:           rights.Roots,
		Work:            o.run.started.WorkDir,
		Private:         private(filepath.Dir(o.dir), o.app.home, db.CacheDir),
		AllowCommands:   rights.AllowCommands,
		TrustedCommands: o.config.TrustedCommands,
		ProtectPaths:    o.config.ProtectPaths,
		AllowWrite:      rights.AllowWrite,
		Declared:        o.run.cascade.Tools,
		Funcs:           o.options.Extensions.Tools,
		AllowEnv:        rights.AllowEnv,
		Getenv:          environment.LookupEnv,
		Secrets:         o.run.secrets,
	}
	if !o.options.NoClickHouse {
		o.pool = o.app.pool(db)
		o.run.store = &store{querier: database.NewQuerier(o.pool)}
		o.runner.Rewrites = database.Rewrites{Pool: o.pool}
		t.SQL = o.run.store
	}
	registry, err := tool.New(t)
	if err != nil {
		return failure.New(failure.InvalidRequest, &ToolsError{failure.Cause{Err: err}}, "")
	}
	o.run.tools, o.runner.Tools = registry, registry
	if len(rights.Roots) > 0 {
		o.runner.Workspace = func(ctx context.Context) *echo.Workspace { return git.Look(ctx, rights.Roots[0]) }
	}
	return nil
}

// createJournal makes a session's folder and its journal.
func (a *App) createJournal(ctx context.Context, h journal.Header) (*journal.Journal, error) {
	j, err := a.sessions.Create(ctx, h)
	var folder *journal.CommitFolderError
	switch {
	case errors.Is(err, journal.ErrExists), errors.Is(err, journal.ErrBusy):
		return nil, failure.New(failure.SessionExists, err, "")
	case errors.As(err, &folder):
		return nil, storeError(err)
	case err != nil:
		return nil, failure.New(failure.StorageFailed, err, "set WINDLASS_HOME to a folder on a disk with room that you may write to")
	}
	return j, nil
}

// removeSession removes a session that did not start: its journal, its work folder and, when
// nothing else is in it, its own folder.
func removeSession(dir, workDir string) error {
	errs := []error{journal.Remove(dir)}
	for _, path := range []string{workDir, filepath.Join(dir, delivery.MarksFile), dir} {
		if path == "" {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// grantedEnv reads the variables that templates may see.
func grantedEnv(names []string) map[string]string {
	env := map[string]string{}
	for _, n := range names {
		if v, ok := environment.LookupEnv(n); ok {
			env[n] = v
		}
	}
	return env
}
