package engine

import (
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// past is what is recorded of a run already. A run that has one goes its way again from the beginning: what it would
// record is compared with what is recorded, and what it asks of the world is answered from there, until nothing is left.
//
// Everything comes in the order in which it was recorded, apart from the results of parallel tools, which are recorded as
// they end: these are found by their key. The mutex guards everything, as such tools take their results on goroutines of
// their own.
type past struct {
	entries []*echo.Entry
	away    []time.Duration // of each entry: how long nobody ran the session before it was recorded

	mu     sync.Mutex
	queues map[pastKey][]int // indexes of entries that are not used yet
	used   []bool
	next   int // the first entry that is not used
	left   int // how many are not
	last   int // the entry that was used last, -1 when none was

	gone *time.Duration // how long nobody had run the session when it was gone on with; nil: it has not been

	once   sync.Once // guards what is recorded when it is gone on with,
	failed error     // and why that could not be
}

// pastKey is what an entry is found by. A key alone may stand for several things, such as a call and its start.
type pastKey struct {
	node echo.NodeType
	key  echo.Key
}

// newPast takes what counts of a record: not what was set aside by a run that took it up, and nothing that went on beside
// the run.
func newPast(entries []*echo.Entry) *past {
	p := &past{queues: map[pastKey][]int{}, last: -1}
	aside := setAside(entries)
	var away time.Duration
	for i, e := range entries {
		if e.NodeType == echo.NodeResume {
			if i > 0 {
				away += max(e.At.Sub(entries[i-1].At), 0)
			}
			continue
		}
		if aside[e.Seq] || e.Background() {
			continue
		}
		k := pastKey{e.NodeType, e.Key}
		p.queues[k] = append(p.queues[k], len(p.entries))
		p.entries = append(p.entries, e)
		p.away = append(p.away, away)
	}
	p.used = make([]bool, len(p.entries))
	p.left = len(p.entries)
	return p
}

// follow uses the entry that is next, if it is of a type and key. Otherwise it returns what is next, nil at the end.
//
// A reading for a limit of the budget is passed over when the run does not take it any more: limits may be lifted.
func (p *past) follow(node echo.NodeType, key echo.Key) (used, next *echo.Entry) {
	for next = p.pending(); next != nil; next = p.pending() {
		if next.NodeType == node && next.Key == key {
			return p.take(node, key), nil
		}
		if next.NodeType != echo.NodeValue || !next.Key.IsBudgetReading() || !p.has(node, key) {
			return nil, next
		}
		p.take(next.NodeType, next.Key)
	}
	return nil, nil
}

// has reports whether an entry of a type and key is not used yet.
func (p *past) has(node echo.NodeType, key echo.Key) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.queues[pastKey{node, key}]) > 0
}

// peek returns the next entry of a type and key that is not used yet, and does not use it; nil when there is none.
func (p *past) peek(node echo.NodeType, key echo.Key) *echo.Entry {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.queues[pastKey{node, key}]
	if len(q) == 0 {
		return nil
	}
	return p.entries[q[0]]
}

// take uses the next entry of a type and key, wherever it is; nil when there is none.
func (p *past) take(node echo.NodeType, key echo.Key) *echo.Entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	k := pastKey{node, key}
	q := p.queues[k]
	if len(q) == 0 {
		return nil
	}
	i := q[0]
	p.queues[k] = q[1:]
	p.used[i] = true
	p.left--
	p.last = i
	for p.next < len(p.used) && p.used[p.next] {
		p.next++
	}
	return p.entries[i]
}

// pending returns the first entry that is not used yet, nil when the record has come to its end.
func (p *past) pending() *echo.Entry {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return nil
	}
	return p.entries[p.next]
}

// resume notes that the run goes on, so long after its record ends.
func (p *past) resume(after time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = &after
}

// resumed returns how long nobody has run the session, in all, and whether the run goes on.
func (p *past) resumed() (away time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone == nil {
		return 0, false
	}
	if n := len(p.away); n > 0 {
		away = p.away[n-1]
	}
	return away + *p.gone, true
}

// clock returns when the entry that was used last was recorded, and how long nobody had run the session before that.
func (p *past) clock() (at time.Time, away time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.entries) == 0 {
		return time.Time{}, 0
	}
	i := max(p.last, 0)
	return p.entries[i].At, p.away[i]
}

// tookUp is the data of a run_resume entry.
type tookUp struct {
	Budget   *cascade.Budget `json:"budget,omitempty"` // in force from now on; nil: there is none
	SetAside []uint64        `json:"set_aside"`        // numbers of entries that the run goes on without: how it had ended, a call that is made again
}

// setAside returns the numbers of all entries that runs went on without.
func setAside(entries []*echo.Entry) map[uint64]bool {
	aside := map[uint64]bool{}
	for _, e := range entries {
		if e.NodeType != echo.NodeResume {
			continue
		}
		var t tookUp
		if decode(e.Data, &t) == nil {
			for _, seq := range t.SetAside {
				aside[seq] = true
			}
		}
	}
	return aside
}

// end is how a record ends.
type end struct {
	status Status
	reason StopReason
	whole  bool     // the end of the run is recorded: nobody killed it
	stop   []uint64 // the entries of the stop, newest first
	failed []uint64 // the failed call that made the run fail, and what followed from it; nil when it was no call
}

// Counted returns what counts of a record, in its order: nothing that a run which took it up went on without, and nothing
// that went on beside the run.
func Counted(entries []*echo.Entry) []*echo.Entry {
	var live []*echo.Entry
	aside := setAside(entries)
	for _, e := range entries {
		if e.NodeType != echo.NodeResume && !aside[e.Seq] && !e.Background() {
			live = append(live, e)
		}
	}
	return live
}

// endOf reads how a record ends.
func endOf(entries []*echo.Entry) end {
	live := Counted(entries)
	out := end{status: StatusRunning}
	for i := len(live) - 1; i >= 0; i-- {
		e := live[i]
		status, reason := statusOf(e)
		stopped := status == StatusInterrupted || status == StatusOverBudget
		if e.NodeType == echo.NodeRunEnd && i == len(live)-1 {
			out.status, out.reason, out.whole = status, reason, true
			if status == StatusFailed {
				out.failed = failedCall(live)
			}
		}
		if !stopped || out.status == StatusFailed || out.status == StatusCompleted {
			break
		}
		if out.status == StatusRunning { // killed while the stop was recorded
			out.status, out.reason = status, reason
		}
		out.stop = append(out.stop, e.Seq)
	}
	return out
}

// statusOf reads the status off the end of a phase or a run, or off the handoff before it; StatusPending for any other
// entry.
func statusOf(e *echo.Entry) (Status, StopReason) {
	switch e.NodeType {
	case echo.NodePhaseEnd, echo.NodeRunEnd, echo.NodeHandoff:
	default:
		return StatusPending, ""
	}
	var d struct {
		Status string
		Reason StopReason
	}
	if decode(e.Data, &d) == nil {
		for i, name := range statusNames {
			if name == d.Status {
				return Status(i), d.Reason
			}
		}
	}
	return StatusPending, ""
}

// failedCall returns the numbers of the newest outcome and of everything after it, when that outcome is a model call or
// the tool of a phase without a model and it failed. That the tool had begun is among them: whoever takes the session up
// then wants it to be run again.
func failedCall(live []*echo.Entry) []uint64 {
	var seqs []uint64
	for i := len(live) - 1; i >= 0; i-- {
		e := live[i]
		seqs = append(seqs, e.Seq)
		switch e.NodeType {
		case echo.NodeModelCall:
			return orNil(seqs, e.Error != nil)
		case echo.NodeToolCall:
			if i > 0 && live[i-1].NodeType == echo.NodeToolStart && live[i-1].Key == e.Key {
				seqs = append(seqs, live[i-1].Seq)
			}
			return orNil(seqs, e.Error != nil && isPhaseTool(e.Key))
		case echo.NodeValue, echo.NodeInter, echo.NodeVerdict:
			return nil
		}
	}
	return nil
}

func orNil(seqs []uint64, ok bool) []uint64 {
	if !ok {
		return nil
	}
	return seqs
}

// isPhaseTool reports whether a key is that of the tool of a phase without a model.
func isPhaseTool(k echo.Key) bool {
	p := k.Path()
	return p.Turn == 0 && len(p.Effect) == 1 && p.Effect[0] == echo.Step{Kind: echo.StepTool}
}
