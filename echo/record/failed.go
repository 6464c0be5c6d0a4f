package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// failedCalls returns the numbers of failed calls and what followed, the newest first: in each
// branch that had not ended, its newest outcome when that is a failed model call, or failed tool of
// a phase without a model, with its start.
func failedCalls(counted []*echo.Entry) []uint64 {
	from := map[echo.Key]uint64{} // of branches: the first entry that is set aside
	for branch, first := range failures(counted) {
		for {
			if seq, ok := from[branch]; !ok || first < seq {
				from[branch] = first // the failure of a branch ended those that it grows from
			}
			if branch.IsZero() {
				break
			}
			branch = branch.ParentBranch()
		}
	}
	var seqs []uint64
	for _, e := range slices.Backward(counted) {
		if first, ok := from[e.Key.Branch()]; ok && e.Seq >= first {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

// failures returns where the failed call begins in each open branch whose newest outcome it is.
func failures(counted []*echo.Entry) map[echo.Key]uint64 {
	out := map[echo.Key]uint64{}
	settled := map[echo.Key]bool{} // the newest outcome was seen, or the branch has ended
	for i, e := range slices.Backward(counted) {
		if e.NodeType == echo.NodeBranchEnd {
			settled[e.Key.Parent()] = true
		}
		branch := e.Key.Branch()
		if settled[branch] || !isOutcome(e) {
			continue
		}
		settled[branch] = true
		if p := e.Key.Path(); e.Error == nil || e.NodeType != echo.NodeModelCall && (e.NodeType != echo.NodeToolCall || !isPhaseTool(&p)) {
			continue
		}
		out[branch] = e.Seq
		if start := startOf(e, counted[:i]); start != nil {
			out[branch] = start.Seq
		}
	}
	return out
}

// startOf returns the start of a tool call among earlier entries of any branch, nil for none.
func startOf(call *echo.Entry, before []*echo.Entry) *echo.Entry {
	for _, e := range slices.Backward(before) {
		if e.Key == call.Key {
			if e.NodeType == echo.NodeToolStart {
				return e
			}
			return nil
		}
	}
	return nil
}

// isOutcome reports whether an entry is what came of something, or follows from what came of it. What
// is known of a model is neither: after a call has failed others are looked at.
func isOutcome(e *echo.Entry) bool {
	switch e.NodeType {
	case echo.NodeValue:
		p := e.Key.Path()
		return p.Last().Kind != echo.StepFacts
	case echo.NodeModelCall, echo.NodeToolCall, echo.NodeInter, echo.NodeVerdict:
		return true
	default:
		return false
	}
}
