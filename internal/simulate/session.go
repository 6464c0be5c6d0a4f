package simulate

import (
	"fmt"
	"maps"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/withheld"
)

// FromRecording returns the conversations of a session: one for each visit to a phase that asked a
// model, and for each element of a list that did. name stands for the session in errors and results.
func FromRecording(name string, rec *journal.Recording) ([]*Conversation, error) {
	s := sessionReader{name: name, requests: record.NewRequests(), latest: map[echo.Key]*visit{}, dialects: map[echo.Key]dialect.Dialect{}, callouts: map[echo.Hash]bool{}}
	for i, e := range rec.Entries {
		switch p := e.Key.Path(); {
		case s.fold != nil:
			s.fold.Add(e)
		case p.Last().Kind == echo.StepChange:
			s.fold = record.Of(rec.Entries[:i+1])
		}
		if err := s.take(e); err != nil {
			return nil, fmt.Errorf("read session %s: %w", name, err)
		}
	}
	var all []*Conversation
	for _, v := range s.visits {
		if len(v.conversation.Items) == 0 {
			continue // it asked no model
		}
		v.conversation.Number = len(all) + 1
		v.sent.of(v.conversation)
		all = append(all, v.conversation)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("read session %s: %w", name, ErrNoConversations)
	}
	return all, nil
}

// sessionReader gathers the conversations of a session from its entries.
type sessionReader struct {
	name     string
	requests *record.Requests
	visits   []*visit
	latest   map[echo.Key]*visit          // by the visit or branch that the conversation is of
	dialects map[echo.Key]dialect.Dialect // of visits
	callouts map[echo.Hash]bool
	fold     *record.Fold // of the entries so far; nil: persons have taken nothing out in them
}

// withheld returns what is withheld of the session by now; nil: nothing is.
func (s *sessionReader) withheld() *withheld.Values {
	if s.fold == nil {
		return nil
	}
	return withheld.Of(record.SessionOf(s.fold))
}

type visit struct {
	conversation *Conversation
	asked        echo.Key // the key of the newest call, until its answer was read
	sent         *sentRequests
}

func (s *sessionReader) take(e *echo.Entry) error {
	if e.NodeType == echo.NodeCallout {
		s.callouts[e.ContentHash] = true
	}
	if e.NodeType == echo.NodePhaseStart {
		of := e.Key.VisitKey()
		s.dialects[of] = dialect.Recorded(e)
		maps.DeleteFunc(s.latest, func(key echo.Key, _ *visit) bool { return key.Under(of) }) // it begins again
		s.begin(of)
	}
	req, err := s.requests.Read(e)
	if err != nil {
		return err
	}
	key := record.Conversation(e.Key)
	v := s.latest[key]
	if _, begun := s.dialects[e.Key.VisitKey()]; v == nil && begun && req != nil {
		v = s.begin(key)
	}
	switch {
	case v == nil:
	case req != nil:
		v.asked = req.Key()
		v.sent.add(req, s.withheld())
		v.conversation.Items = v.conversation.Items[:0]
		for _, h := range req.History {
			v.conversation.Items = append(v.conversation.Items, s.item(h))
		}
	case e.NodeType == echo.NodeModelCall && e.Key == v.asked && e.Message != nil:
		// The answer of the last call is in no request. The others are replaced by the next request.
		v.conversation.Items = append(v.conversation.Items, s.item(e))
		v.sent.answered(e)
	}
	return nil
}

// begin adds the conversation of a visit or a branch of one.
func (s *sessionReader) begin(of echo.Key) *visit {
	v := &visit{conversation: &Conversation{File: s.name, Name: of.String(), Dialect: s.dialects[of.VisitKey()]}, sent: newSentRequests()}
	s.visits, s.latest[of] = append(s.visits, v), v
	return v
}

func (s *sessionReader) item(e *echo.Entry) echo.Item {
	return echo.Item{Message: e.Message, Attempt: e.Attempt, Turn: e.Turn, Pinned: s.callouts[e.ContentHash]}
}

// Conversation is a line of a file, or a visit to a phase of a session, or an element of its list. It
// is read only.
type Conversation struct {
	File    string // as it was named
	Number  int    // the line of the file, or the ordinal of the visit, from 1
	Name    string // of a visit or an element, such as "research~2" or "each/item3"; "" for a line of a file
	Items   []echo.Item
	Dialect dialect.Dialect // how the model was told about tools

	Sent  [][]*echo.Message // what each call was really sent; nil: it is not recorded
	Taken [][]Taken         // what persons had done to the history of each call; nil: nothing to any

	PaidUSD *float64 // by the record, answers included; nil: unknown
}

// String names a conversation for people.
func (c *Conversation) String() string {
	if c.Name != "" {
		return fmt.Sprintf("%s of %s", c.Name, c.File)
	}
	return fmt.Sprintf("%s:%d", c.File, c.Number)
}

// point is a place at which the model was asked: what it said next is the answer.
type point struct {
	at      int // messages before the answer
	turn    int // that the call began, from 1 over all attempts
	attempt int
	answer  *echo.Message
}

// points returns the calls of a conversation: every assistant message with something before it.
// Messages of other phases, whose attempt is 0, are no answers.
func (c *Conversation) points() []point {
	var out []point
	turn := 0
	for i, it := range c.Items {
		if it.Message.Role() != echo.RoleAssistant || it.Attempt == 0 {
			continue
		}
		turn++
		if i > 0 {
			out = append(out, point{at: i, turn: turn, attempt: it.Attempt, answer: it.Message})
		}
	}
	return out
}

// Calls returns the number of calls that the conversation has.
func (c *Conversation) Calls() int { return len(c.points()) }
