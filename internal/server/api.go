package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Runs is what the API changes. An id may be the beginning of one if no other begins so. Errors that a client can act on are [*Problem]s. All methods are safe for concurrent use.
type Runs interface {
	// Start begins a run and returns when it goes on by itself: everything that can be checked for nothing has been.
	Start(ctx context.Context, r *RunRequest) (*Session, error)
	// Cancel interrupts a run of this server and does not wait for its end.
	Cancel(ctx context.Context, id string) (*Session, error)
	// Resume goes on with a session that ended before it was done, and returns when it goes on by itself.
	Resume(ctx context.Context, id string, r *ResumeRequest) (*Session, error)
}

// Record is what the API reads. An id may be the beginning of one if no other begins so. Errors that a client can act on
// are [*Problem]s. All methods are safe for concurrent use.
type Record interface {
	// List returns the newest sessions, the newest first.
	List(ctx context.Context, limit int) (*SessionList, error)
	// Get returns what one session did.
	Get(ctx context.Context, id string) (*SessionDetail, error)
	// Handoff says where a run stands, for whoever goes on.
	Handoff(ctx context.Context, id string) (any, error)
	// Context returns what one model call was sent; call is its number or its key.
	Context(ctx context.Context, id, call string) (any, error)
	// Events opens the entries of a session from the one with this number on.
	Events(ctx context.Context, id string, from uint64) (Events, error)
}

// Events reads the entries of one session in their order. It belongs to one goroutine.
type Events interface {
	// Next returns the next entries as far as they are there already, at most a few hundred; none when there are none yet.
	// ended says that the session has ended and that nothing follows these.
	Next() (entries []*echo.Entry, ended bool, err error)
	Close() error
}

// RunRequest is the body of POST /api/runs. Its form has been checked against the description of the API.
type RunRequest struct {
	File      string            `json:"file,omitempty"`
	Cascade   json.RawMessage   `json:"cascade,omitempty"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Model     string            `json:"model,omitempty"`
	Models    map[string]string `json:"models,omitempty"`
	SessionID string            `json:"session_id,omitempty"`
	Budget    *Budget           `json:"budget,omitempty"`
	Offline   bool              `json:"offline,omitempty"`
}

// ResumeRequest is the body of POST /api/sessions/{id}/resume, which may be left out.
type ResumeRequest struct {
	Budget *Budget `json:"budget,omitempty"`
}

// Budget are limits that count more than those that a run would have: nil leaves a limit as it is, 0 takes it away.
type Budget struct {
	MaxUSD     *float64 `json:"max_usd,omitempty"`
	MaxTokens  *int64   `json:"max_tokens,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// Session is one run in figures.
type Session struct {
	ID               string    `json:"session_id"`
	CascadeID        string    `json:"cascade_id"`
	Status           string    `json:"status"`
	Reason           string    `json:"reason,omitempty"`
	Error            string    `json:"error,omitempty"`
	Resumable        bool      `json:"resumable"`
	StartedAt        time.Time `json:"started_at"`
	LastAt           time.Time `json:"last_at"`
	Entries          uint64    `json:"entries,omitempty"`
	Phases           int       `json:"phases"`
	Calls            int       `json:"calls"`
	ToolCalls        int       `json:"tool_calls"`
	UnknownCostCalls int       `json:"unknown_cost_calls"`
	ScriptedCalls    int       `json:"scripted_calls"`
	TokensIn         int64     `json:"tokens_in"`
	TokensCached     int64     `json:"tokens_cached"`
	TokensOut        int64     `json:"tokens_out"`
	CostUSD          *float64  `json:"cost_usd"` // nil when no call's cost is known
}

// SessionList is the newest sessions.
type SessionList struct {
	Sessions []Session `json:"sessions"`
	Notes    []string  `json:"notes"` // what of the list may be missing, and why
}

// SessionDetail is what one run did.
type SessionDetail struct {
	Session
	Output       any           `json:"output"` // of the last phase that ended well, nil before that
	PhaseReports []PhaseReport `json:"phase_reports"`
}

// PhaseReport is what one visit to a phase did.
type PhaseReport struct {
	Visit     string    `json:"visit"` // the phase's name, with ~2 after it on its second visit
	Phase     string    `json:"phase_name"`
	Status    string    `json:"status"`
	Reason    string    `json:"reason,omitempty"`
	Error     string    `json:"error,omitempty"`
	StartedAt time.Time `json:"started_at"`
	LastAt    time.Time `json:"last_at"`
	Attempts  int       `json:"attempts"`
	Turns     int       `json:"turns"`
	Calls     int       `json:"calls"`
	ToolCalls int       `json:"tool_calls"`
	CostUSD   *float64  `json:"cost_usd"`
	Output    any       `json:"output"`
}
