package cascade

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

type templates struct {
	parse func(kind TemplateKind, text string) *TemplateProblem // nil: they are not checked
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
	t.check(p.at.key("instructions"), p.Instructions)
	rules := p.at.key("rules")
	t.check(rules.key("turn_prompt"), p.Rules.TurnPrompt)
	t.check(rules.key("retry_instructions"), p.Rules.RetryInstructions)
	t.check(rules.key("loop_until_prompt"), p.Rules.LoopUntilPrompt)
	if p.Callouts != nil {
		t.checkCallouts(p.at.key("callouts"), p.Callouts)
	}
	if p.Context != nil {
		for i, s := range p.Context.From {
			t.check(p.at.keys("context", "from").element(i).key("condition"), s.Condition)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		t.checkValue(p.at.keys("inputs", name))
	}
}

func (t templates) checkCallouts(at place, c *Callouts) {
	if n := at.node(); n != nil && n.Kind == source.String {
		t.check(at, c.Output)
		return
	}
	t.check(at.key("output"), c.Output)
	t.check(at.key("messages"), c.Messages)
	if at.has("messages_filter") && !at.has("messages") {
		at.noEffect("messages_filter", `"messages_filter" chooses among "messages", which is missing`, "add messages or remove it")
	}
}

// checkValue parses the strings anywhere inside a JSON value.
func (t templates) checkValue(at place) {
	n := at.node()
	if n == nil {
		return
	}
	switch n.Kind {
	case source.String:
		t.check(at, n.Text)
	case source.Array:
		for i := range n.Items {
			t.checkValue(at.index(i))
		}
	case source.Object:
		for _, m := range n.Members {
			t.checkValue(at.key(m.Key))
		}
	}
}

// checkTool parses the templates of a declared tool.
func (t templates) checkTool(d declared) {
	t.checkFrom(TemplateCommand, d.at.key("command"), "", d.Command)
	t.checkFrom(TemplateURL, d.at.key("url"), "", d.URL)
	kind, _ := d.BodyKind()
	t.checkFrom(kind, d.at.key("body"), "", d.Body)
	for _, name := range slices.Sorted(maps.Keys(d.Headers)) {
		t.check(d.at.keys("headers", name), d.Headers[name])
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, " \t\r\n:") {
			d.at.key("headers").keyError(name, CodeInvalidName, fmt.Sprintf("%q is no name of an HTTP header", name), "")
		}
	}
}
