// Package inputs is the contract of what a run, or a tool, is given: as a file has it, and held against values.
package inputs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/internal/source"
)

// Contract says what an input, or arguments, may be: names with descriptions, or a JSON Schema.
type Contract struct {
	Names  map[string]string // the short form; nil when Schema is set
	Schema json.RawMessage   // the long form; nil when Names is set
}

// UnmarshalJSON reads a JSON Schema (see isSchema) or names with descriptions.
func (s *Contract) UnmarshalJSON(data []byte) error {
	if document.KindOf(data) == 'n' {
		return nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	if isSchema(keys) {
		s.Schema = bytes.Clone(data)
		return nil
	}
	s.Names = make(map[string]string, len(keys))
	for name, raw := range keys {
		if document.KindOf(raw) == 'n' {
			continue
		}
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return fmt.Errorf("input %q: %w", name, err)
		}
		s.Names[name] = text
	}
	return nil
}

// isSchema reports whether a keyword has a value of its kind: an input "type" has a description.
func isSchema(keys map[string]json.RawMessage) bool {
	if string(bytes.TrimSpace(keys["type"])) == `"object"` {
		return true
	}
	for key, raw := range keys {
		if kind := document.KindOf(raw); kind != 0 && strings.IndexByte(schemaKeywords[key], kind) >= 0 {
			return true
		}
	}
	return false
}

// anything has the first bytes of any JSON value.
const anything = `{["-0123456789tfn`

// schemaKeywords are the keywords that tell a schema, with the first bytes of their values.
var schemaKeywords = map[string]string{
	"properties": "{", "patternProperties": "{", "$defs": "{", "definitions": "{", "additionalProperties": "{", "not": "{", "if": "{",
	"type": "[", "required": "[", "allOf": "[", "anyOf": "[", "oneOf": "[", "enum": "[",
	"$schema": anything, "$ref": anything, "$id": anything,
}

// MarshalJSON writes the form that is set.
func (s Contract) MarshalJSON() ([]byte, error) {
	if s.Schema != nil {
		return s.Schema, nil
	}
	return json.Marshal(s.Names)
}

// JSONSchema returns either form of the contract as a JSON Schema; a nil one allows any object.
func (s *Contract) JSONSchema() json.RawMessage {
	if s == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if s.Schema != nil {
		return s.Schema
	}
	properties := make(map[string]any, len(s.Names))
	for name, description := range s.Names {
		properties[name] = map[string]string{"type": "string", "description": description}
	}
	raw, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties, "additionalProperties": false,
		"required": append([]string{}, slices.Sorted(maps.Keys(s.Names))...), // JSON Schema wants a list, not null.
	})
	if err != nil {
		panic(fmt.Sprintf("inputs: encode strings: %v", err)) // Maps of strings always encode.
	}
	return raw
}

// CheckNames reports descriptions of inputs that are no strings, which the JSON Schema of the language
// accepts, and has them left out.
func CheckNames(at document.Place) {
	n := at.Node()
	if n == nil || n.Kind != source.Object || !at.Sound() || isSchemaNode(n) {
		return
	}
	for _, m := range n.Members {
		if m.Value.Kind != source.String {
			at.Key(m.Key).Spoil(source.Drop)
			at.Key(m.Key).Error(document.CodeWrongType, fmt.Sprintf("the input %q has no description: expected a string", m.Key),
				`write {"name": "what it is"}, or a full JSON Schema with "type": "object"`)
		}
	}
}

func isSchemaNode(n *source.Node) bool {
	var keys map[string]json.RawMessage
	return json.Unmarshal(n.JSON(nil), &keys) == nil && isSchema(keys)
}
