package record

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// Sent is what became of one message of a history in one model call.
type Sent struct {
	Hash   echo.Hash // of the original message
	Form   string
	Reason string
	Tokens int64 // of what was sent for it

	Full bool            // the message itself was sent, and nothing else for it
	As   []*echo.Message // otherwise what was sent for it, in order; empty when nothing was
}

// Change is a message of a history of which a call was sent something else than the call before in its conversation, or that was
// not there yet.
type Change struct {
	At  int  // its index in the history
	Was Sent // in the call before; the zero value: it was not there
}

// Selections puts selections together again, as entries name only what changed. It is given all
// entries of one session in their order and belongs to one goroutine.
type Selections struct {
	views   map[echo.Key][]Sent // by the key of the visit, or of the branch below it
	changes []Change            // of the selection that was read last
}

// NewSelections returns a reader that has read nothing yet.
func NewSelections() *Selections { return &Selections{views: map[echo.Key][]Sent{}} }

// Read takes the next entry. For a selection it returns what became of every message of the
// history, in order, valid until the next call; for any other entry nil. After an error the
// selections of that conversation cannot be read until one names every message.
func (r *Selections) Read(e *echo.Entry) ([]Sent, error) {
	switch {
	case e.NodeType == echo.NodePhaseStart:
		forget(r.views, e.Key.VisitKey())
		return nil, nil
	case hasCompleted(e):
		forget(r.views, Conversation(e.Key))
		return nil, nil
	case e.NodeType != echo.NodeSelection || e.Selection == nil:
		return nil, nil
	}
	key := Conversation(e.Key)
	view, known := r.views[key]
	if e.Selection.Delta && !known {
		return nil, fmt.Errorf("entry %d (%s): the selection says what changed since the one before it, which is not there", e.Seq, e.Key)
	}
	if !e.Selection.Delta {
		view = view[:0]
	}
	r.changes = r.changes[:0]
	for i := range e.Selection.Spans {
		s := &e.Selection.Spans[i]
		if why := misfit(s, len(view)); why != "" {
			delete(r.views, key)
			return nil, fmt.Errorf("entry %d (%s): span %d (%s, %d messages from %d): %s", e.Seq, e.Key, i+1, s.Form, s.Count, s.From, why)
		}
		view = r.applied(s, view)
	}
	r.views[key] = view
	return view, nil
}

// hasCompleted reports whether an entry is the end of a visit, or of a part of it, that cannot be
// resumed.
func hasCompleted(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseEnd && e.Error == nil }

// misfit says why a span cannot be applied to a history of so many messages; "" when it can.
func misfit(s *echo.Span, have int) string {
	switch {
	case s.From < 0 || s.From > have:
		return fmt.Sprintf("it does not continue the %d messages before it", have)
	case s.Count != len(s.Hashes):
		return fmt.Sprintf("it has %d hashes", len(s.Hashes))
	case s.Count != len(s.Tokens):
		return fmt.Sprintf("it has %d counts of tokens", len(s.Tokens))
	case s.Sent != nil && s.Count != len(s.Sent):
		return fmt.Sprintf("it says what was sent for %d messages", len(s.Sent))
	}
	return ""
}

// applied writes the messages of a span over those that the view has of them, and adds the others.
func (r *Selections) applied(s *echo.Span, view []Sent) []Sent {
	for i := range s.Count {
		sent := Sent{Hash: s.Hashes[i], Form: s.Form, Reason: s.Reason, Tokens: s.Tokens[i], Full: s.Sent == nil}
		if s.Sent != nil {
			sent.As = s.Sent[i]
		}
		at := s.From + i
		if at == len(view) {
			view = append(view, Sent{})
		}
		r.changes = append(r.changes, Change{At: at, Was: view[at]})
		view[at] = sent
	}
	return view
}
