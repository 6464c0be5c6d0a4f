package record

import (
	"github.com/windlass-run/windlass/echo"
)

// state is what entries that count come to, as far as a run that resumes may change it.
type state struct {
	start     *echo.Entry // run_start
	visits    []*Visit    // in the order in which they began
	at        map[echo.Key]*Visit
	histories histories
	routes    []echo.Route
	callouts  []echo.Callout
	shared    map[string]any
	output    any // of the newest visit that completed
	totals    Totals
}

func newState() *state {
	return &state{at: map[echo.Key]*Visit{}, histories: histories{}, shared: map[string]any{}}
}

func stateOf(counted []*echo.Entry) *state {
	s := newState()
	for _, e := range counted {
		s.add(e)
	}
	return s
}

func (s *state) add(e *echo.Entry) {
	p := e.Key.Path()
	if e.NodeType == echo.NodePhaseStart && p.Scope == "" {
		s.begin(e, &p)
	}
	s.histories.add(e, &p)
	s.totals.Add(e)
	if v := s.at[e.Key.VisitKey()]; v != nil && e.NodeType != echo.NodeRoute {
		v.add(e, &p)
		s.addShared(v, e)
	}
	switch e.NodeType {
	case echo.NodeRunStart:
		s.start = e
	case echo.NodeRoute:
		if d, err := echo.Read[echo.Route](e); err == nil {
			s.routes = append(s.routes, d)
		}
	}
}

// begin adds a visit. One that begins again under the same key takes the place of the one before.
func (s *state) begin(e *echo.Entry, p *echo.Path) {
	v := newVisit(e, p)
	if old := s.at[v.Key]; old != nil {
		forget(s.histories, v.Key)
		*old = *v
		return
	}
	s.at[v.Key] = v
	s.visits = append(s.visits, v)
}

// addShared takes what an entry of a visit leaves to the rest of the run.
func (s *state) addShared(v *Visit, e *echo.Entry) {
	switch e.NodeType {
	case echo.NodeState:
		if d, err := echo.Read[echo.State](e); err == nil {
			s.shared[d.Key] = d.Value
			v.set(d.Key)
		}
	case echo.NodeCallout:
		d, _ := echo.Read[echo.CalloutMark](e) // one that cannot be read has no name
		s.callouts = append(s.callouts, echo.Callout{Name: d.Name, Phase: v.Phase, Hash: e.ContentHash})
	case echo.NodePhaseEnd:
		if v.Status == echo.StatusCompleted {
			s.output = v.Output
		}
	}
}
