package effect

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
)

// Effects is the one way in which a run touches the world: each call names its place by a
// structural key, and its outcome is recorded under it before the call returns. Everything recorded
// so far is durable before a request leaves or a tool starts that is not idempotent.
// Implementations are safe for concurrent use with different keys.
//
// An error that the world gave back (a [*ModelError]) is an outcome and is recorded. A
// [*RecordError] or the end of ctx is none, and nothing is recorded. What the world says after ctx
// has ended is an outcome: it may have been paid for.
type Effects interface {
	// Model asks a model.
	Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error)
	// Tool runs a tool whose arguments have been checked. A tool that failed is a result; the error
	// says that the run cannot continue.
	Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error)
	// Value takes a reading that is not deterministic, such as the clock, and returns it as it is
	// recorded, for [echo.Decode]. A reading of nil says that there is nothing to know: it is not
	// recorded, and its value is nil, as that of a replay that has no record is. read is called
	// once, and not at all for what is recorded already.
	Value(ctx context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error)
}
