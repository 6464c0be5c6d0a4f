package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/internal/quantity"
)

// graph runs phases in the order that their "after" makes. Each phase is a node with a branch of its
// own, which sees of the run what its ancestors have left.
type graph struct {
	run   *run
	nodes []*node          // in an order in which each stands behind those it is after, else that of the file
	at    map[string]*node // by the name of the phase
	slots chan struct{}    // phases that may run at a time
}

// node is a phase of a graph. Its goroutine owns it until done is closed; then it does not change.
type node struct {
	phase  *cascade.Phase
	number int // in the file, from 1
	direct []*node
	before []*node        // all ancestors, in the order of the graph's nodes
	visits map[string]int // of its phase and of those that handle its errors: their numbers, from 1
	done   chan struct{}

	branch  *run             // nil: it did not run
	settled map[string][]int // what it was warned of: state that phases have set in parallel, with their numbers
	out     outcome
	err     error // why it did not end well
	skipped bool  // it did not run, as one that it is after did not end well
}

var errSkipped = errors.New("a phase that it is after did not end well")

// graph runs the phases of a cascade with "after".
func (r *run) graph(ctx context.Context) error {
	g := newGraph(r)
	keys, tasks := g.branches()
	f := &forked{run: r}
	err := f.do(ctx, len(keys), keys, func(ctx context.Context, i int) part { return tasks[i](ctx) })
	contested, _ := g.leave(r, g.nodes)
	if err != nil {
		return g.failed(err)
	}
	r.result.Output = g.output()
	return r.settleContested(echo.RunKey(), contested)
}

// leave gives a run what nodes have left. Of those that have set the same name of the state, the last in
// the file decides that no other of them is after. It returns the names for which there are several of
// those whose values differ, with their numbers, unless one of the nodes was warned of the same.
func (g *graph) leave(r *run, nodes []*node) (names []string, contested map[string][]int) {
	by := map[int]*node{}
	set := map[string][]int{} // by the names, the numbers of the nodes
	var all []string
	for _, n := range nodes {
		if n.branch == nil {
			continue
		}
		r.adopt(n.branch)
		by[n.number] = n
		for _, name := range n.branch.session.Changed {
			if set[name] == nil {
				all = append(all, name)
			}
			set[name] = append(set[name], n.number)
		}
	}
	contested = map[string][]int{}
	for _, name := range all {
		latest := record.Latest(set[name], func(a, b int) bool { return by[a].isAfter(by[b]) })
		value := func(number int) any { return by[number].branch.session.State[name] }
		last := value(latest[len(latest)-1])
		r.session.Set(nil, name, last)
		isSettled := func(n *node) bool { return slices.Equal(n.settled[name], latest) }
		if slices.ContainsFunc(latest, func(number int) bool { return differ(value(number), last) }) && !slices.ContainsFunc(nodes, isSettled) {
			names = append(names, name)
			contested[name] = latest
		}
	}
	return names, contested
}

func newGraph(r *run) *graph {
	c := r.spec.Cascade
	g := &graph{run: r, at: map[string]*node{}, slots: make(chan struct{}, c.Parallel())}
	handlers := map[string]bool{}
	for p := range c.EachPhase() {
		if p.OnError != nil {
			handlers[p.OnError.Phase] = true
		}
	}
	var file []*node
	for i := range c.Phases {
		p := &c.Phases[i]
		if handlers[p.Name] && len(p.After) == 0 {
			continue // it runs in the place of a phase that failed
		}
		n := &node{phase: p, number: i + 1, done: make(chan struct{})}
		g.at[p.Name] = n
		file = append(file, n)
	}
	for _, n := range file {
		for _, name := range n.phase.After {
			if on := g.at[name]; on != nil {
				n.direct = append(n.direct, on)
			}
		}
	}
	g.nodes = ordered(file)
	for i, n := range g.nodes {
		for _, o := range g.nodes[:i] {
			if slices.ContainsFunc(n.direct, func(d *node) bool { return d == o || d.isAfter(o) }) {
				n.before = append(n.before, o)
			}
		}
	}
	g.countHandlers(file)
	return g
}

// countHandlers numbers the visits to phases that handle errors: one for each phase that they may
// stand in for, in the order of the file.
func (g *graph) countHandlers(file []*node) {
	visits := map[string]int{}
	for _, n := range file {
		visits[n.phase.Name] = 1
		n.visits = map[string]int{n.phase.Name: 1}
	}
	for _, n := range file {
		for _, h := range g.handlers(n) {
			visits[h.Name]++
			n.visits[h.Name] = visits[h.Name]
		}
	}
}

// ordered sorts nodes so that each stands behind those it is after. The loader has refused circles;
// what is in one stands at the end.
func ordered(file []*node) []*node {
	var out []*node
	for range file {
		for _, n := range file {
			ready := !slices.ContainsFunc(n.direct, func(d *node) bool { return !slices.Contains(out, d) })
			if ready && !slices.Contains(out, n) {
				out = append(out, n)
				break
			}
		}
	}
	for _, n := range file {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// isAfter reports whether n is after another node, directly or through others.
func (n *node) isAfter(other *node) bool {
	return slices.Contains(n.before, other)
}

// key returns the place of a phase that runs as the node: its own, or a handler of its errors.
func (n *node) key(phase string) echo.Key {
	return echo.PhaseKey(phase, n.visits[phase]).Numbered(echo.StepNode, n.number)
}

// handlers returns the phases that run one after the other as long as each fails.
func (g *graph) handlers(n *node) []*cascade.Phase {
	var out []*cascade.Phase
	for p := n.phase; p.OnError != nil; {
		next := p.OnError.Inline
		if next == nil {
			next = find(g.run.spec.Cascade, p.OnError.Phase)
		}
		if next == nil || slices.Contains(out, next) || next == n.phase {
			break
		}
		out = append(out, next)
		p = next
	}
	return out
}

// branches returns the branches of all nodes. A handler has one of its own, which its node runs.
func (g *graph) branches() (keys []echo.Key, tasks []func(context.Context) part) {
	for _, n := range g.nodes {
		keys = append(keys, n.key(n.phase.Name))
		tasks = append(tasks, func(ctx context.Context) part { return g.runNode(ctx, n) })
		for _, h := range g.handlers(n) {
			keys = append(keys, n.key(h.Name))
			tasks = append(tasks, func(context.Context) part { return part{} })
		}
	}
	return keys, tasks
}

// runNode runs a node once those that it is after have ended, and when there is room.
func (g *graph) runNode(ctx context.Context, n *node) part {
	defer close(n.done)
	if n.err = g.ready(ctx, n); n.err != nil {
		if errors.Is(n.err, errSkipped) {
			n.err, n.skipped = nil, true
		}
		return part{err: n.err}
	}
	select {
	case g.slots <- struct{}{}:
		defer func() { <-g.slots }()
	case <-ctx.Done():
		n.err = ctx.Err()
		return part{err: n.err}
	}
	n.branch = g.run.branch(n.key(n.phase.Name))
	if n.err = g.inherit(n); n.err == nil {
		n.out, n.err = g.perform(ctx, n)
	}
	n.branch = left(n.branch)
	return part{run: n.branch, out: n.out, err: n.err}
}

// ready waits for the nodes that n is after. The error says why it does not run.
func (g *graph) ready(ctx context.Context, n *node) error {
	var why error
	for _, d := range n.direct {
		select {
		case <-d.done:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil { // also where both have come: which is seen must not matter
			return err
		}
		switch {
		case d.err != nil && !core.Recoverable(d.err):
			why = d.err // the run stops
		case (d.err != nil || d.skipped) && why == nil:
			why = errSkipped
		}
	}
	return why
}

// inherit gives a node what its ancestors have left.
func (g *graph) inherit(n *node) error {
	names, contested := g.leave(n.branch, n.before)
	n.settled = contested
	n.branch.asyncs = nil // the run has them from their own nodes
	n.branch.inherited = len(n.branch.session.Phases)
	n.branch.session.Settled()
	return n.branch.settleContested(n.key(n.phase.Name), names)
}

// perform runs the phase of a node and, as long as one fails, what handles its errors.
func (g *graph) perform(ctx context.Context, n *node) (outcome, error) {
	out, err := n.branch.newVisit(n.phase, visitAt{scope: scopeNode, key: n.key(n.phase.Name), visit: 1}).do(ctx)
	failed := n.phase
	for _, h := range g.handlers(n) {
		if err == nil || !core.Recoverable(err) {
			break
		}
		route := echo.Route{From: failed.Name, To: h.Name, Reason: "on_error"}
		if recorded := n.branch.rec.Add(n.key(failed.Name).Step(echo.StepRoute), route); recorded != nil {
			return outcome{}, recorded
		}
		key := n.key(h.Name)
		b := n.branch.branch(key)
		out, err = b.newVisit(h, visitAt{scope: scopeNode, key: key, visit: n.visits[h.Name]}).do(ctx)
		n.branch.adopt(b)
		n.branch.count(b)
		failed = h
	}
	return out, err
}

// failed returns the error of a run whose phases did not all end well, and says which did not run.
func (g *graph) failed(err error) error {
	if !core.Recoverable(err) {
		return err
	}
	var not []string
	for _, n := range g.nodes {
		if n.skipped {
			not = append(not, n.phase.Name)
		}
	}
	if len(not) == 0 {
		return err
	}
	text := fmt.Sprintf("%s did not run, as what it is after did not end well: %s", quantity.Of(len(not), "phase"), strings.Join(not, ", "))
	return errors.Join(err, g.run.rec.Warn(echo.RunKey(), text))
}

// output returns the output of the last phase in file order that nothing is after.
func (g *graph) output() any {
	var last *node
	for _, n := range g.nodes {
		isLast := !slices.ContainsFunc(g.nodes, func(o *node) bool { return slices.Contains(o.direct, n) })
		if isLast && (last == nil || n.number > last.number) {
			last = n
		}
	}
	if last == nil {
		return nil
	}
	return last.out.value
}
