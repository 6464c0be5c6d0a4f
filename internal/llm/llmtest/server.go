// Package llmtest is a strict OpenAI-compatible server for tests: what a real provider would refuse
// is answered with status 400 and remembered, so that a test can fail on it.
package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// Request is a request that has passed the checks.
type Request struct {
	Model    string
	Messages []Message
	Tools    []Tool
	Stream   bool
	Usage    bool            // stream_options.include_usage
	NoCalls  bool            // tool_choice is "none"
	Options  map[string]any  // all other members
	Header   http.Header     // as received
	Raw      json.RawMessage // the whole body
	Number   int             // from 1, in the order of arrival

	begun int // answers that had begun when it arrived
}

// Message is one message of a request.
type Message struct {
	Role       string          `json:"role"`
	Content    json.RawMessage `json:"content"`
	ToolCalls  []Call          `json:"tool_calls,omitempty"`
	ToolCallID string          `json:"tool_call_id,omitempty"`

	ReasoningContent json.RawMessage `json:"reasoning_content,omitempty"`
	ReasoningDetails json.RawMessage `json:"reasoning_details,omitempty"`
}

// Text returns the content's text.
func (m *Message) Text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// parts returns the content as a list of parts, nil for a text.
func (m *Message) parts() (parts []map[string]json.RawMessage) {
	if json.Unmarshal(m.Content, &parts) != nil {
		return nil
	}
	return parts
}

// Marked reports whether a part of the content is marked for the prefix cache.
func (m *Message) Marked() bool {
	return slices.ContainsFunc(m.parts(), func(p map[string]json.RawMessage) bool { return p["cache_control"] != nil })
}

// Tool is a tool that a request offers.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Call is a tool call.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// UnmarshalJSON reads the protocol's shape.
func (c *Call) UnmarshalJSON(b []byte) error {
	var in struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Type != "function" {
		return fmt.Errorf("tool call of type %q", in.Type)
	}
	c.ID, c.Name, c.Arguments = in.ID, in.Function.Name, in.Function.Arguments
	return nil
}

// Answer is what the server answers. The zero value is an empty text.
type Answer struct {
	Text      string
	Reasoning string // sent as reasoning_content
	Details   string // a JSON list, sent as reasoning_details; only in a stream
	Refusal   string
	Calls     []Call
	Finish    string         // default: tool_calls with calls, else stop
	Usage     map[string]any // the usage object; nil: none is sent
	Model     string         // default: as asked for
	Plain     bool           // answer with plain JSON although a stream was asked for
	Raw       string         // written in place of the events or of the JSON
	Header    http.Header    // added to the response
	Fault     Fault          // goes wrong instead
	Vectors   [][]float64    // to /embeddings: one for each text
}

// Config says how a server behaves.
type Config struct {
	Key    string                     // the key that requests must carry; empty: any or none
	Models []string                   // the models there are; empty: all
	Listed string                     // the answer to /models; empty: the list of Models
	Window int64                      // what a model's page says of its window; 0: nothing
	Answer func(Request) *Answer      // decides each answer; nil: the text "ok"
	Embed  func(EmbedRequest) *Answer // decides each answer to /embeddings; nil: a vector for each text
	// Sent is told what has been sent of a completion: a part, before the rest is held back or
	// dropped, or all of it. May be nil.
	Sent func(r Request, whole bool)
	// NoStream refuses requests for a stream, as endpoints do that cannot stream.
	NoStream bool
	// Thinking wants reasoning_content with every answer that calls tools; else it is refused, as a
	// member nobody knows, unless the endpoint takes reasoning_details.
	Thinking bool
	// Details takes reasoning_details.
	Details bool
	// CacheControl takes parts with cache_control; else they are refused, as members nobody knows.
	CacheControl bool
	// Lenient turns the checks of messages off, for benchmarks of the client.
	Lenient bool
	// Prices are what an answer to a completion is charged, unless it has a usage of its own; nil: nothing.
	Prices *Prices
	// ModelPrices are those of models that have prices of their own.
	ModelPrices map[string]*Prices
	Cache       Cache // which requests are read from it, where answers are charged
}

// Cache says which requests may read a prefix from the cache.
type Cache int

// The caches.
const (
	Warm    Cache = iota // all that are answered after an answer to it, however early they arrived
	Started              // those that arrive when an answer to it has begun, as with real providers
	NoCache
)

// Server is a running server. It is safe for concurrent use.
type Server struct {
	URL string // the base URL for clients, up to and with /v1

	cfg  Config
	http *httptest.Server
	done chan struct{}
	once sync.Once // of Close

	mu       sync.Mutex
	requests []Request
	embedded []EmbedRequest
	refused  []error
	bill     []Charge
	count    int
}

// Start starts a server on loopback.
func Start(cfg Config) *Server {
	if cfg.Answer == nil {
		cfg.Answer = func(Request) *Answer { return &Answer{Text: "ok"} }
	}
	s := &Server{cfg: cfg, done: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL + "/v1"
	return s
}

// Close ends the server, also the requests that hang. It may be called twice.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.done)
		s.http.CloseClientConnections()
		s.http.Close()
	})
}

// Requests returns the requests that passed the checks so far. A lenient server remembers none.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused returns why requests were refused by the checks.
func (s *Server) Refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.refused...)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	data, err := readAll(r)
	if err != nil {
		return // the client has gone
	}
	if isModelQuestion(r) && s.cfg.Window > 0 {
		_ = json.NewEncoder(w).Encode(map[string]any{"id": strings.TrimPrefix(r.URL.Path, "/v1/models/"), "max_model_len": s.cfg.Window})
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == "/v1/models" {
		s.serveModels(w, r)
		return
	}
	if status, code, err := s.admit(r); err != nil {
		writeError(w, status, code, err.Error())
		return
	}
	if r.URL.Path == embeddingsPath {
		s.serveEmbeddings(w, r, data)
		return
	}
	req, err := s.read(data)
	if err != nil {
		s.refuse(w, err)
		return
	}
	if len(s.cfg.Models) > 0 && !contains(s.cfg.Models, req.Model) {
		writeError(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("The model `%s` does not exist", req.Model))
		return
	}
	req.Header, req.Raw = r.Header, data
	s.mu.Lock()
	s.count++
	req.Number, req.begun = s.count, len(s.bill)
	if !s.cfg.Lenient {
		s.requests = append(s.requests, *req)
	}
	s.mu.Unlock()
	a := s.cfg.Answer(*req)
	if a == nil {
		a = &Answer{}
	}
	a = s.charge(req, a)
	s.respond(w, r, req, a)
	if s.cfg.Sent != nil && a.Fault == (Fault{}) {
		_ = http.NewResponseController(w).Flush() // fails when the client has gone
		s.cfg.Sent(*req, true)
	}
}

// refuse answers a request that has not passed the checks, and remembers why.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	s.mu.Lock()
	s.refused = append(s.refused, err)
	s.mu.Unlock()
	writeError(w, http.StatusBadRequest, "invalid_request_error", err.Error())
}

// readAll reads a body into a slice of the right size, for benchmarks of the client.
func readAll(r *http.Request) ([]byte, error) {
	const largest = 256 << 20
	if r.ContentLength < 0 || r.ContentLength > largest {
		return io.ReadAll(io.LimitReader(r.Body, largest))
	}
	data := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, data)
	return data, err
}

// serveModels lists the models.
func (s *Server) serveModels(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.cfg.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.cfg.Key:
		writeError(w, http.StatusUnauthorized, "invalid_api_key", "incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	case s.cfg.Listed != "":
		_, _ = io.WriteString(w, s.cfg.Listed)
		return
	}
	data := []any{}
	for _, id := range s.cfg.Models {
		data = append(data, map[string]any{"id": id, "object": "model"})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
}

// isModelQuestion reports whether a request asks what the server knows of a model.
func isModelQuestion(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v1/models/")
}

// admit checks the request line and the headers.
func (s *Server) admit(r *http.Request) (status int, code string, err error) {
	switch {
	case r.URL.Path != "/v1/chat/completions" && r.URL.Path != embeddingsPath:
		return http.StatusNotFound, "unknown_url", fmt.Errorf("unknown request URL: %s %s", r.Method, r.URL.Path)
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "method_not_allowed", fmt.Errorf("only POST is allowed")
	case !strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"):
		return http.StatusUnsupportedMediaType, "unsupported_media_type", fmt.Errorf("content type %q", r.Header.Get("Content-Type"))
	case s.cfg.Key != "" && r.Header.Get("Authorization") != "Bearer "+s.cfg.Key:
		return http.StatusUnauthorized, "invalid_api_key", fmt.Errorf("incorrect API key provided: %s", r.Header.Get("Authorization"))
	}
	return 0, "", nil
}

func contains(list []string, s string) bool {
	for _, l := range list {
		if l == s {
			return true
		}
	}
	return false
}

func writeError(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	// A client that has gone does not read the error, and nothing is left to do for it.
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": code, "code": code, "param": nil}})
}
