package engine

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// setAside returns the entries that the run goes on without: how it was stopped and, unless it is
// a replay, the calls that made it fail.
func (r *run) setAside() []uint64 {
	resume := record.ResumptionOf(r.spec.Recording)
	if r.spec.Log == nil {
		return resume.Stop
	}
	return resume.SetAside()
}

// checkResumes holds what earlier resumptions say that they set aside against the recording.
func checkResumes(entries []*echo.Entry) error {
	for i, e := range entries {
		if e.NodeType != echo.NodeResume {
			continue
		}
		want := fmt.Sprint(slices.Sorted(slices.Values(record.ResumptionOf(entries[:i]).SetAside())))
		said, err := echo.Read[echo.Resume](e)
		recorded := fmt.Sprint(slices.Sorted(slices.Values(said.SetAside)))
		if err != nil {
			recorded = err.Error()
		}
		if recorded != want {
			return &effect.DivergenceError{Seq: e.Seq, Node: e.NodeType, Key: e.Key, Field: "set_aside", Recorded: recorded, Now: want}
		}
	}
	return nil
}

// NotResumableError says why a session cannot be resumed.
type NotResumableError struct {
	Status echo.Status
	Reason echo.StopReason
}

func (e *NotResumableError) Error() string {
	if e.Status == echo.StatusCompleted {
		return "the run has completed: there is nothing to resume"
	}
	return fmt.Sprintf("the run failed (%s): a resume would end in the same way", e.Reason)
}

// CheckResumable returns a [*NotResumableError] when a run cannot be resumed.
func CheckResumable(entries []*echo.Entry) error {
	if record.ResumptionOf(entries).Possible {
		return nil
	}
	end := record.EndOf(entries)
	return &NotResumableError{Status: end.Status, Reason: end.Reason}
}
