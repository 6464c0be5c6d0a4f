//go:build unix

package trees

import (
	"os"
	"sync"
	"time"
)

// The kinds of traps.
const (
	trapTime    = "at any time"
	trapRequest = "when a request had arrived"
	trapHalf    = "when half of an answer was sent"
	trapAnswer  = "when an answer was sent"
	trapTool    = "in a tool"
	trapStop    = "interrupted, not killed"
	trapEntry   = "when a child, a branch, a phase or a run had begun or ended"
)

// trap kills one process, or stops it as Ctrl-C does, at one place. Its methods may be called on nil, which does nothing.
type trap struct {
	kind string
	n    int           // of the request or answer, from 1; of the entry
	wait time.Duration // of trapTime and trapStop
	file string        // of trapTool

	mu       sync.Mutex
	process  *os.Process
	requests int
	answers  int
}

// begin tells a trap which process it is for.
func (t *trap) begin(p *os.Process) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.process = p
	t.mu.Unlock()
}

func (t *trap) spring() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.process == nil:
	case t.kind == trapStop:
		_ = t.process.Signal(os.Interrupt) // likewise
	default:
		_ = t.process.Kill() // it may have ended
	}
}

// request counts a request and returns the kind of the trap if it is the one.
func (t *trap) request() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests++; t.requests != t.n {
		return ""
	}
	return t.kind
}

// answered counts an answer and reports whether it is the one.
func (t *trap) answered() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers++
	return t.kind == trapAnswer && t.answers == t.n
}
