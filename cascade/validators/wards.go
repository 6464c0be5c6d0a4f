package validators

import (
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
)

// Wards are the validators that stand around a phase.
type Wards struct {
	Pre  []Ward `json:"pre,omitempty"`  // see the rendered input, before anything is paid
	Turn []Ward `json:"turn,omitempty"` // see each answer
	Post []Ward `json:"post,omitempty"` // see the output, after output_schema and loop_until
}

// Ward is a validator that stands before, within or after a phase.
type Ward struct {
	Validator   string `json:"validator"` // as in loop_until
	Mode        Mode   `json:"mode,omitempty"`
	MaxAttempts int    `json:"max_attempts,omitempty"` // retry: how often another attempt begins, default 1
}

// Retries reports whether a ward of the phase can begin another attempt.
func (w *Wards) Retries() bool {
	return w != nil && slices.ContainsFunc(slices.Concat(w.Turn, w.Post), func(w Ward) bool { return w.Mode == Retry })
}

// Mode says what a ward does with what it rejects.
type Mode string

// The modes.
const (
	Blocking Mode = "blocking" // the phase fails; the default
	Retry    Mode = "retry"    // the next attempt begins, with the reason
	Advisory Mode = "advisory" // a warning is recorded
)

// UnmarshalJSON reads a validator or an object.
func (w *Ward) UnmarshalJSON(data []byte) error {
	type plain Ward
	return document.ReadEither(data, document.AString, &w.Validator, (*plain)(w))
}
