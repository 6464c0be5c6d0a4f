package contextcards

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Memory is a [Store] in memory. The zero value is ready.
type Memory struct {
	mu       sync.RWMutex
	sessions map[string]shelf
}

type shelf struct {
	cards   map[echo.Hash]Card
	vectors map[vectorKey]vector
}

type vectorKey struct {
	embedder string
	hash     echo.Hash
}

// vector is an embedding and the version of the card that it came with.
type vector struct {
	values []float32
	at     time.Time
}

// Put takes cards. It never fails.
func (s *Memory) Put(_ context.Context, cards []Card) error {
	s.put(cards...)
	return nil
}

func (s *Memory) put(cards ...Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[string]shelf{}
	}
	for _, c := range cards {
		at, known := s.sessions[c.SessionID]
		if !known {
			at = shelf{cards: map[echo.Hash]Card{}, vectors: map[vectorKey]vector{}}
			s.sessions[c.SessionID] = at
		}
		if !c.GeneratedAt.Before(at.cards[c.Hash].GeneratedAt) {
			at.cards[c.Hash] = c
		}
		k := vectorKey{c.EmbeddingModel, c.Hash}
		if len(c.Embedding) > 0 && !c.GeneratedAt.Before(at.vectors[k].at) {
			at.vectors[k] = vector{c.Embedding, c.GeneratedAt}
		}
	}
}

// Cards returns the cards of a session.
func (s *Memory) Cards(_ context.Context, sessionID string) ([]Card, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.SortedFunc(maps.Values(s.sessions[sessionID].cards), func(a, b Card) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Hash, b.Hash))
	}), nil
}

func (s *Memory) card(k key) (Card, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	c, ok := s.sessions[k.session].cards[k.hash]
	return c, ok
}

// Rank compares a vector with every card of the session, exactly.
func (s *Memory) Rank(_ context.Context, sessionID, embedder string, query []float32, limit int) ([]Ranked, error) {
	query = Unit(query)
	if query == nil || limit <= 0 {
		return nil, nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.sessions[sessionID]
	var out []Ranked
	for k, v := range at.vectors {
		if k.embedder != embedder || len(v.values) != len(query) {
			continue
		}
		if square := dot(v.values, v.values); square > 0 {
			similarity := dot(v.values, query) / math.Sqrt(square)
			out = append(out, Ranked{Hash: k.hash, Similarity: min(max(similarity, -1), 1)})
		}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity),
			cmp.Compare(at.cards[a.Hash].Order, at.cards[b.Hash].Order), cmp.Compare(a.Hash, b.Hash))
	})
	return out[:min(limit, len(out))], nil
}
