package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/term"
)

// Progress is the state of a run, gathered from its entries and events. The run writes to it, the
// view reads it; the mutex guards everything.
type Progress struct {
	mu      sync.Mutex
	now     func() time.Time
	cascade string
	session string
	started time.Time
	phases  []phaseProgress
	origin  echo.Origin // of a fork: what it has copied is in no sum
	total   record.Totals
	note    string
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

	begun uint64 // the number of the entry of its start
	ended uint64 // and of its end
	extra bool   // it is not one of those that were to come
}

// NewProgress returns the state of a run that is about to begin.
func NewProgress(cascadeID, session string, phases []string, now func() time.Time) *Progress {
	p := &Progress{cascade: term.OneLine(cascadeID), session: session, now: now, started: now()}
	for _, name := range phases {
		p.phases = append(p.phases, phaseProgress{name: name})
	}
	return p
}

// Entry adds what was recorded.
func (p *Progress) Entry(e *echo.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.NodeType == echo.NodeRunStart {
		p.origin = echo.OriginOf(e)
	}
	own := !p.origin.Has(e)
	if own {
		p.total.Add(e)
	}
	if e.NodeType == echo.NodeResume {
		d, _ := echo.Read[echo.Resume](e) // one that cannot be read sets nothing aside
		p.setAside(d.SetAside)
		return
	}
	ph := p.current(e.Phase)
	if e.NodeType == echo.NodePhaseStart {
		ph = p.begin(e.Phase)
	}
	if ph == nil {
		return
	}
	switch e.NodeType {
	case echo.NodePhaseStart:
		ph.status, ph.started, ph.begun = echo.StatusRunning, p.now(), e.Seq
	case echo.NodeModelCall:
		ph.attempt, ph.turn, ph.activity, ph.detail = e.Attempt, e.Turn, "", ""
		if own {
			ph.spent.Add(e)
		}
	case echo.NodeToolCall:
		ph.tools++
		ph.activity, ph.detail = "", ""
	case echo.NodeInter:
		ph.selected = selectionLine(e)
	case echo.NodeGuard:
		ph.guard = guardLine(e)
	case echo.NodePhaseEnd:
		ph.status, ph.duration = record.Visit{}.After(e).Status, p.now().Sub(ph.started)
		ph.activity, ph.detail, ph.ended = "", "", e.Seq
	}
}

// SetAside has entries count no longer, as those that record the stop of a run that resumes.
func (p *Progress) SetAside(seqs []uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setAside(seqs)
}

// setAside has phases whose ends do not count any more go on, and others begin again. What they
// took stays.
func (p *Progress) setAside(seqs []uint64) {
	p.phases = slices.DeleteFunc(p.phases, func(ph phaseProgress) bool {
		return ph.extra && slices.Contains(seqs, ph.begun)
	})
	for i := range p.phases {
		ph := &p.phases[i]
		switch {
		case slices.Contains(seqs, ph.begun):
			ph.status = echo.StatusPending
		case slices.Contains(seqs, ph.ended):
			ph.status = echo.StatusRunning
		}
	}
}

// Event adds what has begun.
func (p *Progress) Event(ev engine.Event) {
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
		ph.activity, ph.detail = term.Clean(ev.Tool), argumentHint(ev.Arguments)
	case engine.EventDelta:
		switch {
		case ev.Delta.Retrying != "":
			ph.activity, ph.detail = fmt.Sprintf("retrying in %s", ev.Delta.RetryWait.Round(100*time.Millisecond)), ev.Delta.Retrying
		case ev.Delta.ToolCall != "":
			ph.activity, ph.detail = "calling "+term.Clean(ev.Delta.ToolCall), ""
		case ev.Delta.Text != "":
			ph.activity = "answering"
			ph.detail = term.Tail(ph.detail+ev.Delta.Text, 200)
		}
	}
}

// Note shows a text that concerns the whole run, such as an interrupt; an empty one removes it.
func (p *Progress) Note(note string) {
	p.mu.Lock()
	p.note = note
	p.mu.Unlock()
}

// begin returns the line of a phase that starts: its first pending one, else a new one before
// those.
func (p *Progress) begin(name string) *phaseProgress {
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
	p.phases = slices.Insert(p.phases, at, phaseProgress{name: name, extra: true})
	return &p.phases[at]
}

// current returns the line of a phase that is running, or nil.
func (p *Progress) current(name string) *phaseProgress {
	for i := len(p.phases) - 1; i >= 0; i-- {
		if p.phases[i].name == name && p.phases[i].status == echo.StatusRunning {
			return &p.phases[i]
		}
	}
	return nil
}

// telling are the arguments that say best what a call is about, the best first.
var telling = []string{"pattern", "path", "command", "url", "sql", "target", "key", "dir"}

// argumentHint shows the most telling argument of a call, else its first string by name.
func argumentHint(args string) string {
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) != nil {
		return ""
	}
	for _, name := range slices.Concat(telling, slices.Sorted(maps.Keys(all))) {
		if text, ok := all[name].(string); ok && text != "" {
			return term.Cut(term.OneLine(text), 80)
		}
	}
	return ""
}
