package app

import (
	"context"
	"math"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/names"
	"github.com/windlass-run/windlass/internal/tool"
	"github.com/windlass-run/windlass/internal/waits"
)

// Job is what a run is to do.
type Job struct {
	Cascade *cascade.Cascade
	File    string // where the cascade is from; the script of an offline run stands beside it
	Input   map[string]any
	Files   []engine.File // those of the input, in the order of their names
}

// RunOptions say how a run is started. They are recorded, but for the limits and the extensions.
type RunOptions struct {
	SessionID    string // "": a new one
	Models       Models
	Offline      bool   // a script answers instead of a model, and nothing is fetched
	PriceAs      string // a model at whose prices the script is to be counted; "": it costs nothing. Only offline
	NoClickHouse bool   // the journal is all that is kept
	Rights       Rights
	Limits       Limits
	Extensions   Extensions
}

// Rights are what the tools and templates of a run may use. The zero value grants the session's own
// folder only.
type Rights struct {
	Roots         []string `json:"roots"`                    // folders that file tools may use, relative to the first
	AllowEnv      []string `json:"allow_env,omitempty"`      // variables that templates and tools may see
	AllowCommands bool     `json:"allow_commands,omitempty"` // models may run any command
	AllowWrite    []string `json:"allow_write,omitempty"`    // patterns of files that tools may write although programs run them
}

// Models say which model answers. They outrank the cascade, and it the environment and
// windlass.json.
type Models struct {
	Default string
	Phases  map[string]string // by the name of the phase
}

// Extensions are what a program gives a run besides what the machine has. They are not recorded:
// who resumes, forks or verifies the session gives them again.
type Extensions struct {
	Model effect.Model // answers instead of endpoints and scripts; nil: it does not
	Tools []tool.Func  // besides those that are built in and those of the cascade
	Find  Find         // finds cascades that a model names; nil: as windlass.json says
}

// ToolNames returns the names of the tools.
func (e *Extensions) ToolNames() []string {
	var names []string
	for i := range e.Tools {
		names = append(names, e.Tools[i].Spec.Name)
	}
	return names
}

// Limits are what somebody gives a run to spend. They outrank the limits that it would have, higher
// or lower: nil leaves a limit as it is, and 0 takes it away.
type Limits struct {
	MaxUSD     *float64 `json:"max_usd,omitempty"`
	MaxTokens  *int64   `json:"max_tokens,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// Apply returns the limits of a run that otherwise has those of base; nil when they stay as they
// are.
func (l Limits) Apply(base cascade.Budget) *cascade.Budget {
	if l == (Limits{}) {
		return nil
	}
	if l.MaxUSD != nil {
		base.MaxUSD = *l.MaxUSD
	}
	if l.MaxTokens != nil {
		base.MaxTokens = *l.MaxTokens
	}
	if l.MaxSeconds != nil {
		base.MaxSeconds = *l.MaxSeconds
	}
	return &base
}

// Check says why a limit makes no sense.
func (l Limits) Check() error {
	for _, v := range []*float64{l.MaxUSD, l.MaxSeconds} {
		if v != nil && (!(*v >= 0) || math.IsInf(*v, 0)) {
			return ErrNoAmount
		}
	}
	if l.MaxTokens != nil && *l.MaxTokens < 0 {
		return ErrNoCount
	}
	return nil
}

// What is wrong with a limit.
var (
	ErrNoAmount = failure.Newf(failure.InvalidRequest, "a limit is a number from 0 on, where 0 is no limit")
	ErrNoCount  = failure.Newf(failure.InvalidRequest, "a limit of tokens is a whole number from 0 on, where 0 is no limit")
)

// Watch is how a caller follows a run. The zero value follows nothing.
type Watch struct {
	// Follow is called once, when the run is known and before anything is recorded. The observer,
	// which may be nil, is told what begins, and the sinks get every entry.
	Follow func(*Run) (engine.Observer, []echo.Sink)
	// Child is what Follow is, for a run that another run has begun; it is called by several goroutines
	// at once. nil: children are not followed.
	Child func(parent, child *Run) (engine.Observer, []echo.Sink)
	// Notice is told what a person should know before the run starts.
	Notice func(text string)
	// Fetching is called when something may be fetched: show is told how far it is, and done that
	// it has ended.
	Fetching func() (show func(fetch.Progress), done func())
	// Ask has a person answer what the run or one of its children waits for, where the run is. It leaves the answer with
	// the desk, and returns when that is done, when the wait is left as it is, or when ctx has ended, as it does when
	// somebody else has answered. It is called by several goroutines at once. nil: nobody is asked.
	Ask func(ctx context.Context, desk waits.Desk, w *waits.Wait)
}

// complete returns the watch with functions in every field.
func (w Watch) complete() Watch {
	if w.Follow == nil {
		w.Follow = func(*Run) (engine.Observer, []echo.Sink) { return nil, nil }
	}
	if w.Child == nil {
		w.Child = func(_, _ *Run) (engine.Observer, []echo.Sink) { return nil, nil }
	}
	if w.Notice == nil {
		w.Notice = func(string) {}
	}
	if w.Fetching == nil {
		w.Fetching = func() (func(fetch.Progress), func()) { return func(fetch.Progress) {}, func() {} }
	}
	return w
}

func sessionID(wanted string) (string, error) {
	if wanted == "" {
		return strings.ToLower(ulid.Make().String()), nil
	}
	if names.IsReserved(wanted) {
		return "", failure.New(failure.InvalidRequest, &ReservedIDError{wanted}, "")
	}
	if !journal.IsSessionID(wanted) {
		return "", failure.New(failure.InvalidRequest, &SessionIDError{wanted}, "")
	}
	return wanted, nil
}
