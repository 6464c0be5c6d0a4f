package withheld

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// Quoted returns what is sent in place of a message that a template wrote before what it quotes was taken out: the message with
// [Text] in place of each text of 20 bytes or more that is withheld, and the answers of the elements of a list that were put together
// without those that are; so is the result of a tool that tells again what is in the session. That of a lookup which shows what
// is out is [Lookup]. nil: the message quotes none.
func (v *Values) Quoted(m *echo.Message) *echo.Message {
	if v == nil {
		return nil
	}
	if list := v.lists[m.Text()]; list != "" && m.Kind() == echo.KindAnswer {
		return instead(m, list)
	}
	if v.shows(m) {
		return instead(m, Lookup)
	}
	if tellsAgain(m) {
		return v.cut(m, v.told)
	}
	if !isWritten(m.Kind()) {
		return nil
	}
	return v.cut(m, func(text string) string { return without(text, v.texts()) })
}

// cut returns a message with other texts in place of its own; nil: they are the same.
func (v *Values) cut(m *echo.Message, of func(string) string) *echo.Message {
	d, found := m.Draft(), false
	d.Parts = slices.Clone(d.Parts)
	for i := range d.Parts {
		if p := &d.Parts[i]; p.Type == echo.PartText {
			was := p.Text
			p.Text = of(was)
			found = found || p.Text != was
		}
	}
	if !found {
		return nil
	}
	return echo.Seal(d)
}

// without returns a text with [Text] in place of others.
func without(text string, others []string) string {
	for _, o := range others {
		text = strings.ReplaceAll(text, o, Text)
	}
	return text
}

func instead(m *echo.Message, text string) *echo.Message {
	d := m.Draft()
	d.Parts = echo.Text(text)
	return echo.Seal(d)
}

// Told returns a message as it may be told by now: what is sent in place of it ([Values.Quoted]), or itself.
func (v *Values) Told(m *echo.Message) *echo.Message {
	if instead := v.Quoted(m); instead != nil {
		return instead
	}
	return m
}

// isWritten reports whether messages of a kind are written by templates of the cascade, or by the engine: what it has brought of earlier
// phases, and what a person was asked.
func isWritten(k echo.Kind) bool {
	switch k { //nolint:exhaustive // the others are words of models, tools and people
	case echo.KindSystem, echo.KindTask, echo.KindTurnPrompt, echo.KindRetry, echo.KindContext, echo.KindNotice:
		return true
	}
	return false
}

// texts are those that are withheld and long enough to be known again, the longest first: one may be a part of another.
func (v *Values) texts() []string {
	if v.long == nil {
		v.long = longest(v.written(nil))
	}
	return v.long
}

// written are the texts that templates may have written, and others.
func (v *Values) written(others []any) []string {
	others = append(v.unkept(true, v.said), others...)
	out := addTexts(nil, v.outputs)
	for _, set := range v.set {
		out = addTexts(out, set)
	}
	return addTexts(out, others)
}

// longest sorts texts, each once, the longest first.
func longest(list []string) []string {
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Clip(slices.Compact(append([]string{}, list...)))
}

func addTexts(list []string, value any) []string {
	switch x := value.(type) {
	case string:
		if x = strings.TrimSpace(x); len(x) < shortest {
			return list
		}
		list = append(list, x)
		for _, escape := range []bool{true, false} { // in a value that was rendered as JSON
			if in := inJSON(x, escape); in != x {
				list = append(list, in)
			}
		}
	case []any:
		for _, e := range x {
			list = addTexts(list, e)
		}
	case map[string]any:
		for _, e := range x {
			list = addTexts(list, e)
		}
	}
	return list
}

// inJSON returns a text as JSON has it between the quotation marks.
func inJSON(text string, html bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	if enc.Encode(text) != nil {
		return text
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}
