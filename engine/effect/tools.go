package effect

import (
	"context"
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// ToolSpec is a tool as it is offered to a model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // a JSON Schema of type object

	// Idempotent: running the tool twice does no harm. It may start while the answer that asked for
	// it is still being synced, and is run again after a crash.
	Idempotent bool
}

// CommandTool runs the command of a "command:" validator. It is called by the engine and never
// offered to a model; its arguments are {command, stdin}.
const CommandTool = "command"

// ToolRequest is one call of a tool.
type ToolRequest struct {
	Site      Site
	SessionID string
	CallID    string
	Name      string
	Arguments json.RawMessage // valid against the tool's schema; the engine has checked
	Timeout   time.Duration   // 0: the tool's own
}

// ToolResult is what a tool answered. A tool that failed is a result with Failed set, which the
// model is shown; an error from [Tools.Call] ends the phase.
type ToolResult struct {
	Parts  []echo.Part
	Failed bool
	Kind   string // when Failed: timeout, exit_status, not_allowed, http_status, output_limit, failed, ...
}

// Tools is the set of tools a run can use, besides the engine's own. Implementations are safe for
// concurrent use: the calls of one answer run in parallel.
//
// Call honours ctx and leaves nothing running behind. It returns an error only when ctx ended or
// the name is unknown.
type Tools interface {
	Spec(name string) (ToolSpec, bool)
	Call(ctx context.Context, req ToolRequest) (ToolResult, error)
}
