package reports_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/groups"
	"github.com/windlass-run/windlass/internal/term/reports"
)

func TestContextChangedSaysWhatStaysOut(t *testing.T) {
	t.Parallel()
	c := &groups.Changed{Session: "s", Action: echo.ViewRestore, Groups: []int{2}, StayOut: make([]echo.Spot, 2)}
	require.Equal(t, "Restored: 0 messages of group 2. The session has ended: its forks take that.\n2 messages stay out, as they show or tell of messages that are out: restore those, too.",
		reports.ContextChanged(c, "windlass"))
	c.StayOut = c.StayOut[:1]
	require.Contains(t, reports.ContextChanged(c, "windlass"), "\n1 message stays out, as it shows or tells of messages that are out: restore those, too.")
}
