package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/template"
)

// textCache parses each template of a run once. It belongs to the run's goroutine.
type textCache map[string]*template.Template

func (c textCache) parse(src string) (*template.Template, error) {
	if t, ok := c[src]; ok {
		return t, nil
	}
	t, err := template.Parse(src)
	if err == nil {
		c[src] = t
	}
	return t, err
}

func (c textCache) uses(src, root string) bool {
	t, err := c.parse(src)
	return err == nil && t.Uses(root)
}

type templates struct {
	textCache
	*place
	session *echo.Session
	spec    *Spec
	env     map[string]string

	rejected string // why the last answer was not accepted; templates see it as validation_error
}

// text renders a template of the phase; field names it in errors and warnings.
func (t *templates) text(field, src string) (string, error) {
	return t.textWith(field, src, t.varsFor(src))
}

func (t *templates) textWith(field, src string, vars map[string]any) (string, error) {
	parsed, err := t.parse(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return t.render(field, parsed, vars)
}

// correction tells the model why its answer was rejected, and asks for another.
func (t *templates) correction() (string, error) {
	text := "Your answer was not accepted: " + t.rejected + "\n\nCorrect this and give the complete answer again."
	if src := t.phase.Rules.RetryInstructions; src != "" {
		var err error
		if text, err = t.text("retry_instructions", src); err != nil {
			return "", err
		}
		if !strings.Contains(src, "validation_error") {
			text += "\n\nYour last answer was not accepted: " + t.rejected
		}
	}
	return text, nil
}

// shell renders a template as a shell command line: every value is quoted.
func (t *templates) shell(field, src string) (string, error) {
	parsed, err := template.ParseShell(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return t.render(field, parsed, t.varsFor(src))
}

func (t *templates) render(field string, parsed *template.Template, vars map[string]any) (string, error) {
	render := parsed.Render
	if !t.rec.rules.soundHints() {
		render = parsed.RenderRules1
	}
	out, warnings, err := render(vars)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	for _, w := range warnings {
		if err := t.rec.warn(t.here().Named(echo.StepTemplate, field), w); err != nil {
			return "", err
		}
	}
	return out, nil
}

// strings renders every string in a JSON value.
func (t *templates) strings(field string, value any) (any, error) {
	switch v := value.(type) {
	case string:
		return t.text(field, v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r, err := t.strings(field, e)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			r, err := t.strings(field+"."+k, v[k])
			if err != nil {
				return nil, err
			}
			out[k] = r
		}
		return out, nil
	default:
		return value, nil
	}
}

// varsFor returns what a template sees: the history only if it mentions it.
func (t *templates) varsFor(src string) map[string]any {
	vars := t.vars()
	if t.uses(src, historyName) {
		vars[historyName] = t.rec.fresh(historyVar(t.record.History))
	}
	return vars
}

// historyName is the variable that is made only for templates that mention it.
const historyName = "history"

// Variables returns what the loader of cascades is told of the variables of templates: those of an
// empty run.
func Variables() cascade.Variables {
	t := &templates{
		place:   &place{phase: &cascade.Phase{}, rec: &recorder{Recorder: effect.NewRecorder(effect.Options{}), mask: effect.NoMask{}}},
		session: echo.NewSession(""), spec: &Spec{},
	}
	v := cascade.Variables{Phase: t.vars(), Validator: validatorVars(t, "")}
	v.Phase[historyName] = historyVar(nil)
	return v
}

func (t *templates) vars() map[string]any {
	outputs := map[string]any{}
	lineage := []any{}
	for _, p := range t.session.Phases {
		if p.Done {
			outputs[p.Name] = p.Output
			lineage = append(lineage, map[string]any{"phase": p.Name, "output": p.Output})
		}
	}
	env := make(map[string]any, len(t.env))
	for k, val := range t.env {
		env[k] = val
	}
	input := t.spec.Input
	if input == nil {
		input = map[string]any{}
	}
	fresh := t.rec.fresh
	return map[string]any{
		"input": input, "state": fresh(t.session.State), "outputs": fresh(outputs), "lineage": fresh(lineage), "env": env,
		"turn": t.Turn, "max_turns": t.phase.MaxTurns(),
		"attempt": t.Attempt, "max_attempts": max(t.phase.MaxAttempts(), t.Attempt), "validation_error": t.rejected,
		"sounding_index": 0, "sounding_factor": 1,
		"session": map[string]any{"id": cmp.Or(t.spec.Name, t.session.ID), "work_dir": t.spec.WorkDir},
	}
}

func historyVar(items []echo.Item) []any {
	out := make([]any, len(items))
	for i, it := range items {
		out[i] = map[string]any{"role": string(it.Message.Role()), "content": it.Message.Text()}
	}
	return out
}
