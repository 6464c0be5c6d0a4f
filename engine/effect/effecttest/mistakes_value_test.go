package effecttest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

var readingMistakes = map[string]func(*mistaken){
	"not recorded": func(x *mistaken) { x.value = x.elsewhere().Value },
	"left in the process": func(x *mistaken) {
		x.value = func(_ context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			e := echo.NewEntry(key, read())
			e.CascadeID = site.Cascade
			return e.Data, x.unflushed(e)
		}
	},
	"another value": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			if _, err := x.right.Value(ctx, key, site, func() echo.Payload { return clockThen }); err != nil {
				return nil, err
			}
			return echo.NewEntry(key, read()).Data, nil
		}
	},
	"of another kind": func(x *mistaken) {
		x.value = func(_ context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			e := echo.NewEntry(key, read())
			e.NodeType, e.CascadeID = echo.NodeValue, site.Cascade
			return e.Data, x.w.Append(e)
		}
	},
}

var nothingMistakes = map[string]func(*mistaken){
	"recorded": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, err := x.right.Value(ctx, key, site, read)
			if raw == nil && err == nil {
				err = x.w.Append(&echo.Entry{NodeType: echo.NodeValue, Key: key, Data: json.RawMessage("null")})
			}
			return raw, err
		}
	},
	"a value": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, err := x.right.Value(ctx, key, site, read)
			if raw == nil {
				raw = json.RawMessage("null")
			}
			return raw, err
		}
	},
	"an error": func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, err := x.right.Value(ctx, key, site, read)
			if raw == nil && err == nil {
				err = errors.New("nothing was read")
			}
			return raw, err
		}
	},
}

func readsTwice(x *mistaken) {
	x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
		read()
		return x.right.Value(ctx, key, site, read)
	}
}

func readsNever(x *mistaken) {
	x.value = func(ctx context.Context, key echo.Key, site effect.Site, _ func() echo.Payload) (json.RawMessage, error) {
		return x.right.Value(ctx, key, site, func() echo.Payload { return clockNow })
	}
}

// replayMistakes are those of an implementation that answers from what is recorded.
func replayMistakes() []mistake {
	asks := func(x *mistaken) {
		x.model = func(ctx context.Context, _ echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			return x.world.Complete(ctx, req)
		}
	}
	recordsAgain := func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			m, err := x.right.Tool(ctx, key, spec, req)
			call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: string(req.Arguments)}
			return m, errors.Join(err, x.w.Append(effect.ToolEntry(key, req.Site, call, m, "")))
		}
	}
	takesNow := func(x *mistaken) {
		x.value = func(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
			raw, err := x.right.Value(ctx, key, site, read)
			if now := read(); raw == nil && now != nil {
				raw = echo.NewEntry(key, now).Data
			}
			return raw, err
		}
	}
	parsesAgain := func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.right.Model(ctx, key, req)
			if err == nil && req.Parse != nil {
				again := *resp
				again.Message = req.Parse(resp.Message)
				resp = &again
			}
			return resp, err
		}
	}
	return []mistake{
		{"a replay asks", "a model's answer is recorded before it is seen", true, asks},
		{"a replay parses again", "an answer is parsed before it becomes an outcome", true, parsesAgain},
		{"a replay records again", "a tool's result is recorded before it is seen", true, recordsAgain},
		{"a replay takes one that is not recorded", "a reading of nothing is not recorded", true, takesNow},
		{"a replay takes it all the same", "a reading is taken once, and not in a replay", true, readsTwice},
	}
}
