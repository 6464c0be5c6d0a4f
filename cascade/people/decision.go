package people

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/cascade/wording"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/source"
)

// DecisionPoints lets a model ask a person to decide, in its output. In a file it is true, or an object.
type DecisionPoints struct {
	Trigger        string            `json:"trigger,omitempty"` // output
	Routing        map[string]string `json:"routing,omitempty"` // what follows, by the ids of options: a phase, or one of the words of waiting
	UI             map[string]any    `json:"ui,omitempty"`      // of older files; not used
	TimeoutSeconds float64           `json:"timeout_seconds,omitempty"`
	OnTimeout      string            `json:"on_timeout,omitempty"`  // continue (default) or fail
	MaxRetries     *int              `json:"max_retries,omitempty"` // default 2
}

// DefaultMaxRetries is how often a person can have the phase run again.
const DefaultMaxRetries = 2

// Retries returns how often a person can have the phase run again.
func (d *DecisionPoints) Retries() int {
	if d.MaxRetries == nil {
		return DefaultMaxRetries
	}
	return *d.MaxRetries
}

// Expiry returns what follows when nobody answers in time.
func (d *DecisionPoints) Expiry() string {
	if d.TimeoutSeconds <= 0 {
		return ""
	}
	return cmp.Or(d.OnTimeout, Continue)
}

// LeadsTo returns the phases that decisions lead to, sorted; nil for no decision points.
func (d *DecisionPoints) LeadsTo() []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, to := range slices.Sorted(maps.Values(d.Routing)) {
		if !waiting.IsAction(to) && !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	return out
}

// Around is the phase that has decision points.
type Around struct {
	Title   string
	IsGraph bool // no phase leads to another there
	IsPhase func(name string) bool
	// Target holds the name of a phase that a decision leads to against the cascade.
	Target func(at document.Place, name, from string)
}

// Check holds the block of a phase to its rules.
func (d *DecisionPoints) Check(phase document.Place, p Around) {
	at := phase.Key("decision_points")
	for _, key := range phase.Written("human_input", "soundings", "for_each") {
		if !phase.Intact(key) {
			continue
		}
		phase.KeyError("decision_points", document.CodeConflicting, fmt.Sprintf("%s has decision_points and %q: %s", p.Title, key, conflicts[key]), "put one of the two into a phase of its own")
	}
	if n := at.Node(); n == nil || n.Kind != source.Object {
		return
	}
	for _, id := range slices.Sorted(maps.Keys(d.Routing)) {
		where, to := at.Keys("routing", id), d.Routing[id]
		switch {
		case !where.Sound() || waiting.IsAction(to):
		case p.IsGraph:
			where.Error(document.CodeConflicting, fmt.Sprintf("the decision %q of %s leads to %q, and in a cascade with \"after\" no phase leads to another", id, p.Title, to), "write _continue, _retry or _abort")
		case !p.IsPhase(to) && wording.Meant(to, actions) != "":
			where.Error(document.CodeUnknownPhase, fmt.Sprintf("the decision %q of %s leads to %q, which is no phase", id, p.Title, to), wording.Meant(to, actions))
		default:
			p.Target(where, to, fmt.Sprintf("the decision %q of %s", id, p.Title))
		}
	}
	if _, has := d.Routing[""]; has && at.Intact("routing") {
		at.Key("routing").NoEffect("", fmt.Sprintf("a decision of %s that has no id never comes: every option has one", p.Title), "write the id of an option, as the model gives it, or remove it")
	}
	if at.Has("on_timeout") && at.Intact("on_timeout", "timeout_seconds") && !at.Has("timeout_seconds") && !at.Meant("timeout_seconds") {
		at.NoEffect("on_timeout", fmt.Sprintf("%s waits without an end, so nothing follows", at.Describe()), `add "timeout_seconds", or remove it`)
	}
	if at.Has("ui") && at.Intact("ui") {
		at.NoEffect("ui", fmt.Sprintf("%s is not used: each way to answer shows decisions in its own form", at.Key("ui").Describe()), "remove it")
	}
}

var actions = []string{waiting.ActionContinue, waiting.ActionRetry, waiting.ActionAbort}

var conflicts = map[string]string{
	"human_input": "both answers would be in state.human_NAME",
	"soundings":   "a decision is about one output, before the candidates are judged there are several",
	"for_each":    "a decision is about the output of a phase, not about each of its elements",
}

// UnmarshalJSON reads true, or an object.
func (d *DecisionPoints) UnmarshalJSON(text []byte) error {
	type plain DecisionPoints
	return readTrueOr(text, d, (*plain)(d))
}
