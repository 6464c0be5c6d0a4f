package cascade

import (
	"encoding/json"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/settings"
)

// The short forms of the language: a string for an object, an element for a list. JSON null leaves
// a value as it is: the loader writes it in place of what is wrong.

// UnmarshalJSON also reads "tools" for "tackle", and a single hand-off or phase of "after" for a list
// of one.
func (p *Phase) UnmarshalJSON(data []byte) error {
	type plain Phase
	aux := struct {
		*plain
		Handoffs *document.OneOrMany[Handoff] `json:"handoffs"`
		After    *document.OneOrMany[string]  `json:"after"`
		Tools    []string                     `json:"tools"`
	}{(*plain)(p), (*document.OneOrMany[Handoff])(&p.Handoffs), (*document.OneOrMany[string])(&p.After), nil}
	err := json.Unmarshal(data, &aux)
	if p.Tackle == nil {
		p.Tackle = aux.Tools
	}
	return err
}

// UnmarshalJSON also reads a single source for a list of one, prev for previous, and an include for
// all sources without one.
func (c *Context) UnmarshalJSON(data []byte) error {
	type plain Context
	aux := struct {
		*plain
		From    *document.OneOrMany[Source] `json:"from"`
		Include []Include                   `json:"include"` // of older files
	}{plain: (*plain)(c), From: (*document.OneOrMany[Source])(&c.From)}
	err := json.Unmarshal(data, &aux)
	for i := range c.From {
		if len(c.From[i].Include) == 0 {
			c.From[i].Include = aux.Include
		}
	}
	settings.Canonical(c.Exclude)
	return err
}

// UnmarshalJSON reads a name or an object.
func (s *Source) UnmarshalJSON(data []byte) error {
	type plain Source
	err := document.ReadEither(data, document.AString, &s.Phase, (*plain)(s))
	if s.Phase == settings.FromPrev {
		s.Phase = FromPrevious
	}
	return err
}

// UnmarshalJSON reads a phase's name or an object.
func (h *Handoff) UnmarshalJSON(data []byte) error {
	type plain Handoff
	return document.ReadEither(data, document.AString, &h.Target, (*plain)(h))
}

// UnmarshalJSON reads a ref or an object.
func (s *SubCascade) UnmarshalJSON(data []byte) error {
	type plain SubCascade
	return document.ReadEither(data, document.AString, &s.Ref, (*plain)(s))
}

// UnmarshalJSON reads a ref or an object.
func (a *AsyncCascade) UnmarshalJSON(data []byte) error {
	type plain AsyncCascade
	return document.ReadEither(data, document.AString, &a.Ref, (*plain)(a))
}

// UnmarshalJSON reads a template for the output's callout, or an object.
func (c *Callouts) UnmarshalJSON(data []byte) error {
	type plain Callouts
	return document.ReadEither(data, document.AString, &c.Output, (*plain)(c))
}

// UnmarshalJSON reads a phase's name or a phase.
func (e *OnError) UnmarshalJSON(data []byte) error {
	return document.ReadEither(data, document.AString, &e.Phase, &e.Inline)
}

// MarshalJSON writes the form that is set.
func (e OnError) MarshalJSON() ([]byte, error) {
	if e.Inline != nil {
		return json.Marshal(e.Inline)
	}
	return json.Marshal(e.Phase)
}
