package script

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/template"
)

// failKinds are the errors that a script can make happen, with the HTTP status that goes with each.
var failKinds = map[string]int{
	string(echo.ModelErrAuth): 401, string(echo.ModelErrUnknownModel): 404, string(echo.ModelErrRateLimited): 429,
	string(echo.ModelErrQuota): 402, string(echo.ModelErrContextLength): 400, string(echo.ModelErrBadRequest): 400,
	string(echo.ModelErrServer): 500, string(echo.ModelErrNetwork): 0, string(echo.ModelErrTimeout): 0,
	string(echo.ModelErrBadResponse): 200, string(echo.ModelErrConfig): 0, string(echo.ModelErrUnknownEndpoint): 404,
}

var finishReasons = []string{"stop", "tool_calls", "length", "content_filter"}

// maxDelay bounds delay_ms: a script is not there to wait.
const maxDelay = time.Minute

// Parse reads the content of a script; name is its path in messages.
func Parse(name string, data []byte) (*Script, error) {
	p := parser{strict.Parse(name, data)}
	s := &Script{
		Path: name, phases: map[string]*part{}, validators: map[string]*part{}, summaries: map[string]*part{}, selections: map[string]*part{},
		judges: map[string]*part{}, aggregates: map[string]*part{}, rewrites: map[string]*part{},
	}
	if p.Root() != nil {
		p.Object(p.Root(), "the script", strict.Fields{
			"$schema":     func(n *source.Node) { p.String(n, "$schema") },
			"description": func(n *source.Node) { p.String(n, "description") },
			"model":       func(n *source.Node) { s.tokenModel = p.String(n, "model") },
			"phases":      func(n *source.Node) { p.parts(n, "phases", s.phases, p.phase) },
			"validators":  func(n *source.Node) { p.parts(n, "validators", s.validators, p.validator) },
			"summaries":   func(n *source.Node) { p.parts(n, "summaries", s.summaries, p.summary) },
			"selections":  func(n *source.Node) { p.parts(n, "selections", s.selections, p.summary) },
			"judges":      func(n *source.Node) { p.parts(n, "judges", s.judges, p.judging) },
			"aggregates":  func(n *source.Node) { p.parts(n, "aggregates", s.aggregates, p.summary) },
			"rewrites":    func(n *source.Node) { p.parts(n, "rewrites", s.rewrites, p.summary) },
			"default":     func(n *source.Node) { s.fallback = p.phase(n) },
		})
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct{ *strict.Reader }

func (p parser) parts(n *source.Node, what string, into map[string]*part, read func(*source.Node) *part) {
	p.Each(n, what, func(name string, v *source.Node) { into[name] = read(v) })
}

// phase reads a list of turns (of the only attempt) or {"attempts": [[...], ...], "repeat": true}.
func (p parser) phase(n *source.Node) *part {
	if n.Kind == source.Array {
		return &part{attempts: [][]*turn{p.turns(n)}}
	}
	out := &part{}
	p.Object(n, "a phase (a list of turns, or an object)", strict.Fields{
		"attempts": func(n *source.Node) {
			p.List(n, "attempts", func(_ int, item *source.Node) { out.attempts = append(out.attempts, p.turns(item)) })
		},
		"repeat": func(n *source.Node) { out.repeat = p.Bool(n, "repeat") },
	})
	if n.Kind == source.Object && len(out.attempts) == 0 {
		p.Fail(n, `as in {"attempts": [[{"text": "..."}]]}`, "a phase that is an object needs attempts")
	}
	return out
}

// validator reads a list with the answer in each attempt: a turn, or a list of turns for a phase
// that is checked after every turn.
func (p parser) validator(n *source.Node) *part {
	out := &part{}
	p.List(n, "a validator", func(_ int, item *source.Node) {
		if item.Kind == source.Array {
			out.attempts = append(out.attempts, p.turns(item))
			return
		}
		t := p.turn(item)
		out.repeat = t.repeat
		t.repeat = true // the same verdict, whenever it is asked for in the attempt
		out.attempts = append(out.attempts, []*turn{t})
	})
	if n.Kind == source.Array && len(n.Items) == 0 {
		p.Fail(n, "", "a validator needs at least one answer")
	}
	return out
}

// summary reads the turn that answers whenever older messages of a phase are summed up.
func (p parser) summary(n *source.Node) *part {
	t := p.turn(n)
	t.repeat = true
	return &part{attempts: [][]*turn{{t}}, repeat: true}
}

func (p parser) turns(n *source.Node) []*turn {
	var out []*turn
	p.List(n, "an attempt", func(i int, item *source.Node) {
		t := p.turn(item)
		if t.repeat && i != len(n.Items)-1 {
			p.Fail(item, "", "only the last turn of a list can repeat")
		}
		out = append(out, t)
	})
	if n.Kind == source.Array && len(n.Items) == 0 {
		p.Fail(n, "", "an attempt needs at least one turn")
	}
	return out
}

func (p parser) turn(n *source.Node) *turn {
	t := &turn{}
	ok := p.Object(n, "a turn", strict.Fields{
		"text":          func(n *source.Node) { t.text = p.text(n, "text") },
		"calls":         func(n *source.Node) { t.calls = p.calls(n) },
		"finish_reason": func(n *source.Node) { t.finish = p.finish(n) },
		"usage":         func(n *source.Node) { t.usage = p.usage(n) },
		"delay_ms":      func(n *source.Node) { t.delay = p.delay(n) },
		"fail":          func(n *source.Node) { t.fail = p.fail(n) },
		"repeat":        func(n *source.Node) { t.repeat = p.Bool(n, "repeat") },
		"expect":        func(n *source.Node) { t.expect = p.expect(n) },
		"comment":       func(n *source.Node) { p.String(n, "comment") },
	})
	switch answers := t.text != nil || len(t.calls) > 0; {
	case !ok:
	case !answers && t.fail == nil && n.Get("text") == nil && n.Get("calls") == nil && n.Get("fail") == nil:
		p.Fail(n, "", "a turn needs text, calls or fail")
	case answers && t.fail != nil && t.fail.model == "":
		p.Fail(n, "", "a turn either answers or fails")
	case !answers && t.fail != nil && t.fail.model != "":
		p.Fail(n, "", "a turn that fails for one model answers the others: it needs text or calls")
	}
	return t
}

func (p parser) text(n *source.Node, what string) *text {
	src := p.String(n, what)
	if n.Kind != source.String {
		return nil
	}
	t, err := template.Parse(src)
	if err != nil {
		p.Fail(n, "", "%s is not a valid template: %v", what, err)
		return nil
	}
	return &text{source: src, template: t}
}

func (p parser) calls(n *source.Node) []call {
	var out []call
	p.List(n, "calls", func(_ int, item *source.Node) {
		var c call
		ok := p.Object(item, "a call", strict.Fields{
			"tool":          func(n *source.Node) { c.tool = p.String(n, "tool") },
			"arguments":     func(n *source.Node) { c.arguments = p.arguments(n) },
			"arguments_raw": func(n *source.Node) { c.raw = p.text(n, "arguments_raw") },
		})
		switch {
		case ok && c.tool == "":
			p.Fail(item, "", "a call needs the name of a tool")
		case c.arguments != nil && c.raw != nil:
			p.Fail(item, "", "a call has either arguments or arguments_raw")
		}
		out = append(out, c)
	})
	return out
}

func (p parser) arguments(n *source.Node) any {
	if n.Kind != source.Object {
		p.Fail(n, "text that is not an object goes into arguments_raw", "arguments must be an object")
		return nil
	}
	return p.value(n)
}

// value decodes any value, with templates in place of strings.
func (p parser) value(n *source.Node) any {
	switch n.Kind {
	case source.String:
		if t := p.text(n, "a string in arguments"); t != nil {
			return t
		}
		return ""
	case source.Array:
		out := make([]any, len(n.Items))
		for i, item := range n.Items {
			out[i] = p.value(item)
		}
		return out
	case source.Object:
		out := make(map[string]any, len(n.Members))
		for _, m := range n.Members {
			out[m.Key] = p.value(m.Value)
		}
		return out
	default:
		return json.RawMessage(n.JSON(nil))
	}
}

func (p parser) finish(n *source.Node) string {
	s := p.String(n, "finish_reason")
	if n.Kind == source.String && !slices.Contains(finishReasons, s) {
		p.Fail(n, "one of "+strings.Join(finishReasons, ", "), "unknown finish_reason %q", s)
	}
	return s
}

func (p parser) usage(n *source.Node) *usage {
	u := &usage{}
	count := func(into *int64, what string) func(*source.Node) {
		return func(n *source.Node) { *into = int64(p.Int(n, what, 0)) }
	}
	p.Object(n, "usage", strict.Fields{
		"in": count(&u.in, "in"), "cached": count(&u.cached, "cached"),
		"out": count(&u.out, "out"), "reasoning": count(&u.reasoning, "reasoning"),
	})
	if u.cached > u.in || u.reasoning > u.out {
		p.Fail(n, "", "cached tokens are a part of in, reasoning tokens a part of out")
	}
	return u
}

func (p parser) delay(n *source.Node) time.Duration {
	d := time.Duration(p.Number(n, "delay_ms", 0) * float64(time.Millisecond))
	if d > maxDelay {
		p.Fail(n, "", "delay_ms must be at most %d", maxDelay.Milliseconds())
	}
	return d
}

func (p parser) fail(n *source.Node) *fail {
	f := &fail{status: -1}
	ok := p.Object(n, "fail", strict.Fields{
		"kind":    func(n *source.Node) { f.kind = p.String(n, "kind") },
		"status":  func(n *source.Node) { f.status = p.Int(n, "status", 0) },
		"message": func(n *source.Node) { f.message = p.String(n, "message") },
		"model":   func(n *source.Node) { f.model = p.String(n, "model") },
	})
	if !ok {
		return f
	}
	status, known := failKinds[f.kind]
	if !known {
		p.Fail(n, "one of "+strings.Join(slices.Sorted(maps.Keys(failKinds)), ", "), "unknown kind of failure %q", f.kind)
	}
	if f.status < 0 {
		f.status = status
	}
	f.message = cmp.Or(f.message, "scripted failure")
	return f
}

func (p parser) expect(n *source.Node) *expect {
	e := &expect{}
	p.Object(n, "expect", strict.Fields{
		"contains": func(n *source.Node) { e.contains = p.Strings(n, "contains") },
		"tools":    func(n *source.Node) { e.tools = p.Strings(n, "tools") },
		"matches": func(n *source.Node) {
			p.List(n, "matches", func(_ int, item *source.Node) {
				re, err := regexp.Compile(p.String(item, "an item of matches"))
				if err != nil {
					p.Fail(item, "", "not a valid regular expression: %v", err)
					return
				}
				e.matches = append(e.matches, re)
			})
		},
	})
	return e
}
