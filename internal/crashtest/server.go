package crashtest

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// Config is that of a [Server].
type Config struct {
	llmtest.Config

	// Name returns what tells the answer to a request from others, and what a person calls it. Equal requests
	// have equal ids.
	Name func(*llmtest.Request) (id, place string)
}

// Server is a provider whose clients die. It answers late, springs the trap that is set, and counts what it
// is asked for.
type Server struct {
	*llmtest.Server

	Late time.Duration // the longest time that an answer takes; set before the first request

	answer func(llmtest.Request) *llmtest.Answer
	name   func(*llmtest.Request) (id, place string)

	mu      sync.Mutex
	trap    *Trap
	asked   map[string]int  // how often an answer was asked for
	settled map[string]bool // answers that were recorded when a process died
	again   []string        // that were asked for again all the same
}

// Start starts a server. Who starts it closes it.
func Start(cfg Config) *Server {
	s := &Server{answer: cfg.Answer, name: cfg.Name, asked: map[string]int{}, settled: map[string]bool{}}
	cfg.Answer, cfg.Sent = s.say, s.sent
	s.Server = llmtest.Start(cfg.Config)
	return s
}

func (s *Server) say(r llmtest.Request) *llmtest.Answer {
	a := s.answer(r)
	t := s.ask(&r)
	if s.Late > 0 {
		time.Sleep(rand.N(s.Late)) // of a model that thinks; nothing waits for it
	}
	switch t.request() { //nolint:exhaustive // the others are not of requests
	case AtRequest:
		t.spring()
	case AtHalf:
		a.Fault.HangAt = llmtest.AtMiddle
	}
	return a
}

// ask counts a request and returns the trap that is set.
func (s *Server) ask(r *llmtest.Request) *Trap {
	id, place := s.name(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[id]++
	if s.settled[id] {
		s.again = append(s.again, place)
	}
	return s.trap
}

func (s *Server) sent(_ llmtest.Request, whole bool) {
	s.mu.Lock()
	t := s.trap
	s.mu.Unlock()
	if !whole || t.answered() {
		t.spring()
	}
}

// Set sets a trap for the process that comes next, nil for none.
func (s *Server) Set(t *Trap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trap = t
}

// Settle notes which answers are recorded: they must not be asked for again.
func (s *Server) Settle(ids ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.settled[id] = true
	}
}

// Asked returns how often each answer was asked for.
func (s *Server) Asked() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.asked)
}

// Again returns the places of the answers that were recorded and asked for again, once for each time.
func (s *Server) Again() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.again)
}
