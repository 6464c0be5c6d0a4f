package engine

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/desk"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/sounding"
	"github.com/windlass-run/windlass/engine/views"
)

// Runner runs cascades. It holds what all runs share and may run several at once.
type Runner struct {
	Model        effect.Model      // not used where Spec.Effects are given
	Tools        effect.Tools      // their specifications are asked for in any case
	DefaultModel string            // for phases whose cascade names none
	PhaseModels  map[string]string // for single phases; outranks the file
	Env          map[string]string // what templates see as env
	Observer     core.Observer     // nil: nobody watches
	Mask         effect.Mask       // of the secrets that are known; nil: none are

	Facts func(model string) effect.ModelFacts // what is known of a model; nil: nothing is

	Cards      lookup.Cards      // nil: messages are selected by what can be extracted from them at once
	CardModel  string            // what sums messages up for Cards; "": nothing does
	Similarity lookup.Similarity // nil: nothing is selected by similarity

	// Workspace reads the state of the files, nil when there is none, when a phase stops before
	// its end or its tools may have changed something; may be nil.
	Workspace func(ctx context.Context) *echo.Workspace

	Rewrites sounding.Rewrites // earlier rewrites of instructions that have won; nil: none are known

	Others // that runs have to do with

	Seams effect.Seams // the zero value: those of an ordinary process
}

// Others are what runs have to do with besides models and tools: other runs, and people.
type Others struct {
	Children Children       // runs other cascades; nil: a run that needs one fails
	Mailbox  effect.Mailbox // answers waits; nil: nobody does, and a run that waits ends so
	Signals  desk.Signals   // sends signals; nil: none are sent
	Audibles Audibles       // has what people say while a run goes on; nil: nobody does
	Changes  Changes        // has what people take out of the views of a session; nil: nobody does
	Banks    memory.Banks   // keeps what runs remember; nil: a run that uses a bank fails
	Memos    memo.Keeper    // keeps memos; nil: a run that uses them fails

	// Ready reports, of a run that is about to end as it waits, that something is there by now for one of its waits.
	// The end is not recorded then: whoever runs it runs it again, with its recording. nil: a run that waits ends.
	Ready func(ctx context.Context) bool
}

// Spec is one run.
type Spec struct {
	Cascade *cascade.Cascade
	Input   map[string]any
	Files   []File // those of the input, in the order of their names
	// Log is the session's, closed by the caller; nil: a replay, up to [effect.ErrEndOfRecord].
	Log     *echo.Log
	WorkDir string // the session's own folder, which templates see as session.work_dir
	Name    string // what templates see as session.id; "": the id of the log's session

	// Rules are those of the engine that the session was begun under; 0: [Rules].
	Rules int

	// Off is what somebody has switched off of the context settings of any cascade.
	Off cascade.SwitchedOff

	// Header is what the session was begun with, recorded with it; may be nil.
	Header json.RawMessage

	// Recording is what the log has of the run, which follows it and then goes on.
	Recording []*echo.Entry

	// Redacted is what was redacted of the recording after it was made: what follows from that is taken
	// as it is recorded.
	Redacted effect.Redactions

	// Effects perform and record what is not recorded; nil: the runner's model and tools are asked.
	Effects effect.Effects

	// Budget is what the run may take; nil: as recorded or in the cascade. Zero limits nothing.
	Budget *cascade.Budget

	Lineage

	// Background returns what background calls have taken since it was last called; may be nil.
	// The budget counts the known costs, the result none.
	Background func() effect.Totals
}

// Lineage is what a run has of the one that has begun it. That of a run without one is the zero value,
// but for Taken.
type Lineage struct {
	// State is the shared state that the run begins with, whose values came from JSON; may be nil.
	State map[string]any

	// Trial is which of several tries of its cascade the run is; nil: it is none.
	Trial *sounding.Trial

	// Depth is how far the run is below one without a parent: 0 for that.
	Depth int

	// Parent is the ledger of the run that has begun this one, which counts what it takes; may be nil.
	Parent *budget.Ledger
	// Detached says that no run above waits for this one.
	Detached bool
	// Taken is what children of earlier lives of the run have taken that have not ended.
	Taken effect.Totals
}

// BudgetInForce returns what a run may take; the zero value limits nothing.
func (s *Spec) BudgetInForce() cascade.Budget {
	for _, b := range []*cascade.Budget{s.Budget, (*cascade.Budget)(record.BudgetOf(s.Recording)), s.Cascade.Budget} {
		if b != nil {
			return *b
		}
	}
	return cascade.Budget{}
}

func (s *Spec) sessionID() string {
	if s.Log == nil {
		return s.Name
	}
	return s.Log.SessionID()
}

// Result is how a run ended.
type Result struct {
	SessionID string          `json:"session_id"`
	CascadeID string          `json:"cascade_id"`
	Status    echo.Status     `json:"status"`
	Reason    echo.StopReason `json:"reason"`
	Output    any             `json:"output"` // of the last phase that ended well
	Phases    []PhaseResult   `json:"phases"`
	effect.Totals
	Children   effect.Totals  `json:"children,omitzero"` // of the children that have ended, and of theirs; in no other sum
	copied     effect.Totals  // by those children, in a fork
	State      map[string]any `json:"-"` // the shared state that the run ended with
	DurationMS float64        `json:"duration_ms"`

	// Taken is how many entries were taken as they are recorded for a redaction, not compared.
	Taken int `json:"-"`
}

// PhaseResult is how one visit to a phase ended.
type PhaseResult struct {
	Key      echo.Key        `json:"-"` // of the visit
	Phase    string          `json:"phase"`
	Visit    int             `json:"visit"`
	Status   echo.Status     `json:"status"`
	Reason   echo.StopReason `json:"reason"`
	Attempts int             `json:"attempts"`
	Turns    int             `json:"turns"` // of all attempts
	effect.Totals
	views.ContextFigures
	DurationMS float64 `json:"duration_ms"`
	Output     any     `json:"output,omitempty"`
	Error      string  `json:"error,omitempty"`
}
