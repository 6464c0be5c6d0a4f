package main

import (
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
)

// fetchProgress shows how the engine is found, fetched and started: in one line that is drawn over on a terminal, else
// in a line per step and quarter. It may be told from any goroutine; once muted it shows nothing more, so that it does
// not write into the view of the run.
type fetchProgress struct {
	out     io.Writer
	inPlace bool

	mu       sync.Mutex
	last     string
	open     bool // the cursor stands in a line that will be drawn over
	muted    bool
	fetching bool // an engine is being fetched, which is worth waiting for
}

func newFetchProgress(w io.Writer) *fetchProgress {
	f, ok := w.(*os.File)
	return &fetchProgress{out: w, inPlace: ok && term.IsTerminal(int(f.Fd()))}
}

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
	if f.open {
		fmt.Fprintln(f.out)
	}
	f.open, f.muted = false, true
}

func (f *fetchProgress) show(p clickhouse.Progress) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fetching = p.Step != embedded.StepStart
	text := f.text(p)
	if text == f.last || f.muted || (!f.fetching && !f.open) {
		return
	}
	f.last = text
	if !f.inPlace {
		fmt.Fprintln(f.out, text)
		return
	}
	fmt.Fprintf(f.out, "\r\x1b[K%s", text)
	f.open = true
}

// text describes a step; off a terminal only every quarter is worth a line.
func (f *fetchProgress) text(p clickhouse.Progress) string {
	if p.Total == 0 {
		return string(p.Step)
	}
	percent := 100 * p.Done / p.Total
	if !f.inPlace {
		percent = percent / 25 * 25
	}
	return fmt.Sprintf("%s: %d%% of %d MiB", p.Step, percent, p.Total>>20)
}
