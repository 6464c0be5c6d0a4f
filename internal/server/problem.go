package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/schema"
)

// The kinds that only requests have, besides those of failure. Clients rely on them.
const (
	BadRequest     failure.Kind = "bad_request"      // not JSON, a parameter of the wrong form
	Unauthorized   failure.Kind = "unauthorized"     // no token, one that has expired, or not the right one
	ForeignOrigin  failure.Kind = "foreign_origin"   // of a page of another site, or for another host
	NotGranted     failure.Kind = "not_granted"      // the token or the server was not given the right that this needs
	NotFound       failure.Kind = "not_found"        // no such address
	WrongMethod    failure.Kind = "wrong_method"     // the address is there, but not for this method
	NotRunning     failure.Kind = "not_running"      // there is nothing to cancel here
	BodyTooLarge   failure.Kind = "body_too_large"   //
	WrongMediaType failure.Kind = "wrong_media_type" // the body is not declared as JSON
	TooManyRuns    failure.Kind = "too_many_runs"    // as many runs as the server allows are going on
	TooManyStreams failure.Kind = "too_many_streams" // as many event streams as the server allows are open
	Internal       failure.Kind = "internal"         // a fault of windlass
	ShuttingDown   failure.Kind = "shutting_down"    //
)

const problemBase = "https://windlass.run/problems/"

type facts struct {
	as     failure.Kind // the kind that clients know it as; "": itself, and then it has a status and a title
	status int
	title  string
	try    string // the client's next step, where an error names none; "": that of the kind that it is known as
}

var kinds = map[failure.Kind]facts{
	BadRequest:     {status: http.StatusBadRequest, title: "The request cannot be read"},
	Unauthorized:   {status: http.StatusUnauthorized, title: "A token is needed"},
	ForeignOrigin:  {status: http.StatusForbidden, title: "The request comes from elsewhere"},
	NotGranted:     {status: http.StatusForbidden, title: "This is not granted"},
	NotFound:       {status: http.StatusNotFound, title: "There is no such address"},
	WrongMethod:    {status: http.StatusMethodNotAllowed, title: "The address has no such method"},
	NotRunning:     {status: http.StatusConflict, title: "The session is not running here"},
	BodyTooLarge:   {status: http.StatusRequestEntityTooLarge, title: "The body is too large"},
	WrongMediaType: {status: http.StatusUnsupportedMediaType, title: "The body is not declared as JSON"},
	TooManyRuns:    {status: http.StatusTooManyRequests, title: "Too many runs"},
	TooManyStreams: {status: http.StatusTooManyRequests, title: "Too many event streams"},
	Internal:       {status: http.StatusInternalServerError, title: "windlass failed", try: tryLog},
	ShuttingDown:   {status: http.StatusServiceUnavailable, title: "The server is stopping"},

	failure.UnknownSession:   {status: http.StatusNotFound, title: "There is no such session", try: trySessions},
	failure.UnknownCall:      {status: http.StatusNotFound, title: "There is no such model call", try: tryCall},
	failure.NoHandoff:        {status: http.StatusNotFound, title: "There is no handoff yet", try: "try again when the run has begun"},
	failure.SessionExists:    {status: http.StatusConflict, title: "The session exists already", try: tryOtherID},
	failure.NotResumable:     {status: http.StatusConflict, title: "The session cannot be resumed", try: tryNewRun},
	failure.Waiting:          {status: http.StatusConflict, title: "The session waits for an answer", try: tryAnswer},
	failure.UnknownWait:      {status: http.StatusNotFound, title: "There is no such open wait", try: tryAnswer},
	failure.AlreadyAnswered:  {status: http.StatusConflict, title: "The wait has an answer, has ended, or shows something else", try: tryAnswer},
	failure.InvalidAnswer:    {status: http.StatusUnprocessableEntity, title: "The answer does not fit what is asked", try: "correct the answer"},
	failure.LetterTaken:      {status: http.StatusConflict, title: "The letter was another one", try: tryOtherLetter},
	failure.InvalidRequest:   {status: http.StatusUnprocessableEntity, title: "The request is not valid", try: tryDescription},
	failure.InvalidCascade:   {status: http.StatusUnprocessableEntity, title: "The cascade is not valid", try: "correct the cascade"},
	failure.InvalidInput:     {status: http.StatusUnprocessableEntity, title: "The input does not fit the cascade", try: "correct the input"},
	failure.StorageFailed:    {status: http.StatusServiceUnavailable, title: "The record cannot be reached", try: tryDoctor},
	failure.ModelUnavailable: {status: http.StatusServiceUnavailable, title: "A model cannot be asked", try: tryDoctor},

	failure.SessionBusy:    {as: failure.NotResumable, try: "wait for its end"},
	failure.Diverged:       {as: failure.NotResumable},
	failure.UnknownMessage: {as: failure.UnknownCall},
	failure.OverBudget:     {as: NotGranted, try: `"budget": {...} with higher limits`},
	failure.InvalidConfig:  {as: Internal},
	failure.Damaged:        {as: failure.StorageFailed},
	failure.OtherVersion:   {as: failure.StorageFailed},
	failure.EngineMissing:  {as: failure.StorageFailed},
	failure.Failed:         {as: failure.StorageFailed}, // a query of ClickHouse
	failure.Interrupted:    {as: failure.StorageFailed}, // it took too long
}

// The next steps of clients. Those that begin with onServer are for the operator of the server.
const (
	onServer       = "on the server: "
	tryDoctor      = onServer + "windlass doctor"
	trySessions    = "GET /api/sessions lists them"
	tryLog         = "look at the server's log"
	tryNewRun      = "POST /api/runs begins a new run"
	tryDescription = "GET /api/openapi.json describes it"
	tryCall        = "a call's number, such as 1, or its key, such as PHASE/attempt1/turn1"
	tryAnswer      = "GET /api/waits lists them"
	tryOtherLetter = "another letter, or none, for another signal"
	tryImages      = "GET /api/waits/ID lists the images of a wait"
	tryOtherID     = "another session_id, or none for a new one; if this request was sent twice, the first one began the run"
)

// Problem is an error as a client gets it, in the form of RFC 9457.
type Problem struct { //nolint:errname // the word of RFC 9457
	Kind        failure.Kind         // one that clients know
	Detail      string               // what failed and why
	Try         string               // the next thing to try; may be empty
	Violations  []schema.Violation   // of the body or the input, by JSON pointer
	Diagnostics []cascade.Diagnostic // of the cascade
	RetryAfter  time.Duration        // when it may be tried again; zero: that is not known
	Err         error                // the cause, for logs; may be nil
}

// NewProblem returns a problem that says what failed and what to try next.
func NewProblem(k failure.Kind, try, format string, args ...any) *Problem {
	return &Problem{Kind: k, Detail: fmt.Sprintf(format, args...), Try: try}
}

func (p *Problem) Error() string { return p.Detail }
func (p *Problem) Unwrap() error { return p.Err }

type problemBody struct {
	Type        string               `json:"type"`
	Title       string               `json:"title"`
	Status      int                  `json:"status"`
	Detail      string               `json:"detail"`
	Try         string               `json:"try,omitempty"`
	Violations  []violation          `json:"violations,omitempty"`
	Diagnostics []cascade.Diagnostic `json:"diagnostics,omitempty"`
	Answered    *whoAnswered         `json:"answered,omitempty"`
}

type whoAnswered struct {
	By  string    `json:"by"`
	Via echo.Via  `json:"via"`
	At  time.Time `json:"at"`
}

type violation struct {
	Pointer string `json:"pointer"`
	Message string `json:"message"`
}

func (p *Problem) body() problemBody {
	kind, known := wire(p.Kind)
	b := problemBody{
		Type: problemBase + string(kind), Title: known.title, Status: known.status, Detail: p.Detail, Try: p.Try, Diagnostics: p.Diagnostics,
	}
	var taken *mailbox.TakenError
	if errors.As(p.Err, &taken) {
		b.Answered = &whoAnswered{taken.By, taken.Via, taken.At}
	}
	for _, v := range p.Violations {
		b.Violations = append(b.Violations, violation{v.Pointer, v.Message})
	}
	return b
}

// ProblemOf makes a problem of any error. What has no kind has its text in the log only.
func ProblemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var f *failure.Error
	if !errors.As(err, &f) {
		return internalProblem(err)
	}
	kind, known := wire(f.Kind)
	try := cmp.Or(kinds[f.Kind].try, known.try)
	switch {
	case kind == Internal:
		return internalProblem(err)
	case archive.IsOtherVersion(err):
		try = tryNewRun
	case f.Try != "" && known.status >= http.StatusInternalServerError: // the step is not the client's
		try = onServer + f.Try
	case f.Try != "":
		try = f.Try
	}
	return &Problem{Kind: kind, Detail: err.Error(), Try: try, Err: err}
}

func wire(k failure.Kind) (failure.Kind, facts) {
	known, ok := kinds[k]
	switch {
	case !ok:
		return Internal, kinds[Internal]
	case known.as != "":
		return known.as, kinds[known.as]
	}
	return k, known
}

func internalProblem(err error) *Problem {
	return &Problem{Kind: Internal, Detail: "windlass failed to answer this request", Try: tryLog, Err: err}
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
