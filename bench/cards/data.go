package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

const (
	ownSession = "session-own"
	embedder   = "bench-model"
	phases     = 4
	ownPerTurn = 2 // messages of a turn group: an answer that calls a tool, and the result
)

// made is what there is to choose from and what is asked for.
type made struct {
	all    []contextcards.Card // of all sessions, in the order in which runs side by side would write them
	groups []selection.Group   // of the session that is selected in, without cards
	task   string
	vector []float32
}

// makeCards makes cards that look like those of real sessions: summaries of some 25 words out of 4,000, which are not
// equally frequent, keywords out of them, and embeddings without a pattern.
func makeCards(s size) made {
	r := rand.New(rand.NewPCG(uint64(s.cards), uint64(s.dimensions)))
	words := vocabulary(r)
	m := made{task: sentence(r, words, 15), vector: vector(r, s.dimensions)}
	var own []contextcards.Card
	for i := range s.own {
		c, item := makeCard(r, words, ownSession, i, s)
		own = append(own, c)
		if i%ownPerTurn == 0 {
			m.groups = append(m.groups, selection.Group{ID: c.Hash, Phase: c.Phase, Segment: i * phases / s.own})
		}
		g := &m.groups[len(m.groups)-1]
		g.Items, g.Tokens = append(g.Items, item), g.Tokens+c.Tokens
	}
	others := s.cards - s.own
	for i := range others {
		c, _ := makeCard(r, words, fmt.Sprintf("session-%d", i%(s.sessions-1)), i/(s.sessions-1), s)
		m.all = append(m.all, c)
		// The session's own cards come evenly in between.
		for len(own) > 0 && len(own)*others > (others-i-1)*s.own {
			m.all, own = append(m.all, own[0]), own[1:]
		}
	}
	return m
}

func makeCard(r *rand.Rand, words []string, session string, i int, s size) (contextcards.Card, echo.Item) {
	text := sentence(r, words, 20+r.IntN(10))
	message := echo.NewText(echo.RoleAssistant, echo.KindAnswer, fmt.Sprintf("%s (%s, %d)", text, session, i))
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC).Add(time.Duration(i) * time.Second)
	turn := i/ownPerTurn + 1
	return contextcards.Card{
		SessionID: session, Hash: message.Hash(), Summary: text, Keywords: strings.Fields(text)[:10], Embedding: vector(r, s.dimensions),
		EmbeddingModel: embedder, Tokens: int64(50 + r.IntN(400)), Role: echo.RoleAssistant, Phase: fmt.Sprintf("phase%d", i*phases/s.own),
		Visit: 1, Attempt: 1, Turn: turn, Order: i + 1, GeneratedAt: at.Add(time.Second), Generator: contextcards.GeneratorMessage, MessageAt: at,
	}, echo.Item{Message: message, Attempt: 1, Turn: turn}
}

// vocabulary returns words of three to nine letters.
func vocabulary(r *rand.Rand) []string {
	words := make([]string, 4000)
	for i := range words {
		b := make([]byte, 3+r.IntN(7))
		for j := range b {
			b[j] = byte('a' + r.IntN(26))
		}
		words[i] = string(b)
	}
	return words
}

// sentence picks words, the first ones more often.
func sentence(r *rand.Rand, words []string, n int) string {
	picked := make([]string, n)
	for i := range picked {
		x := r.Float64()
		picked[i] = words[int(x*x*float64(len(words)))]
	}
	return strings.Join(picked, " ")
}

func vector(r *rand.Rand, dimensions int) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}
