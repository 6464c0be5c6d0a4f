package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
)

// view shows a run to a person: it is told what begins and what has ended.
type view interface {
	echo.Sink
	engine.Observer
}

// chooseView picks how a run is shown: in place on a terminal, else line by line.
func (a *app) chooseView(quiet bool, c *cascade.Cascade, id string, n *notices) view {
	f, ok := a.err.(*os.File)
	switch {
	case quiet:
		return silentView{}
	case ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb":
		names := make([]string, len(c.Phases))
		for i := range c.Phases {
			names[i] = c.Phases[i].Name
		}
		p := newProgress(c.CascadeID, id, names, time.Now)
		n.show(p.setNote)
		return newLiveView(p, f, terminalSize(f), wantsColour(f))
	default:
		return newPlainView(a.err)
	}
}

func terminalSize(f *os.File) func() size {
	return func() size {
		w, h, err := term.GetSize(int(f.Fd()))
		if err != nil || w <= 0 || h <= 0 {
			w, h = 80, 24
		}
		return size{width: max(w-1, 1), height: h} // a full line would wrap on some terminals
	}
}

// silentView shows nothing.
type silentView struct{}

func (silentView) Write(*echo.Entry) error     { return nil }
func (silentView) Close(context.Context) error { return nil }
func (silentView) Observe(engine.Event)        {}

// eventSink writes every entry as a line of JSON.
type eventSink struct{ out io.Writer }

func (e *eventSink) Write(entry *echo.Entry) error {
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	if _, err = e.out.Write(append(line, '\n')); err != nil {
		return &outputError{err}
	}
	return nil
}

// outputError says that the events could not be written to standard output.
type outputError struct{ err error }

func (e *outputError) Error() string { return "print the events: " + e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

func (e *eventSink) Close(context.Context) error { return nil }
