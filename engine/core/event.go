package core

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// EventKind says what begins in an [Event].
type EventKind string

// The kinds of events. What has ended is in the log's entries.
const (
	EventModelCall EventKind = "model_call" // a request is about to be sent
	EventDelta     EventKind = "delta"      // a piece of an answer arrived, or the request is tried again
	EventToolCall  EventKind = "tool_call"  // a tool is about to run

	// What the guard does, see [echo.Guard].
	EventContextWarning     = EventKind(echo.GuardWarning)
	EventCompacting         = EventKind(echo.GuardActing)
	EventCompactionComplete = EventKind(echo.GuardComplete)
)

// Event is something that begins or goes on, for people who watch. It is not recorded.
type Event struct {
	Kind        EventKind
	Site        effect.Site
	Key         echo.Key     // of the entry that records the result; of the guard's events: zero
	Model       string       // model_call
	ContextSize int64        // model_call: estimated tokens
	Tool        string       // tool_call
	Arguments   string       // tool_call
	Delta       effect.Delta // delta
	Guard       echo.Guard   // context_warning, compacting, compaction_complete
}

// Observer is told, by the run's goroutine, what is new. Observe must return at once.
type Observer interface {
	Observe(Event)
}
