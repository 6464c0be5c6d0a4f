package effect

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// Effects is the one way in which a run touches the world. Each call has a structural key, under
// which its outcome is recorded before it returns. Everything recorded is durable before a request
// leaves or a tool starts that is not idempotent. Implementations are safe for concurrent use with
// different keys. An error that the world gave back (a [*ModelError]) is an outcome, also after
// ctx has ended: it may have been paid for. A [*RecordError] or the end of ctx is none, and is not
// recorded.
type Effects interface {
	// Model asks a model.
	Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error)
	// Tool runs a tool with checked arguments. Its failure is a result; an error ends the run.
	Tool(ctx context.Context, key echo.Key, spec ToolSpec, req ToolRequest) (*echo.Message, error)
	// Value takes a reading, such as of the clock, and returns it as recorded, for [echo.Decode].
	// A reading of nil is not recorded; its value is nil, as in a replay without a record. read is
	// called once, and not for what is recorded.
	Value(ctx context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error)
	// Child waits for another cascade that runs as a session of its own. Its failure is an outcome; an
	// error ends the run. run is called at most once, and not for what is recorded.
	Child(ctx context.Context, key echo.Key, site Site, run RunChild) (*ChildOutcome, error)
	// Await returns how a wait has ended that is recorded. The error is a [*WaitingError] while it has not,
	// of which nothing is recorded.
	Await(ctx context.Context, req *WaitRequest) (*echo.Answer, error)
}

// Reading takes a reading; known is false when there was nothing to know.
func Reading[T echo.Payload](ctx context.Context, through Effects, key echo.Key, site Site, take func() echo.Payload) (value T, known bool, err error) {
	raw, err := through.Value(ctx, key, site, take)
	if err != nil || raw == nil {
		return value, false, err
	}
	value, err = echo.Decode[T](raw)
	if err != nil {
		return value, false, fmt.Errorf("read the record of %s: %w", key, err)
	}
	return value, true, nil
}

// Opening is [Reading] of what a run begins with, such as how much of a bank it sees. The error of open is a [*RecordError] that
// names what was opened: nothing is recorded, and the run can be resumed.
func Opening[T echo.Payload](ctx context.Context, through Effects, key echo.Key, site Site, what string, open func() (*T, error)) (T, error) {
	var failed error
	value, known, err := Reading[T](ctx, through, key, site, func() echo.Payload {
		opened, err := open()
		if err != nil {
			failed = err
			return nil
		}
		return *opened
	})
	switch {
	case err != nil || known:
	case ctx.Err() != nil:
		err = ctx.Err()
	case failed != nil:
		err = &RecordError{Err: fmt.Errorf("open %s: %w", what, failed)}
	}
	return value, err
}

// WholeReading is [Reading] where there is always something to know, unless ctx has ended.
func WholeReading[T echo.Payload](ctx context.Context, through Effects, key echo.Key, site Site, take func() echo.Payload) (T, error) {
	value, known, err := Reading[T](ctx, through, key, site, func() echo.Payload {
		taken := take()
		if ctx.Err() != nil {
			return nil
		}
		return taken
	})
	switch {
	case err != nil || known:
		return value, err
	case ctx.Err() != nil:
		return value, ctx.Err()
	}
	return value, fmt.Errorf("no reading of %s is recorded", key)
}
