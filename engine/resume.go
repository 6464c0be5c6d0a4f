package engine

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// setAside returns the numbers of the entries of the recording that the run goes on without: how it had been stopped, and the
// calls that made it fail, which are made again. A replay goes without the first only.
func (r *run) setAside() []uint64 {
	resume := record.ResumptionOf(r.spec.Recording)
	if r.spec.Log == nil {
		return resume.Stop
	}
	return resume.SetAside()
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

// CheckResumable returns a [*NotResumableError] when a run cannot be taken up again.
func CheckResumable(entries []*echo.Entry) error {
	if record.ResumptionOf(entries).Possible {
		return nil
	}
	end := record.EndOf(entries)
	return &NotResumableError{Status: end.Status, Reason: end.Reason}
}
