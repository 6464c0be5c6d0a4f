package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/upkeep"
	"github.com/windlass-run/windlass/engine/withheld"
)

// ownTools runs the tools by which a phase reads and changes the run itself: they are no effects.
type ownTools struct {
	*core.Place
	messages *lookup.Messages
	recalled func(echo.Hash) // nil: nobody counts what is recalled

	chosen string // by route_to
	before string // the same before the newest answer
}

func (o *ownTools) call(ctx context.Context, key echo.Key, name string, args json.RawMessage) (text string, failed, ok bool, err error) {
	switch name {
	case lookup.ToolRecall:
		var of echo.Hash
		if text, failed, of, err = o.messages.Recall(args); of != "" && o.recalled != nil {
			o.recalled(of)
		}
	case lookup.ToolSearch:
		text, failed, err = o.messages.Search(ctx, o.Rec, key, o.Site, args)
	case toolset.ToolSetState, toolset.ToolGetState, toolset.ToolRouteTo:
		text, failed, err = o.onSession(name, args)
	case standing.Scratchpad:
		text, failed, err = o.onScratchpad(key, args)
	default:
		return "", false, false, nil
	}
	return text, failed, true, err
}

func (o *ownTools) onSession(name string, args json.RawMessage) (text string, failed bool, err error) {
	var in struct {
		Key    string `json:"key"`
		Value  any    `json:"value"`
		Target string `json:"target"`
		Reason string `json:"reason"`
	}
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber() // what a model stores comes back as it was
	if err := dec.Decode(&in); err != nil {
		return "", false, fmt.Errorf("read arguments of %s: %w", name, err)
	}
	state := o.messages.Session.State
	switch name {
	case toolset.ToolSetState:
		return "Stored.", false, o.setState(in.Key, in.Value)
	case toolset.ToolGetState:
		if _, found := state[in.Key]; !found {
			return fmt.Sprintf("There is no state named %q. There is: %s.", in.Key, orNone(slices.Sorted(maps.Keys(state)))), true, nil
		}
		return echo.AsText(withheld.StateOf(o.messages.Session, in.Key)), false, nil
	default:
		o.chosen = in.Target
		return fmt.Sprintf("Phase %s will run next.", in.Target), false, nil
	}
}

// setState sets a value of the session's state and records it.
func (o *ownTools) setState(name string, value any) error {
	return o.setStateAt(o.Here().Named(echo.StepState, name), name, value)
}

// setStateAt is setState under a key.
func (o *ownTools) setStateAt(key echo.Key, name string, value any) error {
	value = o.Rec.StateKept(key, value)
	o.messages.Session.Set(o.Record, name, value)
	return o.Rec.Add(key, echo.State{Key: name, Value: value})
}

// onScratchpad answers the call of the tool scratchpad at a key. After a redaction it does what is recorded: of the arguments only
// marks may be left, which have other sizes, too.
func (o *ownTools) onScratchpad(key echo.Key, args json.RawMessage) (text string, failed bool, err error) {
	if e := o.Rec.Peek(echo.NodeToolCall, key); e != nil && o.Rec.SomethingRedacted(e) {
		set := o.Rec.Peek(echo.NodeState, o.Here().Named(echo.StepState, standing.Scratchpad))
		if set == nil || set.Seq > e.Seq { // another call of the turn has set it
			return e.Message.Text(), e.Message.Failed(), nil
		}
		was, err := echo.Read[echo.State](set)
		if err != nil {
			return "", false, err
		}
		return e.Message.Text(), e.Message.Failed(), o.setState(standing.Scratchpad, was.Value)
	}
	if told := standing.Refused(args); told != "" && o.Rec.Rules.ChecksNotes() {
		return told, true, nil
	}
	old := upkeep.TextOf(o.messages.Session, standing.Scratchpad)
	now, text, failed, err := standing.Do(args, old)
	if err != nil || now == old {
		return text, failed, err
	}
	return text, failed, o.setState(standing.Scratchpad, now)
}
