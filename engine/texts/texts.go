// Package texts renders the templates of a phase: what they see of the run, and what is said of what
// they lack.
package texts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/modeltext"
	"github.com/windlass-run/windlass/engine/withheld"
	"github.com/windlass-run/windlass/internal/template"
)

// Cache parses each template of a run once. It is safe for concurrent use.
type Cache struct {
	mu     sync.Mutex
	parsed map[string]*template.Template
}

// Parse returns a template that was parsed before, or parses it.
func (c *Cache) Parse(src string) (*template.Template, error) {
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

// Uses reports whether a template mentions a variable.
func (c *Cache) Uses(src, root string) bool {
	t, err := c.Parse(src)
	return err == nil && t.Uses(root)
}

// Run is what templates see of how a run was begun.
type Run struct {
	Turns   int // of an attempt, as max_turns
	Input   map[string]any
	WorkDir string // as session.work_dir
	Name    string // as session.id; "": the id of the session
}

// Templates renders templates at one place. It belongs to the goroutine of the visit.
type Templates struct {
	*Cache
	*core.Place
	Session *echo.Session
	Run     Run
	Env     map[string]string
	Branch  map[string]any // what the templates of a branch see besides: the element of a list
	Subs    map[string]any // outputs of sub cascades, by name
	Own     map[string]any // the output of the phase itself once it is there, by its name: for what begins then

	Rejected string // why the last answer was not accepted; templates see it as validation_error
	Unfit    string // the same, when output_schema was the reason; templates see it as schema_error
}

// Text renders a template of the phase; field names it in errors and warnings.
func (t *Templates) Text(field, src string) (string, error) {
	return t.TextWith(field, src, t.VarsFor(src))
}

// TextWith is [Templates.Text] with variables of its own.
func (t *Templates) TextWith(field, src string, vars map[string]any) (string, error) {
	parsed, err := t.Parse(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	return t.render(field, parsed, vars)
}

// Correction tells the model why its answer was rejected, and asks for another.
func (t *Templates) Correction() (string, error) {
	text := "Your answer was not accepted: " + t.Rejected + "\n\nCorrect this and give the complete answer again."
	if src := t.Def.Rules.RetryInstructions; src != "" {
		var err error
		if text, err = t.Text("retry_instructions", src); err != nil {
			return "", err
		}
		if !strings.Contains(src, "validation_error") {
			text += "\n\nYour last answer was not accepted: " + t.Rejected
		}
	}
	return text, nil
}

// Shell renders a template as a shell command line: every value is quoted. It sees values that are withheld, as a validator does.
func (t *Templates) Shell(field, src string) (string, error) {
	parsed, err := template.ParseShell(src)
	if err != nil {
		return "", fmt.Errorf("%s: %w", field, err)
	}
	vars := t.values(nil)
	t.withHistory(src, vars)
	return t.render(field, parsed, vars)
}

// Condition renders a template that decides something and that no model is sent: it sees values that are withheld.
func (t *Templates) Condition(field, src string) (string, error) {
	vars := t.values(nil)
	t.withHistory(src, vars)
	return t.TextWith(field, src, vars)
}

func (t *Templates) render(field string, parsed *template.Template, vars map[string]any) (string, error) {
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

// Strings renders every string in a JSON value.
func (t *Templates) Strings(field string, value any) (any, error) {
	switch v := value.(type) {
	case string:
		return t.Text(field, v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			r, err := t.Strings(field, e)
			if err != nil {
				return nil, err
			}
			out[i] = r
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			r, err := t.Strings(field+"."+k, v[k])
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

// VarsFor returns what a template sees: the history only if it mentions it.
func (t *Templates) VarsFor(src string) map[string]any {
	vars := t.Vars()
	t.withHistory(src, vars)
	return vars
}

func (t *Templates) withHistory(src string, vars map[string]any) {
	if t.Uses(src, HistoryName) {
		items := t.Present()
		if out := withheld.Of(t.Session); out != nil {
			items = slices.Clone(items)
			for i := range items {
				items[i].Message = out.Told(items[i].Message)
			}
		}
		vars[HistoryName] = t.Rec.Fresh(History(items))
	}
}

// HistoryName is the variable that is made only for templates that mention it.
const HistoryName = "history"

// Vars returns what every template sees whose text may reach a model: values without what is withheld, see package withheld.
func (t *Templates) Vars() map[string]any {
	out := withheld.Of(t.Session)
	vars := t.values(out)
	t.element(vars, out)
	return vars
}

// values returns what templates see; out is what is withheld from them, nil for nothing.
func (t *Templates) values(out *withheld.Values) map[string]any {
	outputs := map[string]any{}
	lineage := []any{}
	for _, p := range t.Session.Phases {
		if p.Done {
			outputs[p.Name] = out.Output(p)
			lineage = append(lineage, map[string]any{"phase": p.Name, "output": outputs[p.Name]})
		}
	}
	for name, own := range t.Own {
		outputs[name] = out.Copy(own)
	}
	state := t.Session.State
	if out != nil {
		state = out.State()
	}
	env := make(map[string]any, len(t.Env))
	for k, val := range t.Env {
		env[k] = val
	}
	input := t.Run.Input
	if input == nil {
		input = map[string]any{}
	}
	fresh := t.Rec.Fresh
	unfit := ""
	if t.Unfit == t.Rejected {
		unfit = t.Unfit
	}
	session := cmp.Or(t.Run.Name, t.Session.ID)
	vars := map[string]any{
		"input": input, "state": fresh(state), "outputs": fresh(outputs), "lineage": fresh(lineage), "env": env,
		"turn": t.Turn, "max_turns": t.Run.Turns,
		"attempt": t.Attempt, "max_attempts": max(t.Def.MaxAttempts(), t.Attempt), "validation_error": t.Rejected, "schema_error": unfit,
		"sounding_index": 0, "sounding_factor": 1, "is_sounding": false, "checkpoint_id": "",
		"session": map[string]any{"id": session, "work_dir": t.Run.WorkDir}, "session_id": session,
	}
	if len(t.Def.SubCascades) > 0 {
		subs := map[string]any{}
		for name, output := range t.Subs {
			subs[name] = out.Copy(output)
		}
		vars["subs"] = fresh(subs)
	}
	maps.Copy(vars, t.Branch)
	return vars
}

// element has the variable of an element of a list without what is withheld.
func (t *Templates) element(vars map[string]any, out *withheld.Values) {
	each := t.Def.ForEach
	var items string
	if out == nil || each == nil || json.Unmarshal(each.Items, &items) != nil {
		return
	}
	name := each.Variable()
	n, _ := vars[name+"_index"].(int)
	was, is := t.listNow(items, t.values(nil)), t.listNow(items, vars)
	switch {
	case n >= len(was) || reflect.DeepEqual(was, is):
	case len(was) == len(is) && reflect.DeepEqual(was[n], vars[name]):
		vars[name] = is[n]
	default:
		vars[name] = out.Part(vars[name])
	}
}

// listNow returns the list of a phase as some variables have it; nil: that is none.
func (t *Templates) listNow(items string, vars map[string]any) []any {
	if !cascade.IsTemplate(items) {
		value, _ := LookUpIn(vars, items)
		list, _ := value.([]any)
		return list
	}
	parsed, err := t.Parse(items)
	if err != nil {
		return nil
	}
	t.withHistory(items, vars)
	text, _, err := parsed.Render(vars)
	if err != nil {
		return nil
	}
	value, _ := modeltext.Decode([]byte(strings.TrimSpace(text)))
	list, _ := value.([]any)
	return list
}

// History returns messages as templates see them, without what a person has taken back.
func History(items []echo.Item) []any {
	out := make([]any, 0, len(items))
	for _, it := range echo.Present(items) {
		if it.Message.Kind().Stands() {
			continue // it is as of an earlier request
		}
		out = append(out, map[string]any{"role": string(it.Message.Role()), "content": it.Message.Text()})
	}
	return out
}

// LookUp returns what a path leads to, such as outputs.plan.files: from a variable of templates, or
// else from a name of the state or of the input.
func (t *Templates) LookUp(path string) (any, error) { return LookUpIn(t.Vars(), path) }

// ValueAt is [Templates.LookUp] with what is withheld.
func (t *Templates) ValueAt(path string) (any, error) { return LookUpIn(t.values(nil), path) }

// LookUpIn is [Templates.LookUp] among some variables.
func LookUpIn(vars map[string]any, path string) (any, error) {
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
