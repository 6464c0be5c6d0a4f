package record

import (
	"github.com/windlass-run/windlass/echo"
)

// state is what entries that count come to, as far as a run that resumes may change it.
type state struct {
	start     *echo.Entry // run_start
	visits    []*Visit    // in the order in which they began
	visitAt   map[echo.Key]*Visit
	histories histories
	routes    []echo.Route
	output    any // of the newest visit that completed
	totals    Totals
	children  children
	tree

	withdrawals *echo.Withdrawals
}

func newState() *state {
	return &state{visitAt: map[echo.Key]*Visit{}, histories: histories{}, tree: newTree()}
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
	b := s.branch(e.Key, &p)
	if e.NodeType == echo.NodePhaseStart && p.Scope == "" && len(p.Parts()) == 0 {
		s.begin(e, &p)
	}
	s.histories.add(e, &p)
	s.totals.Add(e)
	s.children.add(e)
	s.addChange(e, &p)
	if v := s.visitAt[e.Key.VisitKey()]; v != nil && e.NodeType != echo.NodeRoute {
		v.add(e, &p)
		if len(p.Parts()) > 0 {
			b.add(e, &p, v)
		}
		s.addShared(v, b, e)
		s.addChoice(e, &p)
	} else if p.Scope == echo.ScopeRun {
		s.addWhole(b, e, &p)
	}
	switch e.NodeType {
	case echo.NodeRunStart:
		s.start, s.trunk.order = e, orderOf(e)
	case echo.NodeRoute:
		if d, err := echo.Read[echo.Route](e); err == nil {
			s.routes = append(s.routes, d)
		}
	case echo.NodeBranchEnd:
		if b != nil {
			s.end(b)
		}
	}
}

// begin adds a visit. One that begins again under the same key takes the place of the one before.
func (s *state) begin(e *echo.Entry, p *echo.Path) {
	v := newVisit(e, p)
	if old := s.visitAt[v.Key]; old != nil {
		forget(s.histories, v.Key)
		s.forget(v.Key)
		*old = *v
		return
	}
	s.visitAt[v.Key] = v
	s.visits = append(s.visits, v)
}

// addShared takes what an entry of a visit leaves to the rest of the run, or to that of its branch.
func (s *state) addShared(v *Visit, b *branch, e *echo.Entry) {
	switch e.NodeType {
	case echo.NodeState:
		if d, err := echo.Read[echo.State](e); err == nil {
			s.scopeOf(b).set(d.Key, d.Value)
			if b.inTry() == nil {
				v.set(d.Key)
			}
			if b != nil {
				b.Visit.set(d.Key)
			}
		}
	case echo.NodeCallout:
		d, _ := echo.Read[echo.CalloutMark](e) // one that cannot be read has no name
		in := s.scopeOf(b)
		in.callouts = append(in.callouts, echo.Callout{Name: d.Name, Phase: v.Phase, Hash: e.ContentHash})
	case echo.NodePhaseEnd:
		if v.Status == echo.StatusCompleted && v.Node == 0 {
			s.output = v.Output
		}
	}
}
