package cascade

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

type templates struct {
	parse   func(kind TemplateKind, text string) *TemplateProblem // nil: they are not checked
	read    func(kind TemplateKind, text string) []Lookup         // see Known; may be nil
	lookups map[string][]Lookup                                   // by kind and text: what read has returned
	files   map[string]place                                      // of texts that stand in files, by the pointer of what names them
}

// of returns the lookups of a template.
func (t templates) of(at templateAt) []Lookup {
	key := string(at.kind) + ":" + at.text
	found, ok := t.lookups[key]
	if !ok && t.read != nil {
		found = t.read(at.kind, at.text)
		t.lookups[key] = found
	}
	return found
}

// templateAt is the text of a template, in a string of the file after a prefix.
type templateAt struct {
	kind   TemplateKind
	at     place
	prefix string
	text   string
	sees   sight
}

// sight is what of a phase a template sees beside its variables.
type sight struct {
	list bool // it makes the list of the phase, which has no element yet
	subs int  // how many of the sub cascades have ended; -1: all of them
	own  bool // the output of the phase itself

	judge bool // the answers that are judged
}

var seesAll = sight{subs: -1}

func (t templateAt) report(l *Lookup, severity Severity, message, hint string) {
	before := t.prefix + upTo(t.text, l.Line, l.Col)
	last := before
	if written := l.expression(len(l.Path)); strings.HasPrefix(t.text[len(before)-len(t.prefix):], written) {
		last += written[:len(written)-1]
	}
	t.at.Mark(severity, CodeUnknownVariable, endOf(before), endOf(last), message, hint)
}

// in returns where the text of a template stands.
func (t templates) in(at place) place {
	if file, ok := t.files[at.Pointer()]; ok {
		return file
	}
	return at
}

func textAt(at place, text string) templateAt {
	return templateAt{kind: TemplateText, at: at, text: text, sees: seesAll}
}

// check reports a template's syntax error, at its place inside the string when that is known.
func (t templates) check(at place, text string) { t.checkFrom(TemplateText, at, "", text) }

// checkFrom is check for a kind of template that stands in a string after a prefix.
func (t templates) checkFrom(kind TemplateKind, at place, prefix, text string) {
	if t.parse == nil || text == "" || at.Node() == nil {
		return
	}
	problem := t.parse(kind, text)
	if problem == nil {
		return
	}
	message := "the template does not parse: " + problem.Message
	if problem.Line < 1 {
		at.Error(CodeInvalidTemplate, message, problem.Hint)
		return
	}
	before := prefix + upTo(text, problem.Line, problem.Col)
	at.Mark(SeverityError, CodeInvalidTemplate, endOf(before), endOf(before), message, problem.Hint)
}

// upTo returns the part of a text before a line and a byte of it, both from one.
func upTo(text string, line, col int) string {
	at := 0
	for ; line > 1; line-- {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return text
		}
		at += i + 1
	}
	return text[:min(at+max(col-1, 0), len(text))]
}

func (t templates) checkPhase(p located) {
	for at := range t.ofPhase(p) {
		t.check(at.at, at.text)
	}
	if p.Callouts != nil {
		checkCallouts(p.at.Key("callouts"))
	}
}

// ofPhase yields the templates of a phase without that of loop_until, which depends on what it is.
func (t templates) ofPhase(p located) iter.Seq[templateAt] {
	rules := p.at.Key("rules")
	list := []templateAt{
		textAt(t.in(p.at.Key("instructions")), p.Instructions),
		textAt(t.in(rules.Key("turn_prompt")), p.Rules.TurnPrompt),
		textAt(t.in(rules.Key("retry_instructions")), p.Rules.RetryInstructions),
		textAt(rules.Key("loop_until_prompt"), p.Rules.LoopUntilPrompt),
	}
	list = stringsIn(t.in(p.at.Key("wait")), list)
	if c := p.Callouts; c != nil {
		at := p.at.Key("callouts")
		output := at.Key("output")
		if n := at.Node(); n != nil && n.Kind == source.String {
			output = at
		}
		list = append(list, textAt(output, c.Output), textAt(at.Key("messages"), c.Messages))
	}
	if p.Context != nil {
		for i, s := range p.Context.From {
			list = append(list, textAt(p.at.Keys("context", "from").Element(i).Key("condition"), s.Condition))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		list = stringsIn(p.at.Keys("inputs", name), list)
	}
	list = append(list, t.ofHuman(p)...)
	list = append(list, t.ofSoundings(p.Soundings, p.at)...)
	for _, at := range sourcesOf(p) {
		if IsTemplate(at.text) {
			list = append(list, at)
		}
	}
	return slices.Values(list)
}

// sourcesOf returns what is a template or the path of a value: the items of a list, and the inputs of
// children.
func sourcesOf(p located) []templateAt {
	var list []templateAt
	if p.ForEach != nil {
		at := p.at.Keys("for_each", "items")
		if n := at.Node(); n != nil && n.Kind == source.String && strings.TrimSpace(n.Text) != "" {
			list = append(list, templateAt{TemplateText, at, "", n.Text, sight{list: true}})
		}
	}
	add := func(key string, i int, inputs map[string]string, sees sight) {
		for _, name := range slices.Sorted(maps.Keys(inputs)) {
			list = append(list, templateAt{TemplateText, p.at.Key(key).Index(i).Keys("input_map", name), "", inputs[name], sees})
		}
	}
	for i, s := range p.SubCascades {
		add("sub_cascades", i, s.InputMap, sight{subs: i})
	}
	for i, a := range p.AsyncCascades {
		add("async_cascades", i, a.InputMap, sight{subs: -1, own: a.Trigger == TriggerOnEnd})
	}
	return list
}

func checkCallouts(at place) {
	if at.Has("messages_filter") && !at.Has("messages") {
		at.NoEffect("messages_filter", `"messages_filter" chooses among "messages", which is missing`, "add messages or remove it")
	}
}

// stringsIn appends the strings anywhere inside a JSON value.
func stringsIn(at place, list []templateAt) []templateAt {
	n := at.Node()
	if n == nil {
		return list
	}
	switch n.Kind {
	case source.String:
		list = append(list, textAt(at, n.Text))
	case source.Array:
		for i := range n.Items {
			list = stringsIn(at.Index(i), list)
		}
	case source.Object:
		for _, m := range n.Members {
			list = stringsIn(at.Key(m.Key), list)
		}
	}
	return list
}

// checkTool parses the templates of a declared tool.
func (t templates) checkTool(d declared) {
	for at := range t.ofTool(d) {
		t.checkFrom(at.kind, at.at, "", at.text)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, " \t\r\n:") {
			d.at.Key("headers").KeyError(name, CodeInvalidName, fmt.Sprintf("%q is no name of an HTTP header", name), "a name has no spaces and no colon, as Accept")
		}
	}
}

// ofTool yields the templates of a declared tool.
func (t templates) ofTool(d declared) iter.Seq[templateAt] {
	kind, _ := d.BodyKind()
	list := []templateAt{
		{TemplateCommand, d.at.Key("command"), "", d.Command, seesAll},
		{TemplateURL, d.at.Key("url"), "", d.URL, seesAll},
		{kind, d.at.Key("body"), "", d.Body, seesAll},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		list = append(list, textAt(d.at.Keys("headers", name), d.Headers[name]))
	}
	return slices.Values(list)
}
