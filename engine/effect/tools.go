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

	// Idempotent: may run twice, also before the answer that asked for it is synced.
	Idempotent bool
}

// CommandTool runs {command, stdin} of a "command:" validator; no model is offered it.
const CommandTool = "command"

// ImagesTool reads the files {paths} of a question that shows images: its result is a text, and an image for each
// path. No model is offered it, and no other tool can have its name.
const ImagesTool = "read:images"

// ToolRequest is one call of a tool.
type ToolRequest struct {
	Site      Site
	SessionID string
	CallID    string
	Name      string
	Arguments json.RawMessage // valid against the tool's schema; the engine has checked
	Timeout   time.Duration   // 0: the tool's own
}

// ToolResult is what a tool answered, also when it failed.
type ToolResult struct {
	Parts  []echo.Part
	Failed bool
	Kind   string // when Failed: timeout, exit_status, not_allowed, http_status, output_limit, failed, ...
}

// Tools is what a run can use besides the engine's own, for concurrent use. Call honours ctx,
// leaves nothing running, and returns an error only when ctx ended or the name is unknown.
type Tools interface {
	Spec(name string) (ToolSpec, bool)
	Call(ctx context.Context, req ToolRequest) (ToolResult, error)
}
