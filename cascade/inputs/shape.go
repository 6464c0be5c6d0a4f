package inputs

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/shape"
)

// Takes reports whether an input of this name can be given: whether a JSON Schema does not keep it
// out.
func (s *Contract) Takes(name string) bool {
	if s == nil || s.Schema == nil {
		return true
	}
	of := shape.OfObject(s.Schema)
	if of == nil || !of.Closed {
		return true
	}
	_, ok := of.Members[name]
	return ok
}

// Shape returns the shape of what the contract says, nil when it does not say it. One that gives names
// does not keep others out.
func (s *Contract) Shape() *shape.Shape {
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

// DeclaresAll reports whether the contract says nothing of others than those it names.
func (s *Contract) DeclaresAll() bool {
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

// Members returns the names of the inputs.
func (s *Contract) Members() []string {
	of := s.Shape()
	if of == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(of.Members))
}
