package autocontext

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Dialect is the way a model is told about tool calls and results.
type Dialect int

const (
	// Native uses the provider's own tool calling: messages are sent as they are.
	Native Dialect = iota
	// Prompted is for models without tool calling: calls stay in the assistant's text, where the model wrote them, and
	// results are user messages.
	Prompted
)

// Renderer turns views into messages. It remembers what it derived, so that a message is encoded once in the life of a
// phase. It belongs to one goroutine.
type Renderer struct {
	dialect Dialect
	derived map[*echo.Message]*echo.Message
}

// NewRenderer returns a renderer for one phase.
func NewRenderer(d Dialect) *Renderer {
	return &Renderer{dialect: d, derived: map[*echo.Message]*echo.Message{}}
}

// Render returns the messages to send, in order.
func (r *Renderer) Render(v *View) []*echo.Message {
	out := make([]*echo.Message, 0, len(v.Items)+2)
	for i := range v.Items {
		it := &v.Items[i]
		if it.Sent != nil {
			out = append(out, r.message(it.Sent))
		}
		for _, m := range it.After {
			out = append(out, r.message(m))
		}
	}
	return out
}

func (r *Renderer) message(m *echo.Message) *echo.Message {
	if r.dialect == Native || (m.Role() != echo.RoleTool && len(m.ToolCalls()) == 0) {
		return m
	}
	d, ok := r.derived[m]
	if !ok {
		d = prompted(m)
		r.derived[m] = d
	}
	return d
}

// prompted writes a tool call or a tool result as plain text.
func prompted(m *echo.Message) *echo.Message {
	d := m.Draft()
	if m.Role() == echo.RoleAssistant {
		d.ToolCalls = nil
		if strings.TrimSpace(m.Text()) == "" {
			d.Parts = echo.Text(callsAsText(m.ToolCalls()))
		}
		return echo.Seal(d)
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

// beforeCalls returns what a model without tool calling wrote before its calls: its whole text when there are none in it.
func beforeCalls(text string) string {
	for at := 0; ; {
		i := strings.Index(text[at:], "```")
		if i < 0 {
			return text
		}
		block, _, _ := strings.Cut(text[at+i+3:], "```")
		if strings.Contains(block, `"tool"`) {
			return text[:at+i]
		}
		at = min(at+i+3+len(block)+3, len(text))
	}
}

// callsAsText writes calls that came without text in the form that a prompted model would have used.
func callsAsText(calls []echo.ToolCall) string {
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
