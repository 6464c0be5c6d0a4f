package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// maxVisits bounds how often one phase may begin in a run, so that a route that leads back ends for a stated reason. A
// workflow that needs more rounds than this wants a loop inside a phase.
const maxVisits = 100

// phases runs one phase after the other until no phase follows.
func (r *run) phases(ctx context.Context) error {
	p := &r.cascade.Phases[0]
	reason := "first phase"
	from := ""
	for p != nil {
		if err := r.route(from, p.Name, reason); err != nil {
			return err
		}
		if n := r.session.Visits(p.Name); n >= maxVisits {
			site := r.site()
			site.Phase = p.Name
			return &PhaseError{Site: site, Reason: echo.StopVisitLimit, Err: fmt.Errorf("the phase was entered %d times, the limit of one run", n)}
		}
		next, why, err := r.phase(ctx, p)
		if err != nil {
			return err
		}
		from, p, reason = p.Name, next, why
	}
	return r.route(from, "", reason)
}

// route records which phase follows, under the visit that it follows.
func (r *run) route(from, to, reason string) error {
	s := r.site()
	key := echo.RunKey().Step(echo.StepRoute)
	if n := len(r.session.Phases); n > 0 {
		last := r.session.Phases[n-1]
		key, s.Phase = echo.PhaseKey(last.Name, last.Visit).Step(echo.StepRoute), last.Name
	}
	return r.append(payloadEntry(key, s, echo.Route{From: from, To: to, Reason: reason}))
}

// phase runs one phase and says which one follows and why. A phase that fails goes where its on_error leads, unless the
// budget, the record or a person ended it.
func (r *run) phase(ctx context.Context, p *cascade.Phase) (*cascade.Phase, string, error) {
	out, err := r.visit(ctx, p)
	if err == nil {
		next, why, err := r.follow(p, out)
		return next, why, err
	}
	if p.OnError == nil || !recoverable(err) {
		return nil, "", err
	}
	if p.OnError.Phase != "" {
		return r.find(p.OnError.Phase), "on_error", nil
	}
	inline := p.OnError.Inline
	if err := r.route(p.Name, inline.Name, "on_error"); err != nil {
		return nil, "", err
	}
	next, why, err := r.phase(ctx, inline)
	if err != nil || next != nil || len(inline.Handoffs) > 0 {
		return next, why, err
	}
	next, why = r.inOrder(p) // an inline phase stands in for the one that failed
	return next, why, nil
}

// recoverable reports whether on_error applies.
func recoverable(err error) bool {
	var budget *BudgetError
	return !effect.IsRecordError(err) && !errors.As(err, &budget) && !endedByContext(err)
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
		site := r.site()
		site.Phase = p.Name
		last := r.session.Phases[len(r.session.Phases)-1]
		key := echo.PhaseKey(last.Name, last.Visit).Step(echo.StepRouting)
		if err := r.warn(key, site, fmt.Sprintf("routing has no entry for %q and no default", label)); err != nil {
			return nil, "", err
		}
	}
	if len(p.Handoffs) > 0 {
		return r.find(p.Handoffs[0].Target), "first handoff", nil
	}
	next, why := r.inOrder(p)
	return next, why, nil
}

// routeLabel reads what a deterministic phase's result asks routing for: its _route, else its status.
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

// inOrder returns the next phase of the file, in a cascade whose phases run in that order; in any other one the run ends.
func (r *run) inOrder(p *cascade.Phase) (*cascade.Phase, string) {
	if !r.cascade.FileOrder() {
		return nil, "no hand-off"
	}
	for i := range r.cascade.Phases {
		if r.cascade.Phases[i].Name == p.Name && i+1 < len(r.cascade.Phases) {
			return &r.cascade.Phases[i+1], "file order"
		}
	}
	return nil, "last phase"
}

func (r *run) find(name string) *cascade.Phase {
	for i := range r.cascade.Phases {
		if r.cascade.Phases[i].Name == name {
			return &r.cascade.Phases[i]
		}
	}
	return nil // the loader has checked that every target exists
}
