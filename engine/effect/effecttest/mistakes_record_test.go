package effecttest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func ignoresContext(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		return x.right.Model(context.WithoutCancel(ctx), key, req)
	}
}

func recordsEnd(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.world.Complete(ctx, req)
		return x.w.Answer(key, req, resp, err, 0)
	}
}

func blamesRecord(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		if err := ctx.Err(); err != nil {
			return nil, &effect.RecordError{Err: err}
		}
		return x.right.Model(ctx, key, req)
	}
}

var endMistakes = map[string]func(*mistaken){
	"recorded as the failure of a model": recordsEnd,
	"returned as the failure of a model": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			if ctx.Err() != nil {
				return nil, err
			}
			return x.w.Answer(key, req, resp, err, 0)
		}
	},
	"recorded as the result of a tool": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if err := x.w.Announce(ctx, key, spec, req); err != nil {
				return nil, err
			}
			res, err := x.world.Call(ctx, req)
			if err != nil {
				res = effect.ToolResult{Failed: true, Kind: "failed", Parts: echo.Text(err.Error())}
			}
			return x.w.Result(key, req, res, 0)
		}
	},
}

// lateMistakes drop what was paid for when the context had ended meanwhile.
var lateMistakes = map[string]func(*mistaken){
	"an answer is dropped": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			if err == nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return x.w.Answer(key, req, resp, err, 0)
		}
	},
	"a failure is dropped": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			if err != nil && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return x.w.Answer(key, req, resp, err, 0)
		}
	},
	"a result is dropped": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if err := x.w.Announce(ctx, key, spec, req); err != nil {
				return nil, err
			}
			res, err := x.world.Call(ctx, req)
			if ctx.Err() != nil {
				return nil, errors.Join(err, ctx.Err())
			}
			return x.w.Result(key, req, res, 0)
		}
	},
}

var recordMistakes = map[string]func(*mistaken){
	"the answer is returned": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			if err == nil {
				_, _ = x.w.Answer(key, req, resp, nil, 0)
				return resp, nil
			}
			return x.w.Answer(key, req, resp, err, 0)
		}
	},
	"the failure of the model is returned": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			if err != nil {
				_, _ = x.w.Answer(key, req, nil, err, 0)
				return nil, err
			}
			return x.w.Answer(key, req, resp, nil, 0)
		}
	},
	"the result is returned": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			m, _ := x.right.Tool(ctx, key, spec, req)
			return m, nil
		}
	},
	"the reading is returned": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, _ := x.right.Value(ctx, key, site, read)
			return raw, nil
		}
	},
	"an error of another type": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, err := x.right.Value(ctx, key, site, read)
			var re *effect.RecordError
			if errors.As(err, &re) {
				err = re.Err
			}
			return raw, err
		}
	},
}

// beginsAnyway runs tools whatever becomes of the record.
func beginsAnyway(x *mistaken) {
	x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
		res, _ := x.world.Call(ctx, req)
		if err := x.w.Announce(ctx, key, spec, req); err != nil {
			return nil, err
		}
		return x.w.Result(key, req, res, 0)
	}
}

// beginsInSilence waits for the record, and does not say in it that a tool begins.
func beginsInSilence(x *mistaken) {
	x.tool = func(ctx context.Context, key echo.Key, _ effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
		if err := x.w.Settle(ctx); err != nil {
			return nil, err
		}
		res, _ := x.world.Call(ctx, req)
		return x.w.Result(key, req, res, 0)
	}
}

// asksUnsafely asks models before the record is durable.
func asksUnsafely(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.world.Complete(ctx, req)
		if err := x.w.Settle(ctx); err != nil {
			return nil, err
		}
		return x.w.Answer(key, req, resp, err, 0)
	}
}
