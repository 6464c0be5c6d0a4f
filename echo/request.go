package echo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Request is what one model call of a phase was sent, as the record has it: the history so far, and what became of each
// message of it. Calls that are not part of a phase's conversation (a validator's, a summary's, a recount's) have none.
type Request struct {
	Selection *Entry   // the context_selection
	History   []*Entry // the entries that hold the history of the visit, in its order; they all have a message
	Sent      []Sent   // what became of each; valid until the reader's next Read
}

// Key returns the key of the model call.
func (r *Request) Key() string { return ModelKey(r.Selection.Key) }

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
	visits     map[string]*visitHistory // by the key of the visit
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
	return &RequestReader{selections: NewSelectionReader(), visits: map[string]*visitHistory{}}
}

// Read takes the next entry and returns the request that it is the selection of, nil for any other entry. An error says
// that the selection does not fit the history before it.
func (r *RequestReader) Read(e *Entry) (req *Request, err error) {
	visit := VisitOf(e.Key)
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
	what := ofTurn(e.Key)
	switch {
	case e.Message == nil:
	case e.NodeType == NodeMessage && e.Message.Kind() != KindSummary,
		e.NodeType == NodeModelCall && strings.HasPrefix(what, "model"):
		h.settle()
		h.entries = append(h.entries, e)
	case e.NodeType == NodeToolCall:
		if n, err := strconv.Atoi(strings.TrimPrefix(what, "tool")); err == nil {
			h.results = append(h.results, toolResult{n, e})
		}
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

// VisitOf returns the first part of a key: the name of the phase, with "~2" after it on its second visit.
func VisitOf(key string) string {
	visit, _, _ := strings.Cut(key, "/")
	return visit
}

// ofTurn returns the last part of the key of something that belongs to a turn itself, such as model or tool2 of
// draft/attempt1/turn3/tool2; "" for what is done beside it, such as draft/attempt1/turn3/validate/fair/model.
func ofTurn(key string) string {
	parts := strings.Split(key, "/")
	if len(parts) != 4 {
		return ""
	}
	return parts[3]
}

// ModelKey returns the key of the model call that a selection with this key belongs to.
func ModelKey(selection string) string {
	place, number, ok := cutLast(selection, "/context")
	if !ok {
		return selection
	}
	return place + "/model" + number
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
