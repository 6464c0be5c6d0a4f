package reports

import (
	"fmt"
	"time"

	"github.com/windlass-run/windlass/cascade/triggers"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/term"
)

// Trigger is a trigger of a cascade file, and when it acts.
type Trigger struct {
	File    string `json:"file"`
	Cascade string `json:"cascade"`
	triggers.Trigger
	Next    []time.Time `json:"next"`              // in the time zone of the trigger; empty: it has no times, or is not enabled
	Problem string      `json:"problem,omitempty"` // why it could not act here
}

// Triggers has a row for each trigger.
func Triggers(list []Trigger) *term.Table {
	t := term.NewTable("cascade", "trigger", "type", "when", "next", "file")
	for i := range list {
		x := &list[i]
		next := ""
		switch {
		case !x.IsEnabled():
			next = "not enabled"
		case len(x.Next) > 0:
			next = x.Next[0].Format(timeLayout)
		}
		t.Add(x.Cascade, x.Name, string(x.Type), oneline.Of(whenOf(&x.Trigger)), next, x.File)
	}
	return t.Key("trigger").Drop("file", "cascade")
}

const timeLayout = "Mon 2006-01-02 15:04 MST"

// whenOf says in words when a trigger acts.
func whenOf(t *triggers.Trigger) string {
	switch t.Type {
	case triggers.Cron:
		return t.Schedule + " " + t.Zone()
	case triggers.Sensor:
		every := quantity.Duration(time.Duration(t.Every() * float64(time.Second)))
		if t.File != "" {
			return fmt.Sprintf("file %s, every %s", t.File, every)
		}
		return fmt.Sprintf("answer of %s, every %s", t.URL, every)
	case triggers.Webhook:
		return "a request with the secret of " + t.SecretEnv
	case triggers.Manual:
	}
	return "a person"
}

// TriggerLines says of one trigger what it does and when.
func TriggerLines(t *Trigger) []string {
	head := fmt.Sprintf("%s of %s, %s: %s", t.Name, t.Cascade, t.Type, oneline.Of(whenOf(&t.Trigger)))
	if !t.IsEnabled() {
		head += " (not enabled)"
	}
	lines := []string{head}
	for _, at := range t.Next {
		lines = append(lines, "  "+at.Format(timeLayout))
	}
	if t.Problem != "" {
		lines = append(lines, "  problem: "+t.Problem)
	}
	return lines
}
