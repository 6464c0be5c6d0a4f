package engine

import (
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
)

// outcome is what a phase leaves behind that decides where the run goes on.
type outcome struct {
	value  any    // the phase's output
	chosen string // the target of route_to, if it was called

	decided string // the phase that a person has decided to follow
}

// next says which phase runs after p.
func (r *run) next(p *cascade.Phase, out outcome) (*cascade.Phase, string, error) {
	switch {
	case out.decided != "":
		return find(r.spec.Cascade, out.decided), "a person's decision", nil
	case out.chosen != "":
		return find(r.spec.Cascade, out.chosen), "route_to", nil
	}
	if len(p.Routing) > 0 {
		label := routeLabel(out.value)
		if label == "" && r.rec.Rules.LabelsResults() {
			label = routeSuccess
		}
		for _, l := range []string{label, "default"} {
			if target, ok := p.Routing[l]; ok && l != "" {
				return find(r.spec.Cascade, target), fmt.Sprintf("routing: %q", l), nil
			}
		}
		why := fmt.Sprintf("routing has no entry for %q and no default", label)
		if err := r.rec.Warn(r.newest().Step(echo.StepRouting), why); err != nil {
			return nil, "", err
		}
	}
	if len(p.Handoffs) > 0 {
		return find(r.spec.Cascade, p.Handoffs[0].Target), "first handoff", nil
	}
	next, why := inOrder(r.spec.Cascade, p)
	return next, why, nil
}

// The labels of results that have none themselves.
const (
	routeSuccess = "success"
	routeError   = "error"
)

// failedRoute returns where routing leads when the tool of a phase has failed, "" for nowhere.
func failedRoute(rules core.Ruleset, p *cascade.Phase) string {
	if !p.Deterministic() || !rules.LabelsResults() {
		return ""
	}
	return p.Routing[routeError]
}

// routeLabel is what routing goes by: _route or else status of a deterministic phase's result.
func routeLabel(value any) string {
	m, ok := value.(map[string]any)
	if !ok {
		return ""
	}
	for _, k := range []string{"_route", "status"} {
		if v, ok := m[k]; ok {
			return echo.AsText(v)
		}
	}
	return ""
}

// inOrder returns the next phase of the file if phases run in that order; otherwise the run ends.
func inOrder(c *cascade.Cascade, p *cascade.Phase) (*cascade.Phase, string) {
	if !c.FileOrder() {
		return nil, "no hand-off"
	}
	phases := c.Phases
	at := slices.IndexFunc(phases, func(q cascade.Phase) bool { return q.Name == p.Name })
	if at < 0 || at == len(phases)-1 {
		return nil, "last phase"
	}
	return &phases[at+1], "file order"
}

func find(c *cascade.Cascade, name string) *cascade.Phase {
	for i := range c.Phases {
		if c.Phases[i].Name == name {
			return &c.Phases[i]
		}
	}
	return nil // the loader has checked that every target exists
}
