package effecttest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

type (
	modelFunc func(context.Context, echo.Key, *effect.ModelRequest) (*effect.ModelResponse, error)
	toolFunc  func(context.Context, echo.Key, effect.ToolSpec, effect.ToolRequest) (*echo.Message, error)
	awaitFunc func(context.Context, *effect.WaitRequest) (*echo.Answer, error)
	valueFunc func(context.Context, echo.Key, effect.Site, func() echo.Payload) (json.RawMessage, error)
)

// mistaken is a right implementation with a mistake in one of its methods.
type mistaken struct {
	right effect.Effects
	world *World
	w     effect.Writer

	model modelFunc
	tool  toolFunc
	value valueFunc
	await awaitFunc
}

func (x *mistaken) Await(ctx context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	if x.await != nil {
		return x.await(ctx, req)
	}
	return x.right.Await(ctx, req)
}

func (x *mistaken) Model(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if x.model != nil {
		return x.model(ctx, key, req)
	}
	return x.right.Model(ctx, key, req)
}

func (x *mistaken) Tool(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
	if x.tool != nil {
		return x.tool(ctx, key, spec, req)
	}
	return x.right.Tool(ctx, key, spec, req)
}

func (x *mistaken) Value(ctx context.Context, key echo.Key, site effect.Site, read func() echo.Payload) (json.RawMessage, error) {
	if x.value != nil {
		return x.value(ctx, key, site, read)
	}
	return x.right.Value(ctx, key, site, read)
}

// elsewhere is a right implementation that records where nobody looks.
func (x *mistaken) elsewhere() effect.Effects {
	return effect.NewLive(x.world, x.world, effect.Writer{Log: echo.NewLog("x", nil, nil)}, nil).Answers(x.world)
}

// unflushed records an entry and leaves it in the process.
func (x *mistaken) unflushed(e *echo.Entry) error { return x.w.Log.Append(e) }

type mistake struct {
	name   string
	clause string
	replay bool // of a replay
	make   func(*mistaken)
}

func mistakes() []mistake {
	var out []mistake
	for clause, list := range map[string]map[string]func(*mistaken){
		"a model's answer is recorded before it is seen":          answerMistakes,
		"an answer is parsed before it becomes an outcome":        parseMistakes,
		"a request is not changed":                                {"changed": changesRequest},
		"a request leaves whole":                                  requestMistakes(),
		"what is recorded is the whole outcome":                   outcomeMistakes(),
		"secrets are not recorded":                                secretMistakes,
		"a request for another purpose has no secrets":            {"asked openly": asksOpenly},
		"a tool is recorded as begun once, when it may do harm":   beginMistakes,
		"a model's failure is an outcome":                         failureMistakes,
		"an error of a model that is no ModelError is an outcome": {"not recorded": forgetsFailures},
		"the time limit of a model is an outcome":                 {"taken for the end of the run": confusesTimeLimits},
		"a tool's result is recorded before it is seen":           resultMistakes,
		"an error of a tool is a result":                          toolErrorMistakes,
		"a reading is returned as it is recorded":                 readingMistakes,
		"a reading of nothing is not recorded":                    nothingMistakes,
		"a reading is taken once, and not in a replay":            {"taken twice": readsTwice, "not taken": readsNever},
		"many at once": {"remembers one call": remembersOneCall},
		"nothing comes of a call whose context had ended":                  {"ignores the context": ignoresContext, "records the end": recordsEnd, "blames the record": blamesRecord},
		"the end of the context is no outcome":                             endMistakes,
		"what the world says is an outcome although the context has ended": lateMistakes,
		"an outcome that cannot be recorded ends the run":                  recordMistakes,
		"a tool does not begin when that cannot be recorded":               {"begins": beginsAnyway},
		"nothing leaves when the record cannot be made durable":            {"model": asksUnsafely, "tool": beginsAnyway},
		"the record is durable before a request leaves":                    {"model": asksUnsafely, "tool": beginsAnyway, "the start is not recorded": beginsInSilence},
		"how a wait ends is recorded before it is seen":                    awaitMistakes,
		"of a wait without an answer nothing is recorded":                  silenceMistakes,
		"a wait is durable before anybody can answer it":                   {"asks at once": asksPeopleUnsafely},
		"an answer that was not recorded is there again":                   {"forgotten": asksPeopleOnce(), "seen although it was not recorded": seesUnrecorded},
		"secrets of an answer are not recorded":                            {"recorded": func(x *mistaken) { x.await = x.open().Await }},
		"nobody is asked when the context has ended":                       {"asked": asksPeopleAnyway},
	} {
		for name, f := range list {
			out = append(out, mistake{name: name, clause: clause, make: f})
		}
	}
	return out
}

var answerMistakes = map[string]func(*mistaken){
	"not recorded": func(x *mistaken) { x.model = x.elsewhere().Model },
	"under another key": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			return x.right.Model(ctx, key.Step(echo.StepCall), req)
		}
	},
	"recorded later": func(x *mistaken) {
		later := func() {}
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			later()
			resp, err := x.world.Complete(ctx, req)
			later = func() { _, _ = x.w.Answer(key, req, resp, err, 0) }
			return resp, err
		}
	},
	"left in the process": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.world.Complete(ctx, req)
			return resp, errors.Join(err, x.unflushed(effect.CallEntry(key, req, resp, err, 0)))
		}
	},
	"asked twice": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			_, _ = x.world.Complete(ctx, req)
			return x.right.Model(ctx, key, req)
		}
	},
	"recorded twice": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.right.Model(ctx, key, req)
			return x.w.Answer(key, req, resp, err, 0)
		}
	},
}

var parseMistakes = map[string]func(*mistaken){
	"not parsed": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			plain := *req
			plain.Parse = nil
			return x.right.Model(ctx, key, &plain)
		}
	},
	"parsed after it was recorded": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			plain := *req
			plain.Parse = nil
			resp, err := x.right.Model(ctx, key, &plain)
			if err == nil && req.Parse != nil {
				resp.Message = req.Parse(resp.Message)
			}
			return resp, err
		}
	},
}

func changesRequest(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.right.Model(ctx, key, req)
		req.MaxOutputTokens = 1
		return resp, err
	}
}

var failureMistakes = map[string]func(*mistaken){
	"not recorded": forgetsFailures,
	"of another type": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := x.right.Model(ctx, key, req)
			if err != nil {
				err = errors.New(err.Error())
			}
			return resp, err
		}
	},
	"with an answer": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			_, err := x.right.Model(ctx, key, req)
			return &effect.ModelResponse{}, err
		}
	},
	"tried again": func(x *mistaken) {
		x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
			_, _ = x.world.Complete(ctx, req)
			return x.right.Model(ctx, key, req)
		}
	},
}

func forgetsFailures(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.world.Complete(ctx, req)
		if err != nil {
			return nil, err
		}
		return x.w.Answer(key, req, resp, nil, 0)
	}
}

func confusesTimeLimits(x *mistaken) {
	x.model = func(ctx context.Context, key echo.Key, req *effect.ModelRequest) (*effect.ModelResponse, error) {
		resp, err := x.world.Complete(ctx, req)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, err
		}
		return x.w.Answer(key, req, resp, err, 0)
	}
}

var resultMistakes = map[string]func(*mistaken){
	"not recorded": func(x *mistaken) { x.tool = x.elsewhere().Tool },
	"of another call": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			req.CallID = "call"
			return x.right.Tool(ctx, key, spec, req)
		}
	},
	"left in the process": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, _ effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			res, _ := x.world.Call(ctx, req)
			call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: string(req.Arguments)}
			m := echo.NewToolResult(call, res.Parts, res.Failed)
			return m, x.unflushed(effect.ToolEntry(key, req.Site, call, m, res.Kind))
		}
	},
	"a failure is an error": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			m, err := x.right.Tool(ctx, key, spec, req)
			if err == nil && m.Failed() {
				err = errors.New(m.Text())
			}
			return m, err
		}
	},
	"a failure is a success": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if err := x.w.Announce(ctx, key, spec, req); err != nil {
				return nil, err
			}
			res, _ := x.world.Call(ctx, req)
			res.Failed = false
			return x.w.Result(key, req, res, 0)
		}
	},
}

var toolErrorMistakes = map[string]func(*mistaken){
	"returned, and not recorded": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if err := x.w.Announce(ctx, key, spec, req); err != nil {
				return nil, err
			}
			res, err := x.world.Call(ctx, req)
			if err != nil {
				return nil, err
			}
			return x.w.Result(key, req, res, 0)
		}
	},
	"returned, and recorded": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			m, err := x.right.Tool(ctx, key, spec, req)
			if err == nil && m.Failed() && req.Name == Broken {
				return nil, errBroken
			}
			return m, err
		}
	},
	"an empty result": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if err := x.w.Announce(ctx, key, spec, req); err != nil {
				return nil, err
			}
			res, _ := x.world.Call(ctx, req)
			return x.w.Result(key, req, res, 0)
		}
	},
	"a time limit of its own is returned": func(x *mistaken) {
		x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
			if req.Name == Slow {
				return nil, context.DeadlineExceeded
			}
			return x.right.Tool(ctx, key, spec, req)
		}
	},
}

// remembersOneCall keeps the call that it works on in one place. All of those that are made at once
// arrive before the first is made.
func remembersOneCall(x *mistaken) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var last echo.Key
	all.Add(atOnce)
	x.tool = func(ctx context.Context, key echo.Key, spec effect.ToolSpec, req effect.ToolRequest) (*echo.Message, error) {
		mu.Lock()
		last = key
		mu.Unlock()
		all.Done()
		all.Wait()
		mu.Lock()
		key = last
		mu.Unlock()
		return x.right.Tool(ctx, key, spec, req)
	}
}

func (x *mistaken) Child(ctx context.Context, key echo.Key, site effect.Site, run effect.RunChild) (*effect.ChildOutcome, error) {
	return x.right.Child(ctx, key, site, run)
}
