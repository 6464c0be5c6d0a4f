// Package people has what a phase asks of people: its settings as a file has them, and their own rules.
package people

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
)

// HumanInput asks a person when the phase has its output. In a file it is true, or an object.
type HumanInput struct {
	Type           string   `json:"type,omitempty"`   // see Kind; default text, with options choice, with fields form
	Prompt         string   `json:"prompt,omitempty"` // a template; default: whether the output is right
	Options        []Option `json:"options,omitempty"`
	Fields         []Field  `json:"fields,omitempty"`
	Condition      string   `json:"condition,omitempty"` // a template; "", "false", "0", "none": nobody is asked
	TimeoutSeconds float64  `json:"timeout_seconds,omitempty"`
	OnTimeout      string   `json:"on_timeout,omitempty"` // continue (default), fail or default
	DefaultValue   any      `json:"default_value,omitempty"`
}

// Option is a choice. In a file it is its id, or an object.
type Option = echo.Option

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

// Form returns what is asked, without the question.
func (h *HumanInput) Form() *echo.Form {
	f := &echo.Form{Kind: echo.FormKind(h.Kind()), Options: h.Options}
	f.Most = most(f.Kind)
	for _, x := range h.Fields {
		kind := echo.FormKind(cmp.Or(x.Type, string(echo.FormText)))
		f.Fields = append(f.Fields, echo.Field{Name: x.Name, Label: x.Label, Kind: kind, Options: x.Options, Most: most(kind), Required: x.Required})
	}
	return f
}

func most(kind echo.FormKind) int {
	if kind == echo.FormRating {
		return waiting.DefaultMost
	}
	return 0
}

// Default returns the value that is taken when nobody answers in time and on_timeout is default, as an answer
// has it. The error is a [*waiting.FormError].
func (h *HumanInput) Default() (any, error) {
	if h.Expiry() != Default {
		return nil, nil //nolint:nilnil // nothing is taken
	}
	return waiting.Check(h.Form(), h.DefaultValue)
}

// UnmarshalJSON reads true, or an object. Numbers of the default keep their digits.
func (h *HumanInput) UnmarshalJSON(text []byte) error {
	type plain HumanInput
	return readTrueOr(text, h, (*plain)(h))
}

// readTrueOr reads true as a block without settings, or an object.
func readTrueOr[T, P any](text []byte, block *T, plain *P) error {
	switch document.KindOf(text) {
	case 'n':
		return nil
	case 't':
		*block = *new(T)
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return dec.Decode(plain)
}
