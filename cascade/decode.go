package cascade

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/settings"
)

// The short forms of the language: a string for an object, an element for a list. JSON null leaves
// a value as it is: the loader writes it in place of what is wrong.

// oneOrMany reads a list, or a single element as a list of one.
type oneOrMany[T any] []T

func (l *oneOrMany[T]) UnmarshalJSON(data []byte) error {
	switch document.KindOf(data) {
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

// UnmarshalJSON also reads "tools" for "tackle", and a single hand-off or phase of "after" for a list
// of one.
func (p *Phase) UnmarshalJSON(data []byte) error {
	type plain Phase
	aux := struct {
		*plain
		Handoffs *oneOrMany[Handoff] `json:"handoffs"`
		After    *oneOrMany[string]  `json:"after"`
		Tools    []string            `json:"tools"`
	}{(*plain)(p), (*oneOrMany[Handoff])(&p.Handoffs), (*oneOrMany[string])(&p.After), nil}
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
		From    *oneOrMany[Source] `json:"from"`
		Include []Include          `json:"include"` // of older files
	}{plain: (*plain)(c), From: (*oneOrMany[Source])(&c.From)}
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

// UnmarshalJSON reads a validator or an object.
func (w *Ward) UnmarshalJSON(data []byte) error {
	type plain Ward
	return document.ReadEither(data, document.AString, &w.Validator, (*plain)(w))
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

// UnmarshalJSON reads seconds or a string as in "1m30s".
func (d *Duration) UnmarshalJSON(data []byte) error {
	switch document.KindOf(data) {
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
