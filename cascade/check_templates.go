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
}

func (t templateAt) report(l *Lookup, severity Severity, message, hint string) {
	n := t.at.node()
	if n == nil || n.Kind != source.String {
		t.at.doc.report(severity, CodeUnknownVariable, t.at.valueSpan(), message, hint)
		return
	}
	before := t.prefix + upTo(t.text, l.Line, l.Col)
	start := t.at.doc.file.Inside(n, endOf(before))
	end := start + 1
	if written := l.expression(len(l.Path)); strings.HasPrefix(t.text[len(before)-len(t.prefix):], written) {
		end = t.at.doc.file.Inside(n, endOf(before+written[:len(written)-1])) + 1
	}
	t.at.doc.report(severity, CodeUnknownVariable, span{start, end}, message, hint)
}

func textAt(at place, text string) templateAt {
	return templateAt{kind: TemplateText, at: at, text: text}
}

// check reports a template's syntax error, at its place inside the string when that is known.
func (t templates) check(at place, text string) { t.checkFrom(TemplateText, at, "", text) }

// checkFrom is check for a kind of template that stands in a string after a prefix.
func (t templates) checkFrom(kind TemplateKind, at place, prefix, text string) {
	if t.parse == nil || text == "" || at.node() == nil {
		return
	}
	problem := t.parse(kind, text)
	if problem == nil {
		return
	}
	message := "the template does not parse: " + problem.Message
	if problem.Line < 1 {
		at.error(CodeInvalidTemplate, message, problem.Hint)
		return
	}
	before := prefix + upTo(text, problem.Line, problem.Col)
	at.errorInside(CodeInvalidTemplate, endOf(before), message, problem.Hint)
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
		checkCallouts(p.at.key("callouts"))
	}
}

// ofPhase yields the templates of a phase without that of loop_until, which depends on what it is.
func (t templates) ofPhase(p located) iter.Seq[templateAt] {
	rules := p.at.key("rules")
	list := []templateAt{
		textAt(p.at.key("instructions"), p.Instructions),
		textAt(rules.key("turn_prompt"), p.Rules.TurnPrompt),
		textAt(rules.key("retry_instructions"), p.Rules.RetryInstructions),
		textAt(rules.key("loop_until_prompt"), p.Rules.LoopUntilPrompt),
	}
	if c := p.Callouts; c != nil {
		at := p.at.key("callouts")
		output := at.key("output")
		if n := at.node(); n != nil && n.Kind == source.String {
			output = at
		}
		list = append(list, textAt(output, c.Output), textAt(at.key("messages"), c.Messages))
	}
	if p.Context != nil {
		for i, s := range p.Context.From {
			list = append(list, textAt(p.at.keys("context", "from").element(i).key("condition"), s.Condition))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		list = stringsIn(p.at.keys("inputs", name), list)
	}
	return slices.Values(list)
}

func checkCallouts(at place) {
	if at.has("messages_filter") && !at.has("messages") {
		at.noEffect("messages_filter", `"messages_filter" chooses among "messages", which is missing`, "add messages or remove it")
	}
}

// stringsIn appends the strings anywhere inside a JSON value.
func stringsIn(at place, list []templateAt) []templateAt {
	n := at.node()
	if n == nil {
		return list
	}
	switch n.Kind {
	case source.String:
		list = append(list, textAt(at, n.Text))
	case source.Array:
		for i := range n.Items {
			list = stringsIn(at.index(i), list)
		}
	case source.Object:
		for _, m := range n.Members {
			list = stringsIn(at.key(m.Key), list)
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
			d.at.key("headers").keyError(name, CodeInvalidName, fmt.Sprintf("%q is no name of an HTTP header", name), "a name has no spaces and no colon, as Accept")
		}
	}
}

// ofTool yields the templates of a declared tool.
func (t templates) ofTool(d declared) iter.Seq[templateAt] {
	kind, _ := d.BodyKind()
	list := []templateAt{
		{TemplateCommand, d.at.key("command"), "", d.Command},
		{TemplateURL, d.at.key("url"), "", d.URL},
		{kind, d.at.key("body"), "", d.Body},
	}
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		list = append(list, textAt(d.at.keys("headers", name), d.Headers[name]))
	}
	return slices.Values(list)
}
