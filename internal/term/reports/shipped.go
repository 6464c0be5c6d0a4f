package reports

import (
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/term"
)

// Shipped has a row for each session of a delivery.
func Shipped(results []archive.Shipped) *term.Table {
	t := term.NewTable("session", ">delivered", ">waiting", "outcome")
	for _, r := range results {
		outcome := string(r.Outcome)
		if r.Outcome == archive.LeftRunning {
			outcome += ": left to the process that runs it"
		}
		if r.Error != "" {
			outcome += ": " + r.Error
		}
		t.Add(r.ID, term.Count(int64(r.Delivered)), term.Count(int64(r.Pending)), outcome)
	}
	return t
}
