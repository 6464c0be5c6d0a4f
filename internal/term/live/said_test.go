package live

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

func entryOf(t *testing.T, node echo.NodeType, data any) *echo.Entry {
	t.Helper()
	b, err := json.Marshal(data)
	require.NoError(t, err)
	return &echo.Entry{NodeType: node, Phase: "collect", Attempt: 1, Turn: 2, Data: b}
}

// told returns entries of everything that stays on the screen.
func told(t *testing.T) []*echo.Entry {
	t.Helper()
	tool := entryOf(t, echo.NodeToolCall, nil)
	tool.Tool = &echo.ToolUse{Name: "run_command", Arguments: `{"command":"make\ntest"}`}
	tool.DurationMS, tool.Error = 1500, &echo.Failure{Kind: "exit_status", Message: "cannot open \x1b[2Jthe log"}
	call := entryOf(t, echo.NodeModelCall, nil)
	call.Key, call.Model, call.Error = echo.MustKey("collect/attempt1/turn2/model"), "big", &echo.Failure{Kind: "server", Message: "on fire"}
	end := entryOf(t, echo.NodePhaseEnd, echo.PhaseEnd{Status: echo.StatusFailed, Reason: "error"})
	end.Error = &echo.Failure{Kind: "error", Message: "the next phase does not exist"}
	var output []string
	for range 9 {
		output = append(output, "a line of the output")
	}
	return []*echo.Entry{
		tool, call,
		entryOf(t, echo.NodeVerdict, echo.Verdict{Validator: "min_words:3", Reason: "the answer has 1 word, at least 3 are needed"}),
		entryOf(t, echo.NodeVerdict, echo.Verdict{Validator: "command:make test", Reason: strings.Join(append(output, "", "FAIL: two\ttests"), "\n")}),
		entryOf(t, echo.NodeVerdict, echo.Verdict{Validator: "output_schema", Valid: true}),
		entryOf(t, echo.NodeWarning, echo.Warning{Message: "big cannot be reached (server): small is asked for the rest of the phase"}),
		end,
	}
}

const said80 = `  ✗ collect turn 2: tool run_command make test  failed (exit_status)  1.5s:
    cannot open �[2Jthe log
  ✗ collect turn 2: model big failed (server): on fire
  ✗ collect turn 2: min_words:3 did not pass: the answer has 1 word, at least 3
    are needed
  ✗ collect turn 2: command:make test did not pass:
      [... 5 lines left out ...]
      a line of the output
      a line of the output
      a line of the output
      a line of the output
      FAIL: two    tests
  ✓ collect turn 2: output_schema passed
  ! collect turn 2: warning: big cannot be reached (server): small is asked for
    the rest of the phase
  ✗ collect: failed (error): the next phase does not exist
  ↻ collect turn 2: trying again in 2s: the stream broke off
`

// Failures, verdicts, warnings and retries stay above the frame, however often it is drawn again.
func TestSaidStays(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("c", "s", []string{"collect"}, func() time.Time { return clock })
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "collect"})
	terminal, drawn := termtest.NewScreen(80, 24), screen{}
	draw := func() {
		clock = clock.Add(time.Second)
		terminal.Write(t, drawn.next(p.Said(79, false), p.Frame(Room{Width: 79, Height: 23}, false), 79))
	}
	draw()
	for _, e := range told(t)[:6] {
		p.Entry(e)
		draw()
		draw()
	}
	p.Entry(told(t)[6])
	p.started = clock
	p.phases[0].status = echo.StatusRunning
	p.Event(engine.Event{Kind: engine.EventDelta, Site: effect.Site{Phase: "collect", Attempt: 1, Turn: 2}, Delta: effect.Delta{Retrying: "the stream\nbroke off", RetryWait: 2 * time.Second}})
	draw()
	draw()
	text := terminal.Text()
	require.False(t, terminal.Wraps())
	require.True(t, strings.HasPrefix(text, said80+"c  session s\n"), text)
	require.Equal(t, 1, strings.Count(text, "session s"), text)
}

// What stays is never wider than the terminal, and a phase that failed for what is said already does
// not say it again.
func TestSaid(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 5, 20, 79, 199} {
		for _, e := range told(t) {
			for _, line := range sayingOf(e).render(width, true) {
				require.LessOrEqual(t, runewidth.StringWidth(term.StripColour(line)), width)
			}
		}
	}
	p := NewProgress("c", "s", []string{"collect"}, time.Now)
	p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "collect"})
	p.Entry(told(t)[0])
	require.Len(t, p.Said(200, false), 1)
	end := told(t)[6]
	end.Error.Message = "c/collect (attempt 1, turn 2): tool run_command failed: " + told(t)[0].Error.Message
	p.Entry(end)
	require.Empty(t, p.Said(200, false))
	schema := sayingOf(entryOf(t, echo.NodeVerdict, echo.Verdict{Validator: "output_schema", Reason: "it does not match:\n" + strings.Repeat("- a is missing\n", 9)}))
	require.Equal(t, "it does not match:", schema.more[0])
	require.Len(t, schema.more, 6)
	validator := told(t)[0]
	validator.Key = echo.MustKey("collect/attempt1/turn2/validate/make")
	require.Nil(t, sayingOf(validator), "the verdict says it")
}

// A run that is resumed says so, and not again what it said before.
func TestSaidOfAResumedRun(t *testing.T) {
	t.Parallel()
	p := NewProgress("c", "s", []string{"collect"}, time.Now)
	p.Resume(append([]*echo.Entry{{NodeType: echo.NodePhaseStart, Phase: "collect", Key: echo.MustKey("collect/start")}}, told(t)[2]))
	require.Equal(t, []string{"  ↻ resumed after 2 entries, 0 model calls answered from its record"}, p.Said(80, false))
}
