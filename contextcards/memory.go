package contextcards

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Memory is a [Store] in memory. It is what a process knows for itself: the cards that it made,
// whether another store took them or not. The zero value is empty and ready.
type Memory struct {
	mu       sync.RWMutex
	sessions map[string]*shelf
}

// shelf holds the cards of a session.
type shelf struct {
	cards   map[echo.Hash]Card
	vectors map[string]map[echo.Hash]vector // by embedder
}

// vector is an embedding and the version of the card that it came with.
type vector struct {
	values []float32
	at     time.Time
}

// Put takes cards. It never fails.
func (s *Memory) Put(_ context.Context, cards []Card) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range cards {
		s.put(&cards[i])
	}
	return nil
}

// keep puts one card, while others may be read.
func (s *Memory) keep(c *Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(c)
}

func (s *Memory) put(c *Card) {
	at := s.sessions[c.SessionID]
	if at == nil {
		if s.sessions == nil {
			s.sessions = map[string]*shelf{}
		}
		at = &shelf{cards: map[echo.Hash]Card{}, vectors: map[string]map[echo.Hash]vector{}}
		s.sessions[c.SessionID] = at
	}
	if old, known := at.cards[c.Hash]; !known || !c.GeneratedAt.Before(old.GeneratedAt) {
		at.cards[c.Hash] = *c
	}
	if len(c.Embedding) == 0 {
		return
	}
	vectors := at.vectors[c.EmbeddingModel]
	if vectors == nil {
		vectors = map[echo.Hash]vector{}
		at.vectors[c.EmbeddingModel] = vectors
	}
	if old, known := vectors[c.Hash]; !known || !c.GeneratedAt.Before(old.at) {
		vectors[c.Hash] = vector{c.Embedding, c.GeneratedAt}
	}
}

// Cards returns the cards of a session.
func (s *Memory) Cards(_ context.Context, sessionID string) ([]Card, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.sessions[sessionID]
	if at == nil {
		return nil, nil
	}
	out := make([]Card, 0, len(at.cards))
	for _, c := range at.cards {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Card) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Hash, b.Hash))
	})
	return out, nil
}

// card returns one card.
func (s *Memory) card(sessionID string, h echo.Hash) (Card, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.sessions[sessionID]
	if at == nil {
		return Card{}, false
	}
	c, ok := at.cards[h]
	return c, ok
}

// Rank compares a vector with every card of the session, exactly.
func (s *Memory) Rank(_ context.Context, sessionID, embedder string, query []float32, limit int) ([]Ranked, error) {
	query = unit(query)
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.sessions[sessionID]
	if at == nil || query == nil || limit <= 0 {
		return nil, nil
	}
	vectors := at.vectors[embedder]
	out := make([]Ranked, 0, len(vectors))
	for h, v := range vectors {
		if len(v.values) != len(query) {
			continue
		}
		if square := dot(v.values, v.values); square > 0 {
			similarity := dot(v.values, query) / math.Sqrt(square)
			out = append(out, Ranked{Hash: h, Similarity: min(max(similarity, -1), 1)})
		}
	}
	slices.SortFunc(out, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity),
			cmp.Compare(at.cards[a.Hash].Order, at.cards[b.Hash].Order), cmp.Compare(a.Hash, b.Hash))
	})
	return out[:min(limit, len(out))], nil
}
