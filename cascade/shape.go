package cascade

import (
	"encoding/json"
	"slices"

	"github.com/windlass-run/windlass/cascade/shape"
)

// shapeOfInputs returns the shape of what an inputs_schema says. One that gives names does not keep
// others out.
func shapeOfInputs(s *InputsSchema) *shape.Shape {
	switch {
	case s == nil:
		return nil
	case s.Schema != nil:
		return shape.OfObject(s.Schema)
	}
	out := &shape.Shape{Members: make(map[string]*shape.Shape, len(s.Names))}
	for name := range s.Names {
		out.Members[name] = nil
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
