// Package app is the life of a run: it is started, resumed or forked, runs, and is closed. It
// decides what a run is given, its model, its tools, its journal, ClickHouse, and keeps what
// outlives a run. It knows neither flags nor exit codes nor terminals: errors have a kind, see
// [failure.Error], and whoever follows a run gets entries and events, see [Watch].
package app

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/llm"
)

// Options say where an [App] keeps its files.
type Options struct {
	Home    string // the folder with the sessions; "": the one that the environment says
	Dir     string // the folder whose windlass.json counts for runs that start; "": the working folder
	Version string // of this windlass, as the headers of sessions name it

	Gate *fetch.Gate // decides which downloads begin; nil: all

	Now func() time.Time // the clock of runs, and of what they wait for; nil: the system's

	// What is for a program that is not the command windlass.
	Cache      string // the folder of fetched files; "": the one that the environment says
	DSN        string // of a ClickHouse server; "": the one that the environment or windlass.json says
	NoFetch    bool   // nothing is downloaded
	Executable string // that the engine process is, see [embedded.Config]; "": this program
}

// App starts and resumes runs, any number of them at once. It is safe for concurrent use.
type App struct {
	home, dir, version string
	options            Options
	sessions           *journal.Store

	mu    sync.Mutex
	pools map[poolKey]*database.Pool
}

// poolKey tells databases apart: sessions that were started in another folder may have another
// windlass.json.
type poolKey struct {
	dsn     string
	sandbox bool
}

// Open returns an app, and restores what a power failure took from sessions. It opens nothing else
// yet. It must be closed, after all of its runs.
func Open(o Options) (*App, error) {
	a := &App{home: o.Home, dir: cmp.Or(o.Dir, "."), version: o.Version, options: o, pools: map[poolKey]*database.Pool{}}
	if a.home == "" {
		var err error
		if a.home, err = config.Home(); err != nil {
			return nil, failure.New(failure.StorageFailed, err, "set WINDLASS_HOME to a folder")
		}
	}
	a.sessions = journal.NewStore(config.SessionsDir(a.home), config.CommitDir(a.home))
	if err := a.sessions.Recover(context.Background()); err != nil {
		return nil, storeError(err)
	}
	return a, nil
}

// Close ends the use of ClickHouse, and the commit log of the sessions.
func (a *App) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	errs := []error{a.sessions.Close()}
	for _, p := range a.pools {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Home returns the home folder.
func (a *App) Home() string { return a.home }

// SessionDir returns the folder of a session.
func (a *App) SessionDir(id string) string { return config.SessionDir(a.home, id) }

// Config reads the windlass.json that counts for runs that start.
func (a *App) Config() (*config.Config, error) { return a.configOf(a.dir) }

func (a *App) configOf(dir string) (*config.Config, error) {
	cfg, err := config.Open(dir, a.home)
	if err != nil {
		try := ""
		var wrong *strict.Error
		if errors.As(err, &wrong) && wrong.Page() != "" {
			try = "correct the file; " + wrong.Page() + " describes it"
		}
		return nil, failure.New(failure.InvalidConfig, err, try)
	}
	return cfg, nil
}

// ClickHouse returns the database that the environment and windlass.json name. It is opened when it
// is first used.
func (a *App) ClickHouse() (*database.Pool, error) {
	o, err := a.Database()
	if err != nil {
		return nil, err
	}
	return a.pool(o), nil
}

// Database says which ClickHouse is used for runs that start.
func (a *App) Database() (clickhouse.Options, error) {
	cfg, err := a.Config()
	if err != nil {
		return clickhouse.Options{}, err
	}
	return a.database(cfg)
}

// DatabaseAddress names that ClickHouse, see [clickhouse.Options.Address].
func (a *App) DatabaseAddress() (string, error) {
	o, err := a.Database()
	return o.Address(), err
}

// ReadJournal reads the journal of a session on this machine, by its whole id.
func (a *App) ReadJournal(id string) (*journal.Recording, error) {
	rec, err := journal.Read(filepath.Join(a.SessionDir(id), journal.File))
	if err != nil {
		return nil, JournalError(id, err)
	}
	return rec, nil
}

// Price returns what a model costs, nil when that is not known.
func (a *App) Price(model string) (*config.Price, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	return llm.NewRouter(cfg, environment.Getenv).Price(model), nil
}

// AllowEngine asks the gate about the download of the engine, when a run would need it.
func (a *App) AllowEngine(ctx context.Context) error {
	o, err := a.Database()
	if err != nil {
		return err
	}
	return database.AllowEngine(ctx, o)
}

// TrySelection makes a trial selection on the entries of a session, see [cards.Try], with the
// configuration and the secrets of the app, and without what persons have taken out of its context, also what no run has taken yet.
// With store, ClickHouse is given the cards that it lacks. Nothing is fetched when t or the app says so.
func (a *App) TrySelection(ctx context.Context, id string, entries []*echo.Entry, t cards.Trial, store bool) (*cards.Tried, error) {
	cfg, err := a.Config()
	if err != nil {
		return nil, err
	}
	db, err := a.database(cfg)
	if err != nil {
		return nil, err
	}
	if t.Withdrawals, _, err = groups.Withdrawals(a.home, id, entries); err != nil {
		return nil, err
	}
	t.Config, t.Secrets, t.CacheDir, t.Gate = cfg, KnownSecrets(cfg, nil), db.CacheDir, a.options.Gate
	t.NoFetch = t.NoFetch || a.options.NoFetch
	if !store {
		return cards.Try(ctx, id, entries, t)
	}
	handle := a.pool(db).Open()
	kept := clickhouse.NewCards(handle.DB)
	t.Store = kept
	found, err := cards.Try(ctx, id, entries, t)
	return found, errors.Join(err, kept.Close())
}

func (a *App) database(cfg *config.Config) (clickhouse.Options, error) {
	o, err := database.Options(a.home, a.options.Cache, cfg)
	o.DSN = cmp.Or(a.options.DSN, o.DSN)
	o.Engine.NoFetch, o.Engine.Executable, o.Engine.Gate = a.options.NoFetch, a.options.Executable, a.options.Gate
	return o, err
}

func (a *App) pool(o clickhouse.Options) *database.Pool {
	a.mu.Lock()
	defer a.mu.Unlock()
	key := poolKey{o.DSN, o.RequireSandbox}
	if a.pools[key] == nil {
		a.pools[key] = database.NewPool(o)
	}
	return a.pools[key]
}
