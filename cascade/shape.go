package cascade

import (
	"encoding/json"
	"slices"
)

// shape is what can be taken of a value; a nil one may have anything.
type shape struct {
	members map[string]*shape // the known ones; nil: it is no object that is known
	closed  bool              // there are no others
	item    *shape            // of a list
	kind    string            // what a value without members is, as "a list"; "": it may have members
}

// maxShape bounds how deep a schema is read for what a template may take of a value.
const maxShape = 20

// shapeOf reads a JSON Schema as far as what it says holds for every value.
func shapeOf(raw json.RawMessage, depth int) *shape { return readShape(raw, depth, false) }

// shapeOfObject is shapeOf for a value that is an object, whether the schema says so or not.
func shapeOfObject(raw json.RawMessage) *shape { return readShape(raw, 0, true) }

func readShape(raw json.RawMessage, depth int, object bool) *shape {
	var s struct {
		Ref        any                        `json:"$ref"`
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   any                        `json:"patternProperties"`
		Items      json.RawMessage            `json:"items"`
		More       json.RawMessage            `json:"additionalProperties"`
	}
	if depth > maxShape || json.Unmarshal(raw, &s) != nil || s.Ref != nil {
		return nil
	}
	switch s.Type {
	case "array":
		return &shape{kind: "a list", item: shapeOf(s.Items, depth+1)}
	case "string":
		return &shape{kind: "a string"}
	case "integer", "number":
		return &shape{kind: "a number"}
	case "boolean":
		return &shape{kind: "a boolean"}
	case nil, "object":
	default:
		return nil
	}
	closed := string(s.More) == "false" && s.Patterns == nil
	if s.Properties == nil && !closed || s.Type == nil && !closed && !object {
		return nil
	}
	return objectShape(s.Properties, closed, depth)
}

func objectShape(properties map[string]json.RawMessage, closed bool, depth int) *shape {
	out := &shape{members: make(map[string]*shape, len(properties)), closed: closed}
	for name, raw := range properties {
		out.members[name] = shapeOf(raw, depth+1)
	}
	return out
}

// shapeOfInputs returns the shape of what an inputs_schema says. One that gives names does not keep
// others out.
func shapeOfInputs(s *InputsSchema) *shape {
	switch {
	case s == nil:
		return nil
	case s.Schema != nil:
		return shapeOfObject(s.Schema)
	}
	out := &shape{members: make(map[string]*shape, len(s.Names))}
	for name := range s.Names {
		out.members[name] = nil
	}
	return out
}

// declaresAll reports whether a schema of inputs says nothing of others than those it names.
func declaresAll(s *InputsSchema) bool {
	if s == nil || s.Schema == nil {
		return s != nil && len(s.Names) > 0
	}
	var keys map[string]json.RawMessage
	if json.Unmarshal(s.Schema, &keys) != nil {
		return false
	}
	says := func(key string) bool { return keys[key] != nil }
	return says("properties") && !slices.ContainsFunc([]string{
		"additionalProperties", "patternProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "dependentSchemas",
	}, says)
}

// shapeOfSample returns the shape of values of which there is an example. An empty object is open.
func shapeOfSample(v any) *shape {
	switch x := v.(type) {
	case map[string]any:
		if len(x) == 0 {
			return nil
		}
		out := &shape{members: map[string]*shape{}, closed: true}
		for name, m := range x {
			out.members[name] = shapeOfSample(m)
		}
		return out
	case []any:
		return &shape{kind: "a list"}
	case string:
		return &shape{kind: "a string"}
	case int:
		return &shape{kind: "a number"}
	case bool:
		return &shape{kind: "a boolean"}
	}
	return nil
}

// lack is the first member on a path that a value does not have.
type lack struct {
	at    int    // in the path
	of    *shape // what does not have it
	never bool   // it cannot: otherwise nobody says that it has
}

// missing follows a path from a value that is its element at-1.
func (s *shape) missing(path []any, at int) *lack {
	for ; s != nil && at < len(path); at++ {
		name, isName := path[at].(string)
		switch {
		case !isName:
			s = s.item
			continue
		case s.kind != "":
			return &lack{at, s, true}
		}
		next, known := s.members[name]
		if !known {
			if s.closed || s.members != nil {
				return &lack{at, s, s.closed}
			}
			return nil
		}
		s = next
	}
	return nil
}
