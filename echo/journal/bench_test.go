package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// BenchmarkWrite encodes, sums and hands to the operating system one tool result of 1,500
// characters.
func BenchmarkWrite(b *testing.B) {
	j, err := Create(filepath.Join(b.TempDir(), "s1"), testHeader)
	require.NoError(b, err)
	call := echo.ToolCall{ID: "call_1", Name: "lookup", Arguments: `{"n":1}`}
	e := &echo.Entry{
		SessionID: "s1", Seq: 1, NodeType: echo.NodeToolCall, Key: echo.MustKey("lookup/attempt1/turn1/call1"), CascadeID: "bench", Phase: "lookup", Attempt: 1, Turn: 1,
		Message: echo.NewToolResult(call, echo.Text(strings.Repeat("x", 1500)), false), DurationMS: 0.01, Tool: &echo.ToolUse{Name: "lookup", CallID: "call_1", Arguments: `{"n":1}`},
	}
	b.Run("encode and sum", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := j.Write(e); err != nil {
				b.Fatal(err)
			}
			j.buf = j.buf[:0]
		}
	})
	b.Run("sum", func(b *testing.B) {
		line := []byte(strings.Repeat("x", 2000))
		var s chain.Sum
		for b.Loop() {
			s = s.Next(line)
		}
	})
	b.Run("encode, sum and write", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := j.Write(e); err != nil {
				b.Fatal(err)
			}
			j.Flush()
		}
	})
}
