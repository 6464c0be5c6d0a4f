package llm

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
)

// markedEndpoints are those that are known to keep a prefix only where a request says so: a part of a
// message's content with the member cache_control. Anthropic's own endpoint of the
// chat-completions protocol is none: it keeps nothing and passes such members over.
var markedEndpoints = []struct{ host, model string }{ // model is how names of it begin
	{"openrouter.ai", "anthropic/claude-"},
}

// marksCache reports whether requests to a model mark what is to be cached.
func (r *Router) marksCache(model string, m config.Model) bool {
	if m.CacheControl != nil {
		return *m.CacheControl
	}
	u, err := url.Parse(cmp.Or(m.BaseURL, r.defaultURL()))
	if err != nil {
		return false
	}
	name := strings.ToLower(cmp.Or(m.Model, model))
	return slices.ContainsFunc(markedEndpoints, func(e struct{ host, model string }) bool {
		return strings.EqualFold(u.Hostname(), e.host) && strings.HasPrefix(name, e.model)
	})
}

const cacheControl = `"cache_control":{"type":"ephemeral"}`

// contentHead is how the encoding of a message begins.
const contentHead = `{"content":`

// marked returns the encoding of a message with a mark on its last part that is text, or as it is when
// it has none: nothing else can be marked.
func marked(m *echo.Message) []byte {
	content, whole := m.ContentJSON(), m.JSON()
	var marked []byte
	if strings.TrimSpace(m.Text()) == "" {
		return whole
	}
	if content[0] == '"' {
		marked = slices.Concat([]byte(`[{`+cacheControl+`,"text":`), content, []byte(`,"type":"text"}]`))
	} else {
		marked = markedPart(content)
	}
	return slices.Concat([]byte(contentHead), marked, whole[len(contentHead)+len(content):])
}

// markedPart returns a list of parts with a mark on the last one that has text.
func markedPart(content []byte) []byte {
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil {
		return content
	}
	for i, p := range slices.Backward(parts) {
		var part struct{ Text string }
		if json.Unmarshal(p, &part) == nil && strings.TrimSpace(part.Text) != "" {
			parts[i] = slices.Concat([]byte(`{`+cacheControl+`,`), p[1:])
			break
		}
	}
	return slices.Concat([]byte{'['}, bytes.Join(rawBytes(parts), []byte{','}), []byte{']'})
}

func rawBytes(list []json.RawMessage) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
