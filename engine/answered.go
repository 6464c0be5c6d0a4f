package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/windlass-run/windlass/echo"
)

// UnansweredError is a call of a run with nothing but answers, for which there is none. The run ends there: nothing that
// it would do next follows from anything.
type UnansweredError struct {
	Node echo.NodeType // model_call or tool_call
	Key  echo.Key
	Site Site
	Name string // of the model or tool
}

// Error says what was asked, and where.
func (e *UnansweredError) Error() string {
	what := "the model " + e.Name
	if e.Node == echo.NodeToolCall {
		what = "the tool " + e.Name
	}
	return fmt.Sprintf("%s asks %s something that has no recorded answer (%s)", e.Site, what, e.Key)
}

// answeredEffects answers effects from recorded outcomes, by their keys and whatever is asked, and records them as those
// of a live run are recorded. Nothing is asked of the world.
type answeredEffects struct {
	log *echo.Log

	mu      sync.Mutex // guards answers: parallel tools take theirs on goroutines of their own
	answers map[pastKey][]*echo.Entry
}

func newAnsweredEffects(log *echo.Log, entries []*echo.Entry) *answeredEffects {
	a := &answeredEffects{log: log, answers: map[pastKey][]*echo.Entry{}}
	for _, e := range entries {
		k := pastKey{e.NodeType, e.Key}
		a.answers[k] = append(a.answers[k], e)
	}
	return a
}

// take uses the next answer of a type and key that fits, nil when there is none.
func (a *answeredEffects) take(node echo.NodeType, key echo.Key, fits func(*echo.Entry) bool) *echo.Entry {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := pastKey{node, key}
	q := a.answers[k]
	if len(q) == 0 || !fits(q[0]) {
		return nil
	}
	a.answers[k] = q[1:]
	return q[0]
}

func (a *answeredEffects) record(e *echo.Entry) error {
	if err := a.log.Append(e); err != nil {
		return &RecordError{Err: err}
	}
	return nil
}

func (a *answeredEffects) Model(ctx context.Context, key echo.Key, req *ModelRequest) (*ModelResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := a.take(echo.NodeModelCall, key, func(e *echo.Entry) bool { return e.Message != nil || e.Error != nil })
	if e == nil {
		return nil, &UnansweredError{Node: echo.NodeModelCall, Key: key, Site: req.Site, Name: req.Model}
	}
	resp, err := recordedAnswer(e, req)
	if recorded := a.record(CallEntry(key, req, resp, err, 0)); recorded != nil {
		return nil, recorded
	}
	return resp, err
}

func (a *answeredEffects) Tool(ctx context.Context, key echo.Key, _ ToolSpec, req ToolRequest) (*echo.Message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := a.take(echo.NodeToolCall, key, func(e *echo.Entry) bool { return e.Message != nil && e.Message.Tool() == req.Name })
	if e == nil {
		return nil, &UnansweredError{Node: echo.NodeToolCall, Key: key, Site: req.Site, Name: req.Name}
	}
	call := echo.ToolCall{ID: req.CallID, Name: req.Name, Arguments: string(req.Arguments)}
	m := echo.NewToolResult(call, e.Message.Parts(), e.Message.Failed())
	kind := ""
	if e.Error != nil {
		kind = e.Error.Kind
	}
	return m, a.record(toolEntry(key, req.Site, call, m, kind))
}

// Value takes a reading itself when none is recorded, or when the one that is was taken of another history: without cards
// and an embedder, and with a clock that stands still, readings depend on nothing but the run.
func (a *answeredEffects) Value(_ context.Context, key echo.Key, site Site, read func() any) (json.RawMessage, error) {
	value, node := read(), echo.NodeValue
	if r, ok := value.(interface{ nodeType() echo.NodeType }); ok {
		node = r.nodeType()
	}
	if e := a.take(node, key, func(*echo.Entry) bool { return true }); e != nil {
		value = recordedReading(e.Data, value)
	}
	if value == nil {
		return nil, nil
	}
	e := siteEntry(node, key, site)
	e.Data = mustJSON(value)
	return e.Data, a.record(e)
}

// recordedReading returns a recorded reading, or the one that was taken now where the recorded one does not fit it. What is
// recorded of a selection names messages by their hashes: as long as there are as many, they are the same ones in other
// words.
func recordedReading(recorded json.RawMessage, now any) any {
	switch now := now.(type) {
	case *Selection:
		var was Selection
		if decode(recorded, &was) != nil || was.Selected == nil || now.Selected == nil || len(was.Scores) != len(now.Scores) {
			return now
		}
		for i := range was.Scores {
			was.Scores[i].ID = now.Scores[i].ID
		}
		was.Anchors = now.Anchors
		return &was
	case *findings:
		var was findings
		if decode(recorded, &was) != nil || len(was.Found) != len(now.Found) {
			return now
		}
		for i := range was.Found {
			if len(was.Found[i].Cards) != len(now.Found[i].Cards) {
				return now
			}
			for j := range was.Found[i].Cards {
				was.Found[i].Cards[j].Hash = now.Found[i].Cards[j].Hash
			}
		}
		return &was
	}
	return recorded
}
