package server

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/internal/archive"
)

// Runs is what the API changes. An id may be its end or its beginning if it means no other. Errors
// that a client can act on are [*Problem]s. All methods are safe for concurrent use.
type Runs interface {
	// Start begins a run, and returns when it goes on by itself.
	Start(ctx context.Context, r *RunRequest) (*Session, error)
	// Cancel interrupts a run of this server and does not wait for its end.
	Cancel(ctx context.Context, id string) (*Session, error)
	// Resume goes on with a session, and returns when it goes on by itself.
	Resume(ctx context.Context, id string, r *ResumeRequest) (*Session, error)
}

// Record is what the API reads. An id may be its end or its beginning if it means no other. Errors for
// clients are [*Problem]s or have a kind. All methods are safe for concurrent use.
type Record interface {
	// List returns the newest sessions, the newest first.
	List(ctx context.Context, limit int) (*SessionList, error)
	// Get returns what one session did.
	Get(ctx context.Context, id string) (*SessionDetail, error)
	// Handoff says where a run stands, for whoever goes on.
	Handoff(ctx context.Context, id string) (any, error)
	// Soundings returns what was tried several times, in the order in which that began.
	Soundings(ctx context.Context, id string) (any, error)
	// Context returns what one model call was sent; call is its number or its key.
	Context(ctx context.Context, id, call string) (any, error)
	// Events opens the entries of a session from the one with this number on.
	Events(ctx context.Context, id string, from uint64) (Events, error)
}

// RunRequest is the body of POST /api/runs, in the form of the description.
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

// Budget are limits in place of those that a run would have; nil: none in place, 0: no limit.
type Budget struct {
	MaxUSD     *float64 `json:"max_usd,omitempty"`
	MaxTokens  *int64   `json:"max_tokens,omitempty"`
	MaxSeconds *float64 `json:"max_seconds,omitempty"`
}

// Session is one run in figures.
type Session = archive.Session

// SessionList is the newest sessions.
type SessionList = archive.SessionList

// SessionDetail is what one run did.
type SessionDetail = archive.Detail

// Events reads the entries of one session in their order.
type Events = archive.Events
