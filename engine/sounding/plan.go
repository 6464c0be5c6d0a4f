package sounding

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Plan is how a candidate differs from the phase.
type Plan struct {
	Index    int             // from 0, as templates see it
	Factor   int             // how many candidates the step has when it begins
	Model    soundings.Model // without a name: the model is that of the phase
	Mutation *echo.Mutation  // nil: the instructions are as the file has them; a rewrite has no text yet
}

// Phase returns the phase as the candidate runs it.
func (p *Plan) Phase(def *cascade.Phase) *cascade.Phase {
	d := *def
	d.Soundings = nil
	if p.Model.Name == "" {
		return &d
	}
	d.Model = p.Model.Name
	if p.Model.Temperature != nil {
		d.Temperature = p.Model.Temperature
	}
	if p.Model.MaxOutputTokens > 0 {
		d.MaxOutputTokens = p.Model.MaxOutputTokens
	}
	return &d
}

// Vars returns what the templates of the candidate see besides.
func (p *Plan) Vars() map[string]any {
	return map[string]any{"sounding_index": p.Index, "sounding_factor": p.Factor, "is_sounding": true}
}

// Species returns what makes rewrites of a phase comparable: 16 hexadecimal digits, the hash of
// everything of it but the models and how it is tried, and of all that its templates are given. Rewrites are of
// rendered instructions: a run is never shown those with the input or the state of another one.
func Species(def *cascade.Phase, given string) string {
	d := *def
	d.Model, d.Fallback, d.Soundings = "", nil, nil
	return digits(append(effect.MustJSON(d), given...))
}

// Seed returns what decides by chance for the candidates of a place.
func Seed(session string, place echo.Key) string {
	return digits([]byte(session + "\n" + place.String()))
}

func digits(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Rewritten reports whether a model rewrites the instructions.
func (p *Plan) Rewritten() bool {
	how := Rewording{Mutation: p.Mutation}
	return how.AsksModel()
}

// Recorded returns what is recorded of a candidate that asks a model, "" for none.
func (c *Candidate) Recorded(model string) echo.Candidate {
	return echo.Candidate{Index: c.Index, Factor: c.Factor, Model: model, Mutation: c.Mutation, Species: c.Of.Species, Context: c.Context}
}
