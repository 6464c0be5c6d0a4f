// Package product runs the conversation of the benchmarks with windlass.
package product

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/bench/turns/loop"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

// Cascade returns the cascade of the conversation, which takes as many turns as the model likes.
func Cascade() (*cascade.Cascade, error) {
	source := fmt.Sprintf(`{"cascade_id":"bench","phases":[{"name":"lookup","instructions":%q,"tackle":[%q],"rules":{"max_turns":100000}}]}`,
		loop.TaskText, loop.ToolName)
	c, _, err := cascade.Parse("bench.json", []byte(source), cascade.Known{Tools: []string{loop.ToolName}})
	return c, err
}

// Run runs the cascade to its end against the endpoint at url. The caller closes the log.
func Run(ctx context.Context, c *cascade.Cascade, log *echo.Log, url string) error {
	model := llm.NewRouter(&config.Config{}, func(name string) string {
		return map[string]string{llm.EnvBaseURL: url, llm.EnvAPIKey: "bench"}[name]
	})
	r := engine.Runner{Model: model, Tools: lookup{}, DefaultModel: "bench"}
	res, err := r.Run(ctx, engine.Spec{Cascade: c, Log: log})
	if err == nil && res.Output != "done" {
		err = fmt.Errorf("the conversation ended with %v", res.Output)
	}
	return err
}

// Header returns what the journal of a session begins with.
func Header(session string) journal.Header {
	return journal.Header{
		Rules: engine.Rules, SessionID: session, StartedAt: time.Now().UTC(), Cascade: json.RawMessage(`{}`), Input: json.RawMessage(`{}`),
	}
}

// lookup is the tool of the conversation, as a tool that only reads.
type lookup struct{}

func (lookup) Spec(name string) (effect.ToolSpec, bool) {
	return effect.ToolSpec{
		Name: loop.ToolName, Description: loop.ToolText, Idempotent: true, Parameters: json.RawMessage(loop.ToolSchema),
	}, name == loop.ToolName
}

func (lookup) Call(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	return effect.ToolResult{Parts: echo.Text(loop.Lookup(string(req.Arguments)))}, nil
}
