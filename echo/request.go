package echo

import (
	"fmt"
	"slices"
)

// Request is what one model call of a phase was sent, as the record has it: the history so far, and what became of each
// message of it. Calls that are not part of a phase's conversation (a validator's, a summary's, a recount's) have none.
type Request struct {
	Selection *Entry   // the context_selection
	History   []*Entry // the entries that hold the history of the visit, in its order; they all have a message
	Sent      []Sent   // what became of each; valid until the reader's next Read
}

// Key returns the key of the model call.
func (r *Request) Key() Key { return r.Selection.Key.ModelKey() }

// Messages returns what stands in the request for message i of the history, before it is put into words for a model
// without tool calling.
func (r *Request) Messages(i int) []*Message {
	if r.Sent[i].Full {
		return []*Message{r.History[i].Message}
	}
	return r.Sent[i].As
}

// RequestReader reads off the record of a session what each model call was sent. It is fed with all entries of one
// session in their order and belongs to one goroutine.
type RequestReader struct {
	selections *SelectionReader
	visits     map[Key]*visitHistory // by the key of the visit
}

// visitHistory is the history of one visit to a phase. It only grows.
type visitHistory struct {
	entries []*Entry
	results []toolResult // of the newest answer: they enter in the order of its calls, whatever order they ended in
}

type toolResult struct {
	number int // of the call in its answer, from 1
	entry  *Entry
}

// NewRequestReader returns a reader that has seen nothing yet.
func NewRequestReader() *RequestReader {
	return &RequestReader{selections: NewSelectionReader(), visits: map[Key]*visitHistory{}}
}

// Read takes the next entry and returns the request that it is the selection of, nil for any other entry. An error says
// that the selection does not fit the history before it.
func (r *RequestReader) Read(e *Entry) (req *Request, err error) {
	visit := e.Key.VisitKey()
	if e.NodeType == NodePhaseStart {
		delete(r.visits, visit)
	}
	sent, err := r.selections.Read(e)
	if err != nil {
		return nil, err
	}
	h := r.visits[visit]
	if h == nil {
		h = &visitHistory{}
		r.visits[visit] = h
	}
	if e.NodeType != NodeSelection || e.Selection == nil {
		h.take(e)
		return req, nil
	}
	h.settle()
	if err := fits(e, sent, h.entries); err != nil {
		return nil, err
	}
	return &Request{Selection: e, History: h.entries[:len(h.entries):len(h.entries)], Sent: sent}, nil
}

// fits checks that a selection speaks of the messages that are in the history.
func fits(e *Entry, sent []Sent, history []*Entry) error {
	if len(sent) != len(history) {
		return fmt.Errorf("entry %d (%s): the selection names %d messages, the history has %d", e.Seq, e.Key, len(sent), len(history))
	}
	for i, h := range history {
		if h.Message.Hash() != sent[i].Hash {
			return fmt.Errorf("entry %d (%s): message %d of the selection has the hash %s, that of the history (entry %d) has %s",
				e.Seq, e.Key, i+1, sent[i].Hash, h.Seq, h.Message.Hash())
		}
	}
	return nil
}

// take adds the message of an entry when it belongs to the history of the visit.
func (h *visitHistory) take(e *Entry) {
	p := e.Key.Path()
	what := p.InTurn()
	switch {
	case e.Message == nil:
	case e.NodeType == NodeMessage && e.Message.Kind() != KindSummary,
		e.NodeType == NodeModelCall && what.Kind == StepModel:
		h.settle()
		h.entries = append(h.entries, e)
	case e.NodeType == NodeToolCall && what.Kind == StepTool && what.Number > 0:
		h.results = append(h.results, toolResult{what.Number, e})
	}
}

// settle lets the results of the newest answer enter the history.
func (h *visitHistory) settle() {
	slices.SortStableFunc(h.results, func(a, b toolResult) int { return a.number - b.number })
	for _, r := range h.results {
		h.entries = append(h.entries, r.entry)
	}
	h.results = h.results[:0]
}
