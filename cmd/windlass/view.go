package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
)

// view shows a run to a person: it is told what begins and what has ended.
type view interface {
	echo.Sink
	engine.Observer
}

// chooseView picks how the run is shown: in place on a terminal, else line by line.
func (s *session) chooseView() view {
	f, ok := s.app.err.(*os.File)
	switch {
	case s.options.quiet:
		return silentView{}
	case ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb":
		names := make([]string, len(s.cascade.Phases))
		for i := range s.cascade.Phases {
			names[i] = s.cascade.Phases[i].Name
		}
		p := newProgress(s.cascade.CascadeID, s.id, names, time.Now)
		s.notices.show(p.setNote)
		return newLiveView(p, f, terminalSize(f), wantsColour(f))
	default:
		return newPlainView(s.app.err)
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
