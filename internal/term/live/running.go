package live

import (
	"fmt"
	"slices"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// running are the tools that run now, in the order in which they began. The first
// [engine.MaxParallelTools] of them run, the others wait.
type running []runningTool

type runningTool struct {
	key   echo.Key // of the entry that will record its result
	name  string
	hint  string // of its arguments
	since time.Time
}

// begin adds the tool of an event.
func (r *running) begin(ev engine.Event, now time.Time) {
	*r = append(*r, runningTool{key: ev.Key, name: term.Clean(ev.Tool), hint: argumentHint(ev.Arguments), since: now})
}

// end removes the tool whose result an entry has; the first that waits begins.
func (r *running) end(key echo.Key, now time.Time) {
	at := slices.IndexFunc(*r, func(t runningTool) bool { return t.key == key })
	if at < 0 {
		return
	}
	*r = slices.Delete(*r, at, at+1)
	if next := engine.MaxParallelTools - 1; at <= next && len(*r) > next {
		(*r)[next].since = now
	}
}

// lines shows at most so many lines: a tool each, the last one for all that have none.
func (r running) lines(now time.Time, most int) []string {
	shown := r
	if len(r) > most {
		shown = r[:max(most-1, 0)]
	}
	width := 0
	for _, t := range shown {
		width = max(width, runewidth.StringWidth(t.name))
	}
	var out []string
	for i, t := range shown {
		state := "waits"
		if i < engine.MaxParallelTools {
			state = whole(now.Sub(t.since))
		}
		name := t.name
		if t.hint != "" {
			name = runewidth.FillRight(name, min(width, longestName))
		}
		out = append(out, clocked(state, columns(name, t.hint)))
	}
	if left := len(r) - len(shown); left > 0 {
		out = append(out, clocked("", fmt.Sprintf("and %d more", left)))
	}
	return out
}

const longestName = 24 // of a tool, that the arguments of others are lined up with

// clocked puts a time before what takes it.
func clocked(state, what string) string { return fmt.Sprintf("%6s  %s", state, what) }

// whole writes how long something has run for, in whole seconds: it changes once a second.
func whole(d time.Duration) string { return max(d, 0).Truncate(time.Second).String() }
