package effecttest

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// requestMistakes leave something of a request out.
func requestMistakes() map[string]func(*mistaken) {
	out := map[string]func(*mistaken){}
	for name, drop := range map[string]func(*effect.ModelRequest){
		"without its site":             func(r *effect.ModelRequest) { r.Site = effect.Site{} },
		"without a message":            func(r *effect.ModelRequest) { r.Messages = r.Messages[len(r.Messages)-1:] },
		"without tools":                func(r *effect.ModelRequest) { r.Tools = nil },
		"although tools may be called": func(r *effect.ModelRequest) { r.NoToolCalls = false },
		"without prompted tools":       func(r *effect.ModelRequest) { r.Prompted = false },
		"without a temperature":        func(r *effect.ModelRequest) { r.Temperature = nil },
		"without a limit":              func(r *effect.ModelRequest) { r.MaxOutputTokens = 0 },
		"without a length":             func(r *effect.ModelRequest) { r.AnswerLength = 0 },
		"without options":              func(r *effect.ModelRequest) { r.Options = nil },
		"not streamed":                 func(r *effect.ModelRequest) { r.OnDelta = nil },
	} {
		out[name] = func(x *mistaken) {
			x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
				lean := *req
				drop(&lean)
				resp, err := x.world.Complete(ctx, &lean)
				return x.w.Answer(key, req, resp, err, 0)
			}
		}
	}
	for name, drop := range map[string]func(*effect.ToolRequest){
		"a tool without its site":       func(r *effect.ToolRequest) { r.Site = effect.Site{Cascade: "c"} },
		"a tool without its session":    func(r *effect.ToolRequest) { r.SessionID = "" },
		"a tool without its time limit": func(r *effect.ToolRequest) { r.Timeout = 0 },
	} {
		out[name] = func(x *mistaken) {
			x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
				drop(&req)
				return x.right.Tool(ctx, key, spec, req)
			}
		}
	}
	return out
}

// outcomeMistakes record less than they return, or return less than they record.
func outcomeMistakes() map[string]func(*mistaken) {
	out := map[string]func(*mistaken){
		"less is returned":          returnsLess,
		"a failure without kinds":   recordsFailure(func(e *effect.ModelError) { e.RetryKinds = nil }),
		"a failure without a hint":  recordsFailure(func(e *effect.ModelError) { e.Hint = "" }),
		"a failure may have a cost": recordsFailure(func(e *effect.ModelError) { e.Unpaid = false }),
		"another request": func(x *mistaken) {
			x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
				resp, err := x.world.Complete(ctx, req)
				return x.w.Answer(key, Ask(req.Model, "something else"), resp, err, 0)
			}
		},
		"a failed result of another kind": func(x *mistaken) {
			x.tool = func(ctx context.Context, key echo.Key, _ effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
				res, err := x.world.Call(ctx, req)
				if err != nil {
					res = effect.ToolResult{Failed: true, Parts: echo.Text(err.Error())}
				}
				res.Kind = ""
				return x.w.Result(key, req, res, 0)
			}
		},
	}
	for name, drop := range map[string]func(*effect.ModelResponse){
		"without usage":         func(r *effect.ModelResponse) { r.Usage = echo.Usage{} },
		"without a cost":        func(r *effect.ModelResponse) { r.CostUSD = nil },
		"without a provider":    func(r *effect.ModelResponse) { r.Provider = "" },
		"without a model":       func(r *effect.ModelResponse) { r.Model = "" },
		"without a reason":      func(r *effect.ModelResponse) { r.FinishReason = "" },
		"as not scripted":       func(r *effect.ModelResponse) { r.Scripted = false },
		"without retries":       func(r *effect.ModelResponse) { r.Retries = 0 },
		"without kinds":         func(r *effect.ModelResponse) { r.RetryKinds = nil },
		"without what is wrong": func(r *effect.ModelResponse) { r.Ignored = "" },
	} {
		out[name] = func(x *mistaken) {
			x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
				resp, err := x.world.Complete(ctx, req)
				if err != nil {
					return x.w.Answer(key, req, nil, err, 0)
				}
				lean := *resp
				drop(&lean)
				_, err = x.w.Answer(key, req, &lean, nil, 0)
				return resp, err
			}
		}
	}
	return out
}

func returnsLess(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.right.Model(ctx, key, req)
		if err == nil {
			resp.Retries, resp.RetryKinds = 0, nil
		}
		return resp, err
	}
}

// recordsFailure records the failure of a model with something left out, and returns the whole one.
func recordsFailure(drop func(*effect.ModelError)) func(*mistaken) {
	return func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			var me *effect.ModelError
			if !errors.As(err, &me) {
				return x.w.Answer(key, req, resp, err, 0)
			}
			lean := *me
			drop(&lean)
			_, _ = x.w.Answer(key, req, nil, &lean, 0)
			return nil, err
		}
	}
}

// announces returns a mistake that has tools announced once more, as others than they are.
func announces(change func(*effect.ToolSpec, *effect.ToolRequest)) func(*mistaken) {
	return func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			asSpec, asReq := spec, req
			asSpec.Idempotent, asReq.Site.Validator = true, "" // announced in silence, unless change says otherwise
			change(&asSpec, &asReq)
			if err := x.w.Announce(ctx, key, asSpec, asReq); err != nil {
				return nil, err
			}
			return x.right.Tool(ctx, key, spec, req)
		}
	}
}

var beginMistakes = map[string]func(*mistaken){
	"twice": announces(func(s *effect.ToolSpec, r *effect.ToolRequest) { s.Idempotent = r.Name != "write" }),
	"one that may be run twice": announces(func(s *effect.ToolSpec, r *effect.ToolRequest) {
		s.Idempotent = r.Name != "read"
	}),
	"a validator": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			req.Site.Validator = ""
			return x.right.Tool(ctx, key, spec, req)
		}
	},
	"never": beginsInSilence,
	"without its arguments": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			bare := req
			bare.Arguments = json.RawMessage("{}")
			if err := x.w.Announce(ctx, key, spec, bare); err != nil {
				return nil, err
			}
			res, _ := x.world.Call(ctx, req)
			return x.w.Result(key, req, res, 0)
		}
	},
}

// open is a right implementation that knows no secrets.
func (x *mistaken) open() effect.Effects {
	return effect.NewLive(x.world, x.world, effect.Writer{Log: x.w.Log}, nil).Answers(x.world)
}

var secretMistakes = map[string]func(*mistaken){
	"of an answer":  func(x *mistaken) { x.model = x.open().Model },
	"of a tool":     func(x *mistaken) { x.tool = x.open().Tool },
	"of a reading":  func(x *mistaken) { x.value = x.open().Value },
	"of a failure":  leaks(Leaky),
	"in a result":   leaksResult,
	"in a start":    leaksStart,
	"asked without": asksMasked,
	"a tool gets none": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			req.Arguments = json.RawMessage(effect.MaskedArguments(mask{}, string(req.Arguments)))
			return x.right.Tool(ctx, key, spec, req)
		}
	},
}

// leaks returns a mistake that records calls of one model as they are.
func leaks(model string) func(*mistaken) {
	return func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			if req.Model == model {
				return x.open().Model(ctx, key, req)
			}
			return x.right.Model(ctx, key, req)
		}
	}
}

func leaksResult(x *mistaken) {
	x.tool = func(ctx context.Context, key echo.Key, _ effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
		res, err := x.world.Call(ctx, req)
		if err != nil {
			res = effect.ToolResult{Failed: true, Parts: echo.Text(err.Error())}
		}
		call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: effect.MaskedArguments(mask{}, string(req.Arguments))}
		m := echo.NewToolResult(call, res.Parts, res.Failed)
		return m, x.w.Append(effect.ToolEntry(key, req.Site, call, m, res.Kind))
	}
}

func leaksStart(x *mistaken) {
	x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
		if err := (effect.Writer{Log: x.w.Log}).Announce(ctx, key, spec, req); err != nil {
			return nil, err
		}
		res, err := x.world.Call(ctx, req)
		if err != nil {
			res = effect.ToolResult{Failed: true, Parts: echo.Text(err.Error())}
		}
		return x.w.Result(key, req, res, 0)
	}
}

// asksMasked takes the secrets out of every request.
func asksMasked(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		clean := *req
		clean.Messages = nil
		for _, m := range req.Messages {
			clean.Messages = append(clean.Messages, m.Rewritten(mask{}.Text))
		}
		return x.right.Model(ctx, key, &clean)
	}
}

// asksOpenly takes the secrets out of no request.
func asksOpenly(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.world.Complete(ctx, req)
		return x.w.Answer(key, req, resp, err, 0)
	}
}
