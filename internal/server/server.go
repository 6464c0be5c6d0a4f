// Package server is the HTTP API of windlass: it begins, shows, follows, cancels and resumes runs.
//
// It knows nothing of engines, journals and databases; what it works on are the interfaces [Runs] and [Record]. Its
// description, openapi.json, is part of the program: bodies of requests are checked against it, and a test holds every
// route and every field of answers against it.
package server

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/windlass-run/windlass/schema"
)

// Options say how the API is offered.
type Options struct {
	Token    string // what every request has to show; empty: nothing
	Loopback bool   // the listener is reached from this machine only; then Host has to name it
	Log      *log.Logger

	// Zero means the default for all of these.
	MaxBody    int64         // bytes of a body
	MaxStreams int           // event streams that are open at once
	Poll       time.Duration // how often an event stream looks for new entries
	Heartbeat  time.Duration // how long an event stream may be silent
}

// The defaults of [Options], and what is the same for every server.
const (
	maxStreams    = 256
	pollEvery     = 100 * time.Millisecond
	heartbeat     = 15 * time.Second
	headerTime    = 10 * time.Second
	answerTime    = time.Minute
	startTime     = 15 * time.Minute // for POST: the first run may have to fetch word vectors
	idleTime      = 2 * time.Minute
	maxHeaderSize = 32 << 10
)

// Server answers the requests of the API. It is safe for concurrent use.
type Server struct {
	runs    Runs
	record  Record
	guard   guard
	log     *log.Logger
	mux     *http.ServeMux
	maxBody int64
	poll    time.Duration
	beat    time.Duration

	streams  chan struct{} // a place for each open event stream
	stopping chan struct{} // closed when event streams are to end
	stop     sync.Once
}

// New returns a server that works on runs and record.
func New(runs Runs, record Record, o Options) (*Server, error) {
	s := &Server{
		runs: runs, record: record, guard: newGuard(o), log: o.Log, mux: http.NewServeMux(),
		maxBody: or(o.MaxBody, maxBody), poll: or(o.Poll, pollEvery), beat: or(o.Heartbeat, heartbeat),
		streams: make(chan struct{}, or(o.MaxStreams, maxStreams)), stopping: make(chan struct{}),
	}
	if s.log == nil {
		s.log = log.New(io.Discard, "", 0)
	}
	for _, rt := range routes() {
		form, required, err := requestForm(rt.method, rt.path)
		if err != nil {
			return nil, fmt.Errorf("the description of %s %s: %w", rt.method, rt.path, err)
		}
		s.mux.Handle(rt.pattern(), s.handler(rt, form, required))
	}
	return s, nil
}

func or[T comparable](v, instead T) T {
	var zero T
	if v == zero {
		return instead
	}
	return v
}

// HTTP returns an http.Server with limits of time and size for everything that a client can draw out.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ErrorLog: s.log, ReadHeaderTimeout: headerTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeaderSize,
	}
}

// EndStreams lets every event stream send what is there and end. It is safe to call twice.
func (s *Server) EndStreams() { s.stop.Do(func() { close(s.stopping) }) }

// route is one operation of the API.
type route struct {
	method, path string // as in the description
	rest         bool   // the last parameter of the path may have slashes in it
	handle       func(*Server, *request) error
}

func routes() []route {
	return []route{
		{http.MethodPost, "/api/runs", false, (*Server).startRun},
		{http.MethodGet, "/api/sessions", false, (*Server).listSessions},
		{http.MethodGet, "/api/sessions/{id}", false, (*Server).getSession},
		{http.MethodGet, "/api/sessions/{id}/handoff", false, (*Server).getHandoff},
		{http.MethodGet, "/api/sessions/{id}/context/{call}", true, (*Server).getContext},
		{http.MethodGet, "/api/sessions/{id}/events", false, (*Server).followEvents},
		{http.MethodPost, "/api/sessions/{id}/cancel", false, (*Server).cancelRun},
		{http.MethodPost, "/api/sessions/{id}/resume", false, (*Server).resumeRun},
		{http.MethodGet, "/api/openapi.json", false, (*Server).describe},
	}
}

// pattern is the route as a ServeMux reads it.
func (rt route) pattern() string {
	p := rt.method + " " + rt.path
	if rt.rest {
		p = p[:len(p)-1] + "...}"
	}
	return p
}

// request is one request on its way through a handler.
type request struct {
	http.ResponseWriter
	*http.Request
	form     *schema.Schema // of the body; nil: there is none
	required bool           // the body
}

func (r *request) Header() http.Header { return r.ResponseWriter.Header() }

// answer writes a value as JSON.
func (r *request) answer(status int, v any) error {
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(status)
	encode(r.ResponseWriter, v)
	return nil
}

func (s *Server) handler(rt route, form *schema.Schema, required bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := rt.handle(s, &request{w, r, form, required}); err != nil {
			s.refuse(w, r, err)
		}
	})
}

// refuse answers with what failed. What is not for clients goes to the log.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody listens any more
	}
	p := asProblem(err)
	if p.Kind == Internal {
		s.log.Printf("%s %q: %v", r.Method, r.URL.Path, err)
	}
	writeProblem(w, p)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.survive(w, r)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if p := s.guard.check(r); p != nil {
		writeProblem(w, p)
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.unknown(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// survive keeps the panic of one request from being anything but the failure of that request.
func (s *Server) survive(w http.ResponseWriter, r *http.Request) {
	p := recover()
	if p == nil {
		return
	}
	if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		panic(p)
	}
	s.log.Printf("%s %q: panic: %v\n%s", r.Method, r.URL.Path, p, debug.Stack())
	writeProblem(w, asProblem(fmt.Errorf("panic: %v", p)))
}

// unknown answers a request that no route is for. What methods the address has is asked of the mux.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	h, _ := s.mux.Handler(r)
	seen := &statusOnly{header: http.Header{}}
	h.ServeHTTP(seen, r)
	if seen.status == http.StatusMethodNotAllowed {
		allow := seen.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeProblem(w, NewProblem(WrongMethod, "use "+allow, "%s has no %s", r.URL.Path, r.Method))
		return
	}
	writeProblem(w, NewProblem(NotFound, "GET /api/openapi.json lists what there is", "there is nothing at %s", r.URL.Path))
}

// statusOnly takes an answer and keeps nothing of its body.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

func (s *Server) startRun(r *request) error {
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(startTime))
	var body RunRequest
	if err := s.readBody(r.ResponseWriter, r.Request, r.form, r.required, &body); err != nil {
		return err
	}
	session, err := s.runs.Start(r.Context(), &body)
	if err != nil {
		return err
	}
	r.Header().Set("Location", "/api/sessions/"+session.ID)
	return r.answer(http.StatusCreated, session)
}

func (s *Server) cancelRun(r *request) error {
	if err := s.readBody(r.ResponseWriter, r.Request, r.form, r.required, nil); err != nil {
		return err
	}
	session, err := s.runs.Cancel(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return r.answer(http.StatusAccepted, session)
}

func (s *Server) resumeRun(r *request) error {
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(startTime))
	var body ResumeRequest
	if err := s.readBody(r.ResponseWriter, r.Request, r.form, r.required, &body); err != nil {
		return err
	}
	session, err := s.runs.Resume(r.Context(), r.PathValue("id"), &body)
	if err != nil {
		return err
	}
	r.Header().Set("Location", "/api/sessions/"+session.ID)
	return r.answer(http.StatusAccepted, session)
}

// The sessions that a list has when the client does not say how many, and how many it has at most.
const (
	defaultLimit = 20
	maxLimit     = 1000
)

func (s *Server) listSessions(r *request) error {
	limit := defaultLimit
	if text := r.URL.Query().Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxLimit {
			return NewProblem(BadRequest, "limit=100", "limit=%s is not a number from 1 to %d", text, maxLimit)
		}
	}
	list, err := s.record.List(r.Context(), limit)
	if err != nil {
		return err
	}
	return r.answer(http.StatusOK, list)
}

func (s *Server) getSession(r *request) error {
	d, err := s.record.Get(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return r.answer(http.StatusOK, d)
}

func (s *Server) getHandoff(r *request) error {
	h, err := s.record.Handoff(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return r.answer(http.StatusOK, h)
}

func (s *Server) getContext(r *request) error {
	c, err := s.record.Context(r.Context(), r.PathValue("id"), r.PathValue("call"))
	if err != nil {
		return err
	}
	return r.answer(http.StatusOK, c)
}

func (s *Server) describe(r *request) error {
	r.Header().Set("Content-Type", "application/json")
	_, _ = r.ResponseWriter.Write(openAPI) // a client that went away is told nothing
	return nil
}
