package clickhouse

import (
	"encoding/json"
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

type messageParts struct {
	role, kind        string
	content, prompted []byte // as providers are sent it; and how a model without tool calling is, if that differs
	calls             []byte
	failed            bool
	redacted          []byte
}

func partsOf(m, rendered *echo.Message) messageParts {
	p := messageParts{
		role: string(m.Role()), kind: string(m.Kind()), content: m.ContentJSON(), calls: m.ToolCallsJSON(), failed: m.Failed(),
	}
	if x := m.Redacted(); x != nil {
		p.redacted, _ = json.Marshal(x) // texts and numbers
	}
	if rendered != m {
		p.prompted = rendered.ContentJSON()
	}
	return p
}

const zipped = "String CODEC(ZSTD(3))"

func messageColumns() []column[messageParts] {
	return []column[messageParts]{
		{"role", few, func(m *messageParts) any { return &m.role }},
		{"kind", few, func(m *messageParts) any { return &m.kind }},
		{"content_json", zipped, func(m *messageParts) any { return &m.content }},
		{
			"prompted_json", "String CODEC(ZSTD(3))",
			func(m *messageParts) any { return &m.prompted },
		},
		{"tool_calls_json", zipped, func(m *messageParts) any { return &m.calls }},
		{"failed", "Bool", func(m *messageParts) any { return &m.failed }},
		{
			"redacted_json", "String CODEC(ZSTD(3))",
			func(m *messageParts) any { return &m.redacted },
		},
	}
}

// restore returns the message; of a tool's result the call is that which the row names.
func (p *messageParts) restore(call *echo.ToolUse) (*echo.Message, error) {
	d := echo.Draft{Role: echo.Role(p.role), Kind: echo.Kind(p.kind)}
	if d.Role == echo.RoleTool {
		d.ToolCallID, d.Tool, d.Failed = call.CallID, call.Name, p.failed
	}
	var calls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	if len(p.calls) > 0 {
		if err := json.Unmarshal(p.calls, &calls); err != nil {
			return nil, fmt.Errorf("read the tool calls: %w", err)
		}
	}
	for _, c := range calls {
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	var err error
	if d.Parts, err = echo.ReadContent(p.content); err != nil {
		return nil, fmt.Errorf("read the content: %w", err)
	}
	if len(p.redacted) > 0 {
		if err := json.Unmarshal(p.redacted, &d.Redacted); err != nil {
			return nil, fmt.Errorf("read what was redacted: %w", err)
		}
	}
	return echo.Seal(d), nil
}
