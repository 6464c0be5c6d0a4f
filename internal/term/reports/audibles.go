package reports

import (
	"cmp"
	"fmt"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/term"
)

// Audibles has a row for each thing that a person said to a session.
func Audibles(list []*audibles.Heard) *term.Table {
	t := term.NewTable("said", "by", "told at", "phase", "retry", "words")
	for _, a := range list {
		retry, told := "", cmp.Or(a.Taken, "not yet")
		switch {
		case a.Unsaid != "":
			told = "not: too long"
		case a.Ended:
			told = "never"
		}
		if a.Retry {
			retry = "yes"
		}
		t.Add(a.At.Local().Format("2006-01-02 15:04:05"), fmt.Sprintf("%s (%s)", a.By, a.Via), told, cmp.Or(a.Phase, "any"), retry, waiting.VisibleText(oneline.Of(a.Text)))
	}
	return t.Key("said").Drop("by", "phase", "retry")
}

// AudibleLeft says what follows from what a person said. self is how windlass is called.
func AudibleLeft(left *audibles.Left, self string) string {
	if left.Status == echo.StatusRunning {
		return "Said: the model is told before its next turn."
	}
	return fmt.Sprintf("Said: the model is told when the run goes on: %s resume %s", self, left.Session)
}

// Unheard says how much of what was said to a run that has ended no model was told; "": there is nothing of the kind.
func Unheard(list []*audibles.Heard, resumable bool) string {
	n := 0
	for _, a := range list {
		if a.Taken == "" {
			n++
		}
	}
	were, they := "were", "they are"
	if n == 1 {
		were, they = "was", "it is"
	}
	switch {
	case n == 0:
		return ""
	case resumable:
		return fmt.Sprintf("%s %s told to no model yet: %s when the run is resumed.", term.Plural(n, "audible"), were, they)
	}
	return fmt.Sprintf("%s %s told to no model: the run has ended before.", term.Plural(n, "audible"), were)
}
