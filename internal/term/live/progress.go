package live

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
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
	over    bool // the run has ended: times are exact
	ended   bool // its end is recorded
	phases  []phaseProgress
	origin  echo.Origin // of a fork: what it has copied is in no sum
	total   record.Totals
	note    string
	said    []*saying // what stays above the frame, and is not there yet
	failure string    // the newest one
	prefix  string    // of its places: the names of the children that it is in
	family  family
}

// phaseProgress is one line: a visit to a phase, or a phase that is still to come.
type phaseProgress struct {
	name     string
	at       echo.Key // of the visit, or of the phase of a graph; zero before it begins
	status   echo.Status
	attempt  int
	turn     int
	tools    int
	doing    doing
	strands  strands
	load     load
	started  time.Time
	duration time.Duration

	begun uint64 // the number of the entry of its start
	ended uint64 // and of its end
	extra bool   // it is not one of those that were to come
}

// doing is what a visit does now.
type doing struct {
	activity string
	detail   string
	since    time.Time // of the activity
	running  running   // while there are any, there is no activity
	selected string    // what came in of earlier phases
	guard    string    // what the guard of its context did last
}

// NewProgress returns the state of a run that is about to begin.
func NewProgress(cascadeID, session string, phases []string, now func() time.Time) *Progress {
	p := &Progress{cascade: term.OneLine(cascadeID), session: session, now: now, started: now()}
	for _, name := range phases {
		p.phases = append(p.phases, phaseProgress{name: name})
	}
	return p
}

// Resume adds what a run did so far that is resumed: as if nothing had stopped it, and without what
// it said then.
func (p *Progress) Resume(entries []*echo.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range entries {
		p.add(e)
	}
	p.setAside(record.ResumptionOf(entries).SetAside())
	of := ""
	if p.prefix != "" {
		of = strings.TrimSuffix(p.prefix, "/") + ": "
	}
	p.said = []*saying{retried.of("%s", of+resumedAfter(entries))}
}

// Entry adds what was recorded.
func (p *Progress) Entry(e *echo.Entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.add(e)
	if s := p.sayingOf(e); s != nil && !p.isSaid(e) {
		p.say(s)
	}
	if e.Error != nil {
		p.failure = e.Error.Message
	}
}

// sayingOf is [sayingOf], which knows the names of children.
func (p *Progress) sayingOf(e *echo.Entry) *saying {
	if e.NodeType != echo.NodeChildEnd {
		return sayingOf(e)
	}
	d, err := echo.Read[echo.ChildEnd](e)
	if c := p.family.find(d.Session); err == nil && c != nil && d.Status == echo.StatusFailed {
		return failed.of("%s: %s", placeAt(e), childText(e, &d, c.name))
	}
	return nil
}

// say has something stay above the frame.
func (p *Progress) say(s *saying) {
	s.text = p.prefix + s.text
	p.said = append(p.said, s)
}

// isSaid reports whether a phase has failed for what was the failure before.
func (p *Progress) isSaid(e *echo.Entry) bool {
	return e.NodeType == echo.NodePhaseEnd && e.Error != nil && p.failure != "" && strings.Contains(e.Error.Message, p.failure)
}

func (p *Progress) add(e *echo.Entry) {
	if e.NodeType == echo.NodeRunStart {
		p.origin = echo.OriginOf(e)
	}
	own := !p.origin.Has(e)
	if own {
		p.total.Add(e)
	}
	p.ended = e.NodeType == echo.NodeRunEnd || p.ended && e.Background()
	if e.NodeType == echo.NodeResume {
		d, _ := echo.Read[echo.Resume](e) // one that cannot be read sets nothing aside
		p.setAside(d.SetAside)
		return
	}
	p.family.add(e, p.now())
	if isWhole(e.Key) {
		p.family.contest.add(e, own, p.now())
		return
	}
	if e.NodeType == echo.NodeRunEnd {
		p.family.contest.tries, p.family.contest.judges = nil, judges{}
	}
	ph := p.current(e.Phase, e.Key)
	if e.NodeType == echo.NodePhaseStart {
		ph = p.begin(e.Phase)
		ph.at = e.Key.VisitKey()
	}
	if ph != nil {
		ph.add(e, own, p.now())
	}
}

// add takes an entry of the visit.
func (ph *phaseProgress) add(e *echo.Entry, own bool, now time.Time) {
	ph.load.add(e, own)
	if e.NodeType == echo.NodeToolCall {
		ph.tools++
	}
	if ph.strands.add(e, own, now) {
		return
	}
	switch e.NodeType {
	case echo.NodePhaseStart:
		ph.status, ph.started, ph.begun = echo.StatusRunning, now, e.Seq
	case echo.NodeModelCall:
		ph.attempt, ph.turn = e.Attempt, e.Turn
	case echo.NodePhaseEnd:
		ph.status, ph.duration, ph.ended = record.Visit{}.After(e).Status, now.Sub(ph.started), e.Seq
		if e.DurationMS > 0 {
			ph.duration = time.Duration(e.DurationMS * float64(time.Millisecond))
		}
		ph.doing, ph.strands.running = doing{}, nil
		ph.strands.contest.tries, ph.strands.contest.judges = nil, judges{}
		return
	}
	ph.doing.add(e, now)
}

// add takes what was recorded.
func (d *doing) add(e *echo.Entry, now time.Time) {
	switch e.NodeType {
	case echo.NodeModelCall:
		d.act("", now)
	case echo.NodeToolCall:
		d.act("", now)
		d.running.end(e.Key, now)
	case echo.NodeInter:
		d.selected = selectionLine(e)
	case echo.NodeGuard:
		d.guard = guardLine(e)
	}
}

// act begins an activity; "" is none.
func (d *doing) act(activity string, now time.Time) {
	d.activity, d.detail, d.since = activity, "", now
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
			ph.status, ph.strands = echo.StatusPending, strands{}
		case slices.Contains(seqs, ph.ended):
			ph.status = echo.StatusRunning
		}
	}
}

// Event adds what has begun.
func (p *Progress) Event(ev engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if isWhole(ev.Key) {
		p.family.contest.event(ev, p.now())
	}
	ph := p.current(ev.Site.Phase, ev.Key)
	if ph == nil {
		return
	}
	if !ph.strands.event(ev, p.now()) {
		ph.attempt, ph.turn = ev.Site.Attempt, ev.Site.Turn
		ph.doing.event(ev, p.now())
	}
	if ev.Kind == engine.EventDelta && ev.Delta.Retrying != "" {
		p.say(retrySaying(ev))
	}
}

func (d *doing) event(ev engine.Event, now time.Time) {
	switch ev.Kind {
	case engine.EventModelCall:
		activity := "asking " + ev.Model
		switch {
		case ev.Site.Purpose != "":
			activity = purposeWords(ev.Site.Purpose) + " with " + ev.Model
		case ev.Site.Validator != "":
			activity = "validator " + ev.Site.Validator
		}
		d.act(activity, now)
	case engine.EventToolCall:
		d.act("", now)
		d.running.begin(ev, now)
	case engine.EventDelta:
		switch {
		case ev.Delta.Retrying != "":
			d.act(retryText(ev), now)
		case ev.Delta.ToolCall != "":
			d.activity, d.detail = "calling "+term.Clean(ev.Delta.ToolCall), ""
		case ev.Delta.Text != "":
			d.activity = "answering"
			d.detail = term.Tail(d.detail+ev.Delta.Text, 400)
		}
	}
}

// Note shows a text that concerns the whole run, such as an interrupt; an empty one removes it.
func (p *Progress) Note(note string) {
	p.mu.Lock()
	p.note = note
	p.mu.Unlock()
}

// End removes the note and has times shown exactly from now on.
func (p *Progress) End() {
	p.mu.Lock()
	p.note, p.over = "", true
	p.mu.Unlock()
}

// Said returns the lines that stay above the frame and are not there yet, once.
func (p *Progress) Said(width int, color bool) []string {
	var out []string
	for _, s := range p.take() {
		out = append(out, s.render(width, color)...)
	}
	return out
}

// take returns what is to be said, and what the children of the run have to say, once.
func (p *Progress) take() []*saying {
	p.mu.Lock()
	defer p.mu.Unlock()
	said := p.said
	p.said = nil
	for _, c := range p.family.children {
		if inner := p.family.inner[c.Session]; inner != nil {
			said = append(said, inner.take()...)
		}
	}
	return said
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

// current returns the line of a phase that is running, or nil. A phase may run in several branches at
// a time, which a key tells apart.
func (p *Progress) current(name string, key echo.Key) *phaseProgress {
	at := key.VisitKey()
	for i := len(p.phases) - 1; i >= 0; i-- {
		ph := &p.phases[i]
		if ph.name == name && ph.status == echo.StatusRunning && (at.IsZero() || ph.at.IsZero() || ph.at == at) {
			return ph
		}
	}
	return nil
}

// telling are the arguments that say best what a call is about, the best first.
var telling = []string{"pattern", "path", "command", "url", "sql", "target", "key", "dir"}

// longestHint is how many columns of arguments are shown at most.
const longestHint = 200

// argumentHint shows the most telling argument of a call, else its first string by name, else the
// start of all of them.
func argumentHint(args string) string {
	var all map[string]any
	if json.Unmarshal([]byte(args), &all) != nil || len(all) == 0 {
		return ""
	}
	for _, name := range slices.Concat(telling, slices.Sorted(maps.Keys(all))) {
		if text, ok := all[name].(string); ok && text != "" {
			return term.Cut(term.OneLine(text), longestHint)
		}
	}
	text, _ := json.Marshal(all) //nolint:errchkjson // it came from JSON
	return term.Cut(term.OneLine(string(text)), longestHint)
}
