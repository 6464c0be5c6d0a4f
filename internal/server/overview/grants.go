package overview

import (
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/server/page"
)

// Grants has the approvals of this machine that count for later calls. It is safe for concurrent use.
type Grants interface {
	// Grants returns them, the oldest first, and why others cannot be read.
	Grants() (list []*mailbox.Grant, damaged []error)
	// Revoke ends one for good. It keeps each attempt in the audit.
	Revoke(id, by string, via echo.Via) (*mailbox.Grant, error)
}

// mostGrants is how many grants are listed.
const mostGrants = 500

type grantsView struct {
	Grants  []grantRow
	Left    int // that are not listed
	Damaged []string
	SQL     []namedSQL
}

// grantRow is a grant; Token is that of the form that revokes it.
type grantRow struct {
	*mailbox.Grant
	Session page.Link // whose calls it allows; "": every session
	Given   page.Link // in which it was given
	Token   string
}

// aboutGrant is what the form of a grant is about.
func aboutGrant(id string) string { return "revoke grant\n" + id }

func (x *overview) grants(v *page.Visit) error {
	list, damaged := x.Grants.Grants()
	slices.Reverse(list)
	view := grantsView{Left: max(len(list)-mostGrants, 0), SQL: []namedSQL{{"Grants, and how often they were used", grantsSQL}}}
	for _, g := range list[:len(list)-view.Left] {
		row := grantRow{Grant: g, Given: page.Link{Title: g.Session, Path: pathOfSession(g.Session)}, Token: v.Token(aboutGrant(g.ID))}
		if g.Scope == echo.GrantSession {
			row.Session = row.Given
		}
		view.Grants = append(view.Grants, row)
	}
	for _, err := range damaged[:min(len(damaged), 10)] {
		view.Damaged = append(view.Damaged, excerpt.Line(err.Error(), mostProblem))
	}
	return v.Show("grants", "Grants", view)
}

// revoke ends a grant.
func (x *overview) revoke(v *page.Visit) error {
	id := v.Of("grant")
	if err := v.Holds(aboutGrant(id)); err != nil {
		return err
	}
	list, _ := x.Grants.Grants()
	if !slices.ContainsFunc(list, func(g *mailbox.Grant) bool { return g.ID == id }) {
		return page.Missing("There is no grant %s.", id)
	}
	v.Audited()
	if _, err := x.Grants.Revoke(id, v.User(), echo.ViaPage); err != nil {
		return err
	}
	return v.Redirect(pathGrants)
}

const grantsSQL = `SELECT grant_id, scope, tool, cascade_id, granted_by, via, granted_at, session_id, uses, last_used_at
FROM grants
WHERE NOT copied
ORDER BY granted_at DESC`
