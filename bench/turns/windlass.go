package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

// windlassLoop is the product: the engine with its journal synced and its rows on their way to ClickHouse.
func windlassLoop(ctx context.Context) (conversation, func() (int64, error), error) {
	home, err := config.Home()
	if err != nil {
		return nil, nil, err
	}
	db, err := openDatabase(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	sink := clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) { return db, nil }, clickhouse.SinkOptions{})
	c, err := benchCascade()
	if err != nil {
		return nil, nil, err
	}
	run := fmt.Sprintf("bench-%d", time.Now().UnixNano())
	store := journal.NewStore(config.SessionsDir(home), config.CommitDir(home))
	routers := sync.Map{}
	talk := func(ctx context.Context, n int, url string) error {
		router := llm.NewRouter(&config.Config{}, func(name string) string {
			return map[string]string{llm.EnvBaseURL: url, llm.EnvAPIKey: "bench"}[name]
		})
		routers.Store(n, router)
		return converse(ctx, c, router, store, fmt.Sprintf("%s-%d", run, n), sink)
	}
	drain := func() (int64, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		err := errors.Join(sink.Close(ctx), store.Close())
		return sink.Stats().Written, err
	}
	return talk, drain, nil
}

func converse(ctx context.Context, c *cascade.Cascade, model effect.Model, store *journal.Store, id string, sink echo.Sink) error {
	j, err := store.Create(journal.Header{
		Rules: engine.Rules, SessionID: id, StartedAt: time.Now().UTC(), Cascade: json.RawMessage(`{}`), Input: json.RawMessage(`{}`),
	})
	if err != nil {
		return err
	}
	log := echo.NewLog(id, nil, j, shared{sink})
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

// shared is a sink that outlives one session.
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
