// Package fetching shows a person how the engine of this machine is found, fetched and started.
package fetching

import (
	"fmt"
	"io"
	"sync"

	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Progress shows the steps: in one line that is redrawn on a terminal, else in a line per step and
// quarter. It is safe for concurrent use. Muted, it does not write into the view of the run.
type Progress struct {
	mu       sync.Mutex // guards what follows
	line     *term.Line
	last     string
	muted    bool
	fetching bool // something is being fetched, which is worth waiting for
}

// NewProgress returns a progress that is shown on w.
func NewProgress(w io.Writer) *Progress { return &Progress{line: term.NewLine(w)} }

// Mute ends the progress.
func (p *Progress) Mute() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.line.Keep()
	p.muted = true
}

// Show shows a step. The start of an engine, which is quick, is shown only after a fetch.
func (p *Progress) Show(step fetch.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fetching = step.Step != embedded.StepStart
	text := p.text(step)
	if text == p.last || p.muted || (!p.fetching && !p.line.IsOpen()) {
		return
	}
	p.last = text
	if !p.line.OnTerminal {
		fmt.Fprintln(p.line.Out, text)
		return
	}
	p.line.Draw(text)
}

// text describes a step; off a terminal only every quarter is worth a line.
func (p *Progress) text(step fetch.Progress) string {
	if step.Total == 0 {
		return string(step.Step)
	}
	percent := 100 * step.Done / step.Total
	if !p.line.OnTerminal {
		percent = percent / 25 * 25
	}
	return fmt.Sprintf("%s: %d %% of %s", step.Step, percent, quantity.MB(step.Total))
}
