// Package windlass runs cascades: LLM workflows that a file declares phase by phase. It does for a
// program what the command windlass does for a person: it starts runs, follows and resumes them,
// and says afterwards what each model call was sent and what it cost.
//
//	w, err := windlass.Open(ctx, windlass.Options{}) // or windlass.InMemory(): nothing is kept
//	defer w.Close()
//	c, err := windlass.LoadFile("incident.json")
//	restart := windlass.Func("restart", "Restarts a service.", restartService)
//	run, err := w.Start(ctx, c, windlass.Input{"service": "checkout"}, windlass.WithTool(restart))
//	for event, err := range run.Events() {
//		fmt.Println(event, err)
//	}
//	result, err := run.Result(ctx)
//	fmt.Println(result.Text())
//
// A run is a session, with a journal in [Options].Home from which it can be resumed, verified and
// asked about, by this program, by the command, and on this machine by any other program.
// ClickHouse gets the same record behind the run, which never waits for it.
//
// What a run may do is what its options grant: no folder but its own, no command, no environment
// variable without a [RunOption].
//
// Errors that a caller can do something about are an [*Error], with a [Kind].
//
// This package, package echo and package cascade keep their promises of compatibility from the
// first release on. The other packages of the module can be imported, and may change.
package windlass

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"sync"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
)

// Windlass starts, resumes and finds runs. It is safe for concurrent use, and runs any number of
// cascades at once.
type Windlass struct {
	app       *app.App
	archive   *archive.Archive
	journals  bool   // no ClickHouse
	temporary string // the home folder that Close removes; "": none

	mu     sync.Mutex
	closed bool
	runs   map[*Run]bool // that have not ended
}

// Open prepares to run cascades. It never asks a person for anything, and downloads nothing unless
// [Options].Fetch allows it.
//
// Without a server it looks for the embedded ClickHouse. The error is of [EngineMissing] when there
// is none on this machine, or no program that runs it; it says what was looked for and what to do.
// A server is not connected to yet, but a DSN that cannot be one is an error: of [InvalidRequest]
// when it is [Options].DSN, else of [InvalidConfig].
func Open(ctx context.Context, o Options) (*Windlass, error) {
	w := &Windlass{journals: o.NoClickHouse, runs: map[*Run]bool{}}
	settings, err := w.settings(&o)
	if err != nil {
		return nil, err
	}
	if w.app, err = app.Open(settings); err != nil {
		return nil, errors.Join(explain(err), w.removeHome())
	}
	w.archive = &archive.Archive{Home: w.app.Home(), Scope: names.Everything}
	if o.NoClickHouse {
		return w, nil
	}
	w.archive.Database = w.useDatabase
	w.archive.Address = w.app.DatabaseAddress
	if err := checkDatabase(ctx, w.app, o.DSN != ""); err != nil {
		return nil, errors.Join(explain(err), w.Close())
	}
	return w, nil
}

// ready says why w cannot do what it is asked to do.
func (w *Windlass) ready(do string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.app == nil:
		return invalid("%s: the Windlass was not opened: Open makes one", do)
	case w.closed:
		return invalid("%s: the Windlass is closed", do)
	}
	return nil
}

func (w *Windlass) settings(o *Options) (app.Options, error) {
	a := app.Options{Home: o.Home, Dir: o.Dir, Version: version(), Cache: o.Cache, DSN: o.DSN, NoFetch: !o.Fetch}
	var err error
	if o.temporary {
		if w.temporary, err = os.MkdirTemp("", "windlass-"); err != nil {
			return a, failure.New(StorageFailed, err, "set TMPDIR to a folder that can be written to")
		}
		a.Home = w.temporary
	}
	if !o.NoClickHouse {
		a.Executable = o.executable()
	}
	return a, nil
}

// checkDatabase says what is wrong with the DSN, which the program gave or the machine has, or what
// the embedded engine lacks.
func checkDatabase(ctx context.Context, a *app.App, given bool) error {
	o, err := a.Database()
	if err != nil {
		return err
	}
	if o.DSN != "" {
		return dsnError(o.Check(), given)
	}
	if err := database.CheckEngine(ctx, o); err != nil {
		return engineMissing(err)
	}
	if o.Engine.Executable == noExecutable {
		return engineMissing(errNoExecutable)
	}
	return nil
}

// Home returns the folder with the journals of the sessions.
func (w *Windlass) Home() string {
	if w.app == nil {
		return ""
	}
	return w.app.Home()
}

// Close interrupts the runs that go on, waits until that is recorded, and ends the use of
// ClickHouse. Interrupted sessions can be resumed, unless they were kept in memory. What is asked
// of a Windlass that is closed is an error of [InvalidRequest].
func (w *Windlass) Close() error {
	if w.app == nil {
		return nil
	}
	w.mu.Lock()
	w.closed = true
	var going []*Run
	for r := range w.runs {
		going = append(going, r)
	}
	w.mu.Unlock()
	for _, r := range going {
		r.Cancel()
		<-r.done
	}
	return errors.Join(w.app.Close(), w.removeHome())
}

func (w *Windlass) removeHome() error {
	if w.temporary == "" {
		return nil
	}
	return os.RemoveAll(w.temporary)
}

// useDatabase implements [archive.Database].
func (w *Windlass) useDatabase(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
	pool, err := w.app.ClickHouse()
	if err != nil {
		return err
	}
	return archive.DatabaseError(ctx, pool.Use(ctx, do))
}

// version returns the version of this module in the program that runs.
func version() string {
	const module = "github.com/windlass-run/windlass"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}
