package snapshot

import (
	"encoding/json"

	"github.com/windlass-run/windlass/echo"
)

// Answer is the recorded outcome of one effect: of a model, a tool, another cascade, a wait, or a reading.
type Answer struct {
	Key    echo.Key        `json:"key"`
	Type   echo.NodeType   `json:"type"`
	Tool   string          `json:"tool,omitempty"` // whose outcome it is
	Text   *string         `json:"text,omitempty"`
	Parts  []echo.Part     `json:"parts,omitempty"` // in place of the text, when it is more than that
	Calls  []echo.ToolCall `json:"tool_calls,omitempty"`
	Failed bool            `json:"failed,omitempty"` // the tool said so
	Finish string          `json:"finish_reason,omitempty"`
	Usage  *echo.Usage     `json:"usage,omitempty"`
	Error  *echo.Failure   `json:"error,omitempty"`
	Origin string          `json:"provider,omitempty"` // of a failure, which names it
	Unpaid bool            `json:"unpaid,omitempty"`   // the failure cost nothing
	Data   json.RawMessage `json:"data,omitempty"`     // of a failure, a reading, a wait, or a cascade that has ended

	CostUSD *float64      `json:"cost_usd,omitempty"` // where candidates are chosen, which may be by cost
	Pretend *echo.Pretend `json:"pretend,omitempty"`  // there, too: choices count it as if it were paid
}

// answerOf returns the outcome of an effect, with what it cost when that matters.
func answerOf(e *echo.Entry, costs bool) Answer {
	a := Answer{Key: e.Key, Type: e.NodeType, Error: e.Error, Data: e.Data}
	if costs && (e.NodeType == echo.NodeModelCall && e.Error == nil || e.NodeType == echo.NodeChildEnd) {
		a.CostUSD, a.Pretend = e.CostUSD, e.Pretend
	}
	if e.Tool != nil {
		a.Tool = e.Tool.Name
	}
	if e.Message != nil {
		a.take(e.Message)
	}
	if e.NodeType == echo.NodeChildEnd {
		a.Usage = e.Usage
	}
	if e.NodeType != echo.NodeModelCall {
		return a
	}
	a.Usage = e.Usage
	if e.Error != nil {
		a.Origin, a.Unpaid = e.Provider, e.CostUSD != nil
		return a
	}
	d, _ := echo.Read[echo.ModelCall](e)
	a.Finish, a.Data = d.FinishReason, nil
	return a
}

func (a *Answer) take(m *echo.Message) {
	a.Calls, a.Failed = m.ToolCalls(), m.Failed()
	if parts := m.Parts(); len(parts) == 1 && parts[0].Type == echo.PartText {
		a.Text = &parts[0].Text
	} else {
		a.Parts = parts
	}
}

func (a *Answer) entry() *echo.Entry {
	e := &echo.Entry{Key: a.Key, NodeType: a.Type, Usage: a.Usage, Error: a.Error, Data: a.Data, Provider: a.Origin, CostUSD: a.CostUSD, Pretend: a.Pretend}
	parts := a.Parts
	if a.Text != nil {
		parts = echo.Text(*a.Text)
	}
	switch {
	case a.Type == echo.NodeToolCall:
		e.Tool = &echo.ToolUse{Name: a.Tool}
		e.Message = echo.NewToolResult(echo.ToolCall{Name: a.Tool}, parts, a.Failed)
	case a.Type == echo.NodeModelCall && a.Error == nil:
		e.Message = echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: parts, ToolCalls: a.Calls})
		e.Set(echo.ModelCall{FinishReason: a.Finish})
	}
	if a.Unpaid {
		e.CostUSD = new(float64)
	}
	return e
}
