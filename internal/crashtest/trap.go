// Package crashtest kills windlass at chosen places: traps for its processes, and a provider that springs
// them and notes what a process that has died had recorded.
package crashtest

import (
	"cmp"
	"os"
	"sync"
	"time"
)

// Kind says where a trap springs.
type Kind string

// The kinds of traps.
const (
	AtTime    Kind = "at any time"
	AtRequest Kind = "when a request had arrived"
	AtHalf    Kind = "when half of an answer was sent"
	AtAnswer  Kind = "when an answer was sent"
	InTool    Kind = "in a tool" // which springs it itself, when it finds File
	AtMark    Kind = "when something had begun or ended"
	NoRoom    Kind = "no room on the disk" // whoever starts the process limits its files to N blocks
	Interrupt Kind = "interrupted, not killed"
)

// Trap kills one process at one place, or stops it as Ctrl-C does. Its methods may be called on nil, which
// does nothing.
type Trap struct {
	Kind Kind
	N    int           // of the request or answer, from 1; of marks; of blocks
	Wait time.Duration // of AtTime and Interrupt; of AtMark: how often to look, 0: often
	File string        // of InTool

	mu       sync.Mutex
	process  *os.Process
	requests int
	answers  int
}

// Begin tells a trap which process it is for.
func (t *Trap) Begin(p *os.Process) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.process = p
	t.mu.Unlock()
}

func (t *Trap) spring() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.process == nil:
	case t.Kind == Interrupt:
		_ = t.process.Signal(os.Interrupt) // it may have ended
	default:
		_ = t.process.Kill() // likewise
	}
}

// request counts a request and returns the kind of the trap if it is the one.
func (t *Trap) request() Kind {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.requests++; t.requests != t.N {
		return ""
	}
	return t.Kind
}

// answered counts an answer and reports whether it is the one.
func (t *Trap) answered() bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers++
	return t.Kind == AtAnswer && t.answers == t.N
}

// often is how often marks are counted.
const often = 2 * time.Millisecond

// Watch springs a trap of the clock, or of marks: the beginnings and ends that the journals have. Whoever
// calls it calls stop when the process has ended.
func (t *Trap) Watch(marks func() int) (stop func()) {
	if t == nil || t.Kind != AtTime && t.Kind != Interrupt && t.Kind != AtMark {
		return func() {}
	}
	wait := t.Wait
	if t.Kind == AtMark {
		wait = cmp.Or(wait, often)
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-time.After(wait):
			case <-quit:
				return
			}
			if t.Kind != AtMark || marks() >= t.N {
				t.spring()
				return
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}
