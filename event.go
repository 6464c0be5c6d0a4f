package windlass

import (
	"fmt"
	"iter"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

// Event is what happens in a run: [*Recorded], [*ModelCalled], [*Delta], [*ToolCalled], [*Guarded],
// [*Child] or [*Notice]. All of them print as one line.
type Event interface {
	fmt.Stringer
	event()
}

// Recorded says that something was recorded: what has ended is told by these events, in the order
// of the record. Entries must not be changed. [echo.Read] reads what an entry says by its kind.
type Recorded struct{ Entry *echo.Entry }

// ModelCalled says that a model is about to be asked.
type ModelCalled struct {
	Site        effect.Site // where in the cascade
	Model       string
	ContextSize int64 // what it is sent, in estimated tokens
}

// Delta is a piece of an answer that arrives. When the answer is recorded, deltas of it that were
// not read are left out.
type Delta struct {
	Site      effect.Site
	Text      string
	ToolCall  string // the name of a tool call that begins, or ""
	Retrying  string // why the model is asked again, or "": the deltas before are void
	RetryWait time.Duration
}

// ToolCalled says that a tool is about to run.
type ToolCalled struct {
	Site      effect.Site
	Tool      string
	Arguments string // JSON, as the model wrote it
}

// Guarded says that a request comes near to the limit of its model, or what is done about it.
type Guarded struct {
	Site  effect.Site
	Guard echo.Guard
}

// Child is another cascade that the run has begun, as a session of its own. How that ends is told by what
// the run records of it, an entry whose type is [echo.NodeChildEnd].
type Child struct {
	ID        string // of its session
	CascadeID string
	Key       echo.Key // where the run has begun it
	feed      *feed
}

// Events returns what happens in the child, as [Run.Events] does for the run. They end with the child,
// without an error.
func (c *Child) Events() iter.Seq2[Event, error] { return c.feed.all() }

// Children returns what the child has begun itself so far, in that order.
func (c *Child) Children() []*Child { return c.feed.children() }

// Notice is something that a person should know before the run starts, as that a part of the
// cascade runs with less than it asks for.
type Notice struct{ Text string }

func (*Recorded) event()    {}
func (*ModelCalled) event() {}
func (*Delta) event()       {}
func (*ToolCalled) event()  {}
func (*Guarded) event()     {}
func (*Child) event()       {}
func (*Notice) event()      {}

// String returns the number, the kind and the key of the entry.
func (e *Recorded) String() string {
	return fmt.Sprintf("recorded %d: %s %s", e.Entry.Seq, e.Entry.NodeType, e.Entry.Key)
}

// String names the place and the model.
func (e *ModelCalled) String() string { return fmt.Sprintf("%s: asking %s", e.Site, e.Model) }

// String names the place, the cascade and its session.
func (c *Child) String() string {
	return fmt.Sprintf("%s: cascade %s begins as session %s", c.Key, c.CascadeID, c.ID)
}

// String returns the text.
func (e *Delta) String() string {
	switch {
	case e.Retrying != "":
		return fmt.Sprintf("%s: asking again in %s: %s", e.Site, e.RetryWait, e.Retrying)
	case e.ToolCall != "":
		return fmt.Sprintf("%s: calling %s", e.Site, e.ToolCall)
	}
	return fmt.Sprintf("%s: %q", e.Site, e.Text)
}

// String names the place and the tool.
func (e *ToolCalled) String() string {
	return fmt.Sprintf("%s: running %s %s", e.Site, e.Tool, e.Arguments)
}

// String names the place and what is done.
func (e *Guarded) String() string { return fmt.Sprintf("%s: %s", e.Site, e.Guard.Event) }

// String returns the text.
func (e *Notice) String() string { return e.Text }

// eventOf returns what a run tells of, nil for what it does not.
func eventOf(e engine.Event) Event {
	switch e.Kind {
	case engine.EventModelCall:
		return &ModelCalled{Site: e.Site, Model: e.Model, ContextSize: e.ContextSize}
	case engine.EventDelta:
		d := e.Delta
		return &Delta{Site: e.Site, Text: d.Text, ToolCall: d.ToolCall, Retrying: d.Retrying, RetryWait: d.RetryWait}
	case engine.EventToolCall:
		return &ToolCalled{Site: e.Site, Tool: e.Tool, Arguments: e.Arguments}
	case engine.EventContextWarning, engine.EventCompacting, engine.EventCompactionComplete:
		return &Guarded{Site: e.Site, Guard: e.Guard}
	}
	return nil
}
