package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/windlass-run/windlass/internal/tool/command"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// notices tells a person something while a command runs: in the live view when there is one, else in a line. It may be
// told from any goroutine.
type notices struct {
	mu  sync.Mutex
	say func(string)
}

func newNotices(w io.Writer) *notices {
	return &notices{say: func(text string) { fmt.Fprintf(w, "\n%s\n", text) }}
}

// show says where notices go from now on.
func (n *notices) show(say func(string)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.say = say
}

func (n *notices) tell(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.say(text)
}

// interruptible returns a context that the first Ctrl-C (or SIGTERM, or the end of the terminal) ends, so that everything can stop cleanly. The
// second one ends the process at once.
func interruptible(ctx context.Context, n *notices) (context.Context, func()) {
	return onInterrupt(ctx, func() {
		n.tell("Stopping: what is under way is recorded. Press Ctrl-C again to quit at once.")
	})
}

// onInterrupt is interruptible with something else to say at the first signal.
func onInterrupt(ctx context.Context, tell func()) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup wants it ignored
		signal.Notify(signals, syscall.SIGHUP)
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
		case <-done:
			return
		}
		tell()
		cancel(errInterrupted)
		select {
		case <-signals:
			command.KillAll()        // a tool that does not want to end must not outlive the run
			os.Exit(exitInterrupted) // asked for twice: nothing more is waited for
		case <-done:
		}
	}()
	var once sync.Once
	return ctx, func() {
		once.Do(func() {
			signal.Stop(signals)
			close(done)
			cancel(nil)
		})
	}
}

// surviveClosedPipes lets the process live when the reader of its output leaves: a run that is paid for does not die of a
// log that nobody reads. Writes to a closed pipe fail instead. It returns how to end that.
func surviveClosedPipes() func() {
	ignored := make(chan os.Signal, 1) // never read: the write's error tells
	signal.Notify(ignored, syscall.SIGPIPE)
	return func() { signal.Stop(ignored) }
}
