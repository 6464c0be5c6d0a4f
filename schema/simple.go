package schema

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxSimpleBytes is how long a value may be that is checked without the library, whose bounds of work
// it cannot reach then.
const maxSimpleBytes = 64 << 10

// simple is what most schemas of tools are: types of named properties and of items, and which of them
// are required. It only accepts: a value that it does not is left to the library, which takes some
// thirty allocations for the smallest one.
type simple struct {
	kind       string // of values
	properties map[string]*simple
	required   []string
	items      *simple
	enum       []any // texts; nil: any
}

var simpleKinds = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// simpleOf returns a schema as a simple one, nil when it says more or is not certainly valid.
func simpleOf(doc any) *simple {
	m, ok := doc.(map[string]any)
	if !ok {
		return nil
	}
	p := &simple{}
	if p.kind, ok = m["type"].(string); !ok || !slices.Contains(simpleKinds, p.kind) {
		return nil
	}
	for key, v := range m {
		if !p.keyword(key, v) {
			return nil
		}
	}
	return p
}

// keyword reads a member of a schema, and reports whether it is understood.
func (p *simple) keyword(key string, v any) bool {
	switch key {
	case "type", "default":
		return true
	case "title", "description":
		_, ok := v.(string)
		return ok
	case "additionalProperties":
		_, ok := v.(bool) // a property that is not named is not accepted here
		return ok
	case "properties":
		named, ok := v.(map[string]any)
		p.properties = make(map[string]*simple, len(named))
		for name, s := range named {
			p.properties[name] = simpleOf(s)
			ok = ok && p.properties[name] != nil
		}
		return ok
	case "items":
		p.items = simpleOf(v)
		return p.items != nil
	case "required":
		names, ok := v.([]any)
		for _, n := range names {
			name, text := n.(string)
			ok = ok && text && !slices.Contains(p.required, name)
			p.required = append(p.required, name)
		}
		return ok
	case "enum":
		values, ok := v.([]any)
		p.enum = values
		return ok && p.kind == "string" && !slices.ContainsFunc(values, func(x any) bool { _, text := x.(string); return !text })
	}
	return false
}

// accepts reports whether a value certainly is as the schema says.
func (p *simple) accepts(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		return p.kind == "object" && p.acceptsObject(v)
	case []any:
		return p.kind == "array" && p.items != nil && !slices.ContainsFunc(v, func(x any) bool { return !p.items.accepts(x) })
	case string:
		return p.kind == "string" && (p.enum == nil || slices.Contains(p.enum, any(v)))
	case json.Number:
		short := len(v) < 16 && !strings.ContainsAny(string(v), "eE")
		return short && (p.kind == "number" || p.kind == "integer" && !strings.Contains(string(v), "."))
	case bool:
		return p.kind == "boolean"
	}
	return v == nil && p.kind == "null"
}

func (p *simple) acceptsObject(v map[string]any) bool {
	for _, name := range p.required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, x := range v {
		if s := p.properties[name]; s == nil || !s.accepts(x) {
			return false
		}
	}
	return true
}
