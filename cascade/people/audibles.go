package people

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/internal/source"
)

// Audibles lets people say something to a phase while it runs, before its next turn. In a file it is true, false or an object.
type Audibles struct {
	Enabled    *bool `json:"enabled,omitempty"`     // default true
	Budget     *int  `json:"budget,omitempty"`      // how many a visit of the phase takes; default [DefaultAudibles]
	AllowRetry *bool `json:"allow_retry,omitempty"` // whether one may take the newest answer back; default true
}

// DefaultAudibles is how many audibles a visit of a phase takes by default.
const DefaultAudibles = 3

// On reports whether people can say something.
func (a *Audibles) On() bool { return a != nil && (a.Enabled == nil || *a.Enabled) }

// Most returns how many audibles a visit of the phase takes.
func (a *Audibles) Most() int {
	if a.Budget == nil {
		return DefaultAudibles
	}
	return *a.Budget
}

// Retries reports whether an audible may take the newest answer back.
func (a *Audibles) Retries() bool { return a.AllowRetry == nil || *a.AllowRetry }

// Check holds the audibles of a phase, or of the cascade, against their rules.
func (a *Audibles) Check(at document.Place) {
	n := at.Node()
	if n == nil || n.Kind != source.Object || a.On() || !at.Intact("enabled") {
		return
	}
	for _, key := range at.Written("budget", "allow_retry") {
		at.NoEffect(key, fmt.Sprintf("%s is switched off", at.Describe()), `set "enabled" to true, or remove it`)
	}
}

// whyNoAudibles are the keys of a phase beside which it has no audibles.
var whyNoAudibles = map[string]string{
	"soundings": "what one of several candidates is told, the others would not know",
	"for_each":  "what one of its elements is told, the others would not know",
}

// CheckAudibles refuses audibles of a phase that runs in several parts.
func CheckAudibles(phase document.Place, title string, on bool, parts []string) {
	if !on || !phase.Intact("audibles") {
		return
	}
	for _, key := range parts {
		if phase.Intact(key) {
			RefuseAudibles(phase, title+" has audibles", key, "put one of the two into a phase of its own")
		}
	}
}

// RefuseAudibles refuses the audibles of a phase, or of the cascade, for a key that says in which parts it runs.
func RefuseAudibles(at document.Place, has, key, help string) {
	at.KeyError("audibles", document.CodeConflicting, fmt.Sprintf("%s and %q: %s", has, key, whyNoAudibles[key]), help)
}

// UnmarshalJSON reads true, false or an object.
func (a *Audibles) UnmarshalJSON(text []byte) error {
	if document.KindOf(text) == 'f' {
		*a = Audibles{Enabled: new(bool)}
		return nil
	}
	type plain Audibles
	return readTrueOr(text, a, (*plain)(a))
}
