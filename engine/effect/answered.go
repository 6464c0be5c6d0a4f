package effect

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/echo"
)

// UnansweredError ends a run of [Answered] at a call that has no recorded answer.
type UnansweredError struct {
	Node echo.NodeType // model_call, tool_call, child_end or answer
	Key  echo.Key
	Site Site
	Name string // of the model or tool
}

func (e *UnansweredError) Error() string {
	what := "the model " + e.Name
	switch e.Node { //nolint:exhaustive // what has answers
	case echo.NodeToolCall:
		what = "the tool " + e.Name
	case echo.NodeChildEnd:
		return fmt.Sprintf("%s waits for another cascade whose end is not recorded (%s)", e.Site, e.Key)
	case echo.NodeAnswer:
		return fmt.Sprintf("%s waits for an answer that is not recorded (%s)", e.Site, e.Key)
	}
	return fmt.Sprintf("%s asks %s something that has no recorded answer (%s)", e.Site, what, e.Key)
}

// Answered answers effects from recorded outcomes by their keys, and records them. A call without
// an answer ends the run with an [*UnansweredError].
type Answered struct {
	w Writer

	mu      sync.Mutex // guards answers: parallel tools take theirs on goroutines of their own
	answers map[slot][]*echo.Entry
}

// slot is what an entry is found by: a key alone may have several, such as a call and its start.
type slot struct {
	node echo.NodeType
	key  echo.Key
}

// NewAnswered returns effects with another run's outcomes. w masks what is recorded.
func NewAnswered(w Writer, answers []*echo.Entry) *Answered {
	a := &Answered{w: w, answers: map[slot][]*echo.Entry{}}
	for _, e := range answers {
		s := slot{e.NodeType, e.Key}
		a.answers[s] = append(a.answers[s], e)
	}
	return a
}

func (a *Answered) take(node echo.NodeType, key echo.Key, fits func(*echo.Entry) bool) *echo.Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := slot{node, key}
	q := a.answers[s]
	if len(q) == 0 || !fits(q[0]) {
		return nil
	}
	a.answers[s] = q[1:]
	return q[0]
}

// Model implements [Effects].
func (a *Answered) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := a.take(echo.NodeModelCall, key, func(e *echo.Entry) bool { return e.Message != nil || e.Error != nil })
	if e == nil {
		return nil, &UnansweredError{Node: echo.NodeModelCall, Key: key, Site: req.Site, Name: req.Model}
	}
	resp, err := answerOf(e, req)
	if recorded := a.w.Append(CallEntry(key, req, resp, err, 0)); recorded != nil {
		return nil, recorded
	}
	return resp, err
}

// Tool implements [Effects].
func (a *Answered) Tool(ctx context.Context, key echo.Key, _ ToolSpec, req ToolRequest) (*echo.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := a.take(echo.NodeToolCall, key, func(e *echo.Entry) bool { return e.Message != nil && e.Message.Tool() == req.Name })
	if e == nil {
		return nil, &UnansweredError{Node: echo.NodeToolCall, Key: key, Site: req.Site, Name: req.Name}
	}
	call := a.w.call(req)
	m := echo.NewToolResult(call, e.Message.Parts(), e.Message.Failed())
	kind := ""
	if e.Error != nil {
		kind = e.Error.Kind
	}
	return m, a.w.Append(ToolEntry(key, req.Site, call, m, kind))
}

// Value implements [Effects]. It takes a reading itself when none of this history is recorded.
func (a *Answered) Value(_ context.Context, key echo.Key, site Site, read func() echo.Payload) (json.RawMessage, error) {
	now := read()
	e := newEntry(echo.NodeValue, key, site)
	if now != nil {
		e.Set(now)
		e = withoutSecrets(a.w.mask(), e)
	}
	if was := a.take(e.NodeType, key, func(*echo.Entry) bool { return true }); was != nil {
		answerReading(e, was, now)
	}
	if now == nil && len(e.Data) == 0 {
		return nil, nil
	}
	return e.Data, a.w.Append(e)
}

// answerReading makes an entry say what was recorded, if it fits the reading taken now: selections
// name messages by hash, and as many are the same ones in other words.
func answerReading(e, was *echo.Entry, now echo.Payload) {
	switch now := now.(type) {
	case echo.InterSelection:
		if answer, err := echo.Read[echo.InterSelection](was); err == nil && fitSelection(&answer, &now) {
			e.Set(answer)
		}
	case echo.Findings:
		if answer, err := echo.Read[echo.Findings](was); err == nil && fitFindings(&answer, &now) {
			e.Set(answer)
		}
	default:
		e.Data = was.Data
	}
}

// fitSelection gives a recorded selection's groups their hashes of now, if there are as many.
func fitSelection(was, now *echo.InterSelection) bool {
	if len(was.Scores) != len(now.Scores) {
		return false
	}
	for i := range was.Scores {
		was.Scores[i].ID = now.Scores[i].ID
	}
	was.Anchors = now.Anchors
	return true
}

func fitFindings(was, now *echo.Findings) bool {
	if len(was.Found) != len(now.Found) {
		return false
	}
	for i := range was.Found {
		cards := was.Found[i].Cards
		if len(cards) != len(now.Found[i].Cards) {
			return false
		}
		for j := range cards {
			cards[j].Hash = now.Found[i].Cards[j].Hash
		}
	}
	return true
}
