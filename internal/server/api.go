package server

import (
	"context"
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/waits"
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

// People is what runs wait for, and how that is answered. Errors that a client can act on are
// [*Problem]s or have a kind. All methods are safe for concurrent use.
type People interface {
	// List returns the open waits of a session and of those that it has begun, or of all for "".
	List(ctx context.Context, session string) ([]*Wait, error)
	// Get returns an open wait by its whole id.
	Get(ctx context.Context, id string) (*Wait, error)
	// Image returns an image that an open wait shows, by its number from 1.
	Image(ctx context.Context, id string, n int) (*waits.Picture, error)
	// Answer answers a wait. It audits each attempt.
	Answer(ctx context.Context, by *Caller, id string, r *AnswerRequest) (*AnsweredWait, error)
	// Signal sends a signal. It audits each attempt.
	Signal(ctx context.Context, by *Caller, r *SignalRequest) (*SentSignal, error)
	// Say says something to the model of a run, by the whole id of its session. It audits each attempt.
	Say(ctx context.Context, by *Caller, session string, r *AudibleRequest) (*SaidAudible, error)
}

// AudibleRequest is the body of POST /api/sessions/{id}/audible.
type AudibleRequest struct {
	Text   string `json:"text"`
	Retry  bool   `json:"retry,omitempty"`
	Phase  string `json:"phase,omitempty"`  // that is told; "": the next turn of any
	Letter string `json:"letter,omitempty"` // the client's own id, with which a request can be sent again; "": a new one
}

// SaidAudible says what became of an audible.
type SaidAudible = audibles.Left

// Wait is something that a run waits for.
type Wait = waits.Wait

// AnswerRequest is the body of POST /api/waits/{id}.
type AnswerRequest struct {
	Value any       `json:"value"`
	Shown echo.Hash `json:"shown,omitempty"` // that of the wait as it was looked at; an approval needs it
	// Grant is what else an approval counts for: "session", "cascade"; "": nothing.
	Grant echo.GrantScope `json:"grant,omitempty"`
}

// AnsweredWait says what follows from an answer.
type AnsweredWait struct {
	Wait    string `json:"wait"`
	Session string `json:"session"` // that waits
	Resume  string `json:"resume"`  // the session above all others, which this server resumes, if its grants let it
}

// SignalRequest is the body of POST /api/signals.
type SignalRequest struct {
	Name    string `json:"name"`
	Data    any    `json:"data,omitempty"`
	Session string `json:"session,omitempty"` // that gets it; "": whichever waits first
	Letter  string `json:"letter,omitempty"`  // the client's own id of the signal: with it a request that is sent again is the same signal
}

// SentSignal says what became of a signal.
type SentSignal struct {
	Signal  string `json:"signal"`
	Letter  string `json:"letter"` // its id
	Session string `json:"session,omitempty"`
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
