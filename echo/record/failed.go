package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// failedCalls returns the numbers of failed calls and what followed, the newest first: in each
// branch that had not ended, its newest outcome when that is a failed model call, a child that failed
// and may be resumed, or the failed tool of a phase without a model, with its start.
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
	if len(from) == 0 {
		return nil
	}
	var seqs []uint64
	ended := map[echo.Key]bool{}
	for _, e := range slices.Backward(counted) {
		branch := e.Key.Branch()
		if e.NodeType == echo.NodeBranchEnd {
			ended[e.Key.Parent()] = true
		}
		first, ok := from[branch]
		if ok && e.Seq >= first || isStopped(e) && !ended[branch] {
			seqs = append(seqs, e.Seq)
		}
	}
	return seqs
}

// isStopped reports whether an entry says that an element of a list did not begin, as another had
// failed: it begins when that is made again.
func isStopped(e *echo.Entry) bool {
	p := e.Key.Path()
	return e.NodeType == echo.NodeValue && p.Last().Kind == echo.StepStopped
}

// failures returns where the failed call begins in each open branch whose newest outcome it is. The
// verdict of a validator that could not be asked follows from its call. A ward or a ballot has ended when
// the branch that it grows from has continued; a phase of a graph, an element or a candidate, when its end
// says that it ended well: others may have gone on from that before the ends of the branches are recorded.
func failures(counted []*echo.Entry) map[echo.Key]uint64 {
	out := map[echo.Key]uint64{}
	settled := map[echo.Key]bool{} // the newest outcome was seen, or the branch has ended
	judged := map[echo.Key]bool{}  // the newest outcome is a verdict
	for i, e := range slices.Backward(counted) {
		if e.NodeType == echo.NodeBranchEnd {
			settled[e.Key.Parent()] = true
		}
		branch := e.Key.Branch()
		if e.NodeType == echo.NodePhaseEnd && e.Error == nil && !branch.IsZero() {
			settled[branch] = true
		}
		if settled[branch] || !isOutcome(e) || hasNoEnd(branch) && settled[branch.ParentBranch()] {
			continue
		}
		if e.NodeType == echo.NodeVerdict && !judged[branch] && decides(e) {
			judged[branch] = true // the outcome before says whether the validator was asked
			continue
		}
		settled[branch] = true
		if judged[branch] && e.Key.Validator() == "" || !isFailedCall(e) {
			continue
		}
		out[branch] = e.Seq
		if start := startOf(e, counted[:i]); start != nil {
			out[branch] = start.Seq
		}
	}
	return out
}

func decides(verdict *echo.Entry) bool {
	d, err := echo.Read[echo.Verdict](verdict)
	return err == nil && !d.Advises()
}

// hasNoEnd reports whether a branch is one whose end is not recorded, as its parent goes on then: that of
// a ward, a ballot or a score.
func hasNoEnd(branch echo.Key) bool {
	p := branch.Path()
	switch p.Last().Kind { //nolint:exhaustive // the others have ends
	case echo.StepWard, echo.StepBallot, echo.StepScore:
		return true
	}
	return false
}

// isFailedCall reports whether an outcome is one that a run makes again when it resumes.
func isFailedCall(e *echo.Entry) bool {
	if e.Error == nil {
		return false
	}
	switch e.NodeType { //nolint:exhaustive // what is called
	case echo.NodeModelCall:
		return true
	case echo.NodeToolCall:
		p := e.Key.Path()
		if p.Last().Kind == echo.StepImages { // of the question that such a tool asks
			p.Effect = p.Effect[:len(p.Effect)-1]
		}
		return isPhaseTool(&p)
	case echo.NodeChildEnd:
		d, err := echo.Read[echo.ChildEnd](e)
		return err == nil && CanResume(d.Status, d.Reason)
	}
	return false
}

// startOf returns the start of a call, or of a child that was called as a tool, among earlier entries
// of any branch, nil for none.
func startOf(call *echo.Entry, before []*echo.Entry) (start *echo.Entry) {
	for _, e := range slices.Backward(before) {
		if e.Key != call.Key {
			continue
		}
		switch e.NodeType { //nolint:exhaustive // the others are no part of the call
		case echo.NodeToolStart, echo.NodeChildStart:
			return e
		case echo.NodeChildEnd:
			if call.NodeType == echo.NodeToolCall {
				continue // of the tool
			}
		}
		return nil
	}
	return nil
}

// isOutcome reports whether an entry is what came of something, or follows from what came of it. What
// is known of a model is neither: after a call has failed others are looked at. The end of a child that
// ran beside the run is neither: a run does not fail of it.
func isOutcome(e *echo.Entry) bool {
	switch e.NodeType {
	case echo.NodeValue:
		p := e.Key.Path()
		return p.Last().Kind != echo.StepFacts
	case echo.NodeModelCall, echo.NodeToolCall, echo.NodeInter, echo.NodeVerdict, echo.NodeChoice, echo.NodeAnswer:
		return true
	case echo.NodeRoute: // of a node of a graph, whose errors another phase handles
		return e.Key.HasBranches()
	case echo.NodeChildEnd:
		p := e.Key.Path()
		return p.Scope != echo.ScopeRun || len(p.Branches) > 0 // of a try of the whole cascade the run may fail
	default:
		return false
	}
}
