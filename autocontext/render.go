package autocontext

import (
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Renderer turns views into messages, and derives each message once. It belongs to one goroutine.
type Renderer struct {
	dialect dialect.Dialect
	derived map[*echo.Message]*echo.Message
}

// NewRenderer returns a renderer for one phase.
func NewRenderer(d dialect.Dialect) *Renderer {
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
	if r.dialect == dialect.Native {
		return m
	}
	d, ok := r.derived[m]
	if !ok {
		d = r.dialect.Render(m)
		r.derived[m] = d
	}
	return d
}

// beforeCalls returns what a model without tool calling wrote before its calls, if any.
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
