package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// opening writes what comes before the first turn of a phase with a model: system message, context,
// what is selected, task.
type opening struct {
	*visit
	inter   cascade.Inter
	earlier *phasecontext.Earlier
}

func newOpening(v *visit) *opening {
	o := &opening{visit: v, inter: v.run.spec.Cascade.EffectiveInter(v.phase)}
	o.earlier = &phasecontext.Earlier{Messages: v.run.messages, Phase: v.record, HasTools: len(v.tools.set.specs) > 0}
	if c := v.phase.Context; c != nil {
		o.earlier.Exclude = c.Exclude
	}
	return o
}

func (o *opening) write(ctx context.Context) error {
	system, err := o.systemText()
	if err != nil {
		return err
	}
	if system != "" {
		if err := o.say(echo.StepSystem, echo.NewText(echo.RoleSystem, echo.KindSystem, system)); err != nil {
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
	message := echo.NewText(echo.RoleUser, echo.KindTask, task)
	if err := o.selectContext(ctx, o.rec.kept(o.at.at(echo.StepTask), message, true).Text(), brought); err != nil {
		return err
	}
	return o.say(echo.StepTask, message)
}

// systemText is what the engine itself has to tell the model: tools that are described, what will
// be checked, the form of the answer. It is empty when there is nothing to tell.
func (o *opening) systemText() (string, error) {
	var parts []string
	if o.record.Prompted && len(o.tools.set.specs) > 0 {
		parts = append(parts, modeltext.Manual(o.tools.set.specs))
	}
	if o.phase.ChoosesRoute() {
		parts = append(parts, "Before your final answer, call route_to to choose which phase runs next. "+
			fmt.Sprintf("Without a call, %s runs.", o.phase.Handoffs[0].Target))
	}
	check, err := o.checkText()
	if err != nil {
		return "", err
	}
	if check != "" {
		parts = append(parts, check)
	}
	if len(o.phase.OutputSchema) > 0 {
		parts = append(parts, "Your final answer must be one JSON value that matches this JSON Schema, with nothing before or after it:\n"+
			compactJSON(string(o.phase.OutputSchema)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// checkText tells the model what loop_until will check, unless the phase wants that kept silent.
func (o *opening) checkText() (string, error) {
	rules := o.phase.Rules
	if rules.LoopUntil == "" || rules.LoopUntilSilent {
		return "", nil
	}
	if rules.LoopUntilPrompt != "" {
		return o.templates.text("loop_until_prompt", rules.LoopUntilPrompt)
	}
	what, err := o.checks.describe(rules.LoopUntil)
	return "Your work will be checked: " + what + ".", err
}

// taskText is the phase's instructions, with the input below them when the phase wants it there.
func (o *opening) taskText() (string, error) {
	text, err := o.templates.text("instructions", o.phase.Instructions)
	if err != nil || len(o.run.spec.Input) == 0 || !o.includesInput() {
		return text, err
	}
	input, err := json.MarshalIndent(o.run.spec.Input, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode input: %w", err)
	}
	return text + "\n\nInput:\n```json\n" + string(input) + "\n```", nil
}

// includesInput reports whether the input is added to the task. It is, unless the phase says no,
// leaves it out of its anchors, or its instructions use the input themselves: then it would be paid
// for twice.
func (o *opening) includesInput() bool {
	if c := o.phase.Context; c != nil && c.IncludeInput != nil {
		return *c.IncludeInput
	}
	if o.inter.Enabled && !slices.Contains(o.inter.Anchors.Include, cascade.AnchorInput) {
		return false
	}
	return !o.templates.uses(o.phase.Instructions, "input")
}

// bringContext adds what the phase's context names of earlier phases, in the order it is named. It
// returns the names of the phases whose words came in: nothing else comes in of them.
func (o *opening) bringContext() (takenOver map[string]bool, err error) {
	takenOver = map[string]bool{}
	c := o.phase.Context
	if c == nil {
		return takenOver, nil
	}
	brought := 0
	for _, src := range c.From {
		keep, err := o.sourceApplies(src)
		if err != nil {
			return nil, err
		}
		if !keep {
			continue
		}
		for _, rec := range o.earlier.Phases(src.Phase) {
			if src.TakesOver() {
				takenOver[rec.Name] = true
			}
			for _, it := range o.earlier.Included(rec, src) {
				brought++
				if err := o.bring(o.at.here().Numbered(echo.StepContext, brought), it); err != nil {
					return nil, err
				}
			}
		}
	}
	return takenOver, nil
}

// sourceApplies evaluates a source's condition.
func (o *opening) sourceApplies(src cascade.Source) (bool, error) {
	if src.Condition == "" {
		return true, nil
	}
	text, err := o.templates.text("context.from.condition", src.Condition)
	if err != nil {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "", "false", "0", "none", "null":
		return false, nil
	}
	return true, nil
}

// bring adds a message of another phase to the history, with the marks it has.
func (o *opening) bring(key echo.Key, it echo.Item) error {
	it.Attempt, it.Turn, it.Order = o.at.Attempt, o.at.Turn, 0
	it.Message = o.rec.kept(key, it.Message, false)
	o.record.History = append(o.record.History, it)
	return o.rec.message(key, it.Message)
}

// selectContext brings in what the phase needs of earlier ones: anchors, and what is chosen under
// the budget.
func (o *opening) selectContext(ctx context.Context, task string, takenOver map[string]bool) error {
	if !o.inter.Enabled {
		return nil
	}
	s := phasecontext.NewSelection(phasecontext.SelectionOptions{
		Earlier: o.earlier, Task: task, Inter: o.inter, TakenOver: takenOver, CardModel: o.run.CardModel, Now: o.rec.now,
		Cost: func(m *echo.Message) int64 { return o.views.settings.Most(o.views.render, m) },
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
		return fmt.Errorf("%s: %w", o.at.at(echo.StepSelect), err)
	}
	if cards := o.run.Cards; cards != nil {
		cards.Mark(o.run.session.ID, s.Anchors())
	}
	for i, it := range items {
		if err := o.bring(o.at.here().Numbered(echo.StepSelect, i+1), it); err != nil {
			return err
		}
	}
	if why := phasecontext.Degraded(outcome); why != "" {
		return o.rec.warn(o.at.at(echo.StepSelect), why)
	}
	return nil
}

// choose makes the selection and has it recorded. Without a model the whole outcome is one effect.
// With one, what the model is shown depends on cards that are made in the background: that is the
// effect, and the outcome follows from it and from the model's answer.
func (o *opening) choose(ctx context.Context, s *phasecontext.Selection) (*echo.InterSelection, error) {
	key := o.at.at(echo.StepSelect)
	if !o.inter.Selection.Strategy.AsksModel() {
		out, err := effect.WholeReading[echo.InterSelection](ctx, o.rec, key, o.at.Site, func() echo.Payload {
			out, _ := s.Choose(s.Look(ctx), nil)
			return *out
		})
		return &out, err
	}
	found, err := effect.WholeReading[echo.Findings](ctx, o.rec, key.Step(echo.StepCards), o.at.Site, func() echo.Payload { return *s.Look(ctx) })
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
	return out, o.rec.add(key, *out)
}

// askMenu has a model choose. Whatever goes wrong with the call is an answer too.
func (o *opening) askMenu(ctx context.Context, menu *autocontext.Menu) (*autocontext.MenuAnswer, error) {
	site := o.at.Site
	site.Purpose = echo.PurposeSelect
	req := &effect.ModelRequest{
		Site: site, Model: cmp.Or(o.inter.Selection.SelectorModel, o.record.Model), Messages: menu.Messages,
		MaxOutputTokens: menu.MaxOut + effect.ThinkingRoom, AnswerLength: menu.MaxOut,
	}
	facts, err := o.run.models.of(req.Model)
	if err != nil {
		return nil, err
	}
	if most := facts.MaxOutput; most > 0 {
		req.MaxOutputTokens = min(req.MaxOutputTokens, int(most))
	}
	resp, problem, err := o.calls.try(ctx, o.at.at(echo.StepSelect).Step(echo.StepModel), req)
	switch {
	case err != nil:
		return nil, err
	case problem != "":
		return &autocontext.MenuAnswer{Failed: problem}, nil
	case strings.TrimSpace(resp.Message.Text()) == "":
		return &autocontext.MenuAnswer{Failed: emptyAnswer(resp)}, nil
	}
	return &autocontext.MenuAnswer{Text: resp.Message.Text()}, nil
}
