package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/llm"
)

// windlassLoop is the product: the engine with its journal synced and its rows on their way to ClickHouse.
func windlassLoop(ctx context.Context) (conversation, func() (int64, error), error) {
	home, err := config.Home()
	if err != nil {
		return nil, nil, err
	}
	pool, err := openPool(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	c, err := benchCascade()
	if err != nil {
		return nil, nil, err
	}
	run := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	store := journal.NewStore(config.SessionsDir(home), config.CommitDir(home))
	var sinks deliveries
	talk := func(ctx context.Context, n int, url string) error {
		router := llm.NewRouter(&config.Config{}, func(name string) string {
			return map[string]string{llm.EnvBaseURL: url, llm.EnvAPIKey: "bench"}[name]
		})
		return converse(ctx, c, router, store, fmt.Sprintf("%s-%d", run, n), shared{sinks.open(pool)})
	}
	drain := func() (int64, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		written, err := sinks.close(ctx)
		return written, errors.Join(err, pool.Close(), store.Close())
	}
	return talk, drain, nil
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

// deliveries are the sinks of a process: each session has its own.
type deliveries struct {
	mu    sync.Mutex
	sinks []*clickhouse.Sink
}

func (d *deliveries) open(pool *database.Pool) *clickhouse.Sink {
	sink := clickhouse.NewSink(pool.Open().DB, clickhouse.SinkOptions{})
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sinks = append(d.sinks, sink)
	return sink
}

// close delivers what waits in all sinks at once, as they do on their own, and returns how many rows there were.
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

func converse(ctx context.Context, c *cascade.Cascade, model effect.Model, store *journal.Store, id string, sink echo.Sink) error {
	j, err := store.Create(journal.Header{
		Rules: engine.Rules, SessionID: id, StartedAt: time.Now().UTC(), Cascade: json.RawMessage(`{}`), Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return err
	}
	log := echo.NewLog(id, nil, j, sink)
	r := engine.Runner{Model: model, Tools: lookupTool{}, DefaultModel: "bench"}
	res, err := r.Run(ctx, engine.Spec{Cascade: c, Log: log})
	if err != nil {
		return err
	}
	if res.Output != "done" {
		return fmt.Errorf("the conversation ended with %v", res.Output)
	}
	return log.Close(ctx)
}

// shared is a sink that is closed after its session has ended, in the time that is measured apart.
type shared struct{ echo.Sink }

func (shared) Close(context.Context) error { return nil }

func benchCascade() (*cascade.Cascade, error) {
	source := fmt.Sprintf(`{"cascade_id":"bench","phases":[{"name":"lookup","instructions":%q,"tackle":["lookup"],"rules":{"max_turns":100000}}]}`, taskText)
	c, _, err := cascade.Parse("bench.json", []byte(source), cascade.Known{Tools: []string{"lookup"}})
	return c, err
}

// lookupTool is the tool of the benchmark, as a tool that only reads.
type lookupTool struct{}

func (lookupTool) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{
		Name: "lookup", Description: "Look something up.", Idempotent: true,
		Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`),
	}, name == "lookup"
}

func (lookupTool) Call(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	return effect.ToolResult{Parts: echo.Text(lookup(string(req.Arguments)))}, nil
}
