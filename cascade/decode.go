package cascade

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// The short forms of the language: a string for an object, an element for a list. JSON null leaves
// a value as it is: the loader writes it in place of what is wrong.

// oneOrMany reads a list, or a single element as a list of one.
type oneOrMany[T any] []T

func (l *oneOrMany[T]) UnmarshalJSON(data []byte) error {
	switch kindOf(data) {
	case 'n':
		return nil
	case '[':
		return json.Unmarshal(data, (*[]T)(l))
	}
	var one T
	if err := json.Unmarshal(data, &one); err != nil {
		return err
	}
	*l = oneOrMany[T]{one}
	return nil
}

// kindOf returns the first byte of a JSON value, which tells its type: 'n' is null.
func kindOf(data []byte) byte {
	data = bytes.TrimLeft(data, " \t\r\n")
	if len(data) == 0 {
		return 0
	}
	return data[0]
}

// UnmarshalJSON also reads "tools" for "tackle" and a single hand-off for a list of one.
func (p *Phase) UnmarshalJSON(data []byte) error {
	type plain Phase
	aux := struct {
		*plain
		Handoffs *oneOrMany[Handoff] `json:"handoffs"`
		Tools    []string            `json:"tools"`
	}{(*plain)(p), (*oneOrMany[Handoff])(&p.Handoffs), nil}
	err := json.Unmarshal(data, &aux)
	if p.Tackle == nil {
		p.Tackle = aux.Tools
	}
	return err
}

// UnmarshalJSON also reads a single source for a list of one, and prev for previous.
func (c *Context) UnmarshalJSON(data []byte) error {
	type plain Context
	aux := struct {
		*plain
		From *oneOrMany[Source] `json:"from"`
	}{(*plain)(c), (*oneOrMany[Source])(&c.From)}
	err := json.Unmarshal(data, &aux)
	canonicalSources(c.Exclude)
	return err
}

// UnmarshalJSON also reads prev for previous.
func (a *Anchors) UnmarshalJSON(data []byte) error {
	type plain Anchors
	err := json.Unmarshal(data, (*plain)(a))
	canonicalSources(a.FromPhases)
	return err
}

// fromPrev is the short way to write [FromPrevious].
const fromPrev = "prev"

func canonicalSources(names []string) {
	for i, name := range names {
		if name == fromPrev {
			names[i] = FromPrevious
		}
	}
}

// readEither reads the short form when the JSON begins with one of the bytes, else the object.
func readEither(data []byte, begins string, short, object any) error {
	if strings.IndexByte(begins, kindOf(data)) >= 0 {
		return json.Unmarshal(data, short)
	}
	return json.Unmarshal(data, object)
}

const (
	aString  = `"`
	aBoolean = "tf"
	anything = `{["-0123456789tfn`
)

// UnmarshalJSON reads a name or an object.
func (s *Source) UnmarshalJSON(data []byte) error {
	type plain Source
	err := readEither(data, aString, &s.Phase, (*plain)(s))
	if s.Phase == fromPrev {
		s.Phase = FromPrevious
	}
	return err
}

// UnmarshalJSON reads a phase's name or an object.
func (h *Handoff) UnmarshalJSON(data []byte) error {
	type plain Handoff
	return readEither(data, aString, &h.Target, (*plain)(h))
}

// UnmarshalJSON reads a template for the output's callout, or an object.
func (c *Callouts) UnmarshalJSON(data []byte) error {
	type plain Callouts
	return readEither(data, aString, &c.Output, (*plain)(c))
}

// UnmarshalJSON reads a phase's name or a phase.
func (e *OnError) UnmarshalJSON(data []byte) error {
	return readEither(data, aString, &e.Phase, &e.Inline)
}

// MarshalJSON writes the form that is set.
func (e OnError) MarshalJSON() ([]byte, error) {
	if e.Inline != nil {
		return json.Marshal(e.Inline)
	}
	return json.Marshal(e.Phase)
}

// UnmarshalJSON reads an object, or a boolean that switches the block on or off.
func (t *Truncation) UnmarshalJSON(data []byte) error {
	type plain Truncation
	return readEither(data, aBoolean, &t.Enabled, (*plain)(t))
}

// UnmarshalJSON reads an object, or a boolean that switches the block on or off.
func (c *ClearToolUses) UnmarshalJSON(data []byte) error {
	type plain ClearToolUses
	return readEither(data, aBoolean, &c.Enabled, (*plain)(c))
}

// UnmarshalJSON reads an object, or a boolean that switches the guard on or off.
func (g *Guard) UnmarshalJSON(data []byte) error {
	type plain Guard
	return readEither(data, aBoolean, &g.Enabled, (*plain)(g))
}

// UnmarshalJSON reads a JSON Schema (see isSchema) or names with descriptions. description.
func (s *InputsSchema) UnmarshalJSON(data []byte) error {
	if kindOf(data) == 'n' {
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
		if kindOf(raw) == 'n' {
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
		if kind := kindOf(raw); kind != 0 && strings.IndexByte(schemaKeywords[key], kind) >= 0 {
			return true
		}
	}
	return false
}

// schemaKeywords are the keywords that tell a schema, with the first bytes of their values.
var schemaKeywords = map[string]string{
	"properties": "{", "patternProperties": "{", "$defs": "{", "definitions": "{", "additionalProperties": "{", "not": "{", "if": "{",
	"type": "[", "required": "[", "allOf": "[", "anyOf": "[", "oneOf": "[", "enum": "[",
	"$schema": anything, "$ref": anything, "$id": anything,
}

// MarshalJSON writes the form that is set.
func (s InputsSchema) MarshalJSON() ([]byte, error) {
	if s.Schema != nil {
		return s.Schema, nil
	}
	return json.Marshal(s.Names)
}

// JSONSchema returns either form of the contract as a JSON Schema; a nil one allows any object.
func (s *InputsSchema) JSONSchema() json.RawMessage {
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
		panic(fmt.Sprintf("cascade: encode strings: %v", err)) // Maps of strings always encode.
	}
	return raw
}

// UnmarshalJSON reads seconds or a string as in "1m30s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	switch kindOf(data) {
	case 'n':
		return nil
	case '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		v, err := time.ParseDuration(text)
		*d = Duration(v)
		return err
	}
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return err
	}
	if limit := time.Duration(1<<63 - 1).Seconds(); seconds >= limit || seconds <= -limit {
		return fmt.Errorf("%g seconds are more than a duration holds", seconds)
	}
	*d = Duration(seconds * float64(time.Second))
	return nil
}

// MarshalJSON writes the form of [time.Duration.String].
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

func (d Duration) String() string { return time.Duration(d).String() }
