package reports

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/term"
)

// Grants has a row for each grant.
func Grants(list []*mailbox.Grant) *term.Table {
	t := term.NewTable("id", "tool", "for", "cascade", "by", "given", "status")
	for _, g := range list {
		scope := "every session"
		if g.Scope == echo.GrantSession {
			scope = "session " + g.Session
		}
		status := "counts"
		if g.Revoked != nil {
			status = fmt.Sprintf("revoked by %s at %s", g.Revoked.By, g.Revoked.At.Local().Format("2006-01-02 15:04"))
		}
		t.Add(g.ID, g.Tool, scope, g.Name+" "+g.Cascade, fmt.Sprintf("%s (%s)", g.By, g.Via), g.At.Local().Format("2006-01-02 15:04"), status)
	}
	return t.Key("id").Drop("cascade", "by", "given")
}
