// Package course lays a recorded session out in time: its visits, branches, model calls, tool calls, waits and children,
// as a tree of spans with what each of them took.
package course

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/inspect"
)

// Kind says what a span is.
type Kind string

// The kinds. Model, Tool, Wait and Child have nothing below them.
const (
	Run    Kind = "run"
	Visit  Kind = "visit"  // to a phase
	Branch Kind = "branch" // an element of a list, a candidate, a step of refinement, a phase of a graph
	Aside  Kind = "aside"  // what belongs to no phase, such as cards
	Model  Kind = "model"
	Tool   Kind = "tool"
	Wait   Kind = "wait"
	Child  Kind = "child"
)

// Span is a stretch of a run.
type Span struct {
	Kind   Kind
	Key    echo.Key // of the entry, or of the visit or branch
	Name   string   // below its parent
	From   time.Time
	To     time.Time // of the newest entry, when it has not ended
	Failed string    // the kind of its error; "": none
	Copied bool      // of the session that a fork comes from, which paid for it
	Model  string    // that was asked
	Call   echo.Key  // of the model call that is looked at by this span; zero: none
	Child  string    // the session of a child
	Took   Took      // with all below
	Below  []*Span   // in the order in which they began
}

// Took is what spans took. Waits and what was copied took nothing.
type Took struct {
	Seconds     float64 // at work: of model calls and tools, also of those side by side
	USD         float64 // what is known of it; of calls that a script answered, what they would have cost at the prices of PriceAs
	UncachedUSD float64 // of USD: without what the tokens cost that were read from a prefix cache, as far as prices are known
	Tokens      int64   // sent and generated
	Calls       int
	Unknown     int // calls whose cost is not known
	PriceAs     string
	Unpriced    int // calls with tokens from a cache whose price is not known: they are in UncachedUSD whole
}

func (t *Took) add(o Took) {
	t.Seconds += o.Seconds
	t.USD += o.USD
	t.UncachedUSD += o.UncachedUSD
	t.Tokens += o.Tokens
	t.Calls += o.Calls
	t.Unknown += o.Unknown
	t.Unpriced += o.Unpriced
	t.PriceAs = cmp.Or(t.PriceAs, o.PriceAs)
}

// Of lays out the entries of a session, given in their order. The time that it takes grows with their number.
func Of(entries []*echo.Entry) *Span {
	b := &builder{root: &Span{Kind: Run}, groups: map[echo.Key]*Span{}, waits: map[echo.Key]*Span{}, tariffs: map[string]*echo.Tariff{}}
	for _, e := range entries {
		b.add(e)
	}
	for _, w := range b.waits { // which go on
		w.To = b.root.To
	}
	b.children(entries)
	b.root.finish()
	return b.root
}

// Own returns a span without what was copied of the session that a fork comes from; nil: nothing is left. A span of a session that
// is no fork is itself.
func (s *Span) Own() *Span {
	if s.Copied {
		return nil
	}
	if !s.hasCopied() {
		return s
	}
	out := *s
	out.Below = nil
	for _, b := range s.Below {
		own := b.Own()
		if own == nil {
			continue
		}
		if len(out.Below) == 0 || own.From.Before(out.From) {
			out.From = own.From
		}
		out.Below = append(out.Below, own)
	}
	if len(out.Below) == 0 {
		return nil
	}
	return &out
}

func (s *Span) hasCopied() bool {
	return s.Copied || slices.ContainsFunc(s.Below, (*Span).hasCopied)
}

type builder struct {
	root    *Span
	groups  map[echo.Key]*Span // visits, branches and what belongs to no phase
	waits   map[echo.Key]*Span // that are open
	tariffs map[string]*echo.Tariff
	origin  echo.Origin
}

func (b *builder) add(e *echo.Entry) {
	if b.root.From.IsZero() {
		b.root.From, b.root.Name = e.At, e.CascadeID
	}
	b.root.To = e.At
	switch e.NodeType { //nolint:exhaustive // the others only move the ends of what they are in
	case echo.NodeRunStart:
		b.origin = echo.OriginOf(e)
	case echo.NodeValue:
		b.price(e)
	case echo.NodeModelCall:
		b.leaf(e, Model).Model = e.Model
	case echo.NodeToolCall:
		b.leaf(e, Tool)
	case echo.NodeWait:
		b.waits[e.Key] = b.leaf(e, Wait)
	case echo.NodeAnswer:
		if w := b.waits[e.Key]; w != nil {
			w.To = e.At
			delete(b.waits, e.Key)
		}
		b.within(e.Key, e.At)
	case echo.NodeBranchStart, echo.NodeBranchEnd: // of all branches side by side, not of the one that the key names
	default:
		b.within(e.Key, e.At)
	}
}

// price keeps what the tokens of a model cost, as the run knew it.
func (b *builder) price(e *echo.Entry) {
	if model, t := inspect.TariffOf(e); t != nil {
		b.tariffs[model] = t
	}
}

// leaf adds what an entry records.
func (b *builder) leaf(e *echo.Entry, kind Kind) *Span {
	began := e.At.Add(-time.Duration(e.DurationMS * float64(time.Millisecond)))
	in := b.within(e.Key, began)
	s := &Span{Kind: kind, Key: e.Key, Name: nameOf(e, in.Key), From: began, To: e.At, Copied: b.origin.Has(e)}
	if e.Error != nil {
		s.Failed = e.Error.Kind
	}
	if kind == Model && e.Key.Purpose() == "" {
		s.Call = e.Key
	}
	if !s.Copied && kind != Wait {
		s.Took = b.took(e)
	}
	in.Below = append(in.Below, s)
	return s
}

func nameOf(e *echo.Entry, in echo.Key) string {
	name := e.Key.From(in)
	if e.Tool != nil {
		name += " " + e.Tool.Name
	}
	return name
}

func (b *builder) took(e *echo.Entry) Took {
	t := Took{Seconds: e.DurationMS / 1000}
	if e.NodeType != echo.NodeModelCall {
		return t
	}
	t.Calls = 1
	if e.Usage != nil {
		t.Tokens = e.Usage.In + e.Usage.Out
	}
	switch {
	case e.Pretend != nil:
		t.USD, t.PriceAs = e.Pretend.USD, e.Pretend.Model
	case e.CostUSD != nil:
		t.USD = *e.CostUSD
	default:
		t.Unknown = 1
	}
	t.UncachedUSD = t.USD
	if e.Usage == nil || e.Usage.Cached == 0 || t.USD == 0 {
		return t
	}
	tariff := b.tariffs[e.Model]
	if tariff == nil {
		t.Unpriced = 1
		return t
	}
	t.UncachedUSD = max(0, t.USD-cachedUSD(*tariff, *e.Usage))
	return t
}

// cachedUSD returns what the tokens cost that were read from the cache.
func cachedUSD(t echo.Tariff, u echo.Usage) float64 {
	return inspect.PricesFor(t, u.In).Cached * float64(min(u.Cached, u.In)) / 1e6
}

// within returns the innermost visit or branch that a key is in, and has all that it is in reach to a time.
func (b *builder) within(k echo.Key, at time.Time) *Span {
	in := b.root
	p := k.Path()
	if p.Scope != "" && p.Scope != echo.ScopeRun {
		in = b.group(in, echo.Key{}, Aside, string(p.Scope), at)
	}
	if p.Phase != "" {
		visit := k.VisitKey()
		in = b.group(in, visit, Visit, visit.String(), at)
	}
	head := echo.Path{Scope: p.Scope, Phase: p.Phase, Visit: p.Visit}
	for i := range p.Branches {
		head.Branches = p.Branches[:i+1]
		in = b.group(in, head.Key(), Branch, stepName(p.Branches[i]), at)
	}
	return in
}

func stepName(s echo.Step) string {
	return string(s.Kind) + " " + strconv.Itoa(s.Number)
}

func (b *builder) group(in *Span, k echo.Key, kind Kind, name string, at time.Time) *Span {
	s := b.groups[k]
	if s == nil {
		s = &Span{Kind: kind, Key: k, Name: name, From: at, To: at}
		b.groups[k] = s
		in.Below = append(in.Below, s)
	}
	if at.Before(s.From) {
		s.From = at
	}
	if at.After(s.To) {
		s.To = at
	}
	return s
}

// children adds the sessions that the run has begun. What they took is theirs, as their ends say.
func (b *builder) children(entries []*echo.Entry) {
	for _, c := range record.Of(entries).Children() {
		s := &Span{Kind: Child, Key: c.Key, Name: c.Session, Child: c.Session, From: c.StartedAt, To: c.EndedAt}
		if c.End == nil {
			s.To = b.root.To
		}
		if c.Error != "" {
			s.Failed = "failed"
		}
		t := &c.Totals
		usd := t.CostUSD + t.PretendUSD
		s.Took = Took{USD: usd, UncachedUSD: usd, PriceAs: t.PriceAs, Tokens: t.Usage.In + t.Usage.Out, Calls: t.Calls, Unknown: t.UnknownCosts}
		if c.End != nil {
			s.Took.Seconds = c.EndedAt.Sub(c.StartedAt).Seconds()
		}
		if t.Usage.Cached > 0 && usd > 0 {
			s.Took.Unpriced = t.Calls
		}
		in := b.within(c.Key, c.StartedAt)
		in.Below = append(in.Below, s)
	}
}

// finish adds up what is below a span.
func (s *Span) finish() {
	for _, x := range s.Below {
		x.finish()
		s.Took.add(x.Took)
		if x.From.Before(s.From) {
			s.From = x.From
		}
		if x.To.After(s.To) {
			s.To = x.To
		}
	}
	slices.SortStableFunc(s.Below, func(a, b *Span) int { return a.From.Compare(b.From) })
}
