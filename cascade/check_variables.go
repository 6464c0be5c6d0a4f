package cascade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/cascade/shape"
	"github.com/windlass-run/windlass/cascade/validators"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/standing"
)

// variableRules find what no template can be given.
type variableRules struct{ *checker }

func (k variableRules) enabled() bool { return k.known.Lookups != nil && !k.known.Recorded }

func (k variableRules) checkVariables() {
	if !k.enabled() {
		return
	}
	input := k.refined(k.cascade.InputsSchema.Shape())
	phase := k.scope(k.known.Variables.Phase, input)
	for _, p := range k.phases {
		if k.root.Document().Full() || k.stop() != nil {
			return
		}
		k.enter(phase, &p)
		for t := range k.templatesOf(p) {
			k.checkTemplate(t, phase)
		}
		k.checkPaths(p, phase)
	}
	phase = k.scope(k.known.Variables.Phase, input)
	phase.variables = k.known.Variables.Validator
	phase.shapes["input"] = input.With(phase.given())
	list := k.root.Key("validators")
	for _, name := range slices.Sorted(maps.Keys(k.cascade.Validators)) {
		at := k.templates.in(list.Keys(name, "instructions"))
		k.checkTemplate(textAt(at, k.cascade.Validators[name].Instructions), phase)
	}
	k.checkRunVariables(k.scope(nil, input))
}

// templatesOf yields every template of a phase.
func (k variableRules) templatesOf(p located) iter.Seq[templateAt] {
	return func(yield func(templateAt) bool) {
		for t := range k.templates.ofPhase(p) {
			if !yield(t) {
				return
			}
		}
		for at, text := range k.validatorsOf(p) {
			if t, is := commandAt(at, text); is && !yield(t) {
				return
			}
		}
	}
}

// commandAt returns the template of a validator that is a command.
func commandAt(at place, validator string) (t templateAt, is bool) {
	const prefix = string(ValidatorCommand) + ":"
	command, is := strings.CutPrefix(validator, prefix)
	return templateAt{TemplateCommand, at, prefix, command, seesAll}, is
}

// validatorsOf yields the validators of a phase with their places.
func (k variableRules) validatorsOf(p located) iter.Seq2[place, string] {
	return func(yield func(place, string) bool) {
		if !yield(p.at.Keys("rules", "loop_until"), p.Rules.LoopUntil) {
			return
		}
		for at, validator := range validatorsOfSoundings(p.Soundings, p.at) {
			if !yield(at, validator) {
				return
			}
		}
		if p.Wards == nil {
			return
		}
		for i, key := range []string{"pre", "turn", "post"} {
			for j, w := range [][]Ward{p.Wards.Pre, p.Wards.Turn, p.Wards.Post}[i] {
				if !yield(validators.Ref(p.at.Keys("wards", key).Index(j)), w.Validator) {
					return
				}
			}
		}
	}
}

// varScope is what the templates of one place see.
type varScope struct {
	variables map[string]any
	shapes    map[string]*shape.Shape
	input     bool // members of input that nobody names are worth a warning
	phase     *located
	own       map[string]*shape.Shape // variables that only the phase has
	run       bool                    // of the soundings of the cascade, outside of its phases
}

// enter makes the scope that of a phase: with its element of a list, its sub cascades and the state
// that it can see.
func (k variableRules) enter(s *varScope, p *located) {
	s.phase, s.own = p, map[string]*shape.Shape{}
	if k.cascade.IsGraph() {
		s.shapes["state"] = k.stateShape(func(q located) bool { return q.index == p.index || !k.order.Never(q.index, p.index) })
	}
	if f := p.ForEach; f != nil {
		s.own[f.Variable()], s.own[f.Variable()+"_index"] = nil, shape.OfSample(0)
	}
	if len(p.SubCascades) > 0 {
		s.own["subs"] = nil
	}
}

// of returns the shape of a variable, and whether there is one where a template stands.
func (k variableRules) of(s *varScope, t templateAt, root string) (*shape.Shape, bool) {
	own, isOwn := s.own[root]
	switch {
	case t.sees.judge && judged[root] != nil:
		return judged[root], true
	case isOwn && root == "subs":
		return k.subsShape(s.phase, t.sees.subs), !t.sees.list
	case isOwn:
		return own, !t.sees.list
	}
	_, known := s.variables[root]
	return s.shapes[root], known
}

// given returns the members of input that windlass gives itself, as to a validator what it judges.
func (s *varScope) given() map[string]any {
	members, _ := s.variables["input"].(map[string]any)
	return members
}

// gives reports whether a template takes one of them.
func (s *varScope) gives(l *Lookup) bool {
	if l.Path[0] != "input" || len(l.Path) == 1 {
		return false
	}
	name, _ := l.Path[1].(string)
	_, ok := s.given()[name]
	return ok
}

// subsShape returns the shape of the outputs of sub cascades, of the first n or of all; nil when the
// name of one is not known.
func (k variableRules) subsShape(p *located, n int) *shape.Shape {
	out := &shape.Shape{Members: map[string]*shape.Shape{}, Closed: true}
	for i := range p.SubCascades {
		s := &p.SubCascades[i]
		if s.Name == "" && k.cascade.Reaches[s.Ref] == nil {
			return nil
		}
		if n < 0 || i < n {
			out.Members[childName(s.Name, s.Ref, k.cascade.Reaches[s.Ref])] = nil
		}
	}
	return out
}

func (k variableRules) scope(variables map[string]any, input *shape.Shape) *varScope {
	s := &varScope{variables: variables, shapes: map[string]*shape.Shape{}, input: k.cascade.InputsSchema.DeclaresAll()}
	for _, sample := range []map[string]any{variables, k.known.Variables.Validator} {
		for name, v := range sample {
			s.shapes[name] = shape.OfSample(v)
		}
	}
	s.shapes["input"], s.shapes["original_input"] = input, input
	s.shapes["state"] = k.stateShape(func(located) bool { return true })
	return s
}

// stateShape returns what state can hold of phases, nil when a model, a template or another cascade
// chooses the names.
func (k variableRules) stateShape(of func(located) bool) *shape.Shape {
	s := &shape.Shape{Members: map[string]*shape.Shape{}, Closed: true}
	for _, p := range k.phases {
		addStanding(s.Members, ContinuityOf(k.cascade, p.Phase))
		if !of(p) {
			continue
		}
		s.Members[StateOutputPrefix+p.Name] = nil
		if p.HumanInput != nil {
			s.Members[StateHumanPrefix+p.Name] = nil
		}
		if p.DecisionPoints != nil {
			s.Members[StateHumanPrefix+p.Name] = &shape.Shape{Members: map[string]*shape.Shape{"choice": nil, "feedback": nil}, Closed: true}
		}
		if len(p.OutputSchema) > 0 {
			s.Members[StateValidatedOutput] = nil
		}
		if p.Deterministic() {
			s.Members[StateLastError] = nil
		}
		if slices.Contains(p.Tackle, setStateTool) || slices.ContainsFunc(p.SubCascades, func(s SubCascade) bool { return s.ContextOut }) {
			return nil
		}
		if p.Tool == setStateTool {
			var key string
			if json.Unmarshal(p.Inputs["key"], &key) != nil || strings.Contains(key, "{") {
				return nil
			}
			s.Members[key] = nil
		}
	}
	return s
}

// addStanding adds what goes on in the state of a run where a phase has it. Its order does not matter: persons set it, too.
func addStanding(members map[string]*shape.Shape, f continuity.InForce) {
	if f.Scratchpad {
		members[standing.Scratchpad] = nil
	}
	if f.StateBlock {
		members[standing.StateBlock] = nil
	}
}

func (k variableRules) checkTemplate(t templateAt, s *varScope) {
	if t.text == "" || t.at.Node() == nil {
		return
	}
	for _, l := range k.templates.of(t) {
		if t.at.Document().Full() || k.stop() != nil {
			return
		}
		if root := l.Path[0]; (root == "input" || root == "env") && !s.gives(&l) {
			k.cascade.needs = append(k.cascade.needs, need{l, describe(t.at)})
		}
		k.checkLookup(t, &l, s)
	}
}

func (k variableRules) checkLookup(t templateAt, l *Lookup, s *varScope) {
	root, _ := l.Path[0].(string)
	of, known := k.of(s, t, root)
	if !known {
		if l.Safe == 0 {
			k.unknownRoot(t, l, s)
		}
		return
	}
	if root == "outputs" && len(l.Path) > 1 {
		k.checkOutput(t, l, s)
		return
	}
	lack := of.Missing(l.Path, 1)
	if lack == nil || lack.At < l.Safe || root == "env" {
		return
	}
	what := l.expression(lack.At + 1)
	hint := k.memberHint(l, lack)
	if !IsTemplate(t.text) && !t.sees.list && !strings.HasPrefix(strings.TrimSpace(t.text), root+".") { // a word may be meant as one
		hint += "; " + wording.AsText(t.text)
	}
	switch {
	case !lack.Never && lack.At == 1 && s.input:
		t.report(l, SeverityWarning, fmt.Sprintf("%s uses %q, which \"inputs_schema\" does not name", describe(t.at), what), hint)
	case !lack.Never:
	case lack.Of.Kind != "":
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and %s is %s", describe(t.at), what, l.expression(lack.At), lack.Of.Kind), hint)
	case root == "state":
		k.unsetState(t, l, what)
	default:
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which cannot be there", describe(t.at), what), hint)
	}
}

// memberHint says which member was perhaps meant, or which there are.
func (k variableRules) memberHint(l *Lookup, lack *shape.Lack) string {
	if lack.Of.Kind != "" {
		return "use " + l.expression(lack.At) + " itself"
	}
	name, _ := l.Path[lack.At].(string)
	return wording.MembersHint(l.expression(lack.At), l.Path[:lack.At], name, slices.Sorted(maps.Keys(lack.Of.Members)))
}

// unsetState reports a name of the state that nothing sets before a template is rendered.
func (k variableRules) unsetState(t templateAt, l *Lookup, what string) {
	name, _ := l.Path[1].(string)
	of, is := strings.CutPrefix(name, StateOutputPrefix)
	if asked, isAnswer := strings.CutPrefix(name, StateHumanPrefix); isAnswer {
		if i, known := k.names.first[asked]; known && k.phases[i].HumanInput == nil && k.phases[i].DecisionPoints == nil {
			t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and phase %q has neither human_input nor decision_points", describe(t.at), what, asked), fmt.Sprintf(`add "human_input" to phase %q, or remove this`, asked))
			return
		}
		of, is = asked, true
	}
	if is && k.cascade.IsGraph() && k.names.named[of] {
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and phase %q is not surely before it", describe(t.at), what, of), fmt.Sprintf("add %q to \"after\"", of))
		return
	}
	t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which nothing can set", describe(t.at), what),
		fmt.Sprintf("give a phase before it the tool %q, or remove it", setStateTool))
}

// checkPaths checks what is the path of a value and no template.
func (k variableRules) checkPaths(p located, s *varScope) {
	for _, t := range sourcesOf(p) {
		if IsTemplate(t.text) || t.at.Node() == nil || !t.at.Sound() || t.at.Document().Full() {
			continue
		}
		path := pathOf(t.text)
		if path == nil {
			if !t.sees.list { // a list says so itself
				t.at.Error(CodeInvalidValue, fmt.Sprintf("%s is %q, which is neither a template nor the name of a value of state or input", describe(t.at), t.text),
					wording.AsText(t.text))
			}
			continue
		}
		k.checkPath(t, path, s)
	}
}

// checkPath checks a path: of a variable, else of a value of state, else of input.
func (k variableRules) checkPath(t templateAt, path []any, s *varScope) {
	l := Lookup{Line: 1, Col: 1, Path: path}
	root, _ := path[0].(string)
	_, known := k.of(s, t, root)
	switch state := s.shapes["state"]; {
	case known:
	case state == nil:
		return // it may be there
	default:
		if _, set := state.Members[root]; set {
			return
		}
		l.Path = append([]any{"input"}, path...)
		where := describe(t.at)
		declared := t.sees.list
		if in := s.shapes["input"]; in != nil && !declared {
			_, declared = in.Members[root]
		}
		if !declared {
			where += " (" + wording.AsText(t.text) + ")"
		}
		k.cascade.needs = append(k.cascade.needs, need{l, where})
		k.checkLookup(t, &l, s)
		return
	}
	if root == "input" || root == "env" {
		k.cascade.needs = append(k.cascade.needs, need{l, describe(t.at)})
	}
	k.checkLookup(t, &l, s)
}

// unknownRoot reports a variable that there is not.
func (k variableRules) unknownRoot(t templateAt, l *Lookup, s *varScope) {
	root, _ := l.Path[0].(string)
	t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which is no variable", describe(t.at), root), k.rootHint(t, l, s))
}

func (k variableRules) rootHint(t templateAt, l *Lookup, s *varScope) string {
	root, _ := l.Path[0].(string)
	_, ofPhase := k.known.Variables.Phase[root]
	switch _, own := s.own[root]; {
	case s.run && (ofPhase || root == "subs"):
		return "the candidates are whole runs: what their phases see is not seen here"
	case root == "loop":
		return "loop is known between {% for %} and {% endfor %}"
	case own:
		return "the list is made before its first element, and before the sub cascades"
	case root == "subs":
		return `subs has the outputs of "sub_cascades", which the phase does not have`
	case judged[root] != nil:
		return "only the instructions of a judge or an aggregator of soundings see it"
	}
	names := slices.Sorted(maps.Keys(s.own))
	if t.sees.judge {
		names = append(names, slices.Sorted(maps.Keys(judged))...)
	}
	names = append(names, slices.Sorted(maps.Keys(s.variables))...)
	if _, validator := k.known.Variables.Validator[root]; validator {
		return "only the instructions of a validator see it; a command reads it from its standard input, as JSON"
	}
	if input := s.shapes["input"]; input != nil {
		if _, ok := input.Members[root]; ok {
			return `did you mean "input.` + root + `"?`
		}
	}
	if k.names.named[root] {
		return "did you mean " + wording.QuoteExpression(wording.Expression([]any{"outputs", root})) + "?"
	}
	if near := wording.Meant(root, names); near != "" {
		return k.nearRoot(l, near, names, s)
	}
	return wording.KnownNames("the variables are ", names)
}

// nearRoot proposes a variable with the rest of the path, when that is sound there.
func (k variableRules) nearRoot(l *Lookup, near string, names []string, s *varScope) string {
	i := slices.IndexFunc(names, func(n string) bool { return near == fmt.Sprintf("did you mean %q?", n) })
	path := append([]any{names[i]}, l.Path[1:]...)
	if names[i] == "outputs" && len(path) > 1 {
		if name, _ := path[1].(string); !k.names.named[name] {
			path = path[:1]
		}
	}
	if lack := s.shapes[names[i]].Missing(path, 1); lack != nil {
		path = path[:lack.At]
	}
	return "did you mean " + wording.QuoteExpression(wording.Expression(path)) + "?"
}

// checkOutput checks a lookup of the output of a phase.
func (k variableRules) checkOutput(t templateAt, l *Lookup, s *varScope) {
	name, isName := l.Path[1].(string)
	if !isName {
		return
	}
	i, known := k.names.first[name]
	switch {
	case !known:
		if l.Safe < 2 {
			t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and there is no phase %q", describe(t.at), l.expression(2), name),
				wording.MembersHint("outputs", []any{"outputs"}, name, slices.Sorted(maps.Keys(k.names.first))))
		}
		return
	case t.sees.own && s.phase != nil && i == s.phase.index:
	case l.Safe < 2 && s.phase != nil && k.order.Never(i, s.phase.index) && k.cascade.IsGraph():
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and phase %q is not surely before it", describe(t.at), l.expression(2), name), orderRules(k).afterHint(i, s.phase))
		return
	case l.Safe < 2 && s.phase != nil && k.order.Never(i, s.phase.index):
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and phase %q cannot have run before it", describe(t.at), l.expression(2), name),
			`move the phase, or write default("") where it may be missing`)
		return
	}
	lack := k.outputShape(k.phases[i]).Missing(l.Path, 2)
	if lack == nil || !lack.Never || lack.At < l.Safe {
		return
	}
	hint := k.memberHint(l, lack)
	message := fmt.Sprintf("%s uses %q, which cannot be there", describe(t.at), l.expression(lack.At+1))
	if lack.Of.Kind != "" {
		message = fmt.Sprintf("%s uses %q, and %s is %s", describe(t.at), l.expression(lack.At+1), l.expression(lack.At), lack.Of.Kind)
		if lack.At == 2 && k.phases[i].ForEach != nil {
			hint = fmt.Sprintf("it is the list of the outputs of all elements: use %s[0], or %s itself", l.expression(2), l.expression(2))
		} else if lack.At == 2 && len(k.phases[i].OutputSchema) == 0 {
			hint = fmt.Sprintf("give phase %q an output_schema, or use %s itself", name, l.expression(2))
		}
	}
	t.report(l, SeverityError, message, hint)
}

// outputShape returns the shape of a phase's output.
func (k variableRules) outputShape(p located) *shape.Shape {
	if p.ForEach != nil && p.ForEach.OnError == ItemCollect {
		return &shape.Shape{Kind: "a list"} // of outputs, and of what there is in place of one
	}
	if p.ForEach != nil {
		one := p
		one.Phase = new(Phase)
		*one.Phase, one.ForEach = *p.Phase, nil
		if p.ForEach.OnError == ItemCollect {
			return &shape.Shape{Kind: "a list"} // an element may be {"error", "item"}
		}
		return &shape.Shape{Kind: "a list", Item: k.outputShape(one)}
	}
	switch {
	case !p.asksModel() || !p.at.Intact("output_schema") || p.Soundings != nil && p.Soundings.Aggregates():
		return nil
	case len(p.OutputSchema) == 0:
		return &shape.Shape{Kind: "a string"}
	}
	return shape.Of(p.OutputSchema)
}

// checkToolVariables checks the templates of a declared tool, which see its arguments.
func (k variableRules) checkToolVariables(d declared) {
	if !k.enabled() || d.InputsSchema == nil || !d.at.Intact("inputs_schema") {
		return // Without a schema the arguments are what the templates use.
	}
	args := k.argumentShape(d)
	for t := range k.templates.ofTool(d) {
		for _, l := range k.templates.of(t) {
			if t.at.Document().Full() || k.stop() != nil {
				return
			}
			root, _ := l.Path[0].(string)
			path := l.Path
			if root == "env" {
				continue
			}
			if root != "input" {
				path = append([]any{"input"}, path...)
			}
			lack := args.Missing(path, 1)
			if lack == nil || lack.At-(len(path)-len(l.Path)) < l.Safe || !lack.Never && (lack.At != 1 || !d.InputsSchema.DeclaresAll()) {
				continue
			}
			k.unknownArgument(t, &l, path, lack, d)
		}
	}
}

// argumentShape returns the shape of a tool's arguments: names keep others out.
func (k variableRules) argumentShape(d declared) *shape.Shape {
	return shape.OfObject(d.InputsSchema.JSONSchema())
}

func (k variableRules) unknownArgument(t templateAt, l *Lookup, path []any, lack *shape.Lack, d declared) {
	at := lack.At - (len(path) - len(l.Path)) // in the path as it is written
	what := l.expression(at + 1)
	severity, verb := SeverityError, "does not take"
	if !lack.Never {
		severity, verb = SeverityWarning, "does not name"
	}
	names := slices.Sorted(maps.Keys(lack.Of.Members))
	name, _ := path[lack.At].(string)
	hint := cmp.Or(wording.Meant(name, names), wording.KnownNames("the arguments are ", names), `declare it in "inputs_schema", or remove it`)
	if lack.Of.Kind != "" {
		verb, hint = "does not take in this form", "use "+l.expression(at)+" itself"
	}
	t.report(l, severity, fmt.Sprintf("%s uses %q, which \"inputs_schema\" of %s %s", describe(t.at), what, d.title(), verb), hint)
}
