package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/texts"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/template"
)

// list is a phase that runs once for each element of a list.
type list struct {
	v      *visit
	each   *cascade.ForEach
	items  []any
	failed atomic.Int64 // the first element that failed, from 1, as far as is known; 0: none
}

// each runs the phase for each element of its list and returns the list of outputs.
func (v *visit) each(ctx context.Context) (any, error) {
	items, err := v.elements()
	if err != nil {
		return nil, fmt.Errorf("for_each.items: %w", err)
	}
	l := &list{v: v, each: v.Def.ForEach, items: items}
	f := &forked{run: v.run, handled: goesOn(l.each) || v.Def.OnError != nil || failedRoute(v.Rec.Rules, v.Def) != ""}
	keys := make([]echo.Key, len(items))
	for i := range items {
		keys[i] = v.Key.Numbered(echo.StepItem, i+1)
	}
	if len(keys) > 0 {
		err = f.do(ctx, l.each.Parallel(), keys, l.element)
	}
	l.count(f.parts)
	if err != nil {
		return nil, err
	}
	return l.collect(f.parts)
}

// goesOn reports whether a list goes on when an element fails.
func goesOn(f *cascade.ForEach) bool { return f.OnError != "" && f.OnError != cascade.ItemFail }

// elements returns the list of the phase.
func (v *visit) elements() ([]any, error) {
	value, err := modeltext.Decode(v.Def.ForEach.Items)
	if err != nil {
		return nil, err
	}
	if text, ok := value.(string); ok {
		if value, err = v.listOf(text); err != nil {
			return nil, err
		}
	}
	return listIn(value)
}

// listIn returns the elements of a value, which is to be a list that is not too long.
func listIn(value any) ([]any, error) {
	items, ok := value.([]any)
	switch {
	case !ok:
		return nil, noList(value)
	case len(items) > cascade.MaxItems:
		return nil, fmt.Errorf("the list has %d elements, at most %d are run in one session: run the cascade once for each (windlass batch is not there yet), or make the list shorter",
			len(items), cascade.MaxItems)
	}
	return items, nil
}

// noList says that a value is none, and of a text that reads as one why it is a text.
func noList(value any) error {
	text, _ := value.(string)
	if read, err := modeltext.Decode([]byte(strings.TrimSpace(text))); err == nil {
		if _, is := read.([]any); is {
			return errors.New(`it is a text, and no list, though it reads as one: what a template renders, and an input that is given as text, stays text ` +
				`where "inputs_schema" names no type. Give the input the type "array" there, or pass the list itself: as JSON, or in "input_map" by its path`)
		}
	}
	return fmt.Errorf("it is %s, and no list", modeltext.Kind(value))
}

// listOf returns what a template renders, or a path leads to.
func (v *visit) listOf(text string) (any, error) {
	if !cascade.IsTemplate(text) {
		return v.templates.ValueAt(text)
	}
	rendered, err := v.templates.Condition("for_each.items", text)
	if err != nil {
		return nil, err
	}
	return renderedList(rendered)
}

// renderedList reads what the template of a list has rendered.
func renderedList(rendered string) (any, error) {
	value, err := modeltext.Decode([]byte(strings.TrimSpace(rendered)))
	if err != nil {
		return nil, fmt.Errorf("its template rendered no JSON: %s", excerpt.Clip(rendered, 100))
	}
	return value, nil
}

// CheckLists returns why phases of a cascade could not run for each element of a list that follows from
// the input alone, each as a [*PhaseError]: what a run would say when it comes to them.
func CheckLists(c *cascade.Cascade, input map[string]any) []error {
	var wrong []error
	for p := range c.EachPhase() {
		if p.ForEach == nil {
			continue
		}
		value, known, err := listOfInput(p.ForEach, input)
		if !known {
			continue
		}
		if err == nil {
			_, err = listIn(value)
		}
		if err != nil {
			wrong = append(wrong, &core.PhaseError{
				Site: effect.Site{Cascade: c.CascadeID, Phase: p.Name}, Reason: echo.StopInput, Err: fmt.Errorf("for_each.items: %w", err),
			})
		}
	}
	return wrong
}

// listOfInput returns what a list of a phase is, as far as that follows from the input alone.
func listOfInput(each *cascade.ForEach, input map[string]any) (value any, known bool, err error) {
	var text string
	if json.Unmarshal(each.Items, &text) != nil {
		return nil, false, nil //nolint:nilerr // written in the file, where it was checked
	}
	vars := map[string]any{"input": map[string]any{}}
	if input != nil {
		vars["input"] = input
	}
	if !cascade.IsTemplate(text) {
		if root, _, _ := strings.Cut(text, "."); root != "input" {
			return nil, false, nil
		}
		value, err = texts.LookUpIn(vars, text)
		return value, true, err
	}
	parsed, err := template.Parse(text)
	if err != nil || !slices.Equal(parsed.References(), []string{"input"}) {
		return nil, false, nil //nolint:nilerr // the run says it
	}
	rendered, _, err := parsed.Render(vars)
	if err != nil {
		return nil, true, err
	}
	value, err = renderedList(rendered)
	return value, true, err
}

// element runs the phase for one element.
func (l *list) element(ctx context.Context, i int) part {
	key := l.v.Key.Numbered(echo.StepItem, i+1)
	b := l.v.run.branch(key)
	withoutNewest(b)
	name := l.each.Variable()
	b.vars = more(l.v.run.vars, map[string]any{name: l.items[i], name + "_index": i})
	site := l.v.Site
	site.Item = i + 1
	stopped, err := l.stopped(ctx, b, key, site)
	if err != nil || stopped > 0 {
		if stopped > 0 {
			return part{}
		}
		return part{run: left(b), err: err}
	}
	v := b.newVisit(l.v.Def, visitAt{scope: scopeElement, key: key, visit: l.v.Record.Visit, item: i + 1})
	out, err := v.do(ctx)
	if err != nil && core.Recoverable(err) {
		l.failed.CompareAndSwap(0, int64(i+1))
	}
	return part{run: left(b), out: out, err: err, visit: v.result}
}

// stopped returns the element whose failure keeps another one from beginning, 0 when none does. What
// runs already goes on to its end.
func (l *list) stopped(ctx context.Context, b *run, key echo.Key, site effect.Site) (int, error) {
	if goesOn(l.each) {
		return 0, nil
	}
	d, _, err := effect.Reading[echo.Stopped](ctx, b.rec, key.Step(echo.StepStopped), site, func() echo.Payload {
		if n := l.failed.Load(); n > 0 {
			return echo.Stopped{Item: int(n)}
		}
		return nil
	})
	return d.Item, err
}

// count adds what the elements took to the visit.
func (l *list) count(parts []part) {
	for _, p := range parts {
		l.v.result.count(&p.visit)
	}
}

// count adds what a part of the visit took.
func (res *PhaseResult) count(p *PhaseResult) {
	res.Turns += p.Turns
	res.Attempts = max(res.Attempts, p.Attempts)
	res.Totals = res.Plus(p.Totals)
	res.ContextFigures = res.Add(p.ContextFigures)
}

// collect makes the output of the phase, and its history of those of the elements.
func (l *list) collect(parts []part) (any, error) {
	var ended []*run
	outputs := []any{}
	for i, p := range parts {
		if p.run != nil {
			ended = append(ended, p.run)
		}
		switch {
		case p.err == nil:
			outputs = append(outputs, p.out.value)
		case l.each.OnError == cascade.ItemCollect:
			outputs = append(outputs, map[string]any{"error": l.v.Rec.Mask.Text(p.err.Error()), "item": l.items[i]})
		case l.each.OnError != cascade.ItemSkip:
			return nil, p.err
		}
	}
	if err := l.merge(ended); err != nil {
		return nil, err
	}
	l.v.result.Reason = echo.StopItems
	message := echo.NewText(echo.RoleAssistant, echo.KindAnswer, echo.AsText(outputs))
	return outputs, l.v.say(echo.StepCollected, message)
}

// merge takes over what the elements left, in their order.
func (l *list) merge(ended []*run) error {
	r := l.v.run
	by := map[string]*run{}
	var contested []string
	for _, b := range ended {
		for _, rec := range b.ownVisits() {
			r.messages.Append(l.v.Record, rec.History, b.messages)
			l.v.Record.StateKeys = union(l.v.Record.StateKeys, rec.StateKeys)
		}
		for _, name := range r.adoptShared(b) {
			if was := by[name]; was != nil && differ(was.session.State[name], b.session.State[name]) {
				contested = union(contested, []string{name})
			}
			by[name] = b
		}
	}
	return r.settleContested(l.v.Key, contested)
}

func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}
