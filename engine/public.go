package engine

import (
	"encoding/json"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/checks"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/views"
)

// What callers know by the name of this package, and is declared where its parts use it.
type (
	// PhaseError is a phase that ended badly.
	PhaseError = core.PhaseError
	// ToolError is a tool of a phase without a model that failed.
	ToolError = core.ToolError
	// VerdictError is an answer that no attempt got past the checks.
	VerdictError = core.VerdictError
	// WardError is a ward that blocks.
	WardError = core.WardError
	// EmptyAnswerError is an answer without text, the second of a phase or of an aggregator.
	EmptyAnswerError = core.EmptyAnswerError
	// RulesError says that a session was begun under rules that this engine does not have.
	RulesError = core.RulesError

	// Event is something that begins or goes on, for people who watch. It is not recorded.
	Event = core.Event
	// EventKind says what begins in an [Event].
	EventKind = core.EventKind
	// Observer is told what is new.
	Observer = core.Observer
	// ContextFigures say what became of a phase's context.
	ContextFigures = views.ContextFigures
)

// The kinds of events, see [core.Event].
const (
	EventModelCall          = core.EventModelCall
	EventDelta              = core.EventDelta
	EventToolCall           = core.EventToolCall
	EventContextWarning     = core.EventContextWarning
	EventCompacting         = core.EventCompacting
	EventCompactionComplete = core.EventCompactionComplete
)

// The rules of the engine, see [core.Rules].
const (
	Rules       = core.Rules
	OldestRules = core.OldestRules
)

// CheckRules returns a [*RulesError] when a session under these rules can only be read.
func CheckRules(rules int) error { return core.CheckRules(rules) }

// OwnTools returns the names of the engine's own tools that a phase may list in its tackle, sorted.
func OwnTools() []string { return toolset.OwnTools() }

// OwnToolArguments returns the JSON Schema of the arguments of one of [OwnTools], or nil.
func OwnToolArguments(name string) json.RawMessage { return toolset.OwnToolArguments(name) }

// IsOwnTool reports whether the engine answers calls of a tool itself.
func IsOwnTool(name string) bool { return toolset.IsOwnTool(name) }

// Variables returns what the loader of cascades is told of the variables of templates: those of an
// empty run.
func Variables() cascade.Variables {
	t := &texts.Templates{
		Place:   &core.Place{Def: &cascade.Phase{}, Record: &echo.PhaseRecord{}, Rec: &core.Recorder{Recorder: effect.NewRecorder(effect.Options{}), Mask: effect.NoMask{}, Rules: core.Rules}},
		Session: echo.NewSession(""),
	}
	asked := &checks.Validators{Place: t.Place, Templates: t}
	v := cascade.Variables{Phase: t.Vars(), Validator: asked.Vars("")}
	v.Phase[texts.HistoryName] = texts.History(nil)
	return v
}
