package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/tool/command"
)

// errInterrupted is the cause of a context that a signal ended.
var errInterrupted = errors.New("interrupted")

// interruptible returns a context that the first Ctrl-C (or SIGTERM, or the end of the terminal) ends, so that everything can stop cleanly. The
// second one ends the process at once.
func interruptible(ctx context.Context, n *term.Notices) (context.Context, func()) {
	return onInterrupt(ctx, func() {
		n.Say("Stopping: what is under way is recorded. Press Ctrl-C again to quit at once.")
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
