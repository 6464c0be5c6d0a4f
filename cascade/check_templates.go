package cascade

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/source"
)

// checkTemplate reports a template's syntax error, at its place inside the string when that is known.
func (k *checker) checkTemplate(at place, text string) { k.checkTemplateOf(TemplateText, at, text) }

func (k *checker) checkTemplateOf(kind TemplateKind, at place, text string) {
	k.checkTemplateFrom(kind, at, "", text)
}

// checkTemplateFrom checks a template that stands in a string after a prefix.
func (k *checker) checkTemplateFrom(kind TemplateKind, at place, prefix, text string) {
	if k.known.CheckTemplate == nil || text == "" || at.node() == nil {
		return
	}
	problem := k.known.CheckTemplate(kind, text)
	if problem == nil {
		return
	}
	message := "the template does not parse: " + problem.Message
	if problem.Line < 1 {
		at.error(CodeInvalidTemplate, message, problem.Hint)
		return
	}
	before := prefix + upTo(text, problem.Line, problem.Col)
	k.errorInside(at, CodeInvalidTemplate, endOf(before), message, problem.Hint)
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

// checkPhaseTemplates parses every template of a phase.
func (k *checker) checkPhaseTemplates(p located) {
	k.checkTemplate(p.at.key("instructions"), p.Instructions)
	rules := p.at.key("rules")
	k.checkTemplate(rules.key("turn_prompt"), p.Rules.TurnPrompt)
	k.checkTemplate(rules.key("retry_instructions"), p.Rules.RetryInstructions)
	k.checkTemplate(rules.key("loop_until_prompt"), p.Rules.LoopUntilPrompt)
	if p.Callouts != nil {
		k.checkCallouts(p.at.key("callouts"), p.Callouts)
	}
	if p.Context != nil {
		for i, s := range p.Context.From {
			k.checkTemplate(p.at.keys("context", "from").element(i).key("condition"), s.Condition)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		k.checkValueTemplates(p.at.keys("inputs", name))
	}
}

func (k *checker) checkCallouts(at place, c *Callouts) {
	if n := at.node(); n != nil && n.Kind == source.String {
		k.checkTemplate(at, c.Output)
		return
	}
	k.checkTemplate(at.key("output"), c.Output)
	k.checkTemplate(at.key("messages"), c.Messages)
	if at.has("messages_filter") && !at.has("messages") {
		at.noEffect("messages_filter", `"messages_filter" chooses among "messages", which is missing`, "add messages or remove it")
	}
}

// checkValueTemplates parses the strings anywhere inside a JSON value.
func (k *checker) checkValueTemplates(at place) {
	n := at.node()
	if n == nil {
		return
	}
	switch n.Kind {
	case source.String:
		k.checkTemplate(at, n.Text)
	case source.Array:
		for i := range n.Items {
			k.checkValueTemplates(at.index(i))
		}
	case source.Object:
		for _, m := range n.Members {
			k.checkValueTemplates(at.key(m.Key))
		}
	}
}

// checkToolTemplates parses the templates of a declared tool.
func (k *checker) checkToolTemplates(t declared) {
	k.checkTemplateOf(TemplateCommand, t.at.key("command"), t.Command)
	k.checkTemplateOf(TemplateURL, t.at.key("url"), t.URL)
	kind, _ := t.BodyKind()
	k.checkTemplateOf(kind, t.at.key("body"), t.Body)
	for _, name := range slices.Sorted(maps.Keys(t.Headers)) {
		k.checkTemplate(t.at.keys("headers", name), t.Headers[name])
		if strings.TrimSpace(name) == "" || strings.ContainsAny(name, " \t\r\n:") {
			t.at.key("headers").keyError(name, CodeInvalidName, fmt.Sprintf("%q is no name of an HTTP header", name), "")
		}
	}
}
