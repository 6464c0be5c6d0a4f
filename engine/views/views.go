package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/internal/quantity"
)

// maxAsks is above what the view of one call can need: summaries, and a count for each.
const maxAsks = 20

// Views decides what each call of a phase with a model is sent.
type Views struct {
	*core.Place
	asked    Asked
	calls    *core.Calls
	tools    *toolset.Toolset
	Settings autocontext.Settings
	room     Room
	Render   *autocontext.Renderer
	Builder  *autocontext.Builder
	Carry    echo.Carry
	guard    guard
	Reads    reads
	answered time.Time // when the last answer of the phase came
	followed bool      // the call before was sent what is recorded, which a redaction has changed

	marks     cacheMarks
	Fallbacks []string // models to ask when the one in use cannot be reached
}

// NewViews returns the views of a visit that begins. What it reads again is counted in into.
func NewViews(asked Asked, f effect.ModelFacts, calls *core.Calls, into *ContextFigures) *Views {
	told := dialect.Native
	if calls.Record.Prompted {
		told = dialect.Prompted
	}
	v := &Views{
		Place: calls.Place, asked: asked, calls: calls, Render: autocontext.NewRenderer(told),
		Reads: reads{figures: into, again: map[echo.Hash]bool{}}, guard: guard{asks: map[autocontext.AskKind]int{}, summaries: map[echo.Hash]*echo.Message{}},
	}
	v.Settings, v.room = SettingsFor(asked, calls.Rec.Rules, calls.Def, f, told)
	v.marks.on = f.MarkCache
	return v
}

// Declare takes the tools of requests. The error says that no request has room.
func (v *Views) Declare(tools *toolset.Toolset, f effect.ModelFacts) error {
	v.tools = tools
	v.Settings.Fixed, v.Settings.Summary.Lookups = v.fixedTokens(f), lookupsOf(v)
	v.Builder = autocontext.NewBuilder(v.Settings)
	v.offerRecall(0)
	if v.Settings.Policy.Guard.Enabled {
		return v.room.Check(v.Record.Model)
	}
	return nil
}

// lookupsOf returns the tools of a phase that find what has left its requests, or what others have left for it.
func lookupsOf(v *Views) (names []string) {
	if !v.Rec.Rules.NamesLookups() {
		return nil
	}
	for _, s := range v.tools.With(lookup.RecallSpec()).Specs {
		if s.Name == lookup.ToolRecall && len(v.tools.Specs) > 0 || s.Name == lookup.ToolSearch || s.Name == toolset.ToolSQL || s.Name == memory.Tool ||
			s.Name == memo.ToolRetrieve || s.Name == cascade.RecallToolOf(v.asked.Cascade, v.Def) {
			names = append(names, s.Name)
		}
	}
	return names
}

// fixedTokens counts what requests have besides messages, with recall, which may join the tools.
func (v *Views) fixedTokens(f effect.ModelFacts) int64 {
	if f.CountFixed == nil {
		return 0
	}
	var specs []effect.ToolSpec
	if !v.Record.Prompted {
		specs = v.tools.With(lookup.RecallSpec()).Specs
	}
	return f.CountFixed(specs)
}

// Data returns what is recorded of the settings.
func (v *Views) Data(f effect.ModelFacts) *echo.PhaseContext {
	s := &v.Settings
	policy := s.Policy.Written()
	if !v.Rec.Rules.Dedupes() {
		policy.Dedupe = nil
	}
	return &echo.PhaseContext{
		Dialect: s.Dialect.String(), Policy: effect.MustJSON(policy), Limit: s.Limit, Window: f.Window, Reserve: v.room.Reserve,
		Strategy: string(s.Strategy), Fixed: s.Fixed, Exact: s.Exact, Price: s.Price,
	}
}

// Request builds a call's view and request, and records the selection within the budget.
func (v *Views) Request(ctx context.Context, selection, call echo.Key, noTools bool) (*effect.ModelRequest, error) {
	recorded := v.Rec.Peek(echo.NodeSelection, selection) != nil
	if v.followed && !recorded {
		v.Carry.Sent = 0 // the next selection names every message
	}
	v.followed = recorded && effect.InRedacted(v.Rec.Recorder, v.Key)
	if req, err := v.follow(ctx, selection, call, noTools); req != nil || err != nil {
		return req, err
	}
	view, err := v.build(ctx)
	if err != nil {
		return nil, err
	}
	report := view.Report()
	req := v.requestOf(call, view, noTools)
	size := func(req *effect.ModelRequest, f effect.ModelFacts) budget.Size {
		return budget.SizeOfView(req, f, &report, v.Carry.Scale)
	}
	if err := v.calls.Afford(ctx, call, req, size); err != nil {
		return nil, err
	}
	e := v.Rec.Entry(selection, v.Carry)
	e.Model, e.Selection = req.Model, &report
	if err := v.Rec.Append(e); err != nil {
		return nil, err
	}
	v.Rec.Observe(core.Event{Kind: core.EventModelCall, Key: call, Site: req.Site, Model: req.Model, ContextSize: report.ContextSize})
	return req, nil
}

func (v *Views) requestOf(call echo.Key, view *autocontext.View, noTools bool) *effect.ModelRequest {
	site := v.Site
	req := &effect.ModelRequest{
		Site: site, Model: v.Record.Model, Messages: v.Render.Render(view),
		NoToolCalls: noTools, Prompted: v.Record.Prompted,
		Temperature: v.Def.Temperature, MaxOutputTokens: v.Def.MaxOutputTokens, Options: v.Def.ModelOptions,
		OnDelta: func(d effect.Delta) {
			v.Rec.Observe(core.Event{Kind: core.EventDelta, Key: call, Site: site, Delta: d})
		},
	}
	if req.Prompted {
		req.Parse = func(m *echo.Message) *echo.Message { return modeltext.Calls(m, site) }
	} else {
		req.Tools, req.ToolsDigest = v.tools.Specs, v.tools.Digest
	}
	more := !noTools && (v.asked.Cascade.MaxTurns(v.Def) > 1 || v.Def.MaxAttempts() > 1)
	req.CacheMarks = v.marks.of(req.Messages, more)
	return req
}

// build decides what the next call is sent: it answers what the builder asks until there is a view.
func (v *Views) build(ctx context.Context) (*autocontext.View, error) {
	for range maxAsks {
		step, err := v.Builder.Build(history(v), v.Carry)
		v.Carry = step.Carry
		if err := v.recordGuard(step.Events); err != nil {
			return nil, err
		}
		if err != nil {
			return nil, v.explain(err)
		}
		if step.Ask == nil {
			v.offerRecall(step.View.Report().MaskedCount)
			return step.View, nil
		}
		if err := v.settle(ctx, step.Ask); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("the view of the history is not settled after %d questions to models", maxAsks)
}

// offerRecall adds recall to the tools when it is of use. Under a policy that will come, so it is
// there from the start: tools that never change keep the cached prefix.
func (v *Views) offerRecall(masked int) {
	inTime := !v.Settings.Policy.Enabled || len(v.tools.Specs) > 0 || v.Def.MaxAttempts() > 1
	if v.Builder.MayMask(v.Carry) && (inTime || masked > 0) {
		*v.tools = v.tools.With(lookup.RecallSpec())
	}
}

// Recalled counts a message that was recalled.
func (v *Views) Recalled(h echo.Hash) { v.Reads.recalled(h, v.Builder.Masked) }

// Learn notes when the cache was written and how many tokens the provider counted, if it did.
func (v *Views) Learn(resp *effect.ModelResponse) {
	v.answered = v.Rec.Now()
	counted := resp.Usage.In
	if resp.Usage.Estimated || resp.Scripted {
		counted = 0
	}
	v.Carry = v.Builder.Used(v.Carry, counted)
}

// Smaller leaves more out of the next request after one that was refused as too long, if it can.
func (v *Views) Smaller() bool {
	carry, smaller := v.Builder.Refused(v.Carry)
	if smaller {
		v.Carry = carry
	}
	return smaller
}

// CacheLife is how long a provider keeps a prefix: OpenAI says 5 to 10 minutes, Anthropic 5. Then
// the next request is paid for in full, so old results are left out of it.
const CacheLife = 5 * time.Minute

// ReadIdle records when the prefix cache has expired since the phase's last answer.
func (v *Views) ReadIdle(ctx context.Context) error {
	if v.answered.IsZero() {
		return nil
	}
	raw, err := v.Rec.Value(ctx, v.At(echo.StepIdle), v.Site, func() echo.Payload {
		if idle := v.Rec.Now().Sub(v.answered); idle > CacheLife {
			return echo.Idle{Seconds: idle.Seconds()}
		}
		return nil
	})
	v.Carry.Cold = raw != nil
	return err
}

// explain adds what can be done about a request that does not fit.
func (v *Views) explain(err error) error {
	var fit *autocontext.FitError
	if !errors.As(err, &fit) {
		return err
	}
	advice := ""
	if fit.Largest != nil {
		advice = Shorten(fit.Largest)
	}
	advice += "take a model with a larger window"
	if v.room.Reserve > 0 {
		advice += fmt.Sprintf(", or keep less for the answer (%d of %d tokens; max_output_tokens, token_budget.reserve_for_output)",
			v.room.Reserve, v.room.ceiling)
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// Shorten says how a message that is too long could be made shorter.
func Shorten(m *echo.Message) string {
	switch m.Kind() {
	case echo.KindToolResult:
		return fmt.Sprintf("let %s answer shorter or read less at a time, ", m.Tool())
	case echo.KindContext:
		return "bring in less with context.from, "
	case echo.KindTask:
		return "shorten the instructions or the input, "
	default:
		return ""
	}
}

// Close counts masked results, and warns when too many were read again in a phase that ended well.
func (v *Views) Close(well bool) error {
	v.Builder.MarkReduced(v.Record.History)
	if !v.Builder.MayMask(v.Carry) {
		return nil
	}
	f := v.Reads.figures
	for _, it := range v.Record.History {
		if it.Message.Role() == echo.RoleTool && v.Builder.Masked(it.Message.Hash()) {
			f.MaskedResults++
		}
	}
	again := len(v.Reads.again)
	if !well || again < EagerResults || again*EagerShare <= f.MaskedResults {
		return nil
	}
	return v.Rec.Warn(v.Key.Step(echo.StepContext), fmt.Sprintf("%d of %d masked tool results were read again (%s, %s): masking is too eager here; %s",
		again, max(f.MaskedResults, again), quantity.Of(f.Recalls, "recall"), quantity.Of(f.Rereads, "repeated call"), v.milder()))
}

// milder names the setting that would mask less.
func (v *Views) milder() string {
	if !v.Settings.Policy.Enabled {
		return "the requests come near the model's window: take a model with a larger one, or let tools answer shorter"
	}
	s := fmt.Sprintf("raise intra_context.mask_observations_after (now %d)", v.Settings.Policy.MaskAfter)
	if len(v.Reads.tools) > 0 {
		s += ", or name the tool in intra_context.exclude_tools (" + strings.Join(v.Reads.tools, ", ") + ")"
	}
	return s
}

// ContextFigures say what became of a phase's context.
type ContextFigures struct {
	MaskedResults int `json:"masked_results,omitempty"` // tool results that the last view did not hold whole
	Recalls       int `json:"recalls,omitempty"`        // calls of recall that found their message
	Rereads       int `json:"rereads,omitempty"`        // repeated calls, with the same result, of which the first result was masked
}

// Add returns the sum of two sets of figures.
func (f ContextFigures) Add(g ContextFigures) ContextFigures {
	return ContextFigures{
		MaskedResults: f.MaskedResults + g.MaskedResults, Recalls: f.Recalls + g.Recalls, Rereads: f.Rereads + g.Rereads,
	}
}

// reads counts what a model reads again because a view did not hold it.
type reads struct {
	figures *ContextFigures
	again   map[echo.Hash]bool // masked results that were read again, each once
	tools   []string           // whose results they are, in order, each once
}

// recalled counts a recall. That of a message in view is no sign of eager masking.
func (r *reads) recalled(h echo.Hash, masked func(echo.Hash) bool) {
	r.figures.Recalls++
	if masked(h) {
		r.again[h] = true
	}
}

// Repeated counts a call that was made again because its result is masked.
func (r *reads) Repeated(tool string, h echo.Hash) {
	r.figures.Rereads++
	r.again[h] = true
	if !slices.Contains(r.tools, tool) {
		r.tools = append(r.tools, tool)
	}
}

// Masking is too eager when so many results, and this share of the masked, were read again.
const (
	EagerResults = 5
	EagerShare   = 5 // a fifth
)
