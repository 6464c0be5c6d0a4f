package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/template"
)

// textCache parses each template of a run once. It is safe for concurrent use.
type textCache struct {
	mu     sync.Mutex
	parsed map[string]*template.Template
}

func (c *textCache) parse(src string) (*template.Template, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.parsed[src]; ok {
		return t, nil
	}
	t, err := template.Parse(src)
	if err != nil {
		return nil, err
	}
	if c.parsed == nil {
		c.parsed = map[string]*template.Template{}
	}
	c.parsed[src] = t
	return t, nil
}

func (c *textCache) uses(src, root string) bool {
	t, err := c.parse(src)
	return err == nil && t.Uses(root)
}

type templates struct {
	*textCache
	*core.Place
	session *echo.Session
	spec    *Spec
	env     map[string]string
	branch  map[string]any // what the templates of a branch see besides: the element of a list
	subs    map[string]any // outputs of sub cascades, by name
	own     map[string]any // the output of the phase itself once it is there, by its name: for what begins then

	rejected string // why the last answer was not accepted; templates see it as validation_error
	unfit    string // the same, when output_schema was the reason; templates see it as schema_error
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
	if src := t.Def.Rules.RetryInstructions; src != "" {
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
	if !t.Rec.Rules.SoundHints() {
		render = parsed.RenderRules1
	}
	out, warnings, err := render(vars)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	for _, w := range warnings {
		if err := t.Rec.Warn(t.Here().Named(echo.StepTemplate, field), w); err != nil {
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
		vars[historyName] = t.Rec.Fresh(historyVar(t.Record.History))
	}
	return vars
}

// historyName is the variable that is made only for templates that mention it.
const historyName = "history"

// Variables returns what the loader of cascades is told of the variables of templates: those of an
// empty run.
func Variables() cascade.Variables {
	t := &templates{
		Place:   &core.Place{Def: &cascade.Phase{}, Record: &echo.PhaseRecord{}, Rec: &core.Recorder{Recorder: effect.NewRecorder(effect.Options{}), Mask: effect.NoMask{}, Rules: core.Rules}},
		session: echo.NewSession(""), spec: &Spec{},
	}
	c := &validators{Place: t.Place, templates: t}
	v := cascade.Variables{Phase: t.vars(), Validator: validatorVars(t, c.question(""))}
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
	maps.Copy(outputs, t.own)
	env := make(map[string]any, len(t.env))
	for k, val := range t.env {
		env[k] = val
	}
	input := t.spec.Input
	if input == nil {
		input = map[string]any{}
	}
	fresh := t.Rec.Fresh
	unfit := ""
	if t.unfit == t.rejected {
		unfit = t.unfit
	}
	session := cmp.Or(t.spec.Name, t.session.ID)
	vars := map[string]any{
		"input": input, "state": fresh(t.session.State), "outputs": fresh(outputs), "lineage": fresh(lineage), "env": env,
		"turn": t.Turn, "max_turns": t.Def.MaxTurns(),
		"attempt": t.Attempt, "max_attempts": max(t.Def.MaxAttempts(), t.Attempt), "validation_error": t.rejected, "schema_error": unfit,
		"sounding_index": 0, "sounding_factor": 1, "is_sounding": false, "checkpoint_id": "",
		"session": map[string]any{"id": session, "work_dir": t.spec.WorkDir}, "session_id": session,
	}
	if len(t.Def.SubCascades) > 0 {
		subs := map[string]any{}
		maps.Copy(subs, t.subs)
		vars["subs"] = fresh(subs)
	}
	maps.Copy(vars, t.branch)
	return vars
}

func historyVar(items []echo.Item) []any {
	out := make([]any, len(items))
	for i, it := range items {
		out[i] = map[string]any{"role": string(it.Message.Role()), "content": it.Message.Text()}
	}
	return out
}

// isTemplate reports whether a text is a template, and no name or path.
func isTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%")
}

// lookUp returns what a path leads to, such as outputs.plan.files: from a variable of templates, or
// else from a name of the state or of the input.
func (t *templates) lookUp(path string) (any, error) { return lookUpIn(t.vars(), path) }

func lookUpIn(vars map[string]any, path string) (any, error) {
	parts := strings.Split(path, ".")
	value, ok := vars[parts[0]]
	at := parts[0]
	for _, root := range []string{"state", "input"} {
		if ok {
			break
		}
		members, _ := vars[root].(map[string]any)
		value, ok = members[parts[0]]
	}
	if !ok {
		return nil, fmt.Errorf("there is no %q in state or input, and no variable of that name", parts[0])
	}
	for _, part := range parts[1:] {
		if value, ok = member(value, part); !ok {
			return nil, fmt.Errorf("%s has no %q", at, part)
		}
		at += "." + part
	}
	return value, nil
}

// member returns a member of an object, or an element of a list by its number from 0.
func member(value any, name string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		m, ok := v[name]
		return m, ok
	case []any:
		n, err := strconv.Atoi(name)
		if err != nil || n < 0 || n >= len(v) {
			return nil, false
		}
		return v[n], true
	}
	return nil, false
}
