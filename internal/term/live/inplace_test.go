package live

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// Only lines that differ are written, and nothing when none does.
func TestScreenWritesWhatChanged(t *testing.T) {
	t.Parallel()
	var s screen
	require.Equal(t, "\rone\x1b[K\ntwo\x1b[K\nthree\x1b[K\n\x1b[J", s.next(nil, []string{"one", "two", "three"}, 79))
	require.Empty(t, s.next(nil, []string{"one", "two", "three"}, 79))
	require.Equal(t, "\r\x1b[2A2\x1b[K\n\n\x1b[J", s.next(nil, []string{"one", "2", "three"}, 79))
	require.Equal(t, "\r\x1b[1A\x1b[J", s.next(nil, []string{"one", "2"}, 79), "a line less")
	require.Equal(t, "\r\x1b[2Astays\x1b[K\none\x1b[K\n2\x1b[K\n\x1b[J", s.next([]string{"stays"}, []string{"one", "2"}, 79))
	require.Equal(t, "\rone\x1b[K\n2\x1b[K\n\x1b[J", s.next(nil, []string{"one", "2"}, 60), "another width: below what stands")
}

// pane is a terminal whose size changes. The drawing goroutine and the test use it; the mutex guards
// everything.
type pane struct {
	mu    sync.Mutex
	text  strings.Builder
	width int
}

func (p *pane) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *pane) room() Room {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Room{Width: p.width - 1, Height: 24}
}

// What stands there in the end is whole. When the terminal was made wider on the way, the frame is
// drawn anew below the one before: terminals differ in where lines are then, and what was said stays.
func TestInPlaceOnATerminalThatGrows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := NewProgress("c", "s", []string{"collect"}, time.Now)
		out := &pane{width: 60}
		v := NewInPlace(p, out, out.room, false)
		require.NoError(t, v.Write(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "collect"}))
		v.Observe(toolEvent(1, "look", `{"path":"file1"}`))
		time.Sleep(5*time.Second + redrawEvery/4) // of the bubble: nobody waits
		out.mu.Lock()
		out.width = 120
		out.mu.Unlock()
		require.NoError(t, v.Write(entryOf(t, echo.NodeVerdict, echo.Verdict{Validator: "min_words:3", Reason: "the answer has 1 word"})))
		time.Sleep(time.Second)
		require.NoError(t, v.Close(t.Context()))
		require.NoError(t, v.Close(t.Context()), "safe twice")
		screen := termtest.NewScreen(120, 24)
		screen.Write(t, out.text.String())
		require.Equal(t, "c  session s\n    phase    turn  time\n  ▸ collect     1    5s\n        5s  look  file1\n  in 0  cached 0  out 0  $0.00  5s\n"+
			"  ✗ collect turn 2: min_words:3 did not pass: the answer has 1 word\n"+
			"c  session s\n    phase    turn  time\n  ▸ collect     1    6s\n        6s  look  file1\n  in 0  cached 0  out 0  $0.00  6.0s\n", screen.Text())
	})
}

// A notice after the run is a line of its own: the frame is not drawn any more.
func TestNoticeAfterTheRun(t *testing.T) {
	t.Parallel()
	var out, notices strings.Builder
	n := term.NewNotices(&notices)
	v := New(ModeLive, &out, Shown{Cascade: &cascade.Cascade{CascadeID: "c"}, Session: "s", Notices: n, Now: time.Now})
	require.NoError(t, v.Close(t.Context()))
	n.Say("stopping")
	require.Equal(t, "\nstopping\n", notices.String())
	require.NotContains(t, out.String(), "stopping")
}

// busy is a phase with six tools at any time, that ends one of them and begins another, and has an
// answer stream in between.
type busy struct {
	p     *Progress
	clock time.Time
	next  int
}

func newBusy() *busy {
	b := &busy{clock: time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)}
	b.p = NewProgress("collect_everything", "01m836x9ap5cqpt8x276332z95", []string{"collect", "report"}, func() time.Time { return b.clock })
	b.p.Entry(&echo.Entry{NodeType: echo.NodePhaseStart, Phase: "collect"})
	for range 6 {
		b.begin()
	}
	return b
}

func (b *busy) begin() {
	b.next++
	b.p.Event(toolEvent(b.next, "read_file", fmt.Sprintf(`{"path":"services/checkout/file%d.go"}`, b.next)))
}

// step ends the tool that has run longest every tenth time, and counts an answer.
func (b *busy) step(i int) {
	if i%10 > 0 {
		b.p.Event(engine.Event{Kind: engine.EventDelta, Site: effect.Site{Phase: "collect", Attempt: 1, Turn: 1}, Delta: effect.Delta{Text: "word "}})
		return
	}
	b.p.Entry(&echo.Entry{NodeType: echo.NodeToolCall, Phase: "collect", Attempt: 1, Turn: 1, Key: toolKey(b.next - 5)})
	b.begin()
}

// BenchmarkDrawing draws ten seconds of a run at the rate of a terminal, with six tools at any time
// and 1,000 events: what is written in a second, and how often.
func BenchmarkDrawing(b *testing.B) {
	const seconds, events = 10, 1000
	for _, quiet := range []bool{false, true} {
		b.Run(map[bool]string{false: "events", true: "waiting"}[quiet], func(b *testing.B) {
			written, draws := 0, 0
			for b.Loop() {
				run, drawn := newBusy(), screen{}
				for frame := range int(seconds * time.Second / redrawEvery) {
					for i := range events / (seconds * 10) {
						if !quiet {
							run.step(frame*events/(seconds*10) + i)
						}
					}
					run.clock = run.clock.Add(redrawEvery)
					n, _ := io.WriteString(io.Discard, drawn.next(run.p.Said(79, true), run.p.Frame(Room{Width: 79, Height: 23}, true), 79))
					if written += n; n > 0 {
						draws++
					}
				}
			}
			b.ReportMetric(float64(written)/float64(b.N)/seconds, "B/s")
			b.ReportMetric(float64(draws)/float64(b.N)/seconds, "draws/s")
		})
	}
}
