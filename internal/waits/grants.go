package waits

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/mailbox"
)

func grantsOf(home string) mailbox.Grants { return mailbox.Grants{Dir: config.GrantsDir(home)} }

// CheckGrant says why an answer cannot count for more than its wait, where it says that it does. The error is a
// [*waiting.FormError].
func CheckGrant(w *Wait, a *echo.Answer) error {
	switch {
	case a.Grant == nil:
		return nil
	case a.Grant.ID != "" || a.Grant.Scope != echo.GrantSession && a.Grant.Scope != echo.GrantCascade:
		return &waiting.FormError{Why: fmt.Sprintf("an approval counts for the %s or the %s, not for %q", echo.GrantSession, echo.GrantCascade, a.Grant.Scope)}
	case w.Kind != echo.WaitApproval || w.Call == nil:
		return &waiting.FormError{Why: "only the approval of a call counts for later calls"}
	case !waiting.Allows(a.Value):
		return &waiting.FormError{Why: "only an approval that allows the call as it was shown counts for later calls"}
	}
	return nil
}

// Give keeps an answer that counts for more than its wait, once. Any other is none.
func Give(home string, w *Wait, a *echo.Answer) error {
	if a.Grant == nil {
		return nil
	}
	return grantsOf(home).Give(mailbox.Grant{
		ID: w.ID, Scope: a.Grant.Scope, Tool: w.Call.Tool, Cascade: w.Call.Cascade, Name: w.Cascade, Session: w.Session,
		By: a.By, Via: a.Via, At: a.At,
	})
}

// Granted returns an earlier approval that counts for a wait of a session, nil when there is none. Arguments that a
// person could not read are asked about each time.
func Granted(home, session string, w *echo.Wait) *mailbox.Grant {
	if w.Kind != echo.WaitApproval || w.Call == nil || !waiting.Readable(w.Call.Arguments) {
		return nil
	}
	list, _ := grantsOf(home).All()
	for _, g := range list {
		if g.Covers(session, w.Call) {
			return g
		}
	}
	return nil
}

// Grants returns the grants of this machine, the oldest first, and why others cannot be read.
func (d Desk) Grants() (list []*mailbox.Grant, damaged []error) { return grantsOf(d.Home).All() }

func (d Desk) revoke(id, by string) (*mailbox.Grant, error) {
	list, _ := d.Grants()
	var found []*mailbox.Grant
	for _, g := range list {
		if g.ID == id || id != "" && strings.HasPrefix(g.ID, id) {
			found = append(found, g)
		}
	}
	if len(found) != 1 {
		return nil, failure.New(failure.InvalidRequest, unknownGrant(id, found), "windlass grants")
	}
	g := found[0]
	if g.Revoked != nil {
		return g, nil
	}
	g.Revoked = &mailbox.Revoked{By: by, At: d.Clock()}
	return g, stored(grantsOf(d.Home).Revoke(g.ID, *g.Revoked))
}

func unknownGrant(id string, found []*mailbox.Grant) error {
	if len(found) == 0 {
		return fmt.Errorf("there is no grant %q", id)
	}
	ids := make([]string, len(found))
	for i, g := range found {
		ids[i] = g.ID
	}
	return fmt.Errorf("%q is the beginning of %d grants: %s", id, len(ids), strings.Join(ids, ", "))
}
