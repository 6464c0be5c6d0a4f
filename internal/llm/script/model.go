package script

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
)

// Provider is the name of the provider in answers and errors.
const Provider = "scripted"

// Model is the scripted model, an [effect.Model]. What it answers follows from the script, the
// request, and the request's place in the run. It is safe for concurrent use.
type Model struct {
	script  *Script
	counter func() *llm.Counter

	mu       sync.Mutex
	previous map[string][]*echo.Message // the last request of each phase: a cache would hold it
}

// NewModel returns a model that plays a script. Every answer has its tokens counted, so it begins to
// load the tokenizer, which takes as long as all else that a run needs before its first request.
func NewModel(s *Script) *Model {
	counter := sync.OnceValue(func() *llm.Counter { return llm.NewCounter(cmp.Or(s.tokenModel, "gpt-5")) })
	go counter()
	return &Model{script: s, counter: counter, previous: map[string][]*echo.Message{}}
}

// Complete implements [effect.Model].
func (m *Model) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if err := llm.CheckSequence(req.Messages); err != nil {
		return nil, m.refuse(req, echo.ModelErrBadRequest, "the messages are not in a valid order: "+err.Error(), "")
	}
	t, err := m.turn(req)
	if err != nil {
		return nil, err
	}
	if err := m.check(req, t); err != nil {
		return nil, err
	}
	if err := (effect.Seams{}).OrSystem().Sleep(ctx, t.delay); err != nil {
		return nil, err
	}
	if t.fail != nil && (t.fail.model == "" || t.fail.model == req.Model) {
		return nil, &effect.ModelError{
			Kind: echo.ModelErrorKind(t.fail.kind), Provider: Provider, Model: req.Model, Status: t.fail.status,
			Unpaid: true, Message: t.fail.message, Hint: "the script " + m.script.Path + " makes this call fail",
		}
	}
	msg, err := m.answer(req, t)
	if err != nil {
		return nil, err
	}
	stream(req.OnDelta, msg)
	var nothing float64
	return &effect.ModelResponse{
		Message: msg, Provider: Provider, Model: Provider + ":" + req.Model, Scripted: true,
		Usage: m.usage(req, t, msg), CostUSD: &nothing, FinishReason: finishReason(t),
	}, nil
}

// stream tells about the answer as a provider would: the text, then the calls.
func stream(onDelta func(effect.Delta), msg *echo.Message) {
	if onDelta == nil {
		return
	}
	if text := msg.Text(); text != "" {
		onDelta(effect.Delta{Text: text})
	}
	for _, c := range msg.ToolCalls() {
		onDelta(effect.Delta{ToolCall: c.Name})
	}
}

func finishReason(t *turn) string {
	if len(t.calls) > 0 {
		return cmp.Or(t.finish, "tool_calls")
	}
	return cmp.Or(t.finish, "stop")
}

// place names where in the run and in the script a request stands.
func (m *Model) place(s effect.Site) string {
	place := fmt.Sprintf("phase %q, attempt %d, turn %d", s.Phase, s.Attempt, s.Turn)
	switch {
	case s.Validator != "":
		return fmt.Sprintf("validator %q in %s", s.Validator, place)
	case s.Purpose != "":
		return fmt.Sprintf("%s in %s", s.Purpose, place)
	}
	return place
}

func (m *Model) refuse(req *effect.ModelRequest, kind echo.ModelErrorKind, message, hint string) error {
	return &effect.ModelError{
		Kind: kind, Provider: Provider, Model: req.Model, Unpaid: true, Message: message + " (" + m.place(req.Site) + ")", Hint: hint,
	}
}

func (m *Model) scriptError(req *effect.ModelRequest, format string, args ...any) error {
	return m.refuse(req, echo.ModelErrScript, fmt.Sprintf(format, args...), "edit "+m.script.Path)
}

// part finds the part of the script that answers a request.
func (m *Model) part(req *effect.ModelRequest) (*part, error) {
	s, site := m.script, req.Site
	var p *part
	var missing string
	switch {
	case site.Purpose == echo.PurposeSummary:
		p, missing = s.summaries[site.Phase], fmt.Sprintf("summary for phase %q", site.Phase)
	case site.Purpose == echo.PurposeSelect:
		p, missing = s.selections[site.Phase], fmt.Sprintf("selection for phase %q", site.Phase)
	case site.Purpose == echo.PurposeJudge:
		p, missing = cmp.Or(s.judges[site.Phase], s.judges[anyPhase]), "judge"+ofPhase(site.Phase)
	case site.Purpose == echo.PurposeAggregate:
		p, missing = cmp.Or(s.aggregates[site.Phase], s.aggregates[anyPhase]), "aggregate"+ofPhase(site.Phase)
	case site.Purpose == echo.PurposeRewrite:
		p, missing = cmp.Or(s.rewrites[site.Phase], s.rewrites[anyPhase]), "rewrite"+ofPhase(site.Phase)
	case site.Validator != "":
		p, missing = s.validators[site.Validator], fmt.Sprintf("answers for validator %q", site.Validator)
	default:
		if site.Try.Number > 0 {
			p = s.phases[site.Phase+tried(site.Try)]
		}
		p = cmp.Or(p, s.phases[fmt.Sprintf("%s~%d", site.Phase, site.Visit)], s.phases[site.Phase], s.fallback)
		missing = fmt.Sprintf("answers for phase %q", site.Phase)
	}
	if p == nil {
		return nil, m.scriptError(req, "%s has no %s", s.Path, missing)
	}
	return p, nil
}

// anyPhase is the name of a part that answers for all phases, and for a whole cascade.
const anyPhase = "*"

func ofPhase(name string) string {
	if name == "" {
		return ` for the cascade: name it "*"`
	}
	return fmt.Sprintf(" for phase %q", name)
}

// tried is what stands behind the name of a phase in a key of a script that answers one candidate only.
func tried(t effect.Try) string {
	switch {
	case t.Number == 0:
		return ""
	case t.Step == 0:
		return fmt.Sprintf("/sounding%d", t.Number)
	}
	return fmt.Sprintf("/reforge%d/sounding%d", t.Step, t.Number)
}

// turn finds the turn that answers a request.
func (m *Model) turn(req *effect.ModelRequest) (*turn, error) {
	if req.Site.Purpose == echo.PurposeRecount {
		return &turn{}, nil // nobody reads the answer; a script reports no usage of its own
	}
	p, err := m.part(req)
	if err != nil {
		return nil, err
	}
	attempt := max(req.Site.Attempt, 1)
	if attempt > len(p.attempts) && !p.repeat {
		return nil, m.scriptError(req, "%s ends after attempt %d", m.script.Path, len(p.attempts))
	}
	turns := p.attempts[min(attempt, len(p.attempts))-1]
	number := max(req.Site.Turn, 1)
	if number > len(turns) && !turns[len(turns)-1].repeat {
		return nil, m.scriptError(req, "%s ends after turn %d of attempt %d", m.script.Path, len(turns), attempt)
	}
	return turns[min(number, len(turns))-1], nil
}

// check compares a turn with the request that it is to answer.
func (m *Model) check(req *effect.ModelRequest, t *turn) error {
	if req.NoToolCalls && len(t.calls) > 0 {
		return m.scriptError(req, "%s calls %q, but only an answer in text is possible now", m.script.Path, t.calls[0].tool)
	}
	for _, c := range t.calls {
		if !offered(req, c.tool) {
			return m.scriptError(req, "%s calls %q, which is not offered (%s)", m.script.Path, c.tool, offers(req))
		}
	}
	if t.expect == nil {
		return nil
	}
	last := req.Messages[len(req.Messages)-1].Text()
	for _, s := range t.expect.contains {
		if !strings.Contains(last, s) {
			return m.scriptError(req, "%s expects %q in the last message, which is %q", m.script.Path, s, clip(last))
		}
	}
	for _, re := range t.expect.matches {
		if !re.MatchString(last) {
			return m.scriptError(req, "%s expects a match of %s in the last message, which is %q", m.script.Path, re, clip(last))
		}
	}
	for _, tool := range t.expect.tools {
		if !offered(req, tool) {
			return m.scriptError(req, "%s expects the tool %q, which is not offered (%s)", m.script.Path, tool, offers(req))
		}
	}
	return nil
}

func clip(s string) string {
	const shown = 200
	if r := []rune(s); len(r) > shown {
		return string(r[:shown]) + "..."
	}
	return s
}

// offered reports whether the request offers a tool: declared, or described in the prompt.
func offered(req *effect.ModelRequest, tool string) bool {
	if req.Prompted {
		return slices.ContainsFunc(req.Messages, func(m *echo.Message) bool {
			return m.Role() == echo.RoleSystem && strings.Contains(m.Text(), "Tool "+tool+":")
		})
	}
	return slices.ContainsFunc(req.Tools, func(t effect.ToolSpec) bool { return t.Name == tool })
}

func offers(req *effect.ModelRequest) string {
	if len(req.Tools) == 0 {
		return "no tools are declared"
	}
	names := make([]string, len(req.Tools))
	for i, t := range req.Tools {
		names[i] = t.Name
	}
	return "offered: " + strings.Join(names, ", ")
}

// answer renders a turn. What a tool answered is never read as a template.
func (m *Model) answer(req *effect.ModelRequest, t *turn) (*echo.Message, error) {
	fill := func(x *text) (string, error) {
		out, warnings, err := x.template.Render(variables(req, x))
		if err != nil {
			return "", m.scriptError(req, "%s: template %q: %v", m.script.Path, clip(x.source), err)
		}
		if len(warnings) > 0 {
			return "", m.scriptError(req, "%s: template %q: %s", m.script.Path, clip(x.source), warnings[0])
		}
		return out, nil
	}
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	var words string
	if t.judge != nil {
		words = t.judge.reply(shownAnswers(req.Messages))
	}
	if t.text != nil {
		var err error
		if words, err = fill(t.text); err != nil {
			return nil, err
		}
	}
	for i := range t.calls {
		args, err := t.calls[i].argumentsText(fill)
		if err != nil {
			return nil, err
		}
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: llm.FillCallID(req.Messages, i), Name: t.calls[i].tool, Arguments: args})
	}
	if req.Prompted && len(d.ToolCalls) > 0 {
		words = strings.TrimLeft(words+"\n"+dialect.CallsAsText(d.ToolCalls), "\n")
		d.ToolCalls = nil
	}
	if words != "" {
		d.Parts = echo.Text(words)
	}
	return echo.Seal(d), nil
}

// usage counts the tokens: the longest common prefix with the phase's previous request is cached.
func (m *Model) usage(req *effect.ModelRequest, t *turn, answer *echo.Message) echo.Usage {
	if t.usage != nil {
		return echo.Usage{In: t.usage.in, Cached: t.usage.cached, Out: t.usage.out, Reasoning: t.usage.reasoning, Estimated: true}
	}
	counter := m.counter()
	key := fmt.Sprintf("%s%s\x00%s\x00%s", req.Site.Phase, tried(req.Site.Try), req.Site.Validator, req.Site.Purpose)
	m.mu.Lock()
	before := m.previous[key]
	m.previous[key] = req.Messages
	m.mu.Unlock()
	u := echo.Usage{In: counter.Request(req.Messages, req.Tools), Out: counter.Answer(answer), Estimated: true}
	for i := 0; i < min(len(before), len(req.Messages)) && before[i].Digest() == req.Messages[i].Digest(); i++ {
		u.Cached += counter.Message(req.Messages[i])
	}
	if u.Cached > 0 {
		u.Cached += counter.Tools(req.Tools)
	}
	return u
}
