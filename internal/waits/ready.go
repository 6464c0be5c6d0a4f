package waits

import (
	"context"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Ready reports whether a run that resumes gets past a wait: by an answer, by a grant, by a signal, or as its deadline has passed. by is
// the answer, nil for the others. It looks into the mailbox, and not at what the wait had when it was listed.
func (d Desk) Ready(w *Wait, now time.Time) (ready bool, by *echo.Answer, err error) {
	by, err = Box(d.Home, w.Session).Answered(w.ID)
	switch {
	case err != nil:
		return false, nil, err
	case by != nil:
		return true, by, nil
	case Granted(d.Home, w.Session, &echo.Wait{Kind: w.Kind, Call: w.Call, Shown: w.Shown}) != nil:
		return true, nil, nil
	case w.Deadline != nil && !now.Before(*w.Deadline):
		return true, nil, nil
	}
	ready, err = d.HasSignal(w)
	return ready, nil, err
}

// ReadySessions returns the sessions whose runs get past a wait when they are resumed: the one above all others of
// each, in the order in which they began to wait. What cannot be read is in the survey.
func (d Desk) ReadySessions(ctx context.Context) ([]string, *Survey, error) {
	s, err := d.Survey(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	var out []string
	for _, w := range s.Open {
		if slices.Contains(out, w.Root) {
			continue
		}
		if ready, _, err := d.Ready(w, d.Clock()); err == nil && ready { // a letter that cannot be read is in the survey
			out = append(out, w.Root)
		}
	}
	return out, s, nil
}

// IsRemote reports whether an answer came to a server.
func IsRemote(v echo.Via) bool { return v == echo.ViaHTTP || v == echo.ViaPage }
