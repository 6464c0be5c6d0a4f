package record

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// End is how a run ended.
type End struct {
	Status echo.Status // StatusRunning: no end is recorded, so the run is running or its process died
	Reason echo.StopReason
	Error  string // of a run that did not complete
	Output any    // of the run

	// Whole says that the run's end is recorded, and not only the stop when its process died.
	Whole bool
}

// EndOf returns how a run ended of which these entries are recorded.
func EndOf(entries []*echo.Entry) End {
	for _, e := range slices.Backward(entries) {
		if !e.Background() {
			return EndAt(e)
		}
	}
	return End{Status: echo.StatusRunning}
}

// EndAt returns how a run ended whose newest entry is e, apart from those of the background.
func EndAt(e *echo.Entry) End {
	if e.NodeType == echo.NodeRunEnd {
		out := End{Status: echo.StatusFailed, Whole: true} // also of an end that cannot be read
		if d, err := echo.Read[echo.RunEnd](e); err == nil {
			out.Status, out.Reason, out.Output = d.Status, d.Reason, d.Output
		}
		if e.Error != nil {
			out.Error = e.Error.Message
		}
		return out
	}
	if status, reason := stopAt(e); stopped(status) {
		return End{Status: status, Reason: reason}
	}
	return End{Status: echo.StatusRunning}
}

// stopped reports whether a status is that of a run that a person, a limit or a wait stopped.
func stopped(s echo.Status) bool {
	return s == echo.StatusInterrupted || s == echo.StatusOverBudget || s == echo.StatusWaiting
}

// stopAt reads the status off an end or the handoff before it; else StatusPending.
func stopAt(e *echo.Entry) (echo.Status, echo.StopReason) {
	switch e.NodeType {
	case echo.NodePhaseEnd:
		d, _ := echo.Read[echo.PhaseEnd](e)
		return d.Status, d.Reason
	case echo.NodeRunEnd:
		d, _ := echo.Read[echo.RunEnd](e)
		return d.Status, d.Reason
	case echo.NodeHandoff:
		d, _ := echo.Read[echo.Handoff](e)
		return d.Status, d.Reason
	default:
		return echo.StatusPending, ""
	}
}

// Resumption says whether a run can be resumed, and which entries it sets aside then.
type Resumption struct {
	Possible bool
	Stop     []uint64 // numbers of the entries that record its stop, the newest first
	Failed   []uint64 // of failed calls and what followed from them, the newest first
}

// SetAside returns the numbers of all entries that the run sets aside.
func (r Resumption) SetAside() []uint64 { return slices.Concat(r.Stop, r.Failed) }

// MayResume reports whether the end lets a run resume; whether a call failed, [ResumptionOf] says.
func (e End) MayResume() bool { return !e.Whole || CanResume(e.Status, e.Reason) }

// CanResume is [End.MayResume] for the status and the reason of an end that is recorded whole.
func CanResume(status echo.Status, reason echo.StopReason) bool {
	return stopped(status) || status == echo.StatusFailed && reason == echo.StopError
}

// ResumptionOf says whether a run of which these entries are recorded can be resumed.
func ResumptionOf(entries []*echo.Entry) Resumption { return resumptionOf(Counted(entries)) }

func resumptionOf(counted []*echo.Entry) Resumption {
	switch EndOf(counted).Status {
	case echo.StatusCompleted:
		return Resumption{}
	case echo.StatusFailed:
		failed := failedCalls(counted)
		return Resumption{Possible: len(failed) > 0, Failed: failed}
	}
	return Resumption{Possible: true, Stop: stopOf(counted)}
}

// stopOf returns the numbers of the newest entries as far as they record a stop.
func stopOf(counted []*echo.Entry) []uint64 {
	var seqs []uint64
	for _, e := range slices.Backward(counted) {
		if status, _ := stopAt(e); !stopped(status) {
			break
		}
		seqs = append(seqs, e.Seq)
	}
	return seqs
}

// BudgetOf returns the budget that was in force when a run began or last resumed, nil when nothing
// limited it. An entry that cannot be read puts none in force.
func BudgetOf(entries []*echo.Entry) *echo.Budget {
	for _, e := range slices.Backward(entries) {
		switch e.NodeType {
		case echo.NodeRunStart:
			d, _ := echo.Read[echo.RunStart](e)
			return d.Budget
		case echo.NodeResume:
			d, _ := echo.Read[echo.Resume](e)
			return d.Budget
		}
	}
	return nil
}
