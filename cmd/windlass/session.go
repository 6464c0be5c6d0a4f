package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/git"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/vault"
)

// session is one run with everything that has to be closed after it.
type session struct {
	app         *app
	options     runOptions
	file        string
	id          string
	cascade     *cascade.Cascade
	input       map[string]any
	workDir     string
	journalPath string
	tools       *tool.Registry
	log         *echo.Log
	runner      *engine.Runner
	sink        *clickhouse.Sink // nil without ClickHouse
	database    *database        // nil without ClickHouse
	querier     *sessionQuerier  // nil without ClickHouse
	catchUp     *catchUp         // nil without ClickHouse
	router      *llm.Router
	secrets     *secret.Set
	cards       *cards // nil when no phase has a use for them
	view        view
	notices     *notices
	header      journal.Header
	name        string        // what templates see as the session's id; "": its id
	past        []*echo.Entry // what is recorded already of a session that is taken up
	delivered   bool          // everything is in ClickHouse; known once the run has ended
}

// closeLimit is how long rows may take to reach ClickHouse after a run. What does not get there is in the journal.
const closeLimit = 15 * time.Second

// openSession is how every run begins, whoever asks for it. It checks what can be checked before anything is paid for, and
// then makes the session: journal, log, views, model, tools. The run has the rights that o grants and no others; o.roots
// may be empty. When it fails, nothing is left open and nothing is left of the session.
func (a *app) openSession(ctx context.Context, file string, c *cascade.Cascade, input map[string]any, n *notices, o runOptions) (*session, error) {
	home, err := config.Home()
	if err != nil {
		return nil, withExit(exitStorage, err, "set WINDLASS_HOME to a folder")
	}
	cfg, err := config.Open(".", home)
	if err != nil {
		return nil, usageError(err, "correct the file; docs/models.md describes it")
	}
	s := &session{app: a, options: o, file: file, cascade: c, input: input, notices: n}
	if s.id, err = sessionID(o.session); err != nil {
		return nil, err
	}
	s.know(cfg, o.allowEnv)
	s.runner = &engine.Runner{Env: grantedEnv(o.allowEnv), Mask: s.secrets}
	scriptFile, err := s.chooseModels(cfg)
	if err != nil {
		return nil, err
	}
	if s.header, err = s.newHeader(home, scriptFile); err != nil {
		return nil, err
	}
	j, err := createJournal(home, s.header)
	if err != nil {
		return nil, err
	}
	if err := s.equip(ctx, home, cfg, j); err != nil {
		return nil, errors.Join(err, j.Close(ctx), removeSession(filepath.Dir(j.Path()), s.workDir))
	}
	return s, nil
}

// run runs the session's cascade to its end. The session is to be closed afterwards, however it ended.
func (s *session) run(ctx context.Context) (*engine.Result, error) {
	spec := engine.Spec{Cascade: s.cascade, Input: s.input, Log: s.log, WorkDir: s.workDir, Header: encoded(s.header), Recording: s.past, Name: s.name}
	spec.Budget = s.options.budget.apply(spec.BudgetInForce())
	if s.cards != nil {
		spec.Background = s.cards.costs.sinceAsked
	}
	res, err := s.runner.Run(ctx, spec)
	return res, s.withoutSecrets(err)
}

// removeSession takes back a session that did not begin: its journal, its work folder and, when nothing else is in it,
// its own folder.
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

// equip makes what stands on the journal. Everything that can fail comes before anything that has to be closed.
func (s *session) equip(ctx context.Context, home string, cfg *config.Config, j *journal.Journal) error {
	var err error
	if s.workDir == "" {
		s.workDir = workDir(home, s.id)
	}
	if err := makeWorkDir(s.workDir); err != nil {
		return err
	}
	db, err := databaseOptions(home, cfg)
	if err != nil {
		return withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	if !s.options.noClickHouse {
		s.querier = &sessionQuerier{options: db}
	}
	if err := s.chooseTools(home, db.CacheDir, cfg); err != nil {
		return err
	}
	if err := delivery.KeepHere(filepath.Dir(j.Path()), s.options.noClickHouse); err != nil {
		return withExit(exitStorage, err, "free space, or set WINDLASS_HOME to a folder on another disk")
	}
	if !s.options.noClickHouse {
		s.connect(ctx, filepath.Dir(j.Path()), db)
	}
	cards := s.chooseCards(ctx, cfg, db.CacheDir)
	s.view = s.chooseView()
	s.runner.Observer = s.view
	sinks := []echo.Sink{s.view}
	if s.options.events {
		sinks = append(sinks, &eventSink{out: s.app.out})
	}
	if s.sink != nil {
		sinks = append(sinks, s.sink)
	}
	s.journalPath = j.Path()
	s.log = echo.ContinueLog(s.id, uint64(len(s.past)), nil, j, sinks...)
	s.makeCards(cards)
	s.bringUp(ctx)
	return nil
}

// connect begins to open ClickHouse and makes the sink. A run depends on neither: it goes on without them.
// What earlier runs have left behind is delivered beside it.
func (s *session) connect(ctx context.Context, dir string, o clickhouse.Options) {
	fetch := newFetchProgress(s.app.err)
	o.Progress = fetch.show
	s.database = openDatabase(ctx, o)
	s.database.settle(ctx, fetch.isFetching)
	fetch.mute()
	s.sink = clickhouse.NewSink(s.database.open, clickhouse.SinkOptions{Dir: dir, To: o.Address()})
	s.catchUp = beginCatchUp(ctx, s.database, dir)
}

func (s *session) chooseTools(home, cache string, cfg *config.Config) error {
	o := tool.Options{
		Roots:           s.options.roots,
		Work:            s.workDir,
		Private:         []string{filepath.Dir(config.SessionDir(home, s.id)), clickhouse.EngineDir(home), cache}, // fetched engines are run
		AllowCommands:   s.options.allowCommands,
		TrustedCommands: cfg.TrustedCommands,
		ProtectPaths:    cfg.ProtectPaths,
		AllowWrite:      s.options.allowWrite,
		Declared:        s.cascade.Tools,
		AllowEnv:        s.options.allowEnv,
		Getenv:          vault.LookupEnv,
		Secrets:         s.secrets,
	}
	if s.querier != nil {
		o.SQL = s.querier
	}
	registry, err := tool.New(o)
	if err != nil {
		return usageError(err, "--root FOLDER with a folder that exists; docs/tools.md describes what tools need")
	}
	s.tools, s.runner.Tools = registry, registry
	if len(s.options.roots) > 0 {
		s.runner.Workspace = func(ctx context.Context) *echo.Workspace { return git.Look(ctx, s.options.roots[0]) }
	}
	return nil
}

// grantedEnv reads the variables that templates may see.
func grantedEnv(names []string) map[string]string {
	env := map[string]string{}
	for _, n := range names {
		if v, ok := vault.LookupEnv(n); ok {
			env[n] = v
		}
	}
	return env
}

// selfCommand is how this program was called, as a person would type it again.
func selfCommand() string {
	exe, err := os.Executable()
	if err == nil && strings.Contains(filepath.ToSlash(exe), "/go-build") {
		return "go run ./cmd/windlass"
	}
	return "windlass"
}
