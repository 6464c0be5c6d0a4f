package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/sounding"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/withheld"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// Child is another cascade that a run begins, as a session of its own.
type Child struct {
	echo.ChildStart
	Parent  string // the id of the session that begins it
	Key     echo.Key
	Depth   int // below the run that has no parent, from 1
	Cascade *cascade.Reached
	Images  []echo.Part     // that a validator is to see, beside its input
	Budget  *cascade.Budget // what it may take from now on at most; nil: its cascade's own holds
	Ledger  *budget.Ledger  // of the run that begins it: what the child takes is counted there, too

	Trial *sounding.Trial // which of several tries of a cascade it is; nil: it is none

	// ContextOut says that the parent takes the state with which the child ends. That of others is in
	// no record but their own.
	ContextOut bool

	// From is the session that the parent's origin has begun here, when the parent is a fork and the
	// start was copied; "": there is none.
	From string
}

// Children runs other cascades within runs. It is safe for concurrent use, and begins each session
// once: one that is there already is resumed, or has ended.
type Children interface {
	// Begin begins a child that runs beside its parent, and returns at once. ctx is that of the
	// parent's run.
	Begin(ctx context.Context, c *Child)
	// Wait runs a child to its end, or waits for one that was begun. A child that failed is an outcome.
	// The error is a [*budget.Error] when a limit of a run above the child stopped it, or the end of ctx.
	Wait(ctx context.Context, c *Child) (*effect.ChildOutcome, error)
	// Settle waits until the children have ended that run beside the run and are not detached, or until
	// ctx has.
	Settle(ctx context.Context)
	// Find reads a cascade that is named while the run goes on. What it returns when ctx has ended does
	// not count.
	Find(ctx context.Context, name string) echo.FoundCascade
	// Read makes a cascade of what was found.
	Read(found *echo.FoundCascade) (*cascade.Reached, error)
}

// ChildError is a child that did not end well.
type ChildError struct {
	Name    string
	Session string
	Status  echo.Status
	Stopped echo.StopReason
	Reason  string // in words
}

func (e *ChildError) Error() string {
	return fmt.Sprintf("the cascade %s (session %s) %s", e.Name, e.Session, e.Ended())
}

// Ended says how it ended, without which one it is.
func (e *ChildError) Ended() string {
	return fmt.Sprintf("ended %s: %s", e.Status, cmp.Or(excerpt.Of(e.Reason), "no reason is recorded"))
}

// children begins other cascades from one place.
type children struct {
	*core.Place
	run *run
}

func (v *visit) childrenHere() *children { return &children{Place: v.Place, run: v.run} }

// wanted is a child before it begins.
type wanted struct {
	key    echo.Key
	name   string
	how    echo.ChildKind
	of     *cascade.Reached
	input  map[string]any
	state  map[string]any
	images []echo.Part
	detach bool
	trial  *sounding.Trial
	out    bool // its state is taken
}

// start records that a child begins, and returns what runs it.
func (c *children) start(w *wanted) (*Child, error) {
	if w.of == nil || w.of.Cascade == nil {
		return nil, fmt.Errorf("the cascade %s is not known: it was not found when the run began", w.name)
	}
	session := c.run.session.ID
	child := &Child{
		ChildStart: echo.ChildStart{
			Session: echo.ChildSession(session, w.key), Name: w.name, How: w.how, Cascade: w.of.Cascade.CascadeID, Hash: w.of.Hash, File: w.of.File,
			Input: w.input, State: w.state, Detach: w.detach,
			Candidate: w.trial.Recorded(),
		},
		Trial: w.trial, ContextOut: w.out || w.trial != nil, // of tries that of the one that is kept is taken
		Parent: session, Key: w.key, Depth: c.run.spec.Depth + 1, Cascade: w.of, Images: w.images, Ledger: c.run.Ledger, Budget: c.limits(),
	}
	if child.Depth > cascade.MaxDepth {
		return nil, fmt.Errorf("the cascade %s would be %d cascades below the first one, at most %d are run", w.name, child.Depth, cascade.MaxDepth)
	}
	recorded := child.ChildStart
	if e := c.Rec.Peek(echo.NodeChildStart, w.key); e != nil {
		if was, err := echo.Read[echo.ChildStart](e); err == nil && was.Session != recorded.Session {
			recorded.Session, child.From = was.Session, was.Session // a fork has copied the start, or is run again under its own name
		}
	}
	return child, c.Rec.Add(w.key, recorded)
}

// limits returns what a child may take of the time that is left after all that is recorded of the run;
// money and tokens are counted in the ledger of its parent, too.
func (c *children) limits() *cascade.Budget {
	most := c.run.Ledger.Limits().MaxSeconds
	if most <= 0 {
		return nil
	}
	return &cascade.Budget{MaxSeconds: max(most-c.run.Took(c.Rec.Lived()), 0.001)}
}

// end waits for a child and records how it ended, under the key. A limit that stops a child that is
// waited for stops the run.
func (c *children) end(ctx context.Context, key echo.Key, child *Child) (*effect.ChildOutcome, error) {
	out, err := c.Rec.Child(ctx, key, c.Site, func(ctx context.Context) (*effect.ChildOutcome, error) {
		if c.run.Children == nil {
			return nil, errors.New("this program runs no other cascades within a run")
		}
		return child.taken(c.run.Children.Wait(ctx, child))
	})
	var over *budget.Error
	if errors.As(err, &over) {
		return nil, c.run.Ledger.Stop(over)
	}
	return out, err
}

// taken returns what a parent takes of the end of a child, see [Child.ContextOut].
func (c *Child) taken(out *effect.ChildOutcome, err error) (*effect.ChildOutcome, error) {
	if out == nil || c.ContextOut || out.State == nil {
		return out, err
	}
	without := *out
	without.State = nil
	return &without, err
}

// countChild adds what a child took to the result.
func (r *run) countChild(out *effect.ChildOutcome) {
	if out != nil {
		r.result.Children = r.result.Children.Plus(out.Totals)
		r.result.copied = r.result.copied.Plus(out.CopiedTotals())
	}
}

// do runs a child to its end.
func (c *children) do(ctx context.Context, w *wanted) (*effect.ChildOutcome, error) {
	child, err := c.start(w)
	if err != nil {
		return nil, err
	}
	return c.end(ctx, w.key, child)
}

// failure returns the error of a child that did not end well.
func failure(name string, out *effect.ChildOutcome) error {
	if out.Status.IsSuccess() {
		return nil
	}
	e := &ChildError{Name: name, Session: out.Session, Status: out.Status, Stopped: out.Reason}
	if out.Error != nil {
		e.Reason = out.Error.Message
	}
	return e
}

// beside begins a child that runs beside the run. Who calls it adds the child to those that the end
// of the run waits for.
func (c *children) beside(w *wanted) (*Child, error) {
	child, err := c.start(w)
	if err != nil {
		return nil, err
	}
	if c.Rec.IsReplay() || c.Rec.Peek(echo.NodeChildEnd, joinKey(child)) != nil {
		return child, nil
	}
	if c.run.Children == nil {
		return nil, errors.New("this program runs no other cascades within a run")
	}
	c.run.Children.Begin(c.run.whole, child)
	return child, nil
}

// known is the session by which the record knows the child: in a fork that has copied the start that
// of the original.
func (c *Child) known() string { return cmp.Or(c.From, c.Session) }

// joinKey is the place of the end of a child that runs beside its parent.
func joinKey(child *Child) echo.Key { return echo.RunKey().Named(echo.StepAsync, child.known()) }

// join waits for the children that run beside the run, in the order in which they began. One that
// fails is a warning.
func (r *run) join(ctx context.Context) error {
	trunk := &core.Place{Site: effect.Site{Cascade: r.spec.Cascade.CascadeID}, Key: echo.RunKey(), Rec: r.rec}
	for _, child := range r.asyncs {
		if child.Detach {
			continue
		}
		c := &children{Place: trunk, run: r}
		out, err := c.end(ctx, joinKey(child), child)
		if err != nil {
			return err
		}
		r.countChild(out)
		if failed := failure(child.Name, out); failed != nil {
			if err := r.rec.Warn(joinKey(child), failed.Error()); err != nil {
				return err
			}
		}
	}
	r.asyncs = nil
	return nil
}

// runSubs runs the sub cascades of the phase, one after the other.
func (v *visit) runSubs(ctx context.Context) error {
	v.templates.Subs = map[string]any{}
	for _, sub := range v.Def.SubCascades {
		of := v.run.spec.Cascade.Reaches[sub.Ref]
		name := nameOf(sub.Name, sub.Ref, of)
		w := &wanted{key: v.Key.Named(echo.StepChild, name), name: name, how: echo.ChildSub, of: of, out: sub.ContextOut}
		if err := v.give(w, "sub_cascades", sub.InputMap, sub.ContextIn); err != nil {
			return err
		}
		out, err := v.childrenHere().do(ctx, w)
		if err != nil {
			return err
		}
		v.run.countChild(out)
		if err := failure(name, out); err != nil {
			return err
		}
		v.templates.Subs[name] = out.Output
		if sub.ContextOut {
			if err := v.takeState(out.State); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeState merges the state of a child, but for what every run keeps there itself.
func (v *visit) takeState(state map[string]any) error {
	own := withheld.Of(v.run.session)
	for _, name := range slices.Sorted(maps.Keys(state)) {
		if own.Left(name, state[name]) { // as the child was given it: the value here stays
			continue
		}
		if strings.HasPrefix(name, cascade.StateOutputPrefix) || name == cascade.StateValidatedOutput || name == cascade.StateLastError {
			continue
		}
		if err := v.tools.setState(name, state[name]); err != nil {
			return err
		}
	}
	return nil
}

// beginAsync begins the cascades that run beside the phase from now on.
func (v *visit) beginAsync(now cascade.Trigger) error {
	for _, a := range v.Def.AsyncCascades {
		if cmp.Or(a.Trigger, cascade.TriggerOnStart) != now {
			continue
		}
		of := v.run.spec.Cascade.Reaches[a.Ref]
		name := nameOf(a.Name, a.Ref, of)
		w := &wanted{key: v.Key.Named(echo.StepAsync, name), name: name, how: echo.ChildAsync, of: of, detach: a.Detach}
		if err := v.give(w, "async_cascades", a.InputMap, a.ContextIn); err != nil {
			return err
		}
		child, err := v.childrenHere().beside(w)
		if err != nil {
			return err
		}
		v.run.asyncs = append(v.run.asyncs, child)
	}
	return nil
}

// nameOf is the name of a child in its parent.
func nameOf(name, ref string, of *cascade.Reached) string {
	if name != "" || of == nil || of.Cascade == nil {
		return cmp.Or(name, ref)
	}
	return of.Cascade.CascadeID
}

// give makes the input of a child, and the state that it begins with.
func (v *visit) give(w *wanted, field string, inputMap map[string]string, context bool) error {
	w.input = map[string]any{}
	if context {
		maps.Copy(w.input, v.run.spec.Input)
		w.state = withheld.StateOfAll(v.run.session)
	}
	for _, name := range slices.Sorted(maps.Keys(inputMap)) {
		value, err := v.given(fmt.Sprintf("%s.%s.input_map.%s", field, w.name, name), inputMap[name])
		if err != nil {
			return err
		}
		w.input[name] = toolset.FitType(value, toolset.InputType(w.of, name))
	}
	return nil
}

// given returns the value of an input: of a template, or of a name of the state or the input.
func (v *visit) given(field, source string) (any, error) {
	if cascade.IsTemplate(source) {
		return v.templates.Text(field, source)
	}
	value, err := v.templates.LookUp(source)
	if err != nil {
		return nil, fmt.Errorf("%s is %q, which is no template: %w; for a text write {{ %q }}", field, source, err, source)
	}
	return value, nil
}

// called is what came of a child that was called as a tool.
type called struct {
	text    string // what the model is told
	failed  bool
	outcome *effect.ChildOutcome // nil: it runs on
	spawned *Child               // nil: it does not run on
}

// took counts what came of a child that was called as a tool, nil for none.
func (c *children) took(child *called) {
	if child == nil {
		return
	}
	c.run.countChild(child.outcome)
	if child.spawned != nil {
		c.run.asyncs = append(c.run.asyncs, child.spawned)
	}
}

// call runs a cascade that is called as a tool.
func (c *children) call(ctx context.Context, key echo.Key, name string, of *cascade.Reached, args json.RawMessage) (*called, error) {
	input, err := toolset.InputOf(args)
	if err != nil {
		return &called{text: err.Error(), failed: true}, nil //nolint:nilerr // the model is told
	}
	out, err := c.do(ctx, &wanted{key: key, name: name, how: echo.ChildTool, of: of, input: input})
	if err != nil {
		return nil, err
	}
	if failed := failure(name, out); failed != nil {
		return &called{text: failed.Error(), failed: true, outcome: out}, nil //nolint:nilerr // the model is told
	}
	return &called{text: echo.AsText(out.Output), outcome: out}, nil
}

// spawn begins a cascade that a model names.
func (c *children) spawn(ctx context.Context, key echo.Key, args json.RawMessage) (*called, error) {
	var in struct {
		Cascade string          `json:"cascade"`
		Input   json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("read arguments of %s: %w", toolset.ToolSpawn, err)
	}
	input, err := toolset.InputOf(in.Input)
	if err != nil {
		return &called{text: err.Error(), failed: true}, nil //nolint:nilerr // the model is told
	}
	of, problem, err := c.find(ctx, key.Step(echo.StepCascade), in.Cascade)
	if err != nil || problem != "" {
		return &called{text: problem, failed: true}, err
	}
	child, err := c.beside(&wanted{key: key, name: of.Cascade.CascadeID, how: echo.ChildSpawn, of: of, input: input})
	if err != nil {
		return nil, err
	}
	text := effect.MustJSON(map[string]string{"cascade": of.Cascade.CascadeID, "session": child.known(), "status": "started"})
	return &called{text: string(text), spawned: child}, nil
}

// find reads a cascade by the name that a model gives. The problem is for the model.
func (c *children) find(ctx context.Context, key echo.Key, name string) (of *cascade.Reached, problem string, err error) {
	found, err := effect.WholeReading[echo.FoundCascade](ctx, c.Rec, key, c.Site, func() echo.Payload {
		switch {
		case c.run.Children == nil:
			return echo.FoundCascade{Name: name, Problem: "this program runs no other cascades within a run"}
		case c.run.spec.Depth >= cascade.MaxDepth:
			return echo.FoundCascade{Name: name, Problem: fmt.Sprintf("this run is %d cascades below the first one, which is as deep as it goes: do the work here", c.run.spec.Depth)}
		}
		return c.run.Children.Find(ctx, name)
	})
	if err != nil || found.Problem != "" {
		return nil, found.Problem, err
	}
	if c.run.Children != nil {
		of, err = c.run.Children.Read(&found)
		return of, "", err
	}
	of = &cascade.Reached{File: found.File, Hash: found.Hash, Cascade: &cascade.Cascade{}} // a replay needs no more of it
	return of, "", json.Unmarshal(found.Cascade, of.Cascade)
}
