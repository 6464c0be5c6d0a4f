package autocontext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// longHistory has about n messages: a task, then turns of one call each with a result of 6,000
// characters.
func longHistory(n int) []echo.Item {
	text := strings.Repeat("a line of output with src/file_12.go in it\n", 140)
	items := []echo.Item{user(echo.KindTask, "the task", 0, 0)}
	for turn := 1; len(items) < n; turn++ {
		call := echo.ToolCall{ID: fmt.Sprintf("call_%d", turn), Name: "bash", Arguments: `{"command":"go test ./..."}`}
		items = append(items,
			echo.Item{Attempt: 1, Turn: turn, Message: echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}})},
			echo.Item{Attempt: 1, Turn: turn, Message: echo.NewToolResult(call, echo.Text(fmt.Sprint(turn, " ", text)), false)})
	}
	return items
}

// A turn late in a long phase costs what it adds, and the copying of what is sent.
func BenchmarkTurn(b *testing.B) {
	for _, messages := range []int{100, 1000, 10_000} {
		for _, advance := range []cascade.Advance{cascade.AdvanceCost, cascade.AdvanceEveryTurn} {
			b.Run(fmt.Sprintf("%s/%d", advance, messages), func(b *testing.B) { benchTurns(b, advance, messages) })
		}
	}
}

// benchTurns measures turns at the end of a history of so many messages: the first build is not
// part of it.
func benchTurns(b *testing.B, advance cascade.Advance, messages int) {
	const stretch = 200 // turns measured before the history is taken back to its length
	history := longHistory(messages + 2*stretch)
	s := autocontext.Settings{Policy: cascade.DefaultIntra(), Limit: 1 << 40}
	s.Policy.Advance = advance
	render := autocontext.NewRenderer(dialect.Native)
	b.ReportAllocs()
	var builder *autocontext.Builder
	var c echo.Carry
	turn := stretch
	for b.Loop() {
		if turn == stretch {
			b.StopTimer()
			builder, c, turn = autocontext.NewBuilder(s), echo.Carry{}, 0
			for n := 1; n <= messages; n += 2 {
				step, err := builder.Build(history[:n], c)
				if err != nil {
					b.Fatal(err)
				}
				c = step.Carry
			}
			b.StartTimer()
		}
		turn++
		step, err := builder.Build(history[:messages+1+2*(turn-1)], c)
		if err != nil {
			b.Fatal(err)
		}
		c = step.Carry
		if len(render.Render(step.View)) == 0 {
			b.Fatal("nothing is sent")
		}
	}
}
