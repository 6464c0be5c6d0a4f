package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/oneline"
)

// progress is what a run looks like from outside, gathered from its entries and events. It is written to by the run and
// read by whoever draws; the mutex guards everything.
type progress struct {
	mu      sync.Mutex
	now     func() time.Time
	cascade string
	session string
	started time.Time
	phases  []phaseProgress
	total   record.Totals
	note    string // something that concerns the whole run, such as an interrupt
}

// phaseProgress is one line: a visit to a phase, or a phase that is still to come.
type phaseProgress struct {
	name     string
	status   echo.Status
	attempt  int
	turn     int
	tools    int
	activity string
	detail   string
	selected string // what came in of earlier phases
	guard    string // what the guard of its context did last
	spent    record.Totals
	started  time.Time
	duration time.Duration
}

func newProgress(cascadeID, session string, phases []string, now func() time.Time) *progress {
	p := &progress{cascade: oneLine(cascadeID), session: session, now: now, started: now()}
	for _, name := range phases {
		p.phases = append(p.phases, phaseProgress{name: name})
	}
	return p
}

// entry takes in what was recorded.
func (p *progress) entry(e *echo.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.NodeType {
	case echo.NodePhaseStart:
		ph := p.begin(e.Phase)
		ph.status, ph.started = echo.StatusRunning, p.now()
	case echo.NodeModelCall:
		if ph := p.current(e.Phase); ph != nil {
			ph.attempt, ph.turn, ph.activity, ph.detail = e.Attempt, e.Turn, "", ""
			ph.spent.Add(e)
		}
		p.total.Add(e)
	case echo.NodeToolCall:
		if ph := p.current(e.Phase); ph != nil {
			ph.tools++
			ph.activity, ph.detail = "", ""
		}
	case echo.NodeInter:
		if ph := p.current(e.Phase); ph != nil {
			ph.selected = selectionLine(e)
		}
	case echo.NodeGuard:
		if ph := p.current(e.Phase); ph != nil {
			ph.guard = guardLine(e)
		}
	case echo.NodePhaseEnd:
		if ph := p.current(e.Phase); ph != nil {
			ph.status, ph.duration = record.Visit{}.After(e).Status, p.now().Sub(ph.started)
			ph.activity, ph.detail = "", ""
		}
	}
}

// event takes in what has begun.
func (p *progress) event(ev engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ph := p.current(ev.Site.Phase)
	if ph == nil {
		return
	}
	ph.attempt, ph.turn = ev.Site.Attempt, ev.Site.Turn
	switch ev.Kind {
	case engine.EventModelCall:
		ph.activity, ph.detail = "asking "+ev.Model, ""
		if ev.Site.Validator != "" {
			ph.activity = "validator " + ev.Site.Validator
		}
		if ev.Site.Purpose != "" {
			ph.activity = purposeWords(ev.Site.Purpose) + " with " + ev.Model
		}
	case engine.EventToolCall:
		ph.activity, ph.detail = clean(ev.Tool), argumentHint(ev.Arguments)
	case engine.EventDelta:
		switch {
		case ev.Delta.Retrying != "":
			ph.activity, ph.detail = fmt.Sprintf("retrying in %s", ev.Delta.RetryWait.Round(100*time.Millisecond)), ev.Delta.Retrying
		case ev.Delta.ToolCall != "":
			ph.activity, ph.detail = "calling "+clean(ev.Delta.ToolCall), ""
		case ev.Delta.Text != "":
			ph.activity = "answering"
			ph.detail = tail(ph.detail+ev.Delta.Text, 200)
		}
	}
}

func (p *progress) setNote(note string) {
	p.mu.Lock()
	p.note = note
	p.mu.Unlock()
}

// begin returns the line of a phase that starts: the first one that waits, else a new one before those that wait.
func (p *progress) begin(name string) *phaseProgress {
	at := len(p.phases)
	for i := range p.phases {
		if p.phases[i].status != echo.StatusPending {
			continue
		}
		if p.phases[i].name == name {
			return &p.phases[i]
		}
		at = min(at, i)
	}
	p.phases = slices.Insert(p.phases, at, phaseProgress{name: name})
	return &p.phases[at]
}

// current returns the line of a phase that is running, or nil.
func (p *progress) current(name string) *phaseProgress {
	for i := len(p.phases) - 1; i >= 0; i-- {
		if p.phases[i].name == name && p.phases[i].status == echo.StatusRunning {
			return &p.phases[i]
		}
	}
	return nil
}

// telling are the arguments that say best what a call is about, the best first.
var telling = []string{"pattern", "path", "command", "url", "sql", "target", "key", "dir"}

// argumentHint shows what a call is about: the most telling of its arguments, else its first string by name.
func argumentHint(args string) string {
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) != nil {
		return ""
	}
	for _, name := range slices.Concat(telling, sortedNames(all)) {
		if text, ok := all[name].(string); ok && text != "" {
			return cut(oneLine(text), 80)
		}
	}
	return ""
}

// oneLine puts a text on one line that is safe to print, whoever wrote it.
func oneLine(s string) string { return clean(oneline.Of(s)) }

// tail returns the last n bytes of a text, from a whole character on.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[len(s)-n:], "")
}
