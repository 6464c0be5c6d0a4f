// Command cards measures what a selection between phases needs of ClickHouse, the selection itself, and what making cards
// adds to a run, and holds it to the bars that the project has set itself: 100,000 cards over 100 sessions, a selection in
// a session of 2,000 of them; a run of 50 turns of the scripted model. It is run by `make bench-cards` and ends with 1 when
// a bar is missed. docs/performance.md explains the figures.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	driver "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
)

const (
	dsnEnv   = "WINDLASS_CLICKHOUSE_DSN"
	database = "windlass_bench_cards"
)

func main() {
	if embedded.IsServe(os.Args[1:]) {
		os.Exit(embedded.Serve(os.Args[1:]))
	}
	passed, err := run(context.Background(), os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-cards:", err)
		os.Exit(2)
	}
	if !passed {
		os.Exit(1)
	}
}

// size is how much there is to choose from.
type size struct {
	cards      int // of all sessions
	sessions   int
	own        int // cards of the session that is selected in
	dimensions int
	batch      int // cards of one write
}

func run(ctx context.Context, args []string) (passed bool, err error) {
	fs := flag.NewFlagSet("bench-cards", flag.ContinueOnError)
	var s size
	fs.IntVar(&s.cards, "cards", 100_000, "cards of all sessions")
	fs.IntVar(&s.sessions, "sessions", 100, "sessions")
	fs.IntVar(&s.own, "own", 2_000, "cards of the session that is selected in")
	fs.IntVar(&s.dimensions, "dimensions", 100, "of the embeddings")
	fs.IntVar(&s.batch, "batch", 500, "cards of one write")
	rounds := fs.Int("rounds", 41, "rounds that count, after three that do not")
	quick := fs.Int("runs", 801, "rounds of runs with and without cards, of a model that answers at once")
	slow := fs.Int("slow-runs", 15, "the same of one that takes 20 ms a turn")
	if err := fs.Parse(args); err != nil {
		return false, err
	}
	if s.sessions < 2 || s.own < 1 || s.cards < s.own+s.sessions || s.dimensions < 1 || s.batch < 1 || *rounds < 1 || *quick < 1 || *slow < 1 {
		return false, errors.New("-cards must be more than -own and -sessions together, -sessions at least 2, everything else at least 1")
	}
	home, err := os.MkdirTemp("", "windlass-bench-cards-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(home) //nolint:errcheck // a temporary folder; the engine ends when it is gone
	options, err := databaseOptions(home)
	if err != nil {
		return false, err
	}
	selected, err := measureSelection(ctx, options, s, *rounds)
	if err != nil {
		return false, err
	}
	light, err := measureRuns(ctx, options, *quick, *slow)
	return selected && light, err
}

func databaseOptions(home string) (clickhouse.Options, error) {
	cache, err := config.CacheDir()
	return clickhouse.Options{DSN: os.Getenv(dsnEnv), Home: home, CacheDir: cache}, err
}

// measureSelection measures selections in a database of their own.
func measureSelection(ctx context.Context, o clickhouse.Options, s size, rounds int) (passed bool, err error) {
	o.Database = database
	db, err := clickhouse.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, drop(context.WithoutCancel(ctx), db, database), db.Close()) }()
	conn, err := connect(db, o)
	if err != nil {
		return false, err
	}
	defer conn.Close() //nolint:errcheck // nothing was written through it
	return fillAndMeasure(ctx, db, conn, s, rounds)
}

// cardsOf returns the store of cards in a database, which stays the caller's to close.
func cardsOf(db *clickhouse.DB) *clickhouse.Cards {
	return clickhouse.NewCards(func(context.Context) (*clickhouse.DB, error) { return clickhouse.Share(db), nil })
}

// drop deletes a database with everything in it, if it exists.
func drop(ctx context.Context, db *clickhouse.DB, name string) error {
	rows, err := db.Query(ctx, "DROP DATABASE IF EXISTS "+name+" SYNC", clickhouse.QueryOptions{Write: true})
	if err != nil {
		return err
	}
	return rows.Close()
}

// connect opens a connection of the bench's own to a database that is open already.
func connect(db *clickhouse.DB, o clickhouse.Options) (driver.Conn, error) {
	var options *driver.Options
	if e := db.Endpoint(); e != nil {
		options = e.Options()
	} else {
		var err error
		if options, err = driver.ParseDSN(o.DSN); err != nil {
			return nil, errors.New("read the ClickHouse DSN: it is not one") // its text may hold a password
		}
	}
	options.Auth.Database = o.Database
	return driver.Open(options)
}

// fillAndMeasure writes the cards as a run does, in batches, and leaves the merging to ClickHouse.
func fillAndMeasure(ctx context.Context, db *clickhouse.DB, conn driver.Conn, s size, rounds int) (bool, error) {
	made := makeCards(s)
	start := time.Now()
	store := cardsOf(db)
	for from := 0; from < len(made.all); from += s.batch {
		if err := store.Put(ctx, made.all[from:min(from+s.batch, len(made.all))]); err != nil {
			return false, err
		}
	}
	took := time.Since(start)
	fmt.Printf("%d cards of %d sessions with %d dimensions written in batches of %d in %.1f s: %.0f cards/s\n",
		len(made.all), s.sessions, s.dimensions, s.batch, took.Seconds(), float64(len(made.all))/took.Seconds())
	b := &bench{store: store, conn: conn, made: made}
	if err := b.measure(ctx, rounds); err != nil {
		return false, err
	}
	return b.report(os.Stdout, s), nil
}
