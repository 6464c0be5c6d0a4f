package locomo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// cardTimeout bounds one call of an embedder: a model on a small machine may take its time.
const cardTimeout = 10 * time.Minute

// candidates are the turns of a conversation as a selection sees them, with the vectors of one embedder.
type candidates struct {
	groups    []selection.Group
	session   string
	pipe      *contextcards.Pipeline // closed; it knows the vectors of the turns
	questions [][]float32            // vectors, nil for one that the embedder knows nothing of
}

// lay makes the cards of a conversation the way a run makes them, and embeds its questions. An embedder that fails is an
// error here: without its vectors something else would be measured.
func lay(ctx context.Context, c *Conversation, by contextcards.Embedder) (*candidates, error) {
	pipe, cards, err := makeCards(ctx, c, by)
	if err != nil {
		return nil, err
	}
	out := &candidates{session: c.ID, pipe: pipe, groups: make([]selection.Group, len(c.Turns))}
	for i, t := range c.Turns {
		m := message(t)
		out.groups[i] = selection.Group{
			ID: m.Hash(), Items: []echo.Item{{Message: m, Attempt: 1, Turn: i + 1}}, Cards: cards[i : i+1],
			Segment: t.Session, Phase: cards[i].Phase, Tokens: t.Tokens,
		}
	}
	if by != nil {
		out.questions, err = embedQuestions(ctx, c, by)
	}
	return out, err
}

func message(t Turn) *echo.Message { return echo.NewText(echo.RoleAssistant, echo.KindAnswer, t.Text) }

// makeCards has a pipeline make a card for each turn. Each session of the conversation is a phase.
func makeCards(ctx context.Context, c *Conversation, by contextcards.Embedder) (*contextcards.Pipeline, []contextcards.Card, error) {
	var mu sync.Mutex
	var notices []error
	pipe := contextcards.Start(contextcards.Options{
		Embedder: by, Timeout: cardTimeout, Queue: max(len(c.Turns), 1),
		Notice: func(_ contextcards.NoticeKind, detail string) {
			mu.Lock()
			defer mu.Unlock()
			notices = append(notices, errors.New(detail))
		},
	})
	sources := make([]contextcards.Source, len(c.Turns))
	for i, t := range c.Turns {
		sources[i] = contextcards.Source{
			SessionID: c.ID, Message: message(t), Phase: fmt.Sprintf("session_%d", t.Session),
			Visit: 1, Attempt: 1, Turn: i + 1, Order: i + 1,
		}
		pipe.Add(sources[i])
	}
	cards, late := pipe.Wait(ctx, sources)
	closed := pipe.Close(ctx) // what went wrong is told by now
	mu.Lock()
	defer mu.Unlock()
	err := errors.Join(notices...)
	switch {
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case err == nil && closed != nil:
		err = closed
	case err == nil && late > 0:
		err = fmt.Errorf("%d of %d are not finished", late, len(cards))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make the cards of %s: %w", c.ID, err)
	}
	return pipe, cards, nil
}

func embedQuestions(ctx context.Context, c *Conversation, by contextcards.Embedder) ([][]float32, error) {
	texts := make([]string, len(c.Questions))
	for i := range c.Questions {
		texts[i] = c.Questions[i].Text
	}
	vectors, err := by.Embed(ctx, texts)
	if err == nil && len(vectors) != len(texts) {
		err = fmt.Errorf("%d vectors for %d texts", len(vectors), len(texts))
	}
	if err != nil {
		return nil, fmt.Errorf("embed the questions of %s: %w", c.ID, err)
	}
	return vectors, nil
}

// compare writes down how similar each turn is to a question, for a method that makes use of it.
func (c *candidates) compare(ctx context.Context, question int, m Method) {
	similar := map[echo.Hash]float64{}
	if m.usesSimilarity() && c.questions[question] != nil {
		list, _ := c.pipe.Rank(ctx, c.session, c.questions[question], len(c.groups))
		for _, r := range list {
			similar[r.Hash] = r.Similarity
		}
	}
	for i := range c.groups {
		c.groups[i].Similarity, c.groups[i].Embedded = 0, false
		if s, known := similar[c.groups[i].ID]; known {
			c.groups[i].Similarity, c.groups[i].Embedded = s, true
		}
	}
}
