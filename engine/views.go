package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/internal/quantity"
)

// maxAsks is above what the view of one call can need: summaries, and a count for each.
const maxAsks = 20

// views decides what each call of a phase with a model is sent.
type views struct {
	*place
	spec     *Spec
	calls    *calls
	tools    *toolset
	settings autocontext.Settings
	room     room
	render   *autocontext.Renderer
	builder  *autocontext.Builder
	carry    echo.Carry
	guard    guard
	reads    reads
	answered time.Time // when the last answer of the phase came
	followed bool      // the call before was sent what is recorded, which a redaction has changed

	marks     cacheMarks
	fallbacks []string // models to ask when the one in use cannot be reached
}

func newViews(spec *Spec, f effect.ModelFacts, calls *calls, into *ContextFigures) *views {
	told := dialect.Native
	if calls.record.Prompted {
		told = dialect.Prompted
	}
	v := &views{
		place: calls.place, spec: spec, calls: calls, render: autocontext.NewRenderer(told),
		reads: reads{figures: into, again: map[echo.Hash]bool{}}, guard: guard{asks: map[autocontext.AskKind]int{}, summaries: map[echo.Hash]*echo.Message{}},
	}
	v.settings, v.room = settingsFor(spec, calls.rec.rules, calls.phase, f, told)
	v.marks.on = f.MarkCache
	return v
}

// declare takes the tools of requests. The error says that no request has room.
func (v *views) declare(tools *toolset, f effect.ModelFacts) error {
	v.tools = tools
	v.settings.Fixed = v.fixedTokens(f)
	v.builder = autocontext.NewBuilder(v.settings)
	v.offerRecall(0)
	if v.settings.Policy.Guard.Enabled {
		return v.room.check(v.record.Model)
	}
	return nil
}

// fixedTokens counts what requests have besides messages, with recall, which may join the tools.
func (v *views) fixedTokens(f effect.ModelFacts) int64 {
	if f.CountFixed == nil {
		return 0
	}
	var specs []effect.ToolSpec
	if !v.record.Prompted {
		specs = v.tools.with(lookup.RecallSpec()).specs
	}
	return f.CountFixed(specs)
}

func (v *views) data(f effect.ModelFacts) *echo.PhaseContext {
	s := &v.settings
	policy := s.Policy.Written()
	if !v.rec.rules.dedupes() {
		policy.Dedupe = nil
	}
	return &echo.PhaseContext{
		Dialect: s.Dialect.String(), Policy: effect.MustJSON(policy), Limit: s.Limit, Window: f.Window, Reserve: v.room.reserve,
		Strategy: string(s.Strategy), Fixed: s.Fixed, Exact: s.Exact, Price: s.Price,
	}
}

// request builds a call's view and request, and records the selection within the budget.
func (v *views) request(ctx context.Context, selection, call echo.Key, noTools bool) (*effect.ModelRequest, error) {
	recorded := v.rec.Peek(echo.NodeSelection, selection) != nil
	if v.followed && !recorded {
		v.carry.Sent = 0 // the next selection names every message
	}
	v.followed = recorded && v.rec.InRedacted(v.visit)
	if req, err := v.follow(ctx, selection, call, noTools); req != nil || err != nil {
		return req, err
	}
	view, err := v.build(ctx)
	if err != nil {
		return nil, err
	}
	report := view.Report()
	req := v.requestOf(view, noTools)
	size := func(req *effect.ModelRequest, f effect.ModelFacts) budget.Size {
		return budget.SizeOfView(req, f, &report, v.carry.Scale)
	}
	if err := v.calls.afford(ctx, call, req, size); err != nil {
		return nil, err
	}
	e := v.rec.entry(selection, v.carry)
	e.Model, e.Selection = req.Model, &report
	if err := v.rec.Append(e); err != nil {
		return nil, err
	}
	v.rec.observe(Event{Kind: EventModelCall, Site: req.Site, Model: req.Model, ContextSize: report.ContextSize})
	return req, nil
}

func (v *views) requestOf(view *autocontext.View, noTools bool) *effect.ModelRequest {
	site := v.Site
	req := &effect.ModelRequest{
		Site: site, Model: v.record.Model, Messages: v.render.Render(view),
		NoToolCalls: noTools, Prompted: v.record.Prompted,
		Temperature: v.phase.Temperature, MaxOutputTokens: v.phase.MaxOutputTokens, Options: v.phase.ModelOptions,
		OnDelta: func(d effect.Delta) { v.rec.observe(Event{Kind: EventDelta, Site: site, Delta: d}) },
	}
	if req.Prompted {
		req.Parse = func(m *echo.Message) *echo.Message { return modeltext.Calls(m, site) }
	} else {
		req.Tools, req.ToolsDigest = v.tools.specs, v.tools.digest
	}
	more := !noTools && (v.phase.MaxTurns() > 1 || v.phase.MaxAttempts() > 1)
	req.CacheMarks = v.marks.of(req.Messages, more)
	return req
}

// build decides what the next call is sent: it answers what the builder asks until there is a view.
func (v *views) build(ctx context.Context) (*autocontext.View, error) {
	for range maxAsks {
		step, err := v.builder.Build(v.record.History, v.carry)
		v.carry = step.Carry
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
func (v *views) offerRecall(masked int) {
	inTime := !v.settings.Policy.Enabled || len(v.tools.specs) > 0 || v.phase.MaxAttempts() > 1
	if v.builder.MayMask(v.carry) && (inTime || masked > 0) {
		*v.tools = v.tools.with(lookup.RecallSpec())
	}
}

func (v *views) recalled(h echo.Hash) { v.reads.recalled(h, v.builder.Masked) }

// learn notes when the cache was written and how many tokens the provider counted, if it did.
func (v *views) learn(resp *effect.ModelResponse) {
	v.answered = v.rec.now()
	counted := resp.Usage.In
	if resp.Usage.Estimated || resp.Scripted {
		counted = 0
	}
	v.carry = v.builder.Used(v.carry, counted)
}

// smaller leaves more out of the next request after one that was refused as too long, if it can.
func (v *views) smaller() bool {
	carry, smaller := v.builder.Refused(v.carry)
	if smaller {
		v.carry = carry
	}
	return smaller
}

// cacheLife is how long a provider keeps a prefix: OpenAI says 5 to 10 minutes, Anthropic 5. Then
// the next request is paid for in full, so old results are left out of it.
const cacheLife = 5 * time.Minute

// readIdle records when the prefix cache has expired since the phase's last answer.
func (v *views) readIdle(ctx context.Context) error {
	if v.answered.IsZero() {
		return nil
	}
	raw, err := v.rec.Value(ctx, v.at(echo.StepIdle), v.Site, func() echo.Payload {
		if idle := v.rec.now().Sub(v.answered); idle > cacheLife {
			return echo.Idle{Seconds: idle.Seconds()}
		}
		return nil
	})
	v.carry.Cold = raw != nil
	return err
}

// explain adds what can be done about a request that does not fit.
func (v *views) explain(err error) error {
	var fit *autocontext.FitError
	if !errors.As(err, &fit) {
		return err
	}
	advice := ""
	if fit.Largest != nil {
		advice = shorten(fit.Largest)
	}
	advice += "take a model with a larger window"
	if v.room.reserve > 0 {
		advice += fmt.Sprintf(", or keep less for the answer (%d of %d tokens; max_output_tokens, token_budget.reserve_for_output)",
			v.room.reserve, v.room.ceiling)
	}
	return fmt.Errorf("%w; %s", err, advice)
}

// shorten says how a message that is too long could be made shorter.
func shorten(m *echo.Message) string {
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

// close counts masked results, and warns when too many were read again in a phase that ended well.
func (v *views) close(well bool) error {
	if !v.builder.MayMask(v.carry) {
		return nil
	}
	f := v.reads.figures
	for _, it := range v.record.History {
		if it.Message.Role() == echo.RoleTool && v.builder.Masked(it.Message.Hash()) {
			f.MaskedResults++
		}
	}
	again := len(v.reads.again)
	if !well || again < eagerResults || again*eagerShare <= f.MaskedResults {
		return nil
	}
	return v.rec.warn(v.visit.Step(echo.StepContext), fmt.Sprintf("%d of %d masked tool results were read again (%s, %s): masking is too eager here; %s",
		again, max(f.MaskedResults, again), quantity.Of(f.Recalls, "recall"), quantity.Of(f.Rereads, "repeated call"), v.milder()))
}

// milder names the setting that would mask less.
func (v *views) milder() string {
	if !v.settings.Policy.Enabled {
		return "the requests come near the model's window: take a model with a larger one, or let tools answer shorter"
	}
	s := fmt.Sprintf("raise intra_context.mask_observations_after (now %d)", v.settings.Policy.MaskAfter)
	if len(v.reads.tools) > 0 {
		s += ", or name the tool in intra_context.exclude_tools (" + strings.Join(v.reads.tools, ", ") + ")"
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

// repeated counts a call that was made again because its result is masked.
func (r *reads) repeated(tool string, h echo.Hash) {
	r.figures.Rereads++
	r.again[h] = true
	if !slices.Contains(r.tools, tool) {
		r.tools = append(r.tools, tool)
	}
}

// Masking is too eager when so many results, and this share of the masked, were read again.
const (
	eagerResults = 5
	eagerShare   = 5 // a fifth
)
