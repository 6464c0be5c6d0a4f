package simulate

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
)

// FromRecording returns the conversations of a session: one for each visit to a phase that asked a
// model. name stands for the session in errors and results.
func FromRecording(name string, rec *journal.Recording) ([]*Conversation, error) {
	s := sessionReader{name: name, requests: record.NewRequests(), latest: map[echo.Key]*visit{}, callouts: map[echo.Hash]bool{}}
	for _, e := range rec.Entries {
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
	latest   map[echo.Key]*visit
	callouts map[echo.Hash]bool
}

type visit struct {
	conversation *Conversation
	asked        echo.Key // the key of the newest call, until its answer was read
}

func (s *sessionReader) take(e *echo.Entry) error {
	if e.NodeType == echo.NodeCallout {
		s.callouts[e.ContentHash] = true
	}
	if e.NodeType == echo.NodePhaseStart {
		v := &visit{conversation: &Conversation{File: s.name, Name: e.Key.VisitKey().String(), Dialect: dialect.Recorded(e)}}
		s.visits, s.latest[e.Key.VisitKey()] = append(s.visits, v), v
	}
	req, err := s.requests.Read(e)
	if err != nil {
		return err
	}
	v := s.latest[e.Key.VisitKey()]
	switch {
	case v == nil:
	case req != nil:
		v.asked = req.Key()
		v.conversation.Items = v.conversation.Items[:0]
		for _, h := range req.History {
			v.conversation.Items = append(v.conversation.Items, s.item(h))
		}
	case e.NodeType == echo.NodeModelCall && e.Key == v.asked && e.Message != nil:
		// The answer of the last call is in no request. The others are replaced by the next request.
		v.conversation.Items = append(v.conversation.Items, s.item(e))
	}
	return nil
}

func (s *sessionReader) item(e *echo.Entry) echo.Item {
	return echo.Item{Message: e.Message, Attempt: e.Attempt, Turn: e.Turn, Pinned: s.callouts[e.ContentHash]}
}
