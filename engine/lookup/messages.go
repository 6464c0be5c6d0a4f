// Package lookup has the messages of a session, of which cards are made (messages.go), and the
// tools by which a model finds them again: recall by hash, search_context by words or similarity.
package lookup

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/withheld"
)

// Cards are made of messages in the background, for concurrent use, as by [contextcards.Pipeline].
type Cards interface {
	// Add takes a message that entered the session or was marked as a callout. It never blocks.
	Add(contextcards.Source)
	// Wait returns the cards of sources until ctx ends: one not ready is extracted and marked
	// late.
	Wait(ctx context.Context, sources []contextcards.Source) (cards []contextcards.Card, late int)
	// Mark records that messages came into another phase as anchors.
	Mark(sessionID string, anchors []echo.Hash)
}

// Similarity compares a text with a session's messages by embeddings, for concurrent use.
type Similarity interface {
	// Name returns the embedder's model and dimensions.
	Name() string
	// Similar returns the similarity of at most limit messages with an embedding to a text.
	// degraded says what was not done as usual.
	Similar(ctx context.Context, sessionID, text string, limit int) (list []contextcards.Ranked, degraded string, err error)
}

// CompareLimit bounds how long a comparison waits for an embedder and the ranking by it.
const CompareLimit = 15 * time.Second

// Messages are all messages that entered a session. They belong to the run's goroutine.
type Messages struct {
	Session    *echo.Session
	Cards      Cards      // nil: none are made in the background
	Similarity Similarity // nil: nothing is compared by similarity
	Index      *selection.Index

	now     func() time.Time
	before  [][]contextcards.Source // from before the fork, in order: they are shared, and only read
	earlier int                     // how many these are
	own     []contextcards.Source   // that entered here, by their order less 1 and those earlier
}

// NewMessages returns the messages of a session that begins.
func NewMessages(s *echo.Session, cards Cards, embeddings Similarity, now func() time.Time) *Messages {
	return &Messages{Session: s, Cards: cards, Similarity: embeddings, Index: selection.NewIndex(), now: now}
}

// Enter adds a message to the history of a visit, in which it is new, and has a card made of it.
func (m *Messages) Enter(visit *echo.PhaseRecord, message *echo.Message, attempt, turn int) {
	order := m.count() + 1
	visit.History = append(visit.History, echo.Item{Message: message, Attempt: attempt, Turn: turn, Element: visit.Element, Order: order})
	s := contextcards.Source{
		SessionID: m.Session.ID, Message: message, Phase: visit.Name, Visit: visit.Visit, Attempt: attempt, Turn: turn, Order: order,
	}
	if m.Cards != nil {
		s.At = m.now()
		m.Cards.Add(s)
	}
	m.own = append(m.own, s)
	if message.Kind() == echo.KindRetract {
		m.retract(visit)
	}
}

// retract has no search find what the newest message of a visit takes back.
func (m *Messages) retract(visit *echo.PhaseRecord) {
	for i, gone := range echo.Retracted(visit.History) {
		if order := visit.History[i].Order; gone && order > m.earlier {
			m.at(order).Retracted = true
		}
	}
}

// withdrawn returns which messages, by their order, persons have taken out of the views of the session, and prompts that quote what
// is out; nil: none.
func (m *Messages) withdrawn() map[int]bool {
	if m.Session.Withdrawals.Whole() {
		return nil
	}
	out, values := map[int]bool{}, withheld.Of(m.Session)
	for _, visit := range m.Session.Phases {
		for _, it := range m.Session.Marked(visit) {
			if it.Order > 0 && (it.Withdrawn != echo.InView || values.Quoted(it.Message) != nil) {
				out[it.Order] = true
			}
		}
	}
	return out
}

// count returns how many messages entered the session.
func (m *Messages) count() int { return m.earlier + len(m.own) }

// at returns what entered the session as the message of an order.
func (m *Messages) at(order int) *contextcards.Source {
	i := order - 1 - m.earlier
	if i >= 0 {
		return &m.own[i]
	}
	for _, part := range slices.Backward(m.before) {
		if i += len(part); i >= 0 {
			return &part[i]
		}
	}
	panic(fmt.Sprintf("lookup: message %d of a fork that has left those before it", order))
}

// all returns what entered the session, the newest first.
func (m *Messages) all() iter.Seq[*contextcards.Source] {
	return func(yield func(*contextcards.Source) bool) {
		for order := m.count(); order > 0; order-- {
			if !yield(m.at(order)) {
				return
			}
		}
	}
}

// Fork returns the messages of a session that was forked, as they are now. It takes the same space
// however many these are.
func (m *Messages) Fork(s *echo.Session, now func() time.Time) *Messages {
	f := *m
	f.Session, f.now, f.Index, f.own = s, now, selection.NewIndex(), nil
	if len(m.own) > 0 {
		f.before, f.earlier = append(slices.Clip(m.before), slices.Clip(m.own)), m.count()
	}
	return &f
}

// Left returns what a fork that has ended leaves: the messages that entered it.
func (m *Messages) Left() *Messages { return &Messages{earlier: m.earlier, own: m.own} }

// Adopt returns the record of a visit of a fork as one of this session, in which its own messages get
// numbers. Their cards are made already.
func (m *Messages) Adopt(visit *echo.PhaseRecord, fork *Messages) *echo.PhaseRecord {
	r := *visit
	r.History = nil
	m.Append(&r, visit.History, fork)
	return &r
}

// Append adds messages of a fork to the history of a visit, see [Messages.Adopt].
func (m *Messages) Append(visit *echo.PhaseRecord, items []echo.Item, fork *Messages) {
	for _, it := range items {
		if it.Order > 0 {
			s := *fork.at(it.Order)
			it.Order = m.count() + 1
			s.Order = it.Order
			m.own = append(m.own, s)
		}
		it.Element = cmp.Or(it.Element, visit.Element)
		visit.History = append(visit.History, it)
	}
}

// MarkCallout has the card of a visit's message say that it is a callout. In a fork the visit is one
// of its own.
func (m *Messages) MarkCallout(visit *echo.PhaseRecord, h echo.Hash, name string) {
	for _, it := range visit.History {
		if it.Order == 0 || it.Message.Hash() != h {
			continue
		}
		s := m.at(it.Order)
		s.Callout = name
		if m.Cards != nil {
			m.Cards.Add(*s)
		}
	}
}

// Source returns what cards are made of for a message that entered the session.
func (m *Messages) Source(it *echo.Item) contextcards.Source { return *m.at(it.Order) }

// Similar returns the similarity of the session's messages to a text, see [Similarity].
func (m *Messages) Similar(ctx context.Context, text string) (similar map[echo.Hash]float64, degraded string, err error) {
	list, degraded, err := m.Similarity.Similar(ctx, m.Session.ID, text, m.count())
	similar = make(map[echo.Hash]float64, len(list))
	for _, r := range list {
		similar[r.Hash] = r.Similarity
	}
	return similar, degraded, err
}
