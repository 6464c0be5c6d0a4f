package live

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

var update = flag.Bool("update", false, "write the golden file")

// golden compares the frames with their file, or writes it with -update.
func golden(t *testing.T, text string) {
	t.Helper()
	const path = "testdata/frames.golden"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/term/live -update writes what is seen")
}

// TestFrames shows the view of a run as it goes on, in terminals of several sizes.
func TestFrames(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("incident", "nightly-7", []string{"count", "research", "report", "publish"}, func() time.Time { return clock })
	var b strings.Builder
	show := func(after string, rooms ...Room) {
		for _, room := range rooms {
			lines := p.Frame(room, false)
			fmt.Fprintf(&b, "== %s, %d columns, %d lines\n", after, room.Width, room.Height)
			for _, line := range lines {
				require.LessOrEqual(t, runewidth.StringWidth(line), room.Width)
				b.WriteString(line + "\n")
			}
			if room.Height > 0 {
				require.LessOrEqual(t, len(lines), room.Height)
			}
		}
	}
	wide, narrow := Room{120, 20}, Room{60, 20}
	show("nothing yet", wide)
	start := func(phase string) { p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: phase}) }
	end := func(phase, status string) {
		p.Entry(&echo.Entry{NodeType: echo.NodePhaseEnd, Phase: phase, Data: []byte(`{"status": "` + status + `"}`)})
	}
	call := func(phase string, turn int, cost *float64) {
		p.Entry(&echo.Entry{
			NodeType: echo.NodeModelCall, Phase: phase, Attempt: 1, Turn: turn, Model: "gpt-5-mini", CostUSD: cost,
			Usage: &echo.Usage{In: 12345, Cached: 9000, Out: 678},
		})
	}
	cents := 0.0123
	start("count")
	p.Event(engine.Event{Kind: engine.EventToolCall, Site: effect.Site{Phase: "count", Attempt: 1}, Tool: "count_errors", Arguments: `{"path":"a\u001b[2Jb.log"}`})
	clock = clock.Add(1500 * time.Millisecond)
	show("a tool with a hostile argument", wide, narrow)
	p.Entry(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "count"})
	end("count", "completed")
	start("research")
	p.Entry(selectionEntry(t))
	show("context was selected", wide, narrow)
	at := effect.Site{Phase: "research", Attempt: 1, Turn: 1}
	p.Event(engine.Event{Kind: engine.EventModelCall, Site: at, Model: "gpt-5-mini"})
	p.Event(engine.Event{Kind: engine.EventDelta, Site: at, Delta: effect.Delta{Text: "The pool is\nexhausted because 接続 "}})
	show("an answer streams", wide, narrow)
	p.Event(engine.Event{Kind: engine.EventDelta, Site: at, Delta: effect.Delta{Retrying: "the stream broke off", RetryWait: 2 * time.Second}})
	show("it is tried again", wide)
	call("research", 1, &cents)
	call("research", 2, nil)
	clock = clock.Add(75 * time.Second)
	show("a cost is unknown", wide, narrow, Room{24, 20})
	end("research", "failed")
	start("apologise")
	p.Note("Stopping: what is under way is recorded. Press Ctrl-C again to quit at once.")
	show("a phase failed, another one was put in, Ctrl-C", wide, Room{60, 6}, Room{60, 2})
	golden(t, b.String())
}

// A phase whose stop a resume set aside goes on, and what was paid stays paid; one that a person or
// a limit stopped does not look as if it had failed.
func TestFrameOfARunThatWasResumed(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("incident", "nightly-7", []string{"count", "report"}, func() time.Time { return clock })
	seq := uint64(0)
	put := func(node echo.NodeType, phase, data string) {
		seq++
		e := &echo.Entry{Seq: seq, NodeType: node, Phase: phase, Data: []byte(data)}
		if node == echo.NodeModelCall {
			usd := 0.5
			e.CostUSD, e.Usage = &usd, &echo.Usage{In: 10, Out: 1}
			e.Attempt, e.Turn = 1, 1
		}
		p.Entry(e)
	}
	frame := func() string {
		var marks []string
		for _, line := range p.Frame(Room{Width: 100}, false)[1:] {
			marks = append(marks, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(marks, "\n")
	}
	put(echo.NodePhaseStart, "count", ``)
	put(echo.NodeModelCall, "count", ``)
	put(echo.NodePhaseEnd, "count", `{"status": "interrupted", "reason": "interrupted"}`)
	require.Equal(t, "phase turn in out cached cost time\n■ count 1 10 1 0.0 % $0.5000 0ms\n· report\nin 10 cached 0 (0.0 %) out 1 $0.5000 0s", frame())
	put(echo.NodeResume, "", `{"set_aside": [3]}`)
	require.Equal(t, "phase turn in out cached cost time\n▸ count 1 10 1 0.0 % $0.5000 0s\n· report\nin 10 cached 0 (0.0 %) out 1 $0.5000 0s", frame())
	put(echo.NodePhaseEnd, "count", `{"status": "failed"}`)
	put(echo.NodePhaseStart, "sorry", ``)
	put(echo.NodeModelCall, "sorry", ``)
	put(echo.NodePhaseEnd, "sorry", `{"status": "over_budget"}`)
	require.Equal(t, "phase turn in out cached cost time\n✗ count 1 10 1 0.0 % $0.5000 0ms\n■ sorry 1 10 1 0.0 % $0.5000 0ms\n· report\n"+
		"in 20 cached 0 (0.0 %) out 2 $1.00 0s", frame())
	p.setAside([]uint64{8, 7, 6, 5})
	put(echo.NodePhaseEnd, "count", `{"status": "completed"}`)
	put(echo.NodePhaseStart, "report", ``)
	put(echo.NodeResume, "", `{"set_aside": [10]}`)
	require.Equal(t, "phase turn in out cached cost time\n✓ count 1 10 1 0.0 % $0.5000 0ms\n· report\nin 20 cached 0 (0.0 %) out 2 $1.00 0s", frame())
}
