package record

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Branch is what a branch of a run came to so far: an element of a list, one of several candidates, a
// step of refinement, or a phase of a graph. One of which nothing is recorded but that it may begin has
// [echo.StatusPending]. A step of refinement has ended with its choice.
type Branch struct {
	Visit           // the key is that of the branch
	Step  echo.Step // the innermost of the key: its kind and number

	Candidate *echo.Candidate // as it is recorded last; nil: the branch is none
	Won       bool            // a candidate is kept, as far as it was chosen

	// FailedItem is the number of the element of the same list after whose failure this one did not
	// begin, 0 when it is not for that.
	FailedItem int
}

// branch is a [Branch] and what it leaves to the one that it grows from.
type branch struct {
	Branch
	scope
	parent *branch // nil: the trunk
}

// scope is what the trunk or a branch has set so far. Branches that have ended have left it theirs;
// the phases of a graph are kept, as which of them counts does not depend on which has ended first.
type scope struct {
	shared   map[string]any
	callouts []echo.Callout
	nodes    []*branch // phases of a graph that have ended
	open     []*branch // that have not ended, in the order in which they began
	order    order     // of the phases of a graph
}

// value returns what a name is set to when the open branches end as they are: of several that set
// it, the last in order counts, see [order.last].
func (s *scope) value(name string) (any, bool) {
	set := func(b *branch) bool {
		_, ok := b.value(name)
		return ok
	}
	if b := s.order.last(slices.Concat(s.nodes, s.open), set); b != nil {
		return b.value(name)
	}
	v, ok := s.shared[name]
	return v, ok
}

// all adds everything that is set to a map, see [scope.value].
func (s *scope) all(to map[string]any) map[string]any {
	maps.Copy(to, s.shared)
	branches := slices.Concat(s.nodes, s.open)
	for _, b := range branches {
		b.all(to)
	}
	if slices.ContainsFunc(branches, (*branch).isNode) {
		for name := range to {
			to[name], _ = s.value(name)
		}
	}
	return to
}

// marks returns the callouts, those of open branches behind its own.
func (s *scope) marks() []echo.Callout {
	all := slices.Clip(s.callouts)
	for _, b := range s.open {
		all = append(all, b.marks()...)
	}
	return all
}

func (s *scope) set(name string, value any) {
	if s.shared == nil {
		s.shared = map[string]any{}
	}
	s.shared[name] = value
}

// join takes what a branch leaves that has ended.
func (s *scope) join(b *branch) {
	if b.isNode() {
		s.nodes = append(s.nodes, b)
	} else {
		for name, v := range b.shared {
			s.set(name, v)
		}
	}
	s.callouts = append(slices.Clip(s.callouts), b.callouts...)
	s.leave(b)
}

func (s *scope) leave(b *branch) {
	if i := slices.Index(s.open, b); i >= 0 {
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// tree has the branches of a session.
type tree struct {
	trunk scope
	at    map[echo.Key]*branch
	nodes []*branch              // of a graph, in the order in which they began, as are
	parts map[echo.Key][]*branch // those below a visit, by its key

	chosen  map[echo.Key]*branch // the candidate that is kept, by the visit or branch that it is of
	choices []Choice
}

func newTree() tree {
	return tree{at: map[echo.Key]*branch{}, parts: map[echo.Key][]*branch{}, chosen: map[echo.Key]*branch{}}
}

// branch returns the branch of a key, which begins with the first entry that names it; nil for the
// trunk.
func (t *tree) branch(k echo.Key, p *echo.Path) *branch {
	n := len(p.Branches)
	if n == 0 {
		return nil
	}
	key := conversation(k, p)
	if b := t.at[key]; b != nil {
		return b
	}
	b := &branch{Branch: Branch{Step: p.Branches[n-1]}}
	b.Visit = Visit{Key: key, Phase: p.Phase, Number: p.Visit, Node: p.Node(), Outcome: Outcome{Status: echo.StatusPending}}
	if n > 1 {
		above := echo.Path{Phase: p.Phase, Visit: p.Visit, Branches: p.Branches[:n-1]}
		b.parent = t.branch(above.Key(), &above)
	}
	if !b.isTry() { // what those leave counts when they are chosen
		s := t.scopeOf(b.parent)
		s.open = append(s.open, b)
	}
	t.at[key] = b
	if len(p.Parts()) == 0 {
		t.nodes = append(t.nodes, b)
	} else {
		visit := key.VisitKey()
		t.parts[visit] = append(t.parts[visit], b)
	}
	return b
}

func (t *tree) scopeOf(b *branch) *scope {
	if b == nil {
		return &t.trunk
	}
	return &b.scope
}

// forget drops the parts of a visit, which begins again.
func (t *tree) forget(visit echo.Key) {
	for _, b := range t.parts[visit] {
		t.scopeOf(b.parent).leave(b)
		delete(t.at, b.Key)
	}
	if b := t.chosen[visit]; b != nil {
		t.trunk.leave(b)
	}
	forget(t.chosen, visit)
	delete(t.parts, visit)
}

// end takes the end of a branch, once. With a node end the handlers of its failure, which have the
// node's number.
func (t *tree) end(b *branch) {
	if b.isTry() {
		return
	}
	s := t.scopeOf(b.parent)
	if !slices.Contains(s.open, b) {
		return
	}
	s.join(b)
	if !b.isNode() {
		return
	}
	for _, o := range slices.Clone(s.open) {
		if o.Step == b.Step {
			s.join(o)
		}
	}
}

// add takes an entry of a part of a visit.
func (b *branch) add(e *echo.Entry, p *echo.Path, visit *Visit) {
	if e.NodeType == echo.NodeBranchStart || e.NodeType == echo.NodeBranchEnd {
		return
	}
	if e.NodeType == echo.NodeValue && p.Last().Kind == echo.StepStopped {
		d, _ := echo.Read[echo.Stopped](e) // one that cannot be read names none
		b.FailedItem = d.Item
		return
	}
	for a := b; a != nil && a.Step.Kind != echo.StepNode; a = a.parent {
		if a.Status == echo.StatusPending {
			a.Status, a.StartedAt, a.Model = echo.StatusRunning, e.At, visit.Model
		}
		a.addCall(e, p)
	}
	b.addOwn(e, p)
	if d, err := echo.Read[echo.Candidate](e); err == nil {
		b.Candidate = &d
	}
}

// Nodes returns the phases of a graph, in the order in which their branches began: those that have
// not begun, too.
func (f *Fold) Nodes() []Branch {
	out := make([]Branch, len(f.now.nodes))
	for i, b := range f.now.nodes {
		out[i] = b.Branch
		if v := f.now.visitAt[b.Key]; v != nil {
			out[i].Visit = f.visit(v)
		}
	}
	return out
}

// Branches returns the branches below a visit in the order in which they began, such as the elements
// of a list. Those of a visit that was stopped, and had not ended, end as the visit did.
func (f *Fold) Branches(visit echo.Key) []Branch {
	var end Outcome
	if v := f.now.visitAt[visit]; v != nil {
		now := f.visit(v)
		end = now.Outcome
	}
	out := make([]Branch, len(f.now.parts[visit]))
	for i, b := range f.now.parts[visit] {
		out[i] = b.Branch
		out[i].Verdicts, out[i].State = slices.Clip(b.Verdicts), f.now.stateOf(&b.Visit)
		out[i].Won = f.now.keeps(b)
		out[i].Spent = f.tally.Branch(b.Key)
		out[i].endWith(end.Status, end.Reason)
	}
	return out
}

// endWith gives what has not ended the end of what it was a part of.
func (v *Visit) endWith(s echo.Status, r echo.StopReason) {
	if v.Status == echo.StatusRunning && s.IsDone() {
		v.Status, v.Reason = s, r
	}
}

// graphOutput returns the output of a graph so far.
func (s *state) graphOutput() any {
	followed := followedPhases(s.start)
	var last *Visit
	for _, v := range s.visits {
		if v.Status == echo.StatusCompleted && !followed[v.Node] && (last == nil || v.Node >= last.Node) {
			last = v
		}
	}
	if last == nil {
		return nil
	}
	return last.Output
}

// followedPhases returns the numbers of the phases of a cascade that others come after, as the start
// of its run has it; none when it does not say.
func followedPhases(start *echo.Entry) map[int]bool {
	followed := map[int]bool{}
	for _, before := range orderOf(start) {
		for n := range before {
			followed[n] = true
		}
	}
	return followed
}
