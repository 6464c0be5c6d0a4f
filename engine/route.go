package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// recoverable reports whether on_error applies.
func recoverable(err error) bool {
	var over *budget.Error
	return !effect.IsRecordError(err) && !errors.As(err, &over) && !endedByContext(err)
}

// outcome is what a phase leaves behind that decides where the run goes on.
type outcome struct {
	value  any    // the phase's output
	chosen string // the target of route_to, if it was called
}

// follow says which phase runs after p.
func (r *run) follow(p *cascade.Phase, out outcome) (*cascade.Phase, string, error) {
	if out.chosen != "" {
		return r.find(out.chosen), "route_to", nil
	}
	if len(p.Routing) > 0 {
		label := routeLabel(out.value)
		for _, l := range []string{label, "default"} {
			if target, ok := p.Routing[l]; ok && l != "" {
				return r.find(target), fmt.Sprintf("routing: %q", l), nil
			}
		}
		why := fmt.Sprintf("routing has no entry for %q and no default", label)
		if err := r.rec.warn(r.newest().Step(echo.StepRouting), why); err != nil {
			return nil, "", err
		}
	}
	if len(p.Handoffs) > 0 {
		return r.find(p.Handoffs[0].Target), "first handoff", nil
	}
	next, why := r.inOrder(p)
	return next, why, nil
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
func (r *run) inOrder(p *cascade.Phase) (*cascade.Phase, string) {
	if !r.spec.Cascade.FileOrder() {
		return nil, "no hand-off"
	}
	phases := r.spec.Cascade.Phases
	at := slices.IndexFunc(phases, func(q cascade.Phase) bool { return q.Name == p.Name })
	if at < 0 || at == len(phases)-1 {
		return nil, "last phase"
	}
	return &phases[at+1], "file order"
}

func (r *run) find(name string) *cascade.Phase {
	for i := range r.spec.Cascade.Phases {
		if r.spec.Cascade.Phases[i].Name == name {
			return &r.spec.Cascade.Phases[i]
		}
	}
	return nil // the loader has checked that every target exists
}
