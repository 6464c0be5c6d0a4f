package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/desk"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/views"
	"github.com/windlass-run/windlass/engine/waiting"
)

// MaxParallelTools bounds how many tools of one answer run at the same time; the others wait, in
// their order.
const MaxParallelTools = 8

type plannedCall struct {
	call   echo.ToolCall
	key    echo.Key
	spec   effect.ToolSpec
	args   json.RawMessage
	result *echo.Message // nil: the call is to be performed
	child  *called       // of a cascade that is called as a tool

	redacted bool // the arguments are not what the model wrote
	edited   bool // and were changed by a person
}

type toolCalls struct {
	ownTools
	set      *toolset.Toolset
	children *children
	desk     *desk.Desk
	schemas  *toolset.Schemas
	views    *views.Views
	repeats  toolset.Repeats

	touched bool   // a tool ran that may have changed something
	edited  string // what a model is told of calls that a person has changed; "": of none
}

// run answers a message's tool calls, in their order though they run in parallel, and returns
// those repeated for no reason, as the model is told of them.
func (c *toolCalls) run(ctx context.Context, m *echo.Message, refused bool) (repeated []string, err error) {
	plan := make([]plannedCall, len(m.ToolCalls()))
	for i, call := range m.ToolCalls() {
		plan[i] = plannedCall{call: call, key: c.Here().Numbered(echo.StepTool, i+1), redacted: m.Redacted() != nil}
		if err := c.plan(ctx, &plan[i], refused); err != nil {
			return nil, err
		}
	}
	if err := c.performAll(ctx, plan); err != nil {
		return nil, err
	}
	c.edited = editedCalls(c.Rec.Mask, plan)
	for i := range plan {
		c.messages.Enter(c.Record, plan[i].result, c.Attempt, c.Turn)
		if turn := c.repetition(plan[i].call, plan[i].result.Hash()); turn > 0 {
			repeated = append(repeated, fmt.Sprintf("%s (as in turn %d)", plan[i].call.Name, turn))
		}
	}
	return repeated, nil
}

func (c *toolCalls) plan(ctx context.Context, p *plannedCall, refused bool) error {
	if refused {
		return c.settle(p, "not_allowed", true, "No more tool calls are possible in this phase.")
	}
	spec, ok := c.set.ByName[p.call.Name]
	if !ok {
		return c.settle(p, "unknown_tool", true, fmt.Sprintf("There is no tool named %q. The tools are: %s.",
			p.call.Name, orNone(c.set.Names())))
	}
	args, problem, err := c.schemas.CheckArguments(ctx, spec, p.call.Arguments)
	if err != nil {
		return err
	}
	if problem != "" && !c.wasSound(p) {
		return c.settle(p, "invalid_arguments", true, problem)
	}
	if args == nil { // what it was called with does not matter any more
		args = json.RawMessage("{}")
		if json.Valid([]byte(p.call.Arguments)) {
			args = json.RawMessage(p.call.Arguments)
		}
	}
	p.spec, p.args = spec, args
	text, failed, ok, err := c.call(ctx, p.key, p.call.Name, args)
	if err != nil || !ok {
		return err
	}
	return c.settle(p, "failed", failed, text)
}

// wasSound reports whether a call with redacted arguments has a recorded result of its tool.
func (c *toolCalls) wasSound(p *plannedCall) bool {
	e := c.Rec.Peek(echo.NodeToolCall, p.key)
	return p.redacted && e != nil && (e.Error == nil || e.Error.Kind != "invalid_arguments")
}

// otherwiseNow reports whether a recorded result is of a search in messages, of which one was redacted since: they are in
// another order now. That of a scratchpad says how long it is.
func (c *toolCalls) otherwiseNow(e *echo.Entry) bool {
	return e.Tool != nil && (e.Tool.Name == lookup.ToolSearch || e.Tool.Name == standing.Scratchpad) && c.Rec.SomethingRedacted(e)
}

func (c *toolCalls) settle(p *plannedCall, kind string, failed bool, text string) error {
	p.result = echo.NewToolResult(p.call, echo.Text(text), failed)
	if e := c.Rec.Peek(echo.NodeToolCall, p.key); e != nil && (p.redacted || c.Rec.Redacted(e, p.result) || c.otherwiseNow(e)) {
		p.result = e.Message
	}
	return c.Rec.Append(effect.ToolEntry(p.key, c.Site, p.call, p.result, kind))
}

// performAll runs the calls without a result. The first that cannot go on stops the others.
func (c *toolCalls) performAll(ctx context.Context, plan []plannedCall) error {
	var open []*plannedCall
	for i := range plan {
		if plan[i].result == nil {
			open = append(open, &plan[i])
			c.touched = c.touched || !plan[i].spec.Idempotent
			c.Rec.Observe(core.Event{
				Kind: core.EventToolCall, Key: plan[i].key, Site: c.Site, Tool: plan[i].call.Name, Arguments: c.Rec.Mask.Text(plan[i].call.Arguments),
			})
		}
	}
	lanes := c.lanes(open)
	branches := make([]effect.Branch, len(lanes))
	for i, lane := range lanes {
		branches[i] = effect.Branch{Key: lane[0].key, Run: func(ctx context.Context) error {
			for _, p := range lane {
				if err := c.perform(ctx, p); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	err := c.Rec.Fork(ctx, c.Cascade, MaxParallelTools, branches)
	for _, p := range open {
		c.children.took(p.child)
	}
	var held *effect.HeldError
	if errors.As(err, &held) {
		return held.Err
	}
	return err
}

// lanes returns calls in groups: those of a group run one after the other, beside the others.
func (c *toolCalls) lanes(open []*plannedCall) (lanes [][]*plannedCall) {
	ordered := -1
	for _, p := range open {
		switch inOrder := c.Rec.Rules.KeepsOrder() && c.desk.KeepsOrder(p.call.Name); {
		case inOrder && ordered >= 0:
			lanes[ordered] = append(lanes[ordered], p)
			continue
		case inOrder:
			ordered = len(lanes)
		}
		lanes = append(lanes, []*plannedCall{p})
	}
	return lanes
}

// perform runs one call, in its branch, once it is approved where that is needed.
func (c *toolCalls) perform(ctx context.Context, p *plannedCall) (err error) {
	if c.desk.Answers(p.call.Name) {
		text, failed, err := c.desk.Answer(ctx, p.key, p.call.Name, p.args)
		if err != nil {
			return err
		}
		return c.settle(p, "failed", failed, text)
	}
	var denied *desk.DeniedError
	p.args, p.edited, err = c.desk.Approved(ctx, p.key, p.spec, p.args)
	switch {
	case errors.As(err, &denied):
		return c.settle(p, desk.KindDenied, true, denied.Error())
	case err != nil:
		return err
	case c.isCascade(p.call.Name):
		return c.runCascade(ctx, p)
	}
	p.result, err = c.Rec.Tool(ctx, p.key, p.spec, effect.ToolRequest{
		Site: c.Site, SessionID: c.messages.Session.ID, CallID: p.call.ID, Name: p.call.Name, Arguments: p.args,
	})
	return err
}

// editedCalls tells a model which of its calls a person has changed, "" for none.
func editedCalls(mask effect.Mask, plan []plannedCall) string {
	var lines []string
	for i := range plan {
		if plan[i].edited {
			lines = append(lines, waiting.Edited(plan[i].call.Name, effect.MaskedArguments(mask, string(plan[i].args))))
		}
	}
	return strings.Join(lines, "\n")
}

// isCascade reports whether a tool is another cascade, which runs as a session of its own.
func (c *toolCalls) isCascade(name string) bool {
	return name == toolset.ToolSpawn || c.set.Cascades[name] != nil
}

// runCascade answers a call of a tool that is a cascade. A limit of the run that stops it leaves the
// other calls to their ends.
func (c *toolCalls) runCascade(ctx context.Context, p *plannedCall) (err error) {
	if p.call.Name == toolset.ToolSpawn {
		p.child, err = c.children.spawn(ctx, p.key, p.args)
	} else {
		p.child, err = c.children.call(ctx, p.key, p.call.Name, c.set.Cascades[p.call.Name], p.args)
	}
	var over *budget.Error
	switch {
	case errors.As(err, &over):
		return &effect.HeldError{Err: err}
	case err != nil:
		return err
	}
	return c.settle(p, "failed", p.child.failed, p.child.text)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// repetition returns the turn whose call and result are repeated, or 0: a masked result is a
// reason, and counted as a repeated reading within an attempt.
func (c *toolCalls) repetition(call echo.ToolCall, result echo.Hash) int {
	before, ok := c.repeats.Seen(call, toolset.PastCall{Result: result, Attempt: c.Attempt, Turn: c.Turn})
	switch {
	case !ok:
		return 0
	case !c.views.Builder.Masked(result):
		return before.Turn
	case before.Attempt == c.Attempt && call.Name != lookup.ToolRecall:
		c.views.Reads.Repeated(call.Name, result)
	}
	return 0
}

func deskOf(r *run, at *core.Place) *desk.Desk {
	return &desk.Desk{
		Place: at, Cascade: r.spec.Cascade, Session: r.session.ID, Schemas: r.schemas, Copied: r.Copied.Has,
		Signals: r.Signals, Banks: r.Banks, Notes: &r.own.notes, Memos: memosOf(r), Shelf: &r.own.shelf,
	}
}
