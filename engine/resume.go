package engine

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// aside returns the numbers of the entries of the recording that the run goes on without: how it had been stopped, and the calls
// that made it fail, which are made again. A replay goes without the first only.
func (r *run) setAside() []uint64 {
	end := endOf(r.spec.Recording)
	if r.spec.Log == nil {
		return end.stop
	}
	return append(end.stop, end.failed...)
}

// resumed makes the entry that says that the run goes on where its recording ends, and without what.
func (r *run) resumed() *echo.Entry {
	return payloadEntry(echo.RunKey().Step(echo.StepResume), r.site(),
		echo.Resume{Budget: r.budgetInForce(), SetAside: append([]uint64{}, r.aside...)})
}

// NotResumableError says why a session cannot be taken up again.
type NotResumableError struct {
	Status echo.Status
	Reason echo.StopReason
}

// Error says why.
func (e *NotResumableError) Error() string {
	if e.Status == echo.StatusCompleted {
		return "the run has completed: there is nothing to go on with"
	}
	return fmt.Sprintf("the run failed (%s), and not for want of an answer: it would come to the same end again", e.Reason)
}

// State is how far a recorded run has come.
type State struct {
	Status    echo.Status // StatusRunning: no end is recorded; it runs, or its process died
	Reason    echo.StopReason
	Resumable bool // it can be taken up again, once nobody runs it
}

// StateOf reads the state of a run off its record.
func StateOf(entries []*echo.Entry) State {
	end := endOf(entries)
	return State{
		Status: end.status, Reason: end.reason,
		Resumable: end.status != echo.StatusCompleted && (end.status != echo.StatusFailed || len(end.failed) > 0),
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

// setAside returns the numbers of all entries that runs went on without.
func setAside(entries []*echo.Entry) map[uint64]bool {
	aside := map[uint64]bool{}
	for _, e := range entries {
		resumed, _ := echo.Read[echo.Resume](e) // another entry sets nothing aside
		for _, seq := range resumed.SetAside {
			aside[seq] = true
		}
	}
	return aside
}

// end is how a record ends.
type end struct {
	status echo.Status
	reason echo.StopReason
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
	out := end{status: echo.StatusRunning}
	for i := len(live) - 1; i >= 0; i-- {
		e := live[i]
		status, reason := statusOf(e)
		stopped := status == echo.StatusInterrupted || status == echo.StatusOverBudget
		if e.NodeType == echo.NodeRunEnd && i == len(live)-1 {
			out.status, out.reason, out.whole = status, reason, true
			if status == echo.StatusFailed {
				out.failed = failedCall(live)
			}
		}
		if !stopped || out.status == echo.StatusFailed || out.status == echo.StatusCompleted {
			break
		}
		if out.status == echo.StatusRunning { // killed while the stop was recorded
			out.status, out.reason = status, reason
		}
		out.stop = append(out.stop, e.Seq)
	}
	return out
}

// statusOf reads the status off the end of a phase or a run, or off the handoff before it; StatusPending for any other
// entry.
func statusOf(e *echo.Entry) (echo.Status, echo.StopReason) {
	if end, err := echo.Read[echo.RunEnd](e); err == nil {
		return end.Status, end.Reason
	}
	if end, err := echo.Read[echo.PhaseEnd](e); err == nil {
		return end.Status, end.Reason
	}
	if h, err := echo.Read[echo.Handoff](e); err == nil {
		return h.Status, h.Reason
	}
	return echo.StatusPending, ""
}

// failedCall returns the numbers of the calls that made a run fail and of what followed from them, newest first: in each branch
// that had not ended, its newest outcome when that is a failed model call or the failed tool of a phase without a model. That
// such a tool had begun is among them: who resumes the session then wants it to be run again.
func failedCall(live []*echo.Entry) []uint64 {
	from := map[echo.Key]uint64{} // of branches: the first entry that is set aside
	for branch, first := range failures(live) {
		for {
			if seq, ok := from[branch]; !ok || first < seq {
				from[branch] = first // what a branch failed of ended those that it grows from
			}
			if branch.IsZero() {
				break
			}
			branch = branch.ParentBranch()
		}
	}
	var seqs []uint64
	for _, e := range slices.Backward(live) {
		if first, ok := from[e.Key.Branch()]; ok && e.Seq >= first {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

// failures returns, for each branch that had not ended and whose newest outcome is a call that failed, where that call begins.
func failures(live []*echo.Entry) map[echo.Key]uint64 {
	out := map[echo.Key]uint64{}
	settled := map[echo.Key]bool{} // the newest outcome was seen, or the branch has ended
	for i, e := range slices.Backward(live) {
		if e.NodeType == echo.NodeBranchEnd {
			settled[e.Key.Parent()] = true
		}
		branch := e.Key.Branch()
		if settled[branch] || !isOutcome(e) {
			continue
		}
		settled[branch] = true
		if e.Error == nil || e.NodeType != echo.NodeModelCall && !isPhaseTool(e) {
			continue
		}
		out[branch] = e.Seq
		if i > 0 && live[i-1].NodeType == echo.NodeToolStart && live[i-1].Key == e.Key {
			out[branch] = live[i-1].Seq
		}
	}
	return out
}

// isOutcome reports whether an entry is what came of something, or follows from what came of it.
func isOutcome(e *echo.Entry) bool {
	switch e.NodeType {
	case echo.NodeModelCall, echo.NodeToolCall, echo.NodeValue, echo.NodeInter, echo.NodeVerdict:
		return true
	}
	return false
}

// isPhaseTool reports whether an entry is the result of the tool of a phase without a model.
func isPhaseTool(e *echo.Entry) bool {
	p := e.Key.Path()
	return e.NodeType == echo.NodeToolCall && p.Turn == 0 && len(p.Effect) == 1 && p.Effect[0] == echo.Step{Kind: echo.StepTool}
}
