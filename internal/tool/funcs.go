package tool

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/engine/effect"
)

// Func is a tool of the program that runs a cascade. Failures and panics are results for the model.
type Func struct {
	Spec    effect.ToolSpec
	Timeout time.Duration // 0: [DefaultTimeout]
	Run     func(ctx context.Context, req effect.ToolRequest) effect.ToolResult
}

// add puts a tool into the table.
func (r *Registry) add(t tool) error {
	if _, taken := r.tools[t.spec.Name]; taken {
		return fmt.Errorf("tool %q: there is a tool of that name already", t.spec.Name)
	}
	r.tools[t.spec.Name] = t
	return nil
}

func (f Func) tool() tool {
	return tool{spec: f.Spec, timeout: f.Timeout, run: func(ctx context.Context, c *call) effect.ToolResult { return f.Run(ctx, c.ToolRequest) }}
}
