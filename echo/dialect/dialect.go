// Package dialect renders messages for models with and without tool calling, as a pure function.
package dialect

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Dialect is how a model is shown tool calls and results.
type Dialect int

const (
	// Native uses the provider's own tool calling: messages are sent as they are.
	Native Dialect = iota
	// Prompted is for models without tool calling: calls stay in the assistant's text, and results
	// are user messages.
	Prompted
)

// String returns the name of the dialect.
func (d Dialect) String() string {
	if d == Prompted {
		return "prompted"
	}
	return "native"
}

// Recorded returns the dialect that a phase_start entry names: [Native] when it names none.
func Recorded(start *echo.Entry) Dialect {
	if said, err := echo.Read[echo.PhaseStart](start); err == nil && said.Context != nil {
		return Of(said.Context)
	}
	return Native
}

// Of returns the dialect that settings of views name: [Native] when they name none.
func Of(c *echo.PhaseContext) Dialect {
	if c.Dialect == Prompted.String() {
		return Prompted
	}
	return Native
}

// Render returns the message as the model is sent it: itself where the dialect changes nothing.
func (d Dialect) Render(m *echo.Message) *echo.Message {
	if d == Native || (m.Role() != echo.RoleTool && len(m.ToolCalls()) == 0) {
		return m
	}
	draft := m.Draft()
	if m.Role() == echo.RoleAssistant {
		draft.ToolCalls = nil
		if strings.TrimSpace(m.Text()) == "" {
			draft.Parts = echo.Text(CallsAsText(m.ToolCalls()))
		}
		return echo.Seal(draft)
	}
	status := "result"
	if m.Failed() {
		status = "error"
	}
	head := fmt.Sprintf("Tool %s of %s (%s):\n", status, m.Tool(), m.ToolCallID())
	parts := []echo.Part{{Type: echo.PartText, Text: head + m.Text()}}
	for _, p := range m.Parts() {
		if p.Type != echo.PartText {
			parts = append(parts, p)
		}
	}
	return echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindToolResult, Parts: parts})
}

// CallsAsText writes calls in the form that a model without tool calling would have used.
func CallsAsText(calls []echo.ToolCall) string {
	var b strings.Builder
	for i, c := range calls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("```json\n{\"tool\": ")
		b.Write(echo.AppendString(nil, c.Name))
		b.WriteString(", \"arguments\": ")
		b.WriteString(c.Arguments)
		b.WriteString("}\n```")
	}
	return b.String()
}
