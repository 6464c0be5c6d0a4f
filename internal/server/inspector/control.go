package inspector

import (
	"context"
	"errors"
	"net/http"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/server/page"
)

// Runs is what can be done to the runs of this server. It is safe for concurrent use. An error that is a [Told] is shown.
type Runs interface {
	// Has reports whether a session is run by this server now.
	Has(session string) bool
	// Cancel interrupts a run of this server.
	Cancel(ctx context.Context, session string) error
	// Resume goes on with a session.
	Resume(ctx context.Context, session string) error
	// Fork begins a new session from an earlier one, at a place of it, and returns its id.
	Fork(ctx context.Context, session, place string) (id string, err error)
}

// Told is an error in the words of a person.
type Told interface {
	error
	// Try says what to do next; it may be empty.
	Next() string
}

// action is a button of the screen of a run.
type action struct {
	Name, Title, Hint, Token string
	Place                    bool // it needs a place
}

// about is what the form of an action is about.
func about(name, session string) string { return "session " + name + "\n" + session }

func (v *visit) actions() (out []action) {
	if v.Runs == nil || !v.of.Detail.Here {
		return nil
	}
	d := v.of.Detail
	if v.of.stamp.Running && v.Runs.Has(d.ID) {
		out = append(out, action{Name: "cancel", Title: "Cancel", Hint: "Interrupts the run. It can be resumed."})
	}
	if d.Resumable && len(v.of.waits()) == 0 { // one that waits goes on by itself when it was answered
		out = append(out, action{Name: "resume", Title: "Resume", Hint: "Goes on with this session in this server."})
	}
	if !v.of.stamp.Running {
		out = append(out, action{Name: "fork", Title: "Fork", Hint: "Begins a new session with what this one did before a place, such as draft/attempt2/turn1.", Place: true})
	}
	for i := range out {
		out[i].Token = v.Token(about(out[i].Name, d.ID))
	}
	return out
}

// forkHere is the form that forks a session before a call; nil: it cannot be forked.
func (v *visit) forkHere(c *inspect.Call) *forkForm {
	for _, a := range v.actions() {
		if a.Name == "fork" && c.Number > 0 {
			return &forkForm{a.Token, c.Place()}
		}
	}
	return nil
}

// forkForm is a fork of a session before a place.
type forkForm struct{ Token, Place string }

// control does what a button says.
func control(name string) func(*visit) error {
	return func(v *visit) error {
		if v.Runs == nil {
			return page.Refusal(http.StatusForbidden, "This server runs nothing.")
		}
		if err := v.Holds(about(name, v.of.ID)); err != nil {
			return err
		}
		id, err := v.do(name)
		v.Audit(auditNames[name], v.of.ID, "", err)
		var told Told
		if errors.As(err, &told) {
			text := told.Error() + "."
			if next := told.Next(); next != "" {
				text += " Try: " + next
			}
			return page.Refusal(http.StatusConflict, "%s", text)
		}
		if err != nil {
			return err
		}
		return v.Redirect(pathOf(id))
	}
}

var auditNames = map[string]string{"cancel": audit.Cancel, "resume": audit.Resume, "fork": audit.Fork}

func (v *visit) do(name string) (id string, err error) {
	switch id = v.of.ID; name {
	case "cancel":
		err = v.Runs.Cancel(v.Context(), id)
	case "resume":
		err = v.Runs.Resume(v.Context(), id)
	default:
		id, err = v.Runs.Fork(v.Context(), id, v.Form().Get("place"))
	}
	return id, err
}
