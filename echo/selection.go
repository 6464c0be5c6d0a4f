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
	visits map[string][]Sent // by phase; a phase that begins again starts anew
}

// NewSelectionReader returns a reader that has seen nothing yet.
func NewSelectionReader() *SelectionReader { return &SelectionReader{visits: map[string][]Sent{}} }

// Read takes the next entry. For a selection it returns what became of every message of the phase's history, in order;
// the slice is valid until the next call. For any other entry it returns nil. An error says that the entries do not fit
// together.
func (r *SelectionReader) Read(e *Entry) ([]Sent, error) {
	switch {
	case e.NodeType == NodePhaseStart || e.NodeType == NodePhaseEnd:
		delete(r.visits, e.Phase)
		return nil, nil
	case e.NodeType != NodeSelection || e.Selection == nil:
		return nil, nil
	}
	view := r.visits[e.Phase]
	if !e.Selection.Delta {
		view = view[:0]
	}
	for _, s := range e.Selection.Spans {
		if s.From < 0 || s.From > len(view) || s.Count != len(s.Hashes) || s.Count != len(s.Tokens) ||
			s.Sent != nil && s.Count != len(s.Sent) {
			return nil, fmt.Errorf("entry %d (%s): a span from message %d does not continue the %d messages before it",
				e.Seq, e.Key, s.From, len(view))
		}
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
	}
	r.visits[e.Phase] = view
	return view, nil
}
