package record

import (
	"fmt"
	"iter"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Request is what one model call of a phase's conversation was sent. Other calls have none.
type Request struct {
	Selection *echo.Entry     // the context_selection
	History   []*echo.Entry   // that hold the history so far, in its order; they all have a message
	Sent      []Sent          // what became of each message of it; valid until the reader's next Read
	Changes   []Change        // since the request before in the conversation; valid until the reader's next Read
	Anew      bool            // the selection names every message, and Changes does: nothing that was before counts
	Dialect   dialect.Dialect // in which it was sent
}

// Key returns the key of the model call.
func (r *Request) Key() echo.Key { return r.Selection.Key.ModelKey() }

// Messages returns what the request has for message i of the history, before it is rendered.
func (r *Request) Messages(i int) []*echo.Message {
	if r.Sent[i].Full {
		return []*echo.Message{r.History[i].Message}
	}
	return r.Sent[i].As
}

// Rendered returns the messages that were sent for message i of the history, in order.
func (r *Request) Rendered(i int) []*echo.Message {
	var out []*echo.Message
	for _, m := range r.Messages(i) {
		out = append(out, r.Dialect.Render(m))
	}
	return out
}

// Requests reads what each call was sent off a session's entries, given in order. It belongs to one
// goroutine and keeps visits that have not completed.
type Requests struct {
	selections *Selections
	histories  histories
	dialects   map[echo.Key]dialect.Dialect // by the key of the visit, or of a candidate with a model of its own
}

// NewRequests returns a reader that has read nothing yet.
func NewRequests() *Requests {
	return &Requests{selections: NewSelections(), histories: histories{}, dialects: map[echo.Key]dialect.Dialect{}}
}

// RequestsOf returns the requests of a session in their order, also those after an error.
func RequestsOf(entries []*echo.Entry) iter.Seq2[*Request, error] {
	return func(yield func(*Request, error) bool) {
		r := NewRequests()
		for _, e := range entries {
			if req, err := r.Read(e); (req != nil || err != nil) && !yield(req, err) {
				return
			}
		}
	}
}

// Read takes the next entry and returns the request that it is the selection of, nil for any other.
// An error says that the selection does not fit the entries before it.
func (r *Requests) Read(e *echo.Entry) (req *Request, err error) {
	sent, err := r.selections.Read(e)
	if err != nil {
		return nil, err
	}
	p := e.Key.Path()
	visit := e.Key.VisitKey()
	switch {
	case e.NodeType == echo.NodePhaseStart:
		forget(r.histories, visit)
		r.dialects[visit] = dialect.Recorded(e)
	case e.NodeType == echo.NodeCandidate:
		if d, err := echo.Read[echo.Candidate](e); err == nil && d.Context != nil {
			r.dialects[conversation(e.Key, &p)] = dialect.Of(d.Context)
		}
	case hasCompleted(e):
		forget(r.histories, conversation(e.Key, &p))
		forget(r.dialects, conversation(e.Key, &p))
	case e.NodeType == echo.NodeSelection && e.Selection != nil:
		return r.request(e, sent, conversation(e.Key, &p))
	default:
		r.histories.add(e, &p)
	}
	return req, nil
}

// request puts the request of a selection together.
func (r *Requests) request(e *echo.Entry, sent []Sent, in echo.Key) (*Request, error) {
	history, fresh := r.histories[in].settle()
	if err := fits(e, sent, history, r.selections.changes, fresh); err != nil {
		r.histories[in].doubt()
		return nil, err
	}
	return &Request{
		Selection: e, History: history, Sent: sent, Dialect: r.dialectOf(in, e.Key.VisitKey()), Changes: r.selections.changes, Anew: !e.Selection.Delta,
	}, nil
}

// Rendered returns the message of an entry as its model is sent it, nil when it has none. The entry
// has been read, and its visit has not completed since.
func (r *Requests) Rendered(e *echo.Entry) *echo.Message {
	if e.Message == nil {
		return nil
	}
	return r.dialectOf(Conversation(e.Key), e.Key.VisitKey()).Render(e.Message)
}

func (r *Requests) dialectOf(conversation, visit echo.Key) dialect.Dialect {
	if d, ok := r.dialects[conversation]; ok {
		return d
	}
	return r.dialects[visit]
}

// fits checks that a selection is about the messages that are in the history: those that it names, and those from fresh on, which
// no selection has been checked against. The others were, as they are.
func fits(e *echo.Entry, sent []Sent, history []*echo.Entry, changes []Change, fresh int) error {
	if len(sent) != len(history) {
		return fmt.Errorf("entry %d (%s): the selection names %d messages, the history has %d", e.Seq, e.Key, len(sent), len(history))
	}
	for _, c := range changes {
		if c.At >= fresh {
			continue
		}
		if err := fit(e, sent, history, c.At); err != nil {
			return err
		}
	}
	for i := fresh; i < len(history); i++ {
		if err := fit(e, sent, history, i); err != nil {
			return err
		}
	}
	return nil
}

func fit(e *echo.Entry, sent []Sent, history []*echo.Entry, i int) error {
	if h := history[i]; h.Message.Hash() != sent[i].Hash {
		return fmt.Errorf("entry %d (%s): message %d of the selection has the hash %s, that of the history (entry %d) has %s",
			e.Seq, e.Key, i+1, sent[i].Hash, h.Seq, h.Message.Hash())
	}
	return nil
}
