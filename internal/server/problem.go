package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/schema"
)

// Kind says what is wrong with a request. Kinds are stable: clients may rely on them.
type Kind string

// The kinds of problems.
const (
	BadRequest       Kind = "bad_request"       // not JSON, a parameter of the wrong form
	Unauthorized     Kind = "unauthorized"      // no token, or not the right one
	ForeignOrigin    Kind = "foreign_origin"    // sent by a page of another site, or under a name that is not this machine's
	NotGranted       Kind = "not_granted"       // the server was not given the right that this needs
	NotFound         Kind = "not_found"         // no such address
	UnknownSession   Kind = "unknown_session"   // no such session, or more than one
	UnknownCall      Kind = "unknown_call"      // the session has no such model call
	NoHandoff        Kind = "no_handoff"        // the session has not begun yet
	WrongMethod      Kind = "wrong_method"      // the address is there, but not for this method
	SessionExists    Kind = "session_exists"    // the id is taken
	NotRunning       Kind = "not_running"       // there is nothing to cancel here
	NotResumable     Kind = "not_resumable"     // the session cannot go on
	BodyTooLarge     Kind = "body_too_large"    //
	WrongMediaType   Kind = "wrong_media_type"  // the body is not declared as JSON
	InvalidRequest   Kind = "invalid_request"   // the body is JSON but not what is expected
	InvalidCascade   Kind = "invalid_cascade"   // the cascade has errors, with their places
	InvalidInput     Kind = "invalid_input"     // the input does not fit the cascade
	TooManyRuns      Kind = "too_many_runs"     // as many runs as the server allows are going on
	TooManyStreams   Kind = "too_many_streams"  // as many event streams as the server allows are open
	Internal         Kind = "internal"          // a fault of windlass
	StorageFailed    Kind = "storage_failed"    // a disk, a journal, ClickHouse
	ModelUnavailable Kind = "model_unavailable" // a model cannot be asked: no key, no endpoint
	ShuttingDown     Kind = "shutting_down"     //
)

// problemBase is what the type of every problem begins with.
const problemBase = "https://windlass.run/problems/"

type kindFacts struct {
	status int
	title  string
}

var kinds = map[Kind]kindFacts{
	BadRequest:       {http.StatusBadRequest, "The request cannot be read"},
	Unauthorized:     {http.StatusUnauthorized, "A token is needed"},
	ForeignOrigin:    {http.StatusForbidden, "The request comes from elsewhere"},
	NotGranted:       {http.StatusForbidden, "The server does not grant this"},
	NotFound:         {http.StatusNotFound, "There is no such address"},
	UnknownSession:   {http.StatusNotFound, "There is no such session"},
	UnknownCall:      {http.StatusNotFound, "There is no such model call"},
	NoHandoff:        {http.StatusNotFound, "There is no handoff yet"},
	WrongMethod:      {http.StatusMethodNotAllowed, "The address has no such method"},
	SessionExists:    {http.StatusConflict, "The session exists already"},
	NotRunning:       {http.StatusConflict, "The session is not running here"},
	NotResumable:     {http.StatusConflict, "The session cannot be resumed"},
	BodyTooLarge:     {http.StatusRequestEntityTooLarge, "The body is too large"},
	WrongMediaType:   {http.StatusUnsupportedMediaType, "The body is not declared as JSON"},
	InvalidRequest:   {http.StatusUnprocessableEntity, "The request is not valid"},
	InvalidCascade:   {http.StatusUnprocessableEntity, "The cascade is not valid"},
	InvalidInput:     {http.StatusUnprocessableEntity, "The input does not fit the cascade"},
	TooManyRuns:      {http.StatusTooManyRequests, "Too many runs"},
	TooManyStreams:   {http.StatusTooManyRequests, "Too many event streams"},
	Internal:         {http.StatusInternalServerError, "windlass failed"},
	StorageFailed:    {http.StatusServiceUnavailable, "The record cannot be reached"},
	ModelUnavailable: {http.StatusServiceUnavailable, "A model cannot be asked"},
	ShuttingDown:     {http.StatusServiceUnavailable, "The server is stopping"},
}

// Problem is an error as a client gets it, in the form of RFC 9457: what failed, why, and what to try next.
type Problem struct { //nolint:errname // the word of RFC 9457
	Kind        Kind
	Detail      string               // what failed and why
	Try         string               // the next thing to try; may be empty
	Violations  []schema.Violation   // of the body or the input, by JSON pointer
	Diagnostics []cascade.Diagnostic // of the cascade
	RetryAfter  time.Duration        // when it may be tried again; zero: that is not known
	Err         error                // the cause, for logs; may be nil
}

// NewProblem returns a problem that says what failed and what to try next.
func NewProblem(k Kind, try, format string, args ...any) *Problem {
	return &Problem{Kind: k, Detail: fmt.Sprintf(format, args...), Try: try}
}

// Error says what failed and why.
func (p *Problem) Error() string { return p.Detail }

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Err }

// problemBody is a problem on the wire.
type problemBody struct {
	Type        string               `json:"type"`
	Title       string               `json:"title"`
	Status      int                  `json:"status"`
	Detail      string               `json:"detail"`
	Try         string               `json:"try,omitempty"`
	Violations  []violation          `json:"violations,omitempty"`
	Diagnostics []cascade.Diagnostic `json:"diagnostics,omitempty"`
}

type violation struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

func (p *Problem) body() problemBody {
	facts := kinds[p.Kind]
	b := problemBody{
		Type: problemBase + string(p.Kind), Title: facts.title, Status: facts.status, Detail: p.Detail, Try: p.Try, Diagnostics: p.Diagnostics,
	}
	for _, v := range p.Violations {
		b.Violations = append(b.Violations, violation{v.Pointer, v.Message})
	}
	return b
}

// failures give each kind of failure of what the API reads the problem that it is for a client, and the client's next step.
var failures = map[failure.Kind]struct {
	kind Kind
	try  string
}{
	failure.UnknownSession: {UnknownSession, "GET /api/sessions lists them"},
	failure.UnknownCall:    {UnknownCall, "a call's number, such as 1, or its key, such as PHASE/attempt1/turn1"},
	failure.NoHandoff:      {NoHandoff, "try again when the run has begun"},
	failure.Damaged:        {StorageFailed, tryDoctor},
	failure.OtherVersion:   {StorageFailed, tryDoctor},
	failure.StorageFailed:  {StorageFailed, tryDoctor},
	failure.EngineMissing:  {StorageFailed, tryDoctor},
	failure.Failed:         {StorageFailed, tryDoctor}, // a query of ClickHouse
	failure.Interrupted:    {StorageFailed, tryDoctor}, // it took too long
}

const tryDoctor = "on the server: windlass doctor"

// asProblem makes a problem of any error. What has no kind is a fault of windlass, whose text is for the log only.
func asProblem(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var f *failure.Error
	if errors.As(err, &f) {
		if known, ok := failures[f.Kind]; ok {
			p = &Problem{Kind: known.kind, Detail: err.Error(), Try: known.try, Err: err}
			if archive.IsOtherVersion(err) {
				p.Try = "POST /api/runs begins a new run"
			}
			return p
		}
	}
	return &Problem{Kind: Internal, Detail: "windlass failed to answer this request", Try: "look at the server's log", Err: err}
}

func writeProblem(w http.ResponseWriter, p *Problem) {
	b := p.body()
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.RetryAfter+time.Second-1)/time.Second)))
	}
	if p.Kind == Unauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="windlass"`)
	}
	w.WriteHeader(b.Status)
	encode(w, b)
}

// encode writes a value as JSON. A client that went away is told nothing.
func encode(w http.ResponseWriter, v any) {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
}
