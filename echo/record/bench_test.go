package record

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/echo"
)

// longSession is the record of one phase of so many turns, with a call and its result of 4 kB in
// each.
func longSession(b *testing.B, turns int) []*echo.Entry {
	b.Helper()
	var entries []*echo.Entry
	log := echo.NewLog("s1", ticking(), nil)
	log.Follow(func(e *echo.Entry) { entries = append(entries, e) })
	put := func(e *echo.Entry) {
		if err := log.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	visit := echo.PhaseKey("work", 1)
	put(echo.NewEntry(echo.RunKey().Step(echo.StepStart), echo.RunStart{}))
	put(echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1}))
	for i := range turns {
		at := visit.Attempt(1).Turn(i + 1)
		call := echo.ToolCall{ID: fmt.Sprint("c", i), Name: "read_file", Arguments: `{"path":"a.go"}`}
		put(&echo.Entry{NodeType: echo.NodeSelection, Key: at.Step(echo.StepContext), Selection: &echo.Selection{Delta: i > 0}})
		usd := 0.01
		put(&echo.Entry{NodeType: echo.NodeModelCall, Key: at.Step(echo.StepModel), Usage: &echo.Usage{In: 1000, Out: 10}, CostUSD: &usd, Message: echo.Seal(echo.Draft{
			Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call},
		})})
		put(&echo.Entry{NodeType: echo.NodeToolCall, Key: at.Numbered(echo.StepTool, 1), Message: echo.NewToolResult(call, echo.Text(strings.Repeat("line\n", 800)), false)})
	}
	return entries
}

// BenchmarkFold folds phases of several lengths; the time is that of an entry.
func BenchmarkFold(b *testing.B) {
	for _, turns := range []int{50, 500, 5000} {
		entries := longSession(b, turns)
		b.Run(fmt.Sprint(turns, "turns"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(entries)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(entries)), "ns/entry")
		})
	}
}
