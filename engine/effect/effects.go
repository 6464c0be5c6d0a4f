package effect

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
)

// Effects is the one way in which a run touches the world: each call names its place by a structural key, and its outcome is
// recorded under it before the call returns. Everything recorded so far is durable before a request leaves or a tool starts that
// is not idempotent. Implementations are safe for concurrent use with different keys.
//
// An error that the world gave back (a [*ModelError]) is an outcome like any other and is recorded. A [*RecordError] or the
// end of ctx is not an outcome, and nothing is recorded. What the world says although ctx has ended meanwhile is an outcome: it
// may have been paid for.
type Effects interface {
	// Model asks a model.
	Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error)
	// Tool runs a tool whose arguments have been checked. The error says that the run cannot continue; a tool that failed is a
	// result.
	Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error)
	// Value takes a reading that is not deterministic: a clock, a random value. It returns the reading as it is recorded. A
	// reading of nil says that there is nothing to know: it is not recorded and the value is nil, and so is the value of a
	// replay that has no record. The payload says what kind of entry it is; [echo.Decode] reads what is returned. read is called
	// once, and not at all by a replay or for what is recorded of the run already.
	Value(ctx context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error)
}
