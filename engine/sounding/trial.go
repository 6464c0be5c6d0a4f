package sounding

import (
	"maps"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Trial is which of several tries of a whole cascade a run is, as it is begun: with the model, and the
// settings of it, in its cascade.
type Trial struct {
	echo.Candidate
	RewriteModel string   `json:"rewrite_model,omitempty"`
	Winners      []string `json:"winners,omitempty"` // earlier rewrites that have won, the newest first
}

// Recorded returns what the parent records of it, nil for none.
func (t *Trial) Recorded() *echo.Candidate {
	if t == nil {
		return nil
	}
	return &t.Candidate
}

// Model returns the model that it asks by default, "" when that is the one of the run that has begun it.
func (t *Trial) Model() string {
	if t == nil {
		return ""
	}
	return t.Candidate.Model
}

// Vars returns what the templates of the run see besides.
func (t *Trial) Vars() map[string]any {
	p := Plan{Index: t.Index, Factor: t.Factor}
	return p.Vars()
}

// Changes reports whether the instructions of a phase are changed: those of the first phase of the file
// that asks a model.
func (t *Trial) Changes(c *cascade.Cascade, def *cascade.Phase) bool {
	if t == nil || t.Mutation == nil {
		return false
	}
	for i := range c.Phases {
		if !c.Phases[i].Deterministic() {
			return c.Phases[i].Name == def.Name
		}
	}
	return false
}

// Rewording returns how the instructions are changed.
func (t *Trial) Rewording(model string) Rewording {
	if t.RewriteModel != "" {
		model = t.RewriteModel
	}
	return Rewording{Mutation: t.Mutation, Model: model, Winners: t.Winners}
}

// Trial returns the candidate as a run of the whole cascade.
func (c *Candidate) Trial() *Trial {
	return &Trial{Candidate: c.Recorded(c.Model.Name), RewriteModel: c.Of.Settings.RewriteModel, Winners: c.Of.Winners}
}

// Cascade returns the cascade as the candidate runs it.
func (p *Plan) Cascade(of *cascade.Cascade) *cascade.Cascade {
	c := *of
	c.Soundings = nil
	m := p.Model
	if m.Name == "" {
		return &c
	}
	c.Model = m.Name
	c.Phases = append([]cascade.Phase(nil), of.Phases...)
	for i := range c.Phases {
		if phase := &c.Phases[i]; !phase.Deterministic() {
			if phase.Temperature == nil {
				phase.Temperature = m.Temperature
			}
			if phase.MaxOutputTokens == 0 {
				phase.MaxOutputTokens = m.MaxOutputTokens
			}
		}
	}
	return &c
}

// RefinementContext is the name of the input that a run of a cascade gets in a step of refinement.
const RefinementContext = "_refinement_context"

// Input returns the input of a run of the whole cascade.
func (c *Candidate) Input(of map[string]any) map[string]any {
	input := map[string]any{}
	maps.Copy(input, of)
	if c.Hone != nil {
		input[RefinementContext] = map[string]any{"best": c.Hone.Best, "prompt": c.Hone.prompt(), "step": c.Step}
	}
	return input
}

// WholeSpecies is [Species] for a whole cascade.
func WholeSpecies(of *cascade.Cascade) string {
	p := Plan{Model: soundings.Model{Name: "-"}}
	c := p.Cascade(of)
	c.Fallback = nil
	for i := range c.Phases {
		c.Phases[i].Model, c.Phases[i].Fallback = "", nil
	}
	return digits(effect.MustJSON(c))
}

// OwnInput returns an input without what a step of refinement has added.
func OwnInput(of map[string]any) map[string]any {
	if _, ok := of[RefinementContext]; !ok {
		return of
	}
	own := maps.Clone(of)
	delete(own, RefinementContext)
	return own
}

// WholeTask says what candidates of the whole cascade were asked.
func WholeTask(c *cascade.Cascade, input map[string]any) string {
	text := "Run the workflow " + c.CascadeID + "."
	if c.Description != "" {
		text += "\n\n" + c.Description
	}
	if len(input) == 0 {
		return text
	}
	return text + "\n\nInput:\n" + string(effect.MustJSON(input))
}
