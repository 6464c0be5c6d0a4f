package engine

import (
	"context"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Cards are made of the messages of a session, in the background. A run depends on none of them. Implementations are safe
// for concurrent use; [contextcards.Pipeline] is one.
type Cards interface {
	// Add takes a message that entered the session, and again when it was marked as a callout. It never blocks.
	Add(contextcards.Source)
	// Wait returns the card of each source, in their order, at the end of ctx at the latest: what is not made by then is
	// extracted and marked as late.
	Wait(ctx context.Context, sources []contextcards.Source) (cards []contextcards.Card, late int)
	// Mark records that messages came into another phase as anchors.
	Mark(sessionID string, anchors []echo.Hash)
}

// Similarity compares a text with the messages of a session by their embeddings. Implementations are safe for concurrent use.
type Similarity interface {
	// Name returns the embedder's model and dimensions.
	Name() string
	// Similar returns the similarity of the session's messages to a text, at most limit of them. Messages without an
	// embedding are not among them. The degraded text says what was done in another way than usual; "": nothing.
	Similar(ctx context.Context, sessionID, text string, limit int) (list []contextcards.Ranked, degraded string, err error)
}

// enter adds a message of the phase's own to the history and has a card made of it.
func (v *visit) enter(m *echo.Message, turn int) {
	order := len(v.entered) + 1
	v.record.History = append(v.record.History, echo.Item{Message: m, Attempt: v.attempt, Turn: turn, Order: order})
	s := contextcards.Source{
		SessionID: v.session.ID, Message: m, Phase: v.phase.Name, Visit: v.record.Visit, Attempt: v.attempt, Turn: turn, Order: order,
	}
	if v.Cards != nil {
		s.At = v.now()
		v.Cards.Add(s)
	}
	v.entered = append(v.entered, s)
}

// markCallout has the card of a message say that it is a callout.
func (v *visit) markCallout(h echo.Hash, name string) {
	for _, it := range v.record.History {
		if it.Order == 0 || it.Message.Hash() != h {
			continue
		}
		s := &v.entered[it.Order-1]
		s.Callout = name
		if v.Cards != nil {
			v.Cards.Add(*s)
		}
	}
}
