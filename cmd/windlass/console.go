package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/contexts"
	"github.com/windlass-run/windlass/internal/term/fetching"
	"github.com/windlass-run/windlass/internal/term/pager"
)

// console is what a command works with. Results go to out; progress, logs and errors go to err.
type console struct {
	in  io.Reader
	out io.Writer
	err io.Writer

	app    *app.App // nil until open was called, by whatever needs it
	asJSON bool     // the flag --json, of commands that have it from jsonFlag
	wide   bool     // the flag --wide, of commands that have it from wideFlag
	direct bool     // the flag --no-pager
	warned string   // of the engine, so far

	downloads fetch.Policy // of the command; set before open
	asking    atomic.Bool  // somebody is asked about a download, so nothing has begun
}

// open returns the app of the command, whose end closes it.
func (con *console) open() (*app.App, error) {
	if con.app != nil {
		return con.app, nil
	}
	opened, err := app.Open(app.Options{Version: readVersion().Version, Gate: con.gate()})
	con.app = opened
	return opened, err
}

// gate returns what decides about the downloads of the command. A person can be asked at a terminal
// only.
func (con *console) gate() *fetch.Gate {
	g := &fetch.Gate{Policy: con.downloads, Announce: func(o fetch.Offer) { fetching.Announce(con.err, o) }}
	if term.IsTerminalInput(con.in) && term.IsTerminal(con.err) {
		g.Ask = func(ctx context.Context, o fetch.Offer) (bool, error) {
			con.asking.Store(true)
			defer con.asking.Store(false)
			return fetching.Ask(ctx, con.in, con.err, o)
		}
	}
	return g
}

// noFetchFlag adds --no-fetch to a command that runs cascades.
func (con *console) noFetchFlag(cmd *cobra.Command, policy fetch.Policy) {
	no := cmd.Flags().Bool("no-fetch", false, "download nothing: without the ClickHouse engine the run does not begin")
	before := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if con.downloads = policy; *no {
			con.downloads = fetch.PolicyNone
		}
		if before != nil {
			return before(cmd, args)
		}
		return nil
	}
}

// close ends the use of ClickHouse. What a command lost by that has been said where it was used.
func (con *console) close() {
	if con.app != nil {
		_ = con.app.Close()
	}
}

// config reads the windlass.json that counts in this folder.
func (con *console) config() (*config.Config, error) {
	opened, err := con.open()
	if err != nil {
		return nil, err
	}
	return opened.Config()
}

// print writes a value as JSON when --json is given, else lets text write it for people.
func (con *console) print(v any, text func() error) error {
	if con.asJSON {
		return term.WriteJSON(con.out, v)
	}
	return con.paged(text)
}

// paged lets text write for people. What is longer than the terminal goes through a pager; what text
// writes to standard error follows.
func (con *console) paged(text func() error) error {
	command := con.pager()
	if command == "" {
		return text()
	}
	out, errw := con.out, con.err
	var notes bytes.Buffer
	shown := pager.New(out.(*os.File), command) //nolint:forcetypeassert // it is a terminal
	con.out, con.err = shown, &notes
	err := text()
	con.out, con.err = out, errw
	err = errors.Join(err, shown.Close())
	_, _ = errw.Write(notes.Bytes())
	return err
}

// pager returns the command of the pager; "" for none.
func (con *console) pager() string {
	out, ok := con.out.(*os.File)
	in, isFile := con.in.(*os.File)
	if con.direct || !ok || !isFile || !term.CanDraw(out) || !term.IsTerminal(in) {
		return ""
	}
	return pager.Command(environment.LookupEnv)
}

// room is that of tables in an output.
func (con *console) room(to io.Writer) term.Room {
	room := term.RoomOf(to)
	if con.wide {
		room.Width = 0
	}
	return room
}

// contexts returns what standard output can show of the calls of a session.
func (con *console) contexts() contexts.Out {
	o := contexts.To(con.out)
	o.Wide = con.wide
	return o
}

// say prints lines without what a terminal takes for commands.
func say(con *console, lines []string) error { return sayTo(con.out, lines) }

func sayTo(w io.Writer, lines []string) error {
	_, err := fmt.Fprintln(w, term.CleanLines(strings.Join(lines, "\n")))
	return err
}

// warning prints what a person should know, if there is anything.
func warning(con *console, text string) {
	if text != "" {
		con.labelled("Warning: ", text)
	}
}

// table writes a table, as wide as the terminal allows.
func (con *console) table(t *term.Table) error { return t.Render(con.out, con.room(con.out)) }

// sessionTable writes a table to one of the streams whose first column has these ids of sessions:
// whole where the terminal has room, and where it is none.
func (con *console) sessionTable(to io.Writer, t *term.Table, ids []string) error {
	room := con.room(to)
	if room.Width > 0 && con.app != nil {
		known, err := archive.Local(con.app.Home())
		if err != nil {
			return err
		}
		t.Shorten("session", names.Short(ids, known))
	}
	return t.Render(to, room)
}

// sessionIDs returns the ids of a list of sessions.
func sessionIDs[T any](list []T, id func(T) string) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = id(s)
	}
	return ids
}

// archive returns the sessions of this machine and of its ClickHouse.
func (con *console) archive() (*archive.Archive, error) {
	opened, err := con.open()
	if err != nil {
		return nil, err
	}
	ask := func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
		pool, err := opened.ClickHouse()
		if err != nil {
			return err
		}
		return con.ask(ctx, pool, do)
	}
	return &archive.Archive{Home: opened.Home(), Database: ask, Address: opened.DatabaseAddress, Scope: names.Everything}, nil
}

// ask gives do the database of a pool. A signal ends that at once, as nothing is recorded.
func (con *console) ask(ctx context.Context, pool *database.Pool, do func(context.Context, *clickhouse.DB) error) error {
	ctx, stop := interruptible(ctx, func() {})
	defer stop()
	show, mute := con.fetching()
	h := pool.Open()
	end := h.Watch(show)
	db, err := h.DB(ctx)
	end()
	mute()
	con.warn(h.Warning())
	if err != nil {
		return archive.DatabaseError(ctx, err)
	}
	if old, err := db.Old(ctx); err == nil && old != nil { // whether it can be known is not what was asked
		fmt.Fprintf(con.err, "Note: %s\n", old)
	}
	return archive.DatabaseError(ctx, errors.Join(do(ctx, db), db.Close()))
}

// warn prints what a person should know of the engine, once, whoever of the command uses it.
func (con *console) warn(engine string) {
	if engine != "" && engine != con.warned {
		fmt.Fprintf(con.err, "Warning: %s\n", engine)
		con.warned = engine
	}
}

// fetching returns what shows how the engine is fetched, and what ends that.
func (con *console) fetching() (show func(fetch.Progress), mute func()) {
	p := fetching.NewProgress(con.err)
	return p.Show, p.Mute
}

// noteUnknown says what the costs above leave out.
func (con *console) noteUnknown(unknown uint64) {
	if unknown > 0 {
		fmt.Fprintln(con.err, term.Hang(con.err, fmt.Sprintf("The cost of %s is unknown and in no sum: the model has no price, which windlass.json can set, or the call broke off.",
			term.Plural(int(unknown), "call")), 2))
	}
}

// wideFlag adds --wide.
func (con *console) wideFlag(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&con.wide, "wide", false, "show every column of tables, and cut nothing")
	return cmd
}

// jsonFlag adds --json.
func (con *console) jsonFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&con.asJSON, "json", false, "print JSON")
}
