// Package server is the HTTP API of windlass. Tests hold it against its openapi.json.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/server/token"
)

// Options say how the API is offered.
type Options struct {
	Token    string           // what a request has to show that may do everything
	Issued   *token.Book      // tokens of others; nil: there are none
	Now      func() time.Time // nil: the system's clock
	Loopback bool             // the listener is reached from this machine only; then Host has to name it
	Log      *log.Logger
	Page     Page                   // nil: none
	Audit    func(audit.Line) error // keeps changes and refused attempts; nil: nobody does

	// Zero means the default for all of these.
	MaxBody    int64         // bytes of a body
	MaxStreams int           // event streams that are open at once
	Poll       time.Duration // how often an event stream looks for new entries
	Heartbeat  time.Duration // how long an event stream may be silent
	HeaderTime time.Duration // how long a client may take for TLS and for the headers of a request
	BodyTime   time.Duration // how long a client may take for the body of a request
	IdleTime   time.Duration // how long a connection may be open without a request
	SendTime   time.Duration // how long a client may leave an event unread
}

// Page is what people see in a browser. It decides itself who may ask: a browser has no token.
type Page interface {
	http.Handler
	// Has reports whether an address is one of the page.
	Has(path string) bool
	// Enter returns the path of an address that opens the page once.
	Enter() string
	// EndStreams lets every stream of the page end. It is safe to call twice.
	EndStreams()
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
	leaveTime     = time.Second // for the rest of a request that is refused for want of a token
	maxHeaderSize = 32 << 10
)

// Server answers the requests of the API. It is safe for concurrent use.
type Server struct {
	runs    Runs
	record  Record
	people  People
	guard   guard
	page    Page
	audit   *auditor
	log     *log.Logger
	mux     *http.ServeMux
	maxBody int64
	poll    time.Duration
	beat    time.Duration
	times   times

	streams  chan struct{} // a place for each open event stream
	stopping chan struct{} // closed when event streams are to end
	stop     sync.Once
}

type times struct{ header, body, idle, send time.Duration }

// New returns a server that works on runs, record and people.
func New(runs Runs, record Record, people People, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = log.New(io.Discard, "", 0)
	}
	g, err := newGuard(o)
	if err != nil {
		return nil, err
	}
	s := &Server{
		runs: runs, record: record, people: people, guard: g, page: o.Page, audit: &auditor{add: o.Audit, now: g.now, log: o.Log}, log: o.Log, mux: http.NewServeMux(),
		times: times{
			cmp.Or(o.HeaderTime, headerTime), cmp.Or(o.BodyTime, bodyTime), cmp.Or(o.IdleTime, idleTime), cmp.Or(o.SendTime, sendTime),
		},
		maxBody: cmp.Or(o.MaxBody, maxBody), poll: cmp.Or(o.Poll, pollEvery), beat: cmp.Or(o.Heartbeat, heartbeat),
		streams: make(chan struct{}, cmp.Or(o.MaxStreams, maxStreams)), stopping: make(chan struct{}),
	}
	d, err := readDescription()
	if err != nil {
		return nil, err
	}
	for _, rt := range routes() {
		f, err := d.formsOf(rt.method, rt.path)
		if err != nil {
			return nil, fmt.Errorf("the description of %s %s: %w", rt.method, rt.path, err)
		}
		s.mux.Handle(rt.pattern(), s.handler(rt, f))
	}
	return s, nil
}

// HTTP returns an http.Server with limits for everything that a client can draw out.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ErrorLog: quietLog(s.log), ReadHeaderTimeout: s.times.header, WriteTimeout: answerTime, IdleTimeout: s.times.idle,
		MaxHeaderBytes: maxHeaderSize, DisableGeneralOptionsHandler: true, // which would answer OPTIONS * to everybody
	}
}

// EndStreams lets every event stream send what is there and end. It is safe to call twice.
func (s *Server) EndStreams() {
	s.stop.Do(func() { close(s.stopping) })
	if s.page != nil {
		s.page.EndStreams()
	}
}

type route struct {
	method, path string      // as in the description
	right        token.Right // that a token needs
	changes      string      // what it changes, as the audit says it; "": nothing
	rest         bool        // the last parameter of the path may have slashes in it
	handle       func(*Server, *request) error
}

func routes() []route {
	return []route{
		{http.MethodPost, "/api/runs", token.Run, audit.Run, false, (*Server).startRun},
		{http.MethodGet, "/api/sessions", token.Read, "", false, (*Server).listSessions},
		{http.MethodGet, "/api/sessions/{id}", token.Read, "", false, (*Server).getSession},
		{http.MethodGet, "/api/sessions/{id}/handoff", token.Read, "", false, (*Server).getHandoff},
		{http.MethodGet, "/api/sessions/{id}/soundings", token.Read, "", false, (*Server).getSoundings},
		{http.MethodGet, "/api/sessions/{id}/context/{call}", token.Read, "", true, (*Server).getContext},
		{http.MethodGet, "/api/sessions/{id}/events", token.Read, "", false, (*Server).followEvents},
		{http.MethodPost, "/api/sessions/{id}/cancel", token.Run, audit.Cancel, false, (*Server).cancelRun},
		{http.MethodPost, "/api/sessions/{id}/resume", token.Run, audit.Resume, false, (*Server).resumeRun},
		{http.MethodPost, "/api/sessions/{id}/audible", token.Answer, audit.Audible, false, sayAudible},
		{http.MethodGet, "/api/waits", token.Read, "", false, (*Server).listWaits},
		{http.MethodGet, "/api/waits/{id}", token.Read, "", false, (*Server).getWait},
		{http.MethodGet, "/api/waits/{id}/images/{n}", token.Read, "", false, getImage},
		{http.MethodPost, "/api/waits/{id}", token.Answer, audit.Answer, false, (*Server).answerWait},
		{http.MethodPost, "/api/signals", token.Answer, audit.Signal, false, (*Server).sendSignal},
		{http.MethodPost, "/api/page", token.Answer, "", false, (*Server).openPage},
		{http.MethodGet, "/api/openapi.json", token.Read, "", false, (*Server).describe},
	}
}

func (rt route) pattern() string {
	p := rt.method + " " + rt.path
	if rt.rest {
		p = p[:len(p)-1] + "...}"
	}
	return p
}

type request struct {
	http.ResponseWriter
	*http.Request
	forms  forms
	caller *Caller
	target string // what is changed, for the audit
	said   bool   // the audit has it already
}

type callerKey struct{}

func (r *request) Header() http.Header { return r.ResponseWriter.Header() }

func (r *request) answer(status int, v any, err error) error {
	if err != nil {
		return err
	}
	r.Header().Set("Content-Type", "application/json")
	r.WriteHeader(status)
	encode(r.ResponseWriter, v)
	return nil
}

func (s *Server) handler(rt route, f forms) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := r.Context().Value(callerKey{}).(*Caller)
		req := &request{ResponseWriter: w, Request: r, forms: f, caller: caller}
		req.target = shorten(r.PathValue("id"))
		err := f.checkPath(r)
		if err == nil && !caller.May(rt.right) {
			err = refuseRight(caller, rt.right)
		}
		if err == nil {
			req.target = r.PathValue("id")
			err = rt.handle(s, req)
		}
		if rt.changes != "" && !req.said {
			s.audit.say(audit.Line{By: caller.Name, What: rt.changes, Target: req.target}, err)
		}
		if err != nil {
			s.refuse(w, r, err)
		}
	})
}

// refuse answers with what failed. What is not for clients goes to the log. To a client that went
// away or was too slow the connection ends without an answer, which nobody takes for success.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := ProblemOf(err)
	if p.Kind == Internal && r.Context().Err() != nil {
		panic(http.ErrAbortHandler)
	}
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
	deadlines := http.NewResponseController(w)
	if servesPage(s, w, r) {
		return
	}
	caller, p := s.guard.check(r)
	if p != nil {
		s.audit.stranger(r.Method, p)
		// Whoever has no token keeps no connection: net/http would wait for the rest of the body.
		_ = deadlines.SetReadDeadline(time.Now().Add(leaveTime)) // not supported by the recorders of tests
		h.Set("Connection", "close")
		writeProblem(w, p)
		return
	}
	if r.ContentLength != 0 { // also when nothing reads the body
		_ = deadlines.SetReadDeadline(time.Now().Add(s.times.body))
	}
	if clean := cleanPath(r.URL.EscapedPath()); clean != r.URL.EscapedPath() {
		writeProblem(w, NewProblem(NotFound, "ask for "+shorten(clean), "there is nothing at %s", shorten(r.URL.EscapedPath())))
		return
	}
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.unknown(w, r)
		return
	}
	s.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
}

// servesPage has the page answer what is of it.
func servesPage(s *Server, w http.ResponseWriter, r *http.Request) bool {
	if s.page == nil || !s.page.Has(r.URL.Path) {
		return false
	}
	if p := s.guard.checkHost(r); p != nil {
		w.Header().Set("Connection", "close")
		writeProblem(w, p)
		return true
	}
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.times.body)) // not supported by the recorders of tests
	}
	s.page.ServeHTTP(w, r)
	return true
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
	writeProblem(w, ProblemOf(fmt.Errorf("panic: %v", p)))
}

// unknown answers a request that no route is for. What methods the address has is asked of the mux.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	h, _ := s.mux.Handler(r)
	seen := &statusOnly{header: http.Header{}}
	h.ServeHTTP(seen, r)
	if seen.status == http.StatusMethodNotAllowed {
		allow := seen.header.Get("Allow")
		w.Header().Set("Allow", allow)
		writeProblem(w, NewProblem(WrongMethod, "use "+allow, "%s has no %s", shorten(r.URL.EscapedPath()), shorten(r.Method)))
		return
	}
	writeProblem(w, NewProblem(NotFound, "GET /api/openapi.json lists what there is", "there is nothing at %s", shorten(r.URL.EscapedPath())))
}

type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) Write(b []byte) (int, error) { return len(b), nil }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }

func (s *Server) startRun(r *request) error {
	var body RunRequest
	return s.begin(r, http.StatusCreated, &body, func() (*Session, error) { return s.runs.Start(r.Context(), &body) })
}

func (s *Server) resumeRun(r *request) error {
	var body ResumeRequest
	return s.begin(r, http.StatusAccepted, &body, func() (*Session, error) {
		return s.runs.Resume(r.Context(), r.PathValue("id"), &body)
	})
}

// begin reads the body of a request, has a run begin, and answers with its session.
func (s *Server) begin(r *request, status int, body any, run func() (*Session, error)) error {
	_ = http.NewResponseController(r.ResponseWriter).SetWriteDeadline(time.Now().Add(startTime))
	if err := s.readBody(r, body); err != nil {
		return err
	}
	session, err := run()
	if err == nil {
		r.target = session.ID
		r.Header().Set("Location", "/api/sessions/"+session.ID)
	}
	return r.answer(status, session, err)
}

func (s *Server) cancelRun(r *request) error {
	if err := s.readBody(r, nil); err != nil {
		return err
	}
	session, err := s.runs.Cancel(r.Context(), r.PathValue("id"))
	return r.answer(http.StatusAccepted, session, err)
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
	return r.answer(http.StatusOK, list, err)
}

func (s *Server) getSession(r *request) error {
	d, err := s.record.Get(r.Context(), r.PathValue("id"))
	return r.answer(http.StatusOK, d, err)
}

func (s *Server) getHandoff(r *request) error {
	h, err := s.record.Handoff(r.Context(), r.PathValue("id"))
	return r.answer(http.StatusOK, h, err)
}

func (s *Server) getSoundings(r *request) error {
	list, err := s.record.Soundings(r.Context(), r.PathValue("id"))
	return r.answer(http.StatusOK, list, err)
}

func (s *Server) getContext(r *request) error {
	c, err := s.record.Context(r.Context(), r.PathValue("id"), r.PathValue("call"))
	return r.answer(http.StatusOK, c, err)
}

func (s *Server) describe(r *request) error {
	r.Header().Set("Content-Type", "application/json")
	_, _ = r.ResponseWriter.Write(openAPI) // a client that went away is told nothing
	return nil
}

// openPage makes another address that opens the page once.
func (s *Server) openPage(r *request) error {
	if err := s.readBody(r, nil); err != nil {
		return err
	}
	switch {
	case !r.caller.May(token.Read): // the page shows everything that waits
		return refuseRight(r.caller, token.Read)
	case s.page == nil:
		return NewProblem(NotFound, "GET /api/openapi.json lists what there is", "this server has no page")
	}
	return r.answer(http.StatusCreated, map[string]string{"path": s.page.Enter()}, nil)
}
