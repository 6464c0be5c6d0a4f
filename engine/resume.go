package engine

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// takeUp leaves out of the past what the run goes on without: how it had been stopped, and the call that made it fail,
// which is made again.
func (r *run) takeUp() {
	if r.past == nil {
		return
	}
	end := endOf(r.spec.Past)
	r.aside = end.stop
	if !r.spec.Replay {
		r.aside = append(r.aside, end.failed...)
	}
	r.past.forget(r.aside)
}

// goOn records, once, that a run is taken up again and what it goes on without. It comes where the past ends, before
// anything that is new: a run that does not follow its record leaves no trace in it. Parallel tools may call it at the same
// time.
func (r *run) goOn() error {
	if r.past == nil {
		return nil
	}
	r.past.once.Do(func() {
		last := r.spec.Past[len(r.spec.Past)-1]
		e := siteEntry(echo.NodeResume, echo.RunKey().Step(echo.StepResume), r.site())
		e.Data = mustJSON(tookUp{Budget: r.budgetInForce(), SetAside: append([]uint64{}, r.aside...)})
		if err := r.spec.Log.Append(e); err != nil {
			r.past.failed = &RecordError{Err: err}
			return
		}
		r.past.resume(max(r.clock().Sub(last.At), 0))
	})
	return r.past.failed
}

// forget leaves entries out that are not used yet.
func (p *past) forget(seqs []uint64) {
	aside := map[uint64]bool{}
	for _, s := range seqs {
		aside[s] = true
	}
	for i := len(p.entries) - 1; i >= 0; i-- {
		e := p.entries[i]
		if !aside[e.Seq] || p.used[i] {
			continue
		}
		k := pastKey{e.NodeType, e.Key}
		q := p.queues[k]
		p.queues[k] = q[:len(q)-1] // what is set aside is the newest of its key
		p.used[i] = true
		p.left--
	}
	for p.next < len(p.used) && p.used[p.next] {
		p.next++
	}
}

// NotResumableError says why a session cannot be taken up again.
type NotResumableError struct {
	Status Status
	Reason StopReason
}

// Error says why.
func (e *NotResumableError) Error() string {
	if e.Status == StatusCompleted {
		return "the run has completed: there is nothing to go on with"
	}
	return fmt.Sprintf("the run failed (%s), and not for want of an answer: it would come to the same end again", e.Reason)
}

// State is how far a recorded run has come.
type State struct {
	Status    Status // StatusRunning: no end is recorded; it runs, or its process died
	Reason    StopReason
	Resumable bool // it can be taken up again, once nobody runs it
}

// StateOf reads the state of a run off its record.
func StateOf(entries []*echo.Entry) State {
	end := endOf(entries)
	return State{
		Status: end.status, Reason: end.reason,
		Resumable: end.status != StatusCompleted && (end.status != StatusFailed || len(end.failed) > 0),
	}
}

// Standing returns the entries of a record that a run which takes it up goes on from: without what is set aside.
func Standing(entries []*echo.Entry) []*echo.Entry {
	aside := setAside(entries)
	end := endOf(entries)
	for _, seq := range slices.Concat(end.stop, end.failed) {
		aside[seq] = true
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e *echo.Entry) bool {
		return aside[e.Seq] || e.NodeType == echo.NodeResume
	})
}

// CheckResumable returns a [*NotResumableError] when a run cannot be taken up again.
func CheckResumable(entries []*echo.Entry) error {
	if s := StateOf(entries); !s.Resumable {
		return &NotResumableError{Status: s.Status, Reason: s.Reason}
	}
	return nil
}
