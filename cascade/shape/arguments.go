package shape

import (
	"bytes"
	"encoding/json"
	"strings"
)

// IsConstant reports whether rendering surely leaves a value as it is: an escape may hide a tag.
func IsConstant(value json.RawMessage) bool {
	return !bytes.ContainsAny(value, `\`) && !bytes.Contains(value, []byte("{{")) && !bytes.Contains(value, []byte("{%")) && !bytes.Contains(value, []byte("{#"))
}

// IsTemplate reports whether a text has a part that is rendered.
func IsTemplate(text string) bool {
	return strings.Contains(text, "{{") || strings.Contains(text, "{%") || strings.Contains(text, "{#")
}

// Fitted returns what a run makes of a text for an argument of another type: the JSON that it begins with.
func Fitted(value, property json.RawMessage) json.RawMessage {
	var of struct {
		Type any `json:"type"`
	}
	var text string
	if json.Unmarshal(property, &of) != nil || of.Type == nil || of.Type == "string" || json.Unmarshal(value, &text) != nil {
		return value
	}
	var read json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&read) != nil {
		return value
	}
	return read
}

// Takes is what a tool takes.
type Takes struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	Shape      *Shape                     `json:"-"`
}

// TakesOf returns nil when a schema of arguments does not say it.
func TakesOf(raw json.RawMessage) *Takes {
	t := &Takes{Shape: OfObject(raw)}
	if raw == nil || json.Unmarshal(raw, t) != nil {
		return nil
	}
	return t
}
