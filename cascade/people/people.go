// Package people has what a phase asks of people: its settings as a file has them, and their own rules.
package people

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// HumanInput asks a person when the phase has its output. In a file it is true, or an object.
type HumanInput struct {
	Type           string   `json:"type,omitempty"`   // see Kind; default text, with options choice, with fields form
	Prompt         string   `json:"prompt,omitempty"` // a template; default: the description of the phase's output
	Options        []Option `json:"options,omitempty"`
	Fields         []Field  `json:"fields,omitempty"`
	Condition      string   `json:"condition,omitempty"` // a template; "", "false", "0", "none": nobody is asked
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty"`
	OnTimeout      string   `json:"on_timeout,omitempty"` // continue (default), fail or default
	DefaultValue   any      `json:"default_value,omitempty"`
}

// Option is a choice. In a file it is its id, or an object.
type Option struct {
	ID          string `json:"id"`
	Label       string `json:"label,omitempty"`
	Description string `json:"description,omitempty"`
	Style       string `json:"style,omitempty"`
}

// Field is a part of a form.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label,omitempty"`
	Type     string   `json:"type,omitempty"` // confirmation, choice, multi_choice, rating or text (default)
	Options  []Option `json:"options,omitempty"`
	Required bool     `json:"required,omitempty"`
}

// The words of on_timeout.
const (
	Continue = "continue"
	Fail     = "fail"
	Default  = "default"
)

// Kind returns the kind of the form.
func (h *HumanInput) Kind() string {
	switch {
	case h.Type != "":
		return h.Type
	case len(h.Fields) > 0:
		return "form"
	case len(h.Options) > 0:
		return "choice"
	}
	return "text"
}

// Expiry returns what follows when nobody answers in time.
func (h *HumanInput) Expiry() string {
	if h.TimeoutSeconds <= 0 {
		return ""
	}
	return cmp.Or(h.OnTimeout, Continue)
}

// UnmarshalJSON reads true, or an object.
func (h *HumanInput) UnmarshalJSON(text []byte) error {
	if bytes.Equal(bytes.TrimSpace(text), []byte("true")) {
		*h = HumanInput{}
		return nil
	}
	type plain HumanInput
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode((*plain)(h))
}

// UnmarshalJSON reads an id, or an object.
func (o *Option) UnmarshalJSON(text []byte) error {
	if t := bytes.TrimSpace(text); len(t) > 0 && t[0] == '"' {
		return json.Unmarshal(t, &o.ID)
	}
	type plain Option
	return json.Unmarshal(text, (*plain)(o))
}
