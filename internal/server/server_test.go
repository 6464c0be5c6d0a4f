package server

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server/servertest"
	"github.com/windlass-run/windlass/internal/waits"
)

// fake is what the server works on in these tests.
type fake struct {
	mu      sync.Mutex
	started []RunRequest
	asked   []string // ids and calls that were looked for
	err     error    // of everything; a panic when it is errPanic
	events  func(from uint64) Events
}

var errPanic = errors.New("panic")

var fakeSession = Session{
	SessionState: clickhouse.SessionState{ID: "s1", CascadeID: "c", Status: "running"},
	SessionTimes: clickhouse.SessionTimes{StartedAt: time.Unix(1, 0).UTC(), LastAt: time.Unix(2, 0).UTC()}, Entries: 3,
}

func (f *fake) fails() error {
	if errors.Is(f.err, errPanic) {
		panic("on purpose")
	}
	return f.err
}

// look notes what is looked for.
func (f *fake) look(names ...string) error {
	f.mu.Lock()
	f.asked = append(f.asked, names...)
	f.mu.Unlock()
	return f.fails()
}

func (f *fake) Start(_ context.Context, r *RunRequest) (*Session, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = append(f.started, *r)
	s := fakeSession
	return &s, nil
}

func (f *fake) Cancel(_ context.Context, id string) (*Session, error) {
	s := fakeSession
	return &s, f.look(id)
}

func (f *fake) Resume(_ context.Context, id string, _ *ResumeRequest) (*Session, error) {
	s := fakeSession
	return &s, f.look(id)
}

func (f *fake) List(context.Context, int) (*SessionList, error) {
	return &SessionList{Sessions: []Session{fakeSession}, Notes: []string{}}, f.fails()
}

func (f *fake) Get(_ context.Context, id string) (*SessionDetail, error) {
	return &SessionDetail{Session: fakeSession, PhaseReports: []archive.Phase{{Visit: "p", Phase: "p", Status: "running"}}}, f.look(id)
}

func (f *fake) Handoff(_ context.Context, id string) (any, error) { return nil, f.look(id) }

func (f *fake) Soundings(_ context.Context, id string) (any, error) { return []int{}, f.look(id) }

func (f *fake) Context(_ context.Context, id, call string) (any, error) {
	_ = f.look(id, call)
	return nil, NewProblem(failure.UnknownCall, "", "no call %q", call)
}

func (f *fake) Events(_ context.Context, id string, from uint64) (Events, error) {
	if err := f.look(id); err != nil {
		return nil, err
	}
	return f.events(from), nil
}

// fakePeople notes who answers what.
type fakePeople struct{ *fake }

var fakeWait = Wait{
	ID: "0123456789", Place: waits.Place{Session: "s1", Root: "s1", Cascade: "c", Phase: "p", Key: echo.MustKey("p/wait")},
	Kind: echo.WaitQuestion, Asked: "Who?", Form: &echo.Form{Kind: echo.FormText, Question: "Who?"}, Since: time.Unix(1, 0).UTC(),
}

func (f fakePeople) List(_ context.Context, session string) ([]*Wait, error) {
	if session != "" {
		return nil, f.look(session)
	}
	return []*Wait{&fakeWait}, f.fails()
}

func (f fakePeople) Get(_ context.Context, id string) (*Wait, error) {
	return &fakeWait, f.look(id)
}

func (f fakePeople) Image(_ context.Context, id string, n int) (*waits.Picture, error) {
	if n != 1 {
		return nil, &waits.NoImageError{Wait: id, N: n, Of: 1}
	}
	return &waits.Picture{Image: echo.Image{Type: "image/png"}, File: "1-chart.png", Data: []byte("\x89PNG")}, f.look(id)
}

func (f fakePeople) Answer(_ context.Context, by *Caller, id string, r *AnswerRequest) (*AnsweredWait, error) {
	return &AnsweredWait{Wait: id, Session: "s1", Resume: "s1"}, f.look(id, by.Name, fmt.Sprint(r.Value))
}

func (f fakePeople) Signal(_ context.Context, by *Caller, r *SignalRequest) (*SentSignal, error) {
	return &SentSignal{Signal: r.Name, Letter: "l", Session: r.Session}, f.look(r.Name, by.Name, fmt.Sprint(r.Data))
}

func (f fakePeople) Say(_ context.Context, by *Caller, session string, r *AudibleRequest) (*SaidAudible, error) {
	return &SaidAudible{Letter: cmp.Or(r.Letter, "l"), Session: session, Status: echo.StatusRunning}, f.look(session, by.Name, r.Text)
}

// testToken is what the servers of these tests demand.
const testToken = "0123456789abcdef-token"

// testBundle is a server on loopback with a client that checks every answer.
type testBundle struct {
	fake   *fake
	api    *Server
	client *servertest.Client
	log    *lockedBuffer
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func newBundle(t *testing.T, o Options) *testBundle {
	t.Helper()
	b := &testBundle{fake: &fake{}, log: &lockedBuffer{}}
	o.Loopback, o.Log, o.Token = true, log.New(b.log, "", 0), testToken
	var err error
	b.api, err = New(b.fake, b.fake, fakePeople{b.fake}, o)
	require.NoError(t, err)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = b.api.HTTP()
	srv.Start()
	t.Cleanup(srv.Close)
	t.Cleanup(b.api.EndStreams)
	b.client = &servertest.Client{Base: srv.URL, Token: o.Token, Description: servertest.Read(t, openAPI), HTTP: srv.Client()}
	return b
}

// TestWhoMayAsk: pages of other sites and names that are not this machine's are refused, whatever
// they ask for.
func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{})
	port := b.client.Base[strings.LastIndexByte(b.client.Base, ':'):]
	tests := map[string]struct {
		headers []string
		status  int
	}{
		"a program":                     {nil, 200},
		"localhost":                     {[]string{"Host", "localhost" + port}, 200},
		"a forwarded port":              {[]string{"Host", "LOCALHOST:9999"}, 200},
		"IPv6":                          {[]string{"Host", "[::1]:80"}, 200},
		"another loopback address":      {[]string{"Host", "127.8.8.8"}, 200},
		"a name that was bound anew":    {[]string{"Host", "attacker.example" + port}, 403},
		"a name that begins as ours":    {[]string{"Host", "localhost.attacker.example"}, 403},
		"an address of the network":     {[]string{"Host", "192.168.0.7" + port}, 403},
		"all addresses":                 {[]string{"Host", "0.0.0.0" + port}, 403},
		"a page of another site":        {[]string{"Origin", "https://attacker.example"}, 403},
		"a page of another port":        {[]string{"Origin", "http://127.0.0.1:1"}, 403},
		"a page without an origin":      {[]string{"Origin", "null"}, 403},
		"a page of the same origin":     {[]string{"Origin", "http://127.0.0.1" + port}, 200},
		"a link on another site":        {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"a page of a neighbouring site": {[]string{"Sec-Fetch-Site", "same-site"}, 403},
		"typed by a person":             {[]string{"Sec-Fetch-Site", "none"}, 200},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := b.client.Do(t, http.MethodGet, "/api/sessions", nil, tt.headers...)
			require.Equal(t, tt.status, a.Status, "%s", a.Body)
			require.Equal(t, "no-store", a.Header.Get("Cache-Control"))
			require.Equal(t, "nosniff", a.Header.Get("X-Content-Type-Options"))
			require.Empty(t, a.Header.Get("Access-Control-Allow-Origin"))
			if tt.status == 403 {
				kind, _, _ := a.Problem(t)
				require.Equal(t, string(ForeignOrigin), kind)
			}
		})
	}
}

// TestToken: nothing is answered without the token, not even the description, and it is nowhere in
// what is written.
func TestToken(t *testing.T) {
	t.Parallel()
	const token = testToken
	b := newBundle(t, Options{})
	for name, header := range map[string]string{
		"none": "", "another": "Bearer 0123456789abcdef-tokem", "a part": "Bearer 0123456789abcdef", "longer": "Bearer " + token + "x",
		"no scheme": token, "another scheme": "Basic " + token, "empty": "Bearer ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := *b.client
			c.Token = ""
			for _, request := range everyRequest() {
				method, path, _ := strings.Cut(request, " ")
				a := c.Do(t, method, path, nil, "Authorization", header)
				require.Equal(t, http.StatusUnauthorized, a.Status, request)
				require.Equal(t, `Bearer realm="windlass"`, a.Header.Get("WWW-Authenticate"))
				require.NotContains(t, string(a.Body), token)
				require.True(t, a.Closed, "whoever has no token keeps no connection")
			}
		})
	}
	require.Equal(t, http.StatusOK, b.client.Do(t, http.MethodGet, "/api/sessions", nil).Status)
	require.Equal(t, http.StatusOK, b.client.Do(t, http.MethodGet, "/api/sessions", nil, "Authorization", "bearer  "+token).Status)
	require.NotContains(t, b.log.String(), token)
	require.Empty(t, b.fake.started)
	for _, text := range []string{"", "short", "two words of a token"} {
		_, err := New(b.fake, b.fake, fakePeople{b.fake}, Options{Token: text, Loopback: true})
		require.EqualError(t, err, "a token is one word of at least 16 letters, digits and signs")
	}
}

// everyRequest lists a request for every route, and for what there is none.
func everyRequest() []string {
	list := []string{"GET /", "GET /nothing", "GET /healthz", "OPTIONS /api/runs", "TRACE /api/sessions", "DELETE /api/sessions/s1", "GET /api/sessions/../sessions"}
	for _, rt := range routes() {
		list = append(list, rt.method+" "+strings.NewReplacer("{id}", "s1", "{call}", "1").Replace(rt.path))
	}
	return list
}

// TestBodies: what is not one JSON object of the described form begins nothing.
func TestBodies(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{MaxBody: 200_000})
	tests := map[string]struct {
		path, body string
		headers    []string
		status     int
		kind       failure.Kind
		detail     string
	}{
		"nothing":             {"/api/runs", "", nil, 400, BadRequest, "POST /api/runs needs a body"},
		"a form of a page":    {"/api/runs", `{"file": "a.json"}`, []string{"Content-Type", "text/plain"}, 415, WrongMediaType, `the body is declared as "text/plain"`},
		"no media type":       {"/api/runs", `{"file": "a.json"}`, []string{"Content-Type", ""}, 415, WrongMediaType, `the body is declared as ""`},
		"an empty form":       {"/api/sessions/s1/cancel", "", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, WrongMediaType, `the body is declared as "application/x-www-form-urlencoded"`},
		"half an object":      {"/api/runs", `{"file": "a`, nil, 400, BadRequest, "the body cannot be read: not valid JSON: unexpected EOF"},
		"two objects":         {"/api/runs", `{"file": "a"} {}`, nil, 400, BadRequest, "the body cannot be read: not valid JSON: something follows the value"},
		"a list":              {"/api/runs", `[]`, nil, 422, failure.InvalidRequest, "the body is not what is expected: expected object, got array"},
		"neither":             {"/api/runs", `{}`, nil, 422, failure.InvalidRequest, `the body is not what is expected: missing required property "file"`},
		"both":                {"/api/runs", `{"file": "a", "cascade": {}}`, nil, 422, failure.InvalidRequest, "the body is not what is expected: fits more than one of the allowed forms, must fit exactly one"},
		"more rights":         {"/api/runs", `{"file": "a", "allow_commands": true}`, nil, 422, failure.InvalidRequest, `unknown property "allow_commands"`},
		"roots":               {"/api/runs", `{"file": "a", "roots": ["/"]}`, nil, 422, failure.InvalidRequest, `unknown property "roots"`},
		"another case":        {"/api/runs", `{"file": "a", "Model": "m"}`, nil, 422, failure.InvalidRequest, `unknown property "Model"`},
		"a phase in a model":  {"/api/runs", `{"file": "a", "model": "p=m"}`, nil, 422, failure.InvalidRequest, `/model: "p=m" does not match the pattern "^[^=]+$"`},
		"a path as an id":     {"/api/runs", `{"file": "a", "session_id": "../x"}`, nil, 422, failure.InvalidRequest, `/session_id: "../x" does not match`},
		"too much":            {"/api/runs", `{"file": "` + strings.Repeat("a", 200_000) + `"}`, nil, 413, BodyTooLarge, "the body has more than 200000 bytes"},
		"a body for nothing":  {"/api/sessions/s1/cancel", `{}`, nil, 400, BadRequest, "POST /api/sessions/s1/cancel takes no body"},
		"a name twice":        {"/api/runs", `{"file": "a", "session_id": "a", "session_id": "b"}`, nil, 400, BadRequest, `an object has the name "session_id" twice`},
		"a limit twice":       {"/api/runs", `{"file": "a", "budget": {"max_usd": -1}, "budget": {}}`, nil, 400, BadRequest, `an object has the name "budget" twice`},
		"twice, escaped":      {"/api/runs", `{"file": "a", "fil\u0065": "b"}`, nil, 400, BadRequest, `an object has the name "file" twice`},
		"twice, far inside":   {"/api/runs", `{"file": "a", "input": {"x": [{"y": {"z": 1}, "z": {"z": 2, "z": 3}}]}}`, nil, 400, BadRequest, `an object has the name "z" twice`},
		"twice when resumed":  {"/api/sessions/s1/resume", `{"budget": {"max_usd": -1}, "budget": {"max_tokens": 1}}`, nil, 400, BadRequest, `an object has the name "budget" twice`},
		"below zero":          {"/api/sessions/s1/resume", `{"budget": {"max_usd": -1}}`, nil, 422, failure.InvalidRequest, "/budget/max_usd: must be at least 0, got -1"},
		"a path of a mile":    {"/api/runs", `{"file": "` + strings.Repeat("a/", 2049) + `"}`, nil, 422, failure.InvalidRequest, "/file: "},
		"deeper than deep":    {"/api/runs", `{"cascade": ` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20001), nil, 400, BadRequest, "exceeded max depth"},
		"a limit that is not": {"GET /api/sessions?limit=0", "", nil, 400, BadRequest, "limit=0 is not a number from 1 to 1000"},
		"from nowhere":        {"GET /api/sessions/s1/events?from=0", "", nil, 400, BadRequest, "from=0 is not the number of an entry; they are counted from 1"},
		"after nothing":       {"GET /api/sessions/s1/events", "", []string{"Last-Event-ID", "-3"}, 400, BadRequest, `Last-Event-ID "-3" is not the number of an entry`},
		"a call with slashes": {"GET /api/sessions/s1/context/p/attempt1/turn1", "", nil, 404, failure.UnknownCall, `no call "p/attempt1/turn1"`},
		"a call, encoded":     {"GET /api/sessions/s1/context/p%2Fattempt1%2Fturn1", "", nil, 404, failure.UnknownCall, `no call "p/attempt1/turn1"`},
		"no address":          {"GET /api/session", "", nil, 404, NotFound, "there is nothing at /api/session"},
		"outside the API":     {"GET /", "", nil, 404, NotFound, "there is nothing at /"},
		"no method":           {"DELETE /api/sessions/s1", "", nil, 405, WrongMethod, "/api/sessions/s1 has no DELETE"},
		"options":             {"OPTIONS /api/runs", "", nil, 405, WrongMethod, "/api/runs has no OPTIONS"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, path, ok := strings.Cut(tt.path, " ")
			if !ok {
				method, path = http.MethodPost, tt.path
			}
			var body any
			if tt.body != "" {
				body = tt.body
			}
			a := b.client.Do(t, method, path, body, tt.headers...)
			kind, detail, _ := a.Problem(t)
			require.Equal(t, tt.status, a.Status, "%s", a.Body)
			require.Equal(t, string(tt.kind), kind)
			require.Contains(t, detail, tt.detail)
		})
	}
	t.Cleanup(func() { require.Empty(t, b.fake.started) })
}

func TestStart(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{})
	a := b.client.Do(t, http.MethodPost, "/api/runs", `{"cascade": {"n": 12345678901234567890}, "input": {"n": 1.10}, "models": {"p": "m"}, "session_id": "a.b"}`,
		"Content-Type", "application/json; charset=utf-8")
	require.Equal(t, http.StatusCreated, a.Status)
	require.Equal(t, "/api/sessions/s1", a.Header.Get("Location"))
	require.Equal(t, []RunRequest{{
		Cascade: []byte(`{"n": 12345678901234567890}`), Input: []byte(`{"n": 1.10}`), Models: map[string]string{"p": "m"}, SessionID: "a.b",
	}}, b.fake.started, "numbers arrive as they were written")
	require.Equal(t, http.StatusAccepted, b.client.Do(t, http.MethodPost, "/api/sessions/s1/cancel", nil).Status)
	require.Equal(t, http.StatusAccepted, b.client.Do(t, http.MethodPost, "/api/sessions/s1/resume", nil).Status)
	require.Equal(t, http.StatusAccepted, b.client.Do(t, http.MethodPost, "/api/sessions/s1/resume", `{}`).Status)
}

// TestFaultsStayInside: what is not meant for clients goes to the log and not to them.
func TestFaultsStayInside(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"an error": errors.New("secret detail"), "a panic": errPanic} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBundle(t, Options{})
			b.fake.err = err
			a := b.client.Do(t, http.MethodGet, "/api/sessions/s1", nil)
			require.Equal(t, http.StatusInternalServerError, a.Status)
			kind, detail, try := a.Problem(t)
			require.Equal(t, string(Internal), kind)
			require.Equal(t, "windlass failed to answer this request", detail)
			require.Equal(t, "look at the server's log", try)
			require.Contains(t, b.log.String(), `GET "/api/sessions/s1": `)
			b.fake.err = nil
			require.Equal(t, http.StatusOK, b.client.Do(t, http.MethodGet, "/api/sessions/s1", nil).Status)
		})
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	b := newBundle(t, Options{})
	p := NewProblem(TooManyRuns, "later", "too many")
	p.RetryAfter = 1200 * time.Millisecond
	b.fake.err = p
	a := b.client.Do(t, http.MethodPost, "/api/runs", `{"file": "a.json"}`)
	require.Equal(t, http.StatusTooManyRequests, a.Status)
	require.Equal(t, "2", a.Header.Get("Retry-After"))
}

// steps are the outcomes of Next, one after the other; the last one is repeated.
type steps struct {
	mu     sync.Mutex
	list   []step
	closed chan struct{}
}

type step struct {
	entries []*echo.Entry
	ended   bool
	err     error
}

func (s *steps) Next() ([]*echo.Entry, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.list[0]
	if len(s.list) > 1 {
		s.list = s.list[1:]
	}
	return now.entries, now.ended, now.err
}

func (s *steps) Close() error { close(s.closed); return nil }

func entryOf(seq uint64) *echo.Entry {
	return &echo.Entry{SessionID: "s1", Seq: seq, NodeType: echo.NodeState, Key: echo.MustKey("k"), Data: []byte(`{"text":"a\nb"}`)}
}
