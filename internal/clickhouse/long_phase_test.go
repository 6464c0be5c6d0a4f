package clickhouse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// longPhase is the record of a phase of so many turns, one call with a result of 1,500 characters
// in each.
func longPhase(t testing.TB, policy cascade.Intra, turns int) []*echo.Entry {
	t.Helper()
	s := &story{session: "long"}
	s.mark(echo.NodePhaseStart, "long", json.RawMessage(`{"visit":1}`))
	s.say("long", 0, echo.RoleUser, echo.KindTask, "the task")
	history := []echo.Item{{Message: s.history["long"][0]}}
	builder := autocontext.NewBuilder(autocontext.Settings{Policy: policy})
	var carry echo.Carry
	for turn := 1; turn <= turns; turn++ {
		step, err := builder.Build(history, carry)
		require.NoError(t, err)
		carry = step.Carry
		selection := step.View.Report()
		place := fmt.Sprintf("long/attempt1/turn%d/", turn)
		call := echo.ToolCall{ID: fmt.Sprint("call_", turn), Name: "lookup", Arguments: fmt.Sprintf(`{"n":%d}`, turn)}
		answer := echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: []echo.ToolCall{call}})
		result := echo.NewToolResult(call, echo.Text(call.Arguments+strings.Repeat("x", 1500)), false)
		at := echo.Entry{Model: "model", Data: json.RawMessage(`{"carry":{}}`)}
		add := func(n echo.NodeType, key string, fill func(*echo.Entry)) {
			e := at
			e.NodeType, e.Key = n, echo.MustKey(place+key)
			fill(&e)
			s.add(e)
		}
		add(echo.NodeSelection, "context", func(e *echo.Entry) { e.Selection = &selection })
		add(echo.NodeModelCall, "model", func(e *echo.Entry) { e.Message, e.Usage = answer, &echo.Usage{In: 1000, Out: 20} })
		add(echo.NodeToolCall, "tool1", func(e *echo.Entry) {
			e.Message, e.Tool = result, &echo.ToolUse{Name: call.Name, CallID: call.ID, Arguments: call.Arguments}
		})
		history = append(history, echo.Item{Message: answer, Attempt: 1, Turn: turn}, echo.Item{Message: result, Attempt: 1, Turn: turn})
	}
	return s.entries
}

// policies are a phase without settings and one whose views change on every turn.
func policies() map[string]cascade.Intra {
	every := cascade.DefaultIntra()
	every.Advance = cascade.AdvanceEveryTurn
	return map[string]cascade.Intra{"full": {}, "every_turn": every}
}

// TestRowsCostWhatIsNew holds that a row is made and encoded without an allocation for each message
// of the history before it, although a row of unified_selections names them all.
func TestRowsCostWhatIsNew(t *testing.T) { // not parallel: the allocations of other tests would count
	db, taken := clickhouse.Discarding(t, clickhousetest.Open(t))
	for name, policy := range policies() {
		short, long := longPhase(t, policy, 100), longPhase(t, policy, 400)
		perTurn := func(entries []*echo.Entry, turns float64) float64 {
			return testing.AllocsPerRun(3, func() { require.NoError(t, clickhousetest.Insert(t.Context(), db, entries)) }) / turns
		}
		before := taken.Rows
		few, many := perTurn(short, 100), perTurn(long, 400)
		t.Logf("%s: %.1f allocations a turn in 100 turns, %.1f in 400", name, few, many)
		require.Equal(t, 4*(len(short)+100+len(long)+400), taken.Rows-before, "every entry has a row, and every selection one more")
		require.Less(t, many, few+4, "%s: allocations a turn grow with the history", name)
	}
}

// TestLongSelectionsAreWrittenApart lets the selections of a long phase pile up: one write takes so
// many of them only that its arrays stay small, and nothing is left out.
func TestLongSelectionsAreWrittenApart(t *testing.T) {
	t.Parallel()
	db, taken := clickhouse.Discarding(t, clickhousetest.Open(t))
	entries := longPhase(t, cascade.Intra{}, 800) // they name 640,000 messages in all
	release := make(chan struct{})
	s := clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) {
		<-release
		return db, nil
	}, clickhouse.SinkOptions{})
	for _, e := range entries {
		require.NoError(t, s.Write(e))
	}
	close(release)
	require.NoError(t, s.Close(t.Context()))
	require.Equal(t, clickhouse.SinkStats{Written: int64(len(entries))}, s.Stats())
	require.Equal(t, len(entries)+800, taken.Rows)
	require.Equal(t, map[string]int{"unified_logs": 3, "unified_selections": 3}, taken.Writes)
}

// BenchmarkRows is a phase of 200 turns made into rows and encoded for the wire.
func BenchmarkRows(b *testing.B) {
	db, _ := clickhouse.Discarding(b, clickhousetest.Open(b))
	for name, policy := range policies() {
		entries := longPhase(b, policy, 200)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				require.NoError(b, clickhousetest.Insert(b.Context(), db, entries))
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/200, "us/turn")
		})
	}
}
