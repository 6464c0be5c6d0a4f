package main

import (
	"fmt"
	"io"
	"sync"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/term"
)

// fetchProgress shows how the engine is found, fetched and started: in one line that is drawn over
// on a terminal, else in a line per step and quarter. Any goroutine may use it; once muted it shows
// nothing more, so that it does not write into the view of the run.
type fetchProgress struct {
	mu       sync.Mutex // guards what follows
	line     *term.Line
	last     string
	muted    bool
	fetching bool // an engine is being fetched, which is worth waiting for
}

func newFetchProgress(w io.Writer) *fetchProgress { return &fetchProgress{line: term.NewLine(w)} }

// isFetching reports whether an engine is on its way to this machine.
func (f *fetchProgress) isFetching() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fetching
}

// mute ends the showing.
func (f *fetchProgress) mute() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.line.Keep()
	f.muted = true
}

func (f *fetchProgress) show(p clickhouse.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetching = p.Step != embedded.StepStart
	text := f.text(p)
	if text == f.last || f.muted || (!f.fetching && !f.line.IsOpen()) {
		return
	}
	f.last = text
	if !f.line.OnTerminal {
		fmt.Fprintln(f.line.Out, text)
		return
	}
	f.line.Draw(text)
}

// text describes a step; off a terminal only every quarter is worth a line.
func (f *fetchProgress) text(p clickhouse.Progress) string {
	if p.Total == 0 {
		return string(p.Step)
	}
	percent := 100 * p.Done / p.Total
	if !f.line.OnTerminal {
		percent = percent / 25 * 25
	}
	return fmt.Sprintf("%s: %d%% of %d MiB", p.Step, percent, p.Total>>20)
}
