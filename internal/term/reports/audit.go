package reports

import (
	"cmp"

	"github.com/windlass-run/windlass/internal/audit"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
)

// Audit has a row for each change and each attempt.
func Audit(lines []audit.Line) *term.Table {
	t := term.NewTable("at", "by", "via", "what", "target", "session", "outcome")
	short := make([]string, len(lines)) // the times, without the year
	for i := range lines {
		l := &lines[i]
		outcome := l.Outcome
		if l.Reason != "" {
			outcome += ": " + l.Reason
		}
		at := l.At.Local()
		short[i] = at.Format("01-02 15:04")
		t.Add(at.Format("2006-01-02 15:04:05"), oneline.Of(cmp.Or(l.By, "nobody")), oneline.Of(l.Via), oneline.Of(l.What),
			oneline.Of(l.Target), oneline.Of(l.Session), oneline.Of(outcome))
	}
	return t.Key("target", "session").Shorten("at", short).Drop("via", "what")
}
