// Package shape says what can be taken of a value, as far as a JSON Schema or an example of it tells.
package shape

import (
	"encoding/json"
	"maps"
)

// Shape is what can be taken of a value; a nil one may have anything.
type Shape struct {
	Members map[string]*Shape // the known ones; nil: it is no object that is known
	Closed  bool              // there are no others
	Item    *Shape            // of a list
	Kind    string            // what a value without members is, as "a list"; "": it may have members
}

// maxDepth bounds how deep a schema is read for what a template may take of a value.
const maxDepth = 20

// Of reads a JSON Schema as far as what it says holds for every value.
func Of(raw json.RawMessage) *Shape { return read(raw, 0, false) }

// OfObject is [Of] for a value that is an object, whether the schema says so or not.
func OfObject(raw json.RawMessage) *Shape { return read(raw, 0, true) }

func read(raw json.RawMessage, depth int, object bool) *Shape {
	var s struct {
		Ref        any                        `json:"$ref"`
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   any                        `json:"patternProperties"`
		Items      json.RawMessage            `json:"items"`
		More       json.RawMessage            `json:"additionalProperties"`
	}
	if depth > maxDepth || json.Unmarshal(raw, &s) != nil || s.Ref != nil {
		return nil
	}
	switch s.Type {
	case "array":
		return &Shape{Kind: "a list", Item: read(s.Items, depth+1, false)}
	case "string":
		return &Shape{Kind: "a string"}
	case "integer", "number":
		return &Shape{Kind: "a number"}
	case "boolean":
		return &Shape{Kind: "a boolean"}
	case nil, "object":
	default:
		return nil
	}
	closed := string(s.More) == "false" && s.Patterns == nil
	if s.Properties == nil && !closed || s.Type == nil && !closed && !object {
		return nil
	}
	return ofMembers(s.Properties, closed, depth)
}

func ofMembers(properties map[string]json.RawMessage, closed bool, depth int) *Shape {
	out := &Shape{Members: make(map[string]*Shape, len(properties)), Closed: closed}
	for name, raw := range properties {
		out.Members[name] = read(raw, depth+1, false)
	}
	return out
}

// OfSample returns the shape of values of which there is an example. An empty object is open.
func OfSample(v any) *Shape {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			return nil
		}
		out := &Shape{Members: map[string]*Shape{}, Closed: true}
		for name, m := range x {
			out.Members[name] = OfSample(m)
		}
		return out
	case []any:
		return &Shape{Kind: "a list"}
	case string:
		return &Shape{Kind: "a string"}
	case int:
		return &Shape{Kind: "a number"}
	case bool:
		return &Shape{Kind: "a boolean"}
	}
	return nil
}

// Lack is the first member on a path that a value does not have.
type Lack struct {
	At    int    // in the path
	Of    *Shape // what does not have it
	Never bool   // it cannot: otherwise nobody says that it has
}

// Missing follows a path from a value that is its element at-1, and returns nil when nothing is lacking.
func (s *Shape) Missing(path []any, at int) *Lack {
	for ; s != nil && at < len(path); at++ {
		name, isName := path[at].(string)
		switch {
		case !isName:
			s = s.Item
			continue
		case s.Kind != "":
			return &Lack{at, s, true}
		}
		next, known := s.Members[name]
		if !known {
			if s.Closed || s.Members != nil {
				return &Lack{at, s, s.Closed}
			}
			return nil
		}
		s = next
	}
	return nil
}

// With returns the shape of an object with further members, which are like these samples.
func (s *Shape) With(samples map[string]any) *Shape {
	if s == nil || s.Members == nil {
		return s
	}
	out := *s
	out.Members = maps.Clone(s.Members)
	for name, v := range samples {
		out.Members[name] = OfSample(v)
	}
	return &out
}

// Absent returns which part of a path a value does not have, -1 when it has all of it.
func Absent(v any, path []any) int {
	for i, part := range path[1:] {
		switch x := v.(type) {
		case map[string]any:
			name, _ := part.(string)
			next, ok := x[name]
			if !ok {
				return i + 1
			}
			v = next
		case []any:
			n, ok := part.(int64)
			if n < 0 {
				n += int64(len(x))
			}
			if !ok || n < 0 || n >= int64(len(x)) {
				return i + 1
			}
			v = x[n]
		case string:
			if _, ok := part.(int64); !ok {
				return i + 1
			}
			return -1
		default:
			return i + 1
		}
	}
	return -1
}
