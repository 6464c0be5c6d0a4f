package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// maxParallelTools bounds how many tools of one answer run at the same time.
const maxParallelTools = 8

// plannedCall is one tool call of an answer: either settled already (the engine's own tools, and calls that cannot be
// made) or to be performed.
type plannedCall struct {
	call    echo.ToolCall
	key     echo.Key
	spec    effect.ToolSpec
	args    json.RawMessage
	result  *echo.Message
	settled bool
}

// runTools answers every tool call of a message, in the order of the calls. Independent calls run in parallel.
func (v *visit) runTools(ctx context.Context, m *echo.Message, refused bool) error {
	plan := make([]plannedCall, len(m.ToolCalls()))
	for i, c := range m.ToolCalls() {
		plan[i] = plannedCall{call: c, key: v.here().Numbered(echo.StepTool, i+1)}
		if err := v.plan(ctx, &plan[i], refused); err != nil {
			return err
		}
	}
	if err := v.performAll(ctx, plan); err != nil {
		return err
	}
	var again []string
	for i := range plan {
		v.enter(plan[i].result, v.turn)
		if turn := v.repetition(plan[i].call, plan[i].result.Hash()); turn > 0 {
			again = append(again, fmt.Sprintf("%s (as in turn %d)", plan[i].call.Name, turn))
		}
	}
	if len(again) == 0 {
		return nil
	}
	return v.say(echo.StepRepeat, echo.NewText(echo.RoleUser, echo.KindNotice,
		"You made the same call with the same result before: "+strings.Join(again, ", ")+
			". Making it again will not change the result: use what you have, or try something else."))
}

// plan checks one call and settles it if no tool of the outside has to run.
func (v *visit) plan(ctx context.Context, p *plannedCall, refused bool) error {
	if refused {
		return v.settle(p, "not_allowed", true, "No more tool calls are possible in this phase.")
	}
	spec, ok := v.tools.byName[p.call.Name]
	if !ok {
		return v.settle(p, "unknown_tool", true, fmt.Sprintf("There is no tool named %q. The tools are: %s.",
			p.call.Name, orNone(v.tools.names())))
	}
	args, problem, err := v.checkArguments(ctx, spec, p.call.Arguments)
	if err != nil {
		return err
	}
	if problem != "" {
		return v.settle(p, "invalid_arguments", true, problem)
	}
	p.spec, p.args = spec, args
	if text, failed, ok, err := v.engineTool(ctx, p.key, p.call.Name, args); err != nil {
		return err
	} else if ok {
		return v.settle(p, "failed", failed, text)
	}
	return nil
}

func (v *visit) settle(p *plannedCall, kind string, failed bool, text string) error {
	p.settled = true
	p.result = echo.NewToolResult(p.call, echo.Text(text), failed)
	return v.append(effect.ToolEntry(p.key, v.place(), p.call, p.result, kind))
}

// performAll runs the calls that are not settled. The first one that cannot go on stops the others.
func (v *visit) performAll(ctx context.Context, plan []plannedCall) error {
	var open []*plannedCall
	for i := range plan {
		if !plan[i].settled {
			open = append(open, &plan[i])
			v.touched = v.touched || !plan[i].spec.Idempotent
			v.observer.Observe(Event{
				Kind: EventToolCall, Site: v.place(), Tool: plan[i].call.Name, Arguments: v.mask.Text(plan[i].call.Arguments),
			})
		}
	}
	site, session := v.place(), v.session.ID
	branches := make([]effect.Branch, len(open))
	for i, p := range open {
		branches[i] = effect.Branch{Key: p.key, Run: func(ctx context.Context) (err error) {
			p.result, err = v.rec.Tool(ctx, p.key, p.spec, effect.ToolRequest{
				Site: site, SessionID: session, CallID: p.call.ID, Name: p.call.Name, Arguments: p.args,
			})
			return err
		}}
	}
	return v.rec.Fork(ctx, site.Cascade, maxParallelTools, branches)
}

// checkArguments checks a call's arguments against the tool's schema. The problem is written for the model, so that it
// can correct the call.
func (v *visit) checkArguments(ctx context.Context, spec effect.ToolSpec, text string) (args json.RawMessage, problem string, err error) {
	args = json.RawMessage(strings.TrimSpace(text))
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	if !json.Valid(args) {
		return nil, fmt.Sprintf("The arguments of %s are not valid JSON. Send one JSON object that matches this schema: %s",
			spec.Name, spec.Parameters), nil
	}
	if args[0] != '{' {
		return nil, fmt.Sprintf("The arguments of %s must be a JSON object that matches this schema: %s", spec.Name, spec.Parameters), nil
	}
	violations, err := v.schemas.check(ctx, spec.Parameters, args)
	if err != nil {
		return nil, "", fmt.Errorf("check arguments of tool %s: %w", spec.Name, err)
	}
	if len(violations) == 0 {
		return args, "", nil
	}
	return nil, fmt.Sprintf("The arguments of %s do not match its schema:\n%s\nCorrect them and call it again. The schema is: %s",
		spec.Name, bullets(violations), spec.Parameters), nil
}

// engineTool runs one of the engine's own tools. It reports false when the name is not one of them.
func (v *visit) engineTool(ctx context.Context, key echo.Key, name string, args json.RawMessage) (text string, failed, ok bool, err error) {
	var in struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Target string `json:"target"`
		Reason string `json:"reason"`
	}
	switch name {
	case toolRecall:
		text, failed, err = v.recall(args)
		return text, failed, true, err
	case ToolSearchContext:
		text, failed, err = v.searchContext(ctx, key, args)
		return text, failed, true, err
	case toolSetState, toolGetState, toolRouteTo:
		dec := json.NewDecoder(bytes.NewReader(args))
		dec.UseNumber() // what a model stores comes back as it was
		if err := dec.Decode(&in); err != nil {
			return "", false, false, fmt.Errorf("read arguments of %s: %w", name, err)
		}
	default:
		return "", false, false, nil
	}
	switch name {
	case toolSetState:
		return "Stored.", false, true, v.setState(in.Key, in.Value)
	case toolGetState:
		value, found := v.session.State[in.Key]
		if !found {
			return fmt.Sprintf("There is no state named %q. There is: %s.", in.Key, orNone(slices.Sorted(maps.Keys(v.session.State)))), true, true, nil
		}
		return echo.AsText(value), false, true, nil
	default:
		v.chosen = in.Target
		return fmt.Sprintf("Phase %s will run next.", in.Target), false, true, nil
	}
}

func (v *visit) setState(key string, value any) error {
	value = v.stateKept(key, value)
	v.session.Set(v.record, key, value)
	return v.append(payloadEntry(v.here().Named(echo.StepState, key), v.place(), echo.State{Key: key, Value: value}))
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// repeats remembers what the calls of a phase came to.
type repeats map[string]pastCall

type pastCall struct {
	result        echo.Hash
	attempt, turn int
}

// seen records a call and returns where the same call last had the same result; ok is false when it had not, or had it
// only in this very turn.
func (r repeats) seen(c echo.ToolCall, now pastCall) (before pastCall, ok bool) {
	id := c.Name + "\x00" + compactJSON(c.Arguments)
	before, ok = r[id]
	r[id] = now
	return before, ok && before.result == now.result && before.turn != now.turn
}

// repetition returns the turn whose call and result are repeated for no reason, or 0. A result that the model was not
// shown any more is a reason: reading it again is counted, unless it was of an attempt before, which every attempt does.
func (v *visit) repetition(c echo.ToolCall, result echo.Hash) int {
	before, ok := v.repeats.seen(c, pastCall{result: result, attempt: v.attempt, turn: v.turn})
	switch {
	case !ok:
		return 0
	case !v.builder.Masked(result):
		return before.turn
	case before.attempt == v.attempt && c.Name != toolRecall:
		v.reads.repeated(c.Name, result)
	}
	return 0
}

// compactJSON removes insignificant white space; text that is not JSON stays as it is.
func compactJSON(s string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(s)); err != nil {
		return s
	}
	return b.String()
}
