package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/internal/config"
)

// reasoningEndpoints are those that are known to want back what a model reasoned before it called
// tools, and in which member.
var reasoningEndpoints = map[string]string{
	"api.deepseek.com": config.ReasoningContent, // refuses calls without it in thinking mode
	"api.moonshot.ai":  config.ReasoningContent,
	"api.moonshot.cn":  config.ReasoningContent,
	"openrouter.ai":    config.ReasoningDetails, // passes it on to the providers that want it
}

// reasoningMember returns the member in which an endpoint wants reasoning back; "" for none.
func reasoningMember(m config.Model, base *url.URL) string {
	if of := cmp.Or(m.SendReasoning, reasoningEndpoints[strings.ToLower(base.Hostname())]); of != config.ReasoningNone {
		return of
	}
	return ""
}

// thought puts together what a model reasons, as the endpoint wants it back.
type thought struct {
	member string // "": it is dropped
	seen   bool
	text   strings.Builder // reasoning_content
	parts  []map[string]json.RawMessage
}

// add takes what a piece of an answer has of it. What is not in a known form is dropped.
func (t *thought) add(content, details json.RawMessage) {
	switch t.member {
	case config.ReasoningContent:
		var text string
		if content != nil && json.Unmarshal(content, &text) == nil {
			t.seen = true
			t.text.WriteString(text)
		}
	case config.ReasoningDetails:
		var parts []map[string]json.RawMessage
		if details != nil && json.Unmarshal(details, &parts) == nil {
			for _, p := range parts {
				t.part(p)
			}
		}
	}
}

// part takes a piece of reasoning_details: pieces of the same index and type are one, of which the
// texts come in parts and everything else as it comes last.
func (t *thought) part(p map[string]json.RawMessage) {
	t.seen = true
	at := slices.IndexFunc(t.parts, func(o map[string]json.RawMessage) bool {
		return p["index"] != nil && bytes.Equal(o["index"], p["index"]) && bytes.Equal(o["type"], p["type"])
	})
	if at < 0 {
		t.parts = append(t.parts, p)
		return
	}
	for name, value := range p {
		t.parts[at][name] = joined(name, t.parts[at][name], value)
	}
}

// joined returns a member of a piece with what another piece has of it.
func joined(name string, had, value json.RawMessage) json.RawMessage {
	var a, b string
	switch {
	case had == nil || string(had) == "null":
		return value
	case string(value) == "null":
		return had
	case !slices.Contains([]string{"text", "summary", "data"}, name), json.Unmarshal(had, &a) != nil, json.Unmarshal(value, &b) != nil:
		return value
	}
	return encoded(a + b)
}

// members returns what is sent back, as a JSON object, nil for nothing.
func (t *thought) members() json.RawMessage {
	switch {
	case !t.seen:
		return nil
	case t.member == config.ReasoningContent:
		return encoded(map[string]string{t.member: t.text.String()})
	}
	return encoded(map[string]any{t.member: t.parts})
}

// encoded encodes what came from JSON, in the one form in which it is also recorded.
func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("llm: cannot encode what was decoded: " + err.Error())
	}
	return b
}
