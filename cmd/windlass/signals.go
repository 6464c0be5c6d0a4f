package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/windlass-run/windlass/internal/exit"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/keys"
	"github.com/windlass-run/windlass/internal/tool/command"
)

// recording says at the first signal that everything is recorded.
func recording(n *term.Notices) func() {
	return func() { n.Say("Stopping: what is under way is recorded. Press Ctrl-C again to quit at once.") }
}

// interruptible returns a context that the first Ctrl-C, SIGTERM or end of the terminal ends, after
// tell was called. The second one ends the process at once.
func interruptible(ctx context.Context, tell func()) (_ context.Context, stop func()) {
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
		cancel(exit.ErrInterrupted)
		select {
		case <-signals:
			keys.Restore()            // a form must not leave its mark on the terminal
			command.KillAll()         // a tool that does not want to end must not outlive the run
			os.Exit(exit.Interrupted) // asked for twice: nothing more is waited for
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
