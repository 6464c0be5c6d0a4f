package echo

import "fmt"

// Sent is what became of one message of a history in one model call.
type Sent struct {
	Hash   Hash // of the original message
	Form   string
	Reason string
	Tokens int64 // of what was sent for it

	Full bool       // the message itself was sent, and nothing else for it
	As   []*Message // otherwise what was sent for it, in order; empty when nothing was
}

// SelectionReader puts the selections of a session together again: entries name only what changed since the selection
// before. It is fed with all entries of one session in their order and belongs to one goroutine.
type SelectionReader struct {
	visits map[Key][]Sent // by the key of the visit; a phase that begins again starts anew
}

// NewSelectionReader returns a reader that has seen nothing yet.
func NewSelectionReader() *SelectionReader { return &SelectionReader{visits: map[Key][]Sent{}} }

// Read takes the next entry. For a selection it returns what became of every message of the phase's history, in order;
// the slice is valid until the next call. For any other entry it returns nil. An error says that the entries do not fit
// together; the selections of that visit can then not be read any further, until one comes that names every message.
func (r *SelectionReader) Read(e *Entry) ([]Sent, error) {
	visit := e.Key.VisitKey()
	switch {
	case e.NodeType == NodePhaseStart || e.NodeType == NodePhaseEnd && e.Error == nil: // one that was stopped may go on
		delete(r.visits, visit)
		return nil, nil
	case e.NodeType != NodeSelection || e.Selection == nil:
		return nil, nil
	}
	view, known := r.visits[visit]
	if e.Selection.Delta && !known {
		return nil, fmt.Errorf("entry %d (%s): the selection says what changed since the one before it, which is not there", e.Seq, e.Key)
	}
	if !e.Selection.Delta {
		view = view[:0]
	}
	for i := range e.Selection.Spans {
		s := &e.Selection.Spans[i]
		if why := s.misfit(len(view)); why != "" {
			delete(r.visits, visit)
			return nil, fmt.Errorf("entry %d (%s): span %d (%s, %d messages from %d): %s", e.Seq, e.Key, i+1, s.Form, s.Count, s.From, why)
		}
		view = s.applyTo(view)
	}
	r.visits[visit] = view
	return view, nil
}

// misfit says why a span cannot be applied to a history of so many messages; "" when it can.
func (s *Span) misfit(have int) string {
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

// applyTo writes the messages of a span over those that the view has of them, and adds the others.
func (s *Span) applyTo(view []Sent) []Sent {
	for i := range s.Count {
		sent := Sent{Hash: s.Hashes[i], Form: s.Form, Reason: s.Reason, Tokens: s.Tokens[i], Full: s.Sent == nil}
		if s.Sent != nil {
			sent.As = s.Sent[i]
		}
		if at := s.From + i; at < len(view) {
			view[at] = sent
		} else {
			view = append(view, sent)
		}
	}
	return view
}
