package verified

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
)

// A session and its children are said one below the other, each with what could not be checked.
func TestWrite(t *testing.T) {
	t.Parallel()
	redacted := &app.RedactionCheck{Messages: 1, Of: 3, Taken: 2, Redactions: []journal.Redaction{{
		Hash: "0123456789abcdef", Role: echo.RoleUser, Characters: 5, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Reason: "a name",
	}}}
	v := &app.Verification{
		SessionID: "p1", Holds: true, Status: "completed", Entries: 9, Requests: 2, Views: 2,
		Children: []*app.ChildVerification{
			{
				SessionID: "c1", Name: "facts", Key: echo.MustKey("draft/child/facts"),
				Verification: &app.Verification{
					Holds: true, Status: "completed", Entries: 5, Requests: 1, Views: 1, Redaction: redacted,
					Children: []*app.ChildVerification{{SessionID: "d1", Name: "deep", Key: echo.MustKey("one/child/deep"), Missing: true}},
				},
			},
			{SessionID: "c2", Name: "no\x1b[2Jte", Key: echo.MustKey("draft/async/note"), Unbegun: true},
			{SessionID: "c3", Name: "bad", Key: echo.MustKey("draft/child/bad"), Verification: &app.Verification{Status: "failed", Entries: 1}},
		},
	}
	var b strings.Builder
	Write(&b, v)
	require.Equal(t, `Session p1 holds: 9 entries, 2 requests, 2 views and 0 selections follow from its record (completed).
  facts at draft/child/facts, session c1 holds as far as its redactions allow: 5 entries, 1 request, 1 view and 0 selections follow from its record (completed).
    1 message of 3 is redacted: its hash is taken as recorded, not computed.
      0123456789abcdef  user, 5 characters, since 2026-01-02 03:04:05 UTC: a name
    2 entries follow from what is redacted, and were taken as recorded, not compared.
    deep at one/child/deep, session d1: not checked, it has not begun or its journal is not on this machine
  no�[2Jte at draft/async/note, session c2: could not begin, and has no record
  bad at draft/child/bad, session c3 does not hold: 1 entry, 0 requests, 0 views and 0 selections follow from its record (failed).
`, b.String())
}
