package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/engine/recollection"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/verdict"
)

// opening writes what comes before the first turn of a phase with a model.
type opening struct {
	v       *visit
	inter   cascade.Inter
	earlier *phasecontext.Earlier
	task    *string // nil: it is not rendered yet
	varied  *string // the instructions as a candidate has them; nil: they are those of the phase
	asked   string  // those of the phase, where they are varied
}

func newOpening(v *visit) *opening {
	o := &opening{v: v, inter: v.run.spec.Off.Inter(v.run.spec.Cascade.EffectiveInter(v.Def))}
	o.earlier = &phasecontext.Earlier{Messages: v.run.messages, Phase: v.Record, HasTools: len(v.tools.set.Specs) > 0, Rules: v.Rec.Rules.Selects()}
	if c := v.Def.Context; c != nil {
		o.earlier.Exclude = c.Exclude
	}
	return o
}

func (o *opening) write(ctx context.Context) error {
	if err := o.vary(ctx); err != nil {
		return err
	}
	if err := o.guard(ctx); err != nil {
		return err
	}
	system, err := o.systemText()
	if err != nil {
		return err
	}
	if system != "" {
		if err := o.v.say(echo.StepSystem, echo.NewText(echo.RoleSystem, echo.KindSystem, system)); err != nil {
			return err
		}
	}
	task, err := o.taskText()
	if err != nil {
		return err
	}
	brought, err := o.bringContext()
	if err != nil {
		return err
	}
	message := o.taskMessage(task)
	if err := o.selectContext(ctx, o.v.Rec.Kept(o.v.At(echo.StepTask), message, true).Text(), brought); err != nil {
		return err
	}
	return o.v.say(echo.StepTask, message)
}

// guard has the wards look at the task, before anything is paid.
func (o *opening) guard(ctx context.Context) error {
	if list, _ := o.v.wards.of(wardPre); len(list) == 0 {
		return nil
	}
	task, err := o.taskText()
	if err != nil {
		return err
	}
	o.task = &task
	return o.v.wards.input(ctx, "instructions", task, verdict.Images(o.taskMessage(task)))
}

// systemText tells the model of described tools, checks, and the form of the answer, if any.
func (o *opening) systemText() (string, error) {
	var parts []string
	if o.v.Record.Prompted && len(o.v.tools.set.Specs) > 0 {
		parts = append(parts, modeltext.Manual(o.v.tools.set.Specs))
	}
	if text := recollection.Project(o.v.run.spec.Cascade, o.v.Def, &o.v.run.own.notes); text != "" {
		parts = append(parts, text)
	}
	if o.v.Def.ChoosesRoute() {
		parts = append(parts, "Before your final answer, call route_to to choose which phase runs next. "+
			fmt.Sprintf("Without a call, %s runs.", o.v.Def.Handoffs[0].Target))
	}
	check, err := o.checkText()
	if err != nil {
		return "", err
	}
	if check != "" {
		parts = append(parts, check)
	}
	if on := standing.Instructions(continuityOf(o.v)); on != "" {
		parts = append(parts, on)
	}
	if o.v.Def.DecisionPoints != nil {
		parts = append(parts, o.v.asks.HowToDecide())
	}
	if cascade.ContinuityOf(o.v.run.spec.Cascade, o.v.Def).Memos {
		parts = append(parts, memo.Prompt)
	}
	if len(o.v.Def.OutputSchema) > 0 {
		parts = append(parts, "Your final answer must be one JSON value that matches this JSON Schema, with nothing before or after it:\n"+
			toolset.CompactJSON(string(o.v.Def.OutputSchema)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// checkText tells the model what loop_until will check, unless the phase wants that kept silent.
func (o *opening) checkText() (string, error) {
	rules := o.v.Def.Rules
	if rules.LoopUntil == "" || rules.LoopUntilSilent {
		return "", nil
	}
	if rules.LoopUntilPrompt != "" {
		return o.v.templates.Text("loop_until_prompt", rules.LoopUntilPrompt)
	}
	what, err := o.v.checks.Describe(rules.LoopUntil)
	return "Your work will be checked: " + what + ".", err
}

// taskText is the phase's instructions, with the input below them when the phase wants it there.
func (o *opening) taskText() (string, error) {
	if o.task != nil {
		return *o.task, nil
	}
	text, err := o.instructions()
	if err != nil {
		return "", err
	}
	return o.withInput(text)
}

// instructions returns those of the phase as they are rendered, or as a candidate has them.
func (o *opening) instructions() (string, error) {
	if o.varied != nil {
		return *o.varied, nil
	}
	return o.v.templates.Text("instructions", o.v.Def.Instructions)
}

func (o *opening) withInput(text string) (string, error) {
	if len(o.v.run.spec.Input) == 0 || !o.includesInput() {
		return text, nil
	}
	input, err := json.MarshalIndent(o.v.run.spec.Input, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode input: %w", err)
	}
	return text + "\n\nInput:\n```json\n" + string(input) + "\n```", nil
}

// includesInput reports whether the input is added to the task: if nothing else brings it.
func (o *opening) includesInput() bool {
	if c := o.v.Def.Context; c != nil && c.IncludeInput != nil {
		return *c.IncludeInput
	}
	if o.v.Def.ForEach != nil {
		return false // each element would see all the others
	}
	if o.inter.Enabled && !slices.Contains(o.inter.Anchors.Include, cascade.AnchorInput) {
		return false
	}
	return !o.v.templates.Uses(o.v.Def.Instructions, "input")
}

// bringContext adds what the phase's context names, in that order, and returns the phases whose
// words came in: nothing else comes in of them.
func (o *opening) bringContext() (takenOver map[string]bool, err error) {
	takenOver = map[string]bool{}
	c := o.v.Def.Context
	if c == nil {
		return takenOver, nil
	}
	brought := 0
	for _, src := range c.From {
		if keep, err := o.sourceApplies(src); err != nil {
			return nil, err
		} else if !keep {
			continue
		}
		for _, rec := range o.earlier.Phases(src.Phase) {
			if src.TakesOver() {
				takenOver[rec.Name] = true
			}
			for _, it := range o.earlier.Included(rec, src) {
				brought++
				if err := o.bring(o.v.Here().Numbered(echo.StepContext, brought), it); err != nil {
					return nil, err
				}
			}
		}
	}
	return takenOver, nil
}

func (o *opening) sourceApplies(src cascade.Source) (bool, error) {
	if src.Condition == "" {
		return true, nil
	}
	text, err := o.v.templates.Condition("context.from.condition", src.Condition)
	if err != nil {
		return false, err
	}
	return !texts.LeavesOut(text), nil
}

// bring adds a message of another phase to the history, with the marks it has.
func (o *opening) bring(key echo.Key, it echo.Item) error {
	it.Attempt, it.Turn, it.Order = o.v.Attempt, o.v.Turn, 0
	it.Message = o.v.Rec.Kept(key, it.Message, false)
	o.v.Record.History = append(o.v.Record.History, it)
	return o.v.Rec.Message(key, it.Message)
}

// selectContext brings in anchors of earlier phases, and what is chosen under the budget.
func (o *opening) selectContext(ctx context.Context, task string, takenOver map[string]bool) error {
	if !o.inter.Enabled {
		return o.nothingSelected()
	}
	s := phasecontext.NewSelection(phasecontext.SelectionOptions{
		Earlier: o.earlier, Task: task, Inter: o.inter, TakenOver: takenOver, CardModel: o.v.run.CardModel, Now: o.v.Rec.Now,
		Cost: func(m *echo.Message) int64 { return o.v.views.Settings.Most(o.v.views.Render, m) },
	})
	if s.Empty() {
		return nil
	}
	outcome, err := o.choose(ctx, s)
	if err != nil {
		return err
	}
	items, err := s.Brought(outcome)
	if err != nil {
		return fmt.Errorf("%s: %w", o.v.At(echo.StepSelect), err)
	}
	if cards := o.v.run.Cards; cards != nil {
		cards.Mark(o.v.run.session.ID, s.Anchors())
	}
	for i, it := range items {
		if err := o.bring(o.v.Here().Numbered(echo.StepSelect, i+1), it); err != nil {
			return err
		}
	}
	if why := phasecontext.Degraded(outcome); why != "" {
		return o.v.Rec.Warn(o.v.At(echo.StepSelect), why)
	}
	return nil
}

// nothingSelected says of a phase that would select why it does not.
func (o *opening) nothingSelected() error {
	off := &o.v.run.spec.Off
	if wanted := o.v.run.spec.Cascade.EffectiveInter(o.v.Def); !wanted.Enabled || !off.InterPhase {
		return nil
	}
	return o.v.Rec.Warn(o.v.At(echo.StepSelect), "nothing was selected of earlier phases: auto_context.inter_phase is off in windlass.json")
}

// withoutModel notes that a model would have chosen.
func (o *opening) withoutModel(out *echo.InterSelection) {
	wanted := o.v.run.spec.Cascade.EffectiveInter(o.v.Def).Selection.Strategy
	if wanted == o.inter.Selection.Strategy {
		return
	}
	out.Asked = echo.Strategy(wanted)
	out.Notes = append(out.Notes, "auto_context.llm_selection is off in windlass.json: no model chooses")
}

// choose makes the selection and has it recorded: without a model as one effect. With one, the
// effect is what was found in cards; the outcome follows from that and the model's answer.
func (o *opening) choose(ctx context.Context, s *phasecontext.Selection) (*echo.InterSelection, error) {
	key := o.v.At(echo.StepSelect)
	if !o.inter.Selection.Strategy.AsksModel() {
		out, err := effect.WholeReading[echo.InterSelection](ctx, o.v.Rec, key, o.v.Site, func() echo.Payload {
			out, _ := s.Choose(s.Look(ctx), nil)
			o.withoutModel(out)
			return *out
		})
		return &out, err
	}
	found, err := effect.WholeReading[echo.Findings](ctx, o.v.Rec, key.Step(echo.StepCards), o.v.Site, func() echo.Payload { return *s.Look(ctx) })
	if err != nil {
		return nil, err
	}
	out, menu := s.Choose(&found, nil)
	if menu != nil {
		answer, err := o.askMenu(ctx, menu)
		if err != nil {
			return nil, err
		}
		out, _ = s.Choose(&found, answer)
	}
	if was, err := o.chosenBefore(key, out); was != nil || err != nil {
		return was, err
	}
	return out, o.v.Rec.Add(key, *out)
}

// chosenBefore returns a recorded outcome that differs from that of now, where what it follows from was
// redacted since: the model's answer, or what it chose from. nil: there is none.
func (o *opening) chosenBefore(key echo.Key, now *echo.InterSelection) (*echo.InterSelection, error) {
	recorded := o.v.Rec.Peek(echo.NodeInter, key)
	if recorded == nil || !o.v.Rec.AfterRedaction(recorded) {
		return nil, nil //nolint:nilnil // see above
	}
	was, err := echo.Read[echo.InterSelection](recorded)
	if err != nil || slices.Equal(was.Chosen, now.Chosen) {
		return nil, err
	}
	o.v.Rec.Take(echo.NodeInter, key)
	return &was, nil
}

// askMenu has a model choose. A failed call is an answer too.
func (o *opening) askMenu(ctx context.Context, menu *selection.Menu) (*selection.MenuAnswer, error) {
	site := o.v.Site
	site.Purpose = echo.PurposeSelect
	req := &effect.ModelRequest{
		Site: site, Model: cmp.Or(o.inter.Selection.SelectorModel, o.v.Record.Model), Messages: menu.Messages,
		MaxOutputTokens: menu.MaxOut + effect.ThinkingRoom, AnswerLength: menu.MaxOut,
	}
	facts, err := o.v.run.Models.Of(ctx, req.Model)
	if err != nil {
		return nil, err
	}
	if most := facts.MaxOutput; most > 0 {
		req.MaxOutputTokens = min(req.MaxOutputTokens, int(most))
	}
	if o.earlier.Rules.Why {
		if err := o.v.Rec.Add(o.v.At(echo.StepSelect).Step(echo.StepMenu), phasecontext.MenuOf(req)); err != nil {
			return nil, err
		}
	}
	resp, problem, err := o.v.calls.Try(ctx, o.v.At(echo.StepSelect).Step(echo.StepModel), req)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return &selection.MenuAnswer{Failed: problem}, nil
	case strings.TrimSpace(resp.Message.Text()) == "":
		return &selection.MenuAnswer{Failed: core.EmptyAnswer(resp)}, nil
	}
	return &selection.MenuAnswer{Text: resp.Message.Text()}, nil
}
