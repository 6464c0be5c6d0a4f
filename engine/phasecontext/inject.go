package phasecontext

import (
	"fmt"

	"github.com/windlass-run/windlass/echo"
)

// endOfSelected keeps the task from being taken for a part of what was selected.
const endOfSelected = "Here ends what was brought in from earlier phases. Your own task follows."

// injected puts groups, in session order, between markers that say where they come from.
func injected(groups []*turnGroup) []echo.Item {
	var out []echo.Item
	for i := 0; i < len(groups); {
		n := stretch(groups[i:])
		out = append(out, marker(stretchName(groups[i], groups[i+n-1])))
		for _, g := range groups[i : i+n] {
			out = append(out, g.items...)
		}
		i += n
	}
	if len(out) > 0 {
		out = append(out, marker(endOfSelected))
	}
	return out
}

// stretch returns how many of the first groups follow each other in one visit.
func stretch(groups []*turnGroup) int {
	n := 1
	for n < len(groups) && groups[n].rec == groups[0].rec && groups[n].index == groups[n-1].index+1 {
		n++
	}
	return n
}

// stretchName says which part of a phase comes in.
func stretchName(first, last *turnGroup) string {
	s := fmt.Sprintf("From phase %q, ", first.rec.Name)
	if first.rec.Visit > 1 {
		s = fmt.Sprintf("From phase %q (visit %d), ", first.rec.Name, first.rec.Visit)
	}
	from, to := first.place(), last.place()
	switch {
	case from == to:
		return s + from + ":"
	case first.attempt == last.attempt && first.turn > 0:
		return s + fmt.Sprintf("turns %d to %d:", first.turn, last.turn)
	}
	return s + from + " to " + to + ":"
}

// place names where a group begins.
func (g *turnGroup) place() string {
	switch {
	case g.attempt == 0:
		return "its task"
	case g.turn == 0 && g.rec.Model == "":
		return "its result"
	case g.turn == 0:
		return fmt.Sprintf("the request for attempt %d", g.attempt)
	case g.attempt > 1:
		return fmt.Sprintf("attempt %d, turn %d", g.attempt, g.turn)
	}
	return fmt.Sprintf("turn %d", g.turn)
}

func marker(text string) echo.Item {
	return echo.Item{Message: echo.NewText(echo.RoleUser, echo.KindContext, text), Kept: true}
}
