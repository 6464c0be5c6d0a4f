// Command windlass is the product, measured by `make bench`: the engine with its journal synced and its rows on their way
// to ClickHouse. `windlass keep` keeps the database of WINDLASS_HOME open until its standard input ends, for those that
// are measured.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/bench/turns/loop"
	"github.com/windlass-run/windlass/bench/turns/product"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
)

func main() {
	args := os.Args[1:]
	if embedded.IsServe(args) {
		os.Exit(embedded.Serve(args))
	}
	ctx := context.Background()
	var err error
	if len(args) == 1 && args[0] == "keep" {
		err = keep(ctx)
	} else {
		err = loop.Run(ctx, args, os.Stdout, open)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "windlass:", err)
		os.Exit(1)
	}
}

// keep prints a line when the database is open.
func keep(ctx context.Context) error {
	home, err := config.Home()
	if err != nil {
		return err
	}
	pool, err := openPool(ctx, home)
	if err != nil {
		return err
	}
	fmt.Println("open")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, pool.Close())
}

// openPool returns the databases of a process, and waits until the first is open.
func openPool(ctx context.Context, home string) (*database.Pool, error) {
	cache, err := config.CacheDir()
	if err != nil {
		return nil, err
	}
	pool := database.NewPool(clickhouse.Options{DSN: os.Getenv("WINDLASS_CLICKHOUSE_DSN"), Home: home, CacheDir: cache})
	return pool, pool.Use(ctx, func(context.Context, *clickhouse.DB) error { return nil })
}

func open(ctx context.Context, _ int) (loop.Loop, error) {
	home, err := config.Home()
	if err != nil {
		return loop.Loop{}, err
	}
	pool, err := openPool(ctx, home)
	if err != nil {
		return loop.Loop{}, err
	}
	c, err := product.Cascade()
	if err != nil {
		return loop.Loop{}, err
	}
	run := time.Now().UnixNano()
	store := openJournals(home)
	var sinks deliveries
	return loop.Loop{
		Talk: func(ctx context.Context, n int, url string) error {
			id := fmt.Sprintf("bench-%d-%d", run, n)
			j, err := store.Create(ctx, product.Header(id))
			if err != nil {
				return err
			}
			log := echo.NewLog(id, nil, j, delivered{sinks.open(pool, config.SessionDir(home, id))})
			if err := product.Run(ctx, c, log, url); err != nil {
				return err
			}
			return log.Close(ctx)
		},
		Drain: func() (int64, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			written, err := sinks.close(ctx)
			return written, errors.Join(err, pool.Close(), store.Close())
		},
	}, nil
}

// deliveries are the sinks of a process: each session has its own.
type deliveries struct {
	mu    sync.Mutex
	sinks []*clickhouse.Sink
}

func (d *deliveries) open(pool *database.Pool, dir string) *clickhouse.Sink {
	sink := clickhouse.NewSink(pool.Open().DB, clickhouse.SinkOptions{Dir: dir, To: pool.Address()})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sinks = append(d.sinks, sink)
	return sink
}

// close delivers what is unsent in all sinks at once, as they do on their own, and returns how many rows there were.
func (d *deliveries) close(ctx context.Context) (written int64, err error) {
	var g errgroup.Group
	for _, s := range d.sinks {
		g.Go(func() error { return s.Close(ctx) })
	}
	err = g.Wait()
	for _, s := range d.sinks {
		written += s.Stats().Written
	}
	return written, err
}

// delivered is a sink that is closed after its session has ended, in the time that is measured apart.
type delivered struct{ echo.Sink }

func (delivered) Close(context.Context) error { return nil }
