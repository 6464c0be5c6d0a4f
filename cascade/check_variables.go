package cascade

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// variableRules find what no template can be given.
type variableRules struct{ *checker }

func (k variableRules) enabled() bool { return k.known.Lookups != nil && !k.known.Recorded }

func (k variableRules) checkVariables() {
	if !k.enabled() {
		return
	}
	input := shapeOfInputs(k.cascade.InputsSchema)
	phase := k.scope(k.known.Variables.Phase, input)
	for _, p := range k.phases {
		if k.root.doc.full() || k.stop() != nil {
			return
		}
		phase.phase = &p
		for t := range k.templatesOf(p) {
			k.checkTemplate(t, phase)
		}
	}
	phase.phase = nil
	phase.variables = k.known.Variables.Validator
	list := k.root.key("validators")
	for _, name := range slices.Sorted(maps.Keys(k.cascade.Validators)) {
		at := list.keys(name, "instructions")
		k.checkTemplate(textAt(at, k.cascade.Validators[name].Instructions), phase)
	}
}

// templatesOf yields every template of a phase.
func (k variableRules) templatesOf(p located) iter.Seq[templateAt] {
	return func(yield func(templateAt) bool) {
		for t := range k.templates.ofPhase(p) {
			if !yield(t) {
				return
			}
		}
		at := p.at.keys("rules", "loop_until")
		if command, ok := strings.CutPrefix(p.Rules.LoopUntil, string(ValidatorCommand)+":"); ok {
			yield(templateAt{TemplateCommand, at, string(ValidatorCommand) + ":", command})
		}
	}
}

// varScope is what the templates of one place see.
type varScope struct {
	variables map[string]any
	shapes    map[string]*shape
	input     bool // members of input that nobody names are worth a warning
	phase     *located
	state     *shape
}

func (k variableRules) scope(variables map[string]any, input *shape) *varScope {
	s := &varScope{variables: variables, shapes: map[string]*shape{}, input: declaresAll(k.cascade.InputsSchema), state: k.stateShape()}
	for _, sample := range []map[string]any{variables, k.known.Variables.Validator} {
		for name, v := range sample {
			s.shapes[name] = shapeOfSample(v)
		}
	}
	s.shapes["input"], s.shapes["original_input"] = input, input
	s.shapes["state"] = s.state
	return s
}

// stateShape returns what state can hold, nil when a model or a template chooses the names.
func (k variableRules) stateShape() *shape {
	s := &shape{members: map[string]*shape{}, closed: true}
	for _, p := range k.phases {
		s.members[StateOutputPrefix+p.Name] = nil
		if len(p.OutputSchema) > 0 {
			s.members[StateValidatedOutput] = nil
		}
		if p.Tool != "" {
			s.members[StateLastError] = nil
		}
		if slices.Contains(p.Tackle, setStateTool) {
			return nil
		}
		if p.Tool == setStateTool {
			var key string
			if json.Unmarshal(p.Inputs["key"], &key) != nil || strings.Contains(key, "{") {
				return nil
			}
			s.members[key] = nil
		}
	}
	return s
}

func (k variableRules) checkTemplate(t templateAt, s *varScope) {
	if t.text == "" || t.at.node() == nil {
		return
	}
	for _, l := range k.templates.of(t) {
		if t.at.doc.full() || k.stop() != nil {
			return
		}
		if root := l.Path[0]; root == "input" || root == "env" {
			k.cascade.needs = append(k.cascade.needs, need{l, describe(t.at)})
		}
		k.checkLookup(t, &l, s)
	}
}

func (k variableRules) checkLookup(t templateAt, l *Lookup, s *varScope) {
	root, _ := l.Path[0].(string)
	if _, known := s.variables[root]; !known {
		if l.Safe == 0 {
			k.unknownRoot(t, l, s)
		}
		return
	}
	if root == "outputs" && len(l.Path) > 1 {
		k.checkOutput(t, l, s)
		return
	}
	lack := s.shapes[root].missing(l.Path, 1)
	if lack == nil || lack.at < l.Safe || root == "env" {
		return
	}
	what := l.expression(lack.at + 1)
	hint := k.memberHint(l, lack)
	switch {
	case !lack.never && lack.at == 1 && s.input:
		t.report(l, SeverityWarning, fmt.Sprintf("%s uses %q, which \"inputs_schema\" does not name", describe(t.at), what), hint)
	case !lack.never:
	case lack.of.kind != "":
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and %s is %s", describe(t.at), what, l.expression(lack.at), lack.of.kind), hint)
	case root == "state":
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which nothing can set", describe(t.at), what),
			fmt.Sprintf("give a phase before it the tool %q, or remove it", setStateTool))
	default:
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which cannot be there", describe(t.at), what), hint)
	}
}

// memberHint says which member was perhaps meant, or which there are.
func (k variableRules) memberHint(l *Lookup, lack *lack) string {
	if lack.of.kind != "" {
		return "use " + l.expression(lack.at) + " itself"
	}
	name, _ := l.Path[lack.at].(string)
	return membersHint(l.expression(lack.at), l.Path[:lack.at], name, slices.Sorted(maps.Keys(lack.of.members)))
}

func membersHint(of string, path []any, name string, names []string) string {
	written := make([]string, len(names))
	for i, n := range names {
		written[i] = expressionOf(append(slices.Clone(path), n))
		if name != "" && strings.HasPrefix(n, name+"-") {
			return "write " + written[i] + ": a name with a hyphen is not read after a dot"
		}
	}
	if near := meant(name, names); near != "" {
		i := slices.IndexFunc(names, func(n string) bool { return near == fmt.Sprintf("did you mean %q?", n) })
		return fmt.Sprintf("did you mean %s?", quoteExpression(written[i]))
	}
	return cmp.Or(knownNames(of+" has ", names), "declare it, or remove it")
}

// quoteExpression quotes an expression that may have quotes in it.
func quoteExpression(s string) string {
	if strings.Contains(s, `"`) {
		return s
	}
	return strconv.Quote(s)
}

// unknownRoot reports a variable that there is not.
func (k variableRules) unknownRoot(t templateAt, l *Lookup, s *varScope) {
	root, _ := l.Path[0].(string)
	t.report(l, SeverityError, fmt.Sprintf("%s uses %q, which is no variable", describe(t.at), root), k.rootHint(l, s))
}

func (k variableRules) rootHint(l *Lookup, s *varScope) string {
	root, _ := l.Path[0].(string)
	names := slices.Sorted(maps.Keys(s.variables))
	if root == "loop" {
		return "loop is known between {% for %} and {% endfor %}"
	}
	if _, validator := k.known.Variables.Validator[root]; validator {
		return "only the instructions of a validator see it; a command reads it from its standard input, as JSON"
	}
	if input := s.shapes["input"]; input != nil {
		if _, ok := input.members[root]; ok {
			return `did you mean "input.` + root + `"?`
		}
	}
	if k.names.named[root] {
		return "did you mean " + quoteExpression(expressionOf([]any{"outputs", root})) + "?"
	}
	if near := meant(root, names); near != "" {
		return k.nearRoot(l, near, names, s)
	}
	return knownNames("the variables are ", names)
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
	if lack := s.shapes[names[i]].missing(path, 1); lack != nil {
		path = path[:lack.at]
	}
	return "did you mean " + quoteExpression(expressionOf(path)) + "?"
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
				membersHint("outputs", []any{"outputs"}, name, slices.Sorted(maps.Keys(k.names.first))))
		}
		return
	case l.Safe < 2 && s.phase != nil && k.order.never(i, s.phase):
		t.report(l, SeverityError, fmt.Sprintf("%s uses %q, and phase %q cannot have run before it", describe(t.at), l.expression(2), name),
			`move the phase, or write default("") where it may be missing`)
		return
	}
	lack := k.outputShape(k.phases[i]).missing(l.Path, 2)
	if lack == nil || !lack.never || lack.at < l.Safe {
		return
	}
	hint := k.memberHint(l, lack)
	message := fmt.Sprintf("%s uses %q, which cannot be there", describe(t.at), l.expression(lack.at+1))
	if lack.of.kind != "" {
		message = fmt.Sprintf("%s uses %q, and %s is %s", describe(t.at), l.expression(lack.at+1), l.expression(lack.at), lack.of.kind)
		if lack.at == 2 && len(k.phases[i].OutputSchema) == 0 {
			hint = fmt.Sprintf("give phase %q an output_schema, or use %s itself", name, l.expression(2))
		}
	}
	t.report(l, SeverityError, message, hint)
}

// outputShape returns the shape of a phase's output.
func (k variableRules) outputShape(p located) *shape {
	switch {
	case p.at.has("tool") || !p.at.intact("output_schema"):
		return nil
	case len(p.OutputSchema) == 0:
		return &shape{kind: "a string"}
	}
	return shapeOf(p.OutputSchema, 0)
}

// checkToolVariables checks the templates of a declared tool, which see its arguments.
func (k variableRules) checkToolVariables(d declared) {
	if !k.enabled() || d.InputsSchema == nil || !d.at.intact("inputs_schema") {
		return // Without a schema the arguments are what the templates use.
	}
	args := k.argumentShape(d)
	for t := range k.templates.ofTool(d) {
		for _, l := range k.templates.of(t) {
			if t.at.doc.full() || k.stop() != nil {
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
			lack := args.missing(path, 1)
			if lack == nil || lack.at-(len(path)-len(l.Path)) < l.Safe || !lack.never && (lack.at != 1 || !declaresAll(d.InputsSchema)) {
				continue
			}
			k.unknownArgument(t, &l, path, lack, d)
		}
	}
}

// argumentShape returns the shape of a tool's arguments: names keep others out.
func (k variableRules) argumentShape(d declared) *shape {
	return shapeOfObject(d.InputsSchema.JSONSchema())
}

func (k variableRules) unknownArgument(t templateAt, l *Lookup, path []any, lack *lack, d declared) {
	at := lack.at - (len(path) - len(l.Path)) // in the path as it is written
	what := l.expression(at + 1)
	severity, verb := SeverityError, "does not take"
	if !lack.never {
		severity, verb = SeverityWarning, "does not name"
	}
	names := slices.Sorted(maps.Keys(lack.of.members))
	name, _ := path[lack.at].(string)
	hint := cmp.Or(meant(name, names), knownNames("the arguments are ", names), `declare it in "inputs_schema", or remove it`)
	if lack.of.kind != "" {
		verb, hint = "does not take in this form", "use "+l.expression(at)+" itself"
	}
	t.report(l, severity, fmt.Sprintf("%s uses %q, which \"inputs_schema\" of %s %s", describe(t.at), what, d.title(), verb), hint)
}
