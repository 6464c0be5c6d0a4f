package app

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/script"
)

// The names of models that no endpoint has.
const (
	scriptedModel = "scripted" // of an offline run whose cascade names none
	ownModel      = "own"      // of a run with a model of the caller's
)

// readModels reads models as a header has them: a model for all phases, or PHASE=MODEL.
func readModels(list []string) Models {
	m := Models{Phases: map[string]string{}}
	for _, text := range list {
		if phase, model, one := strings.Cut(text, "="); one {
			m.Phases[phase] = model
		} else {
			m.Default = text
		}
	}
	return m
}

// assignModels sets which phases ask which model.
func (o *opening) assignModels() error {
	c, m := o.run.cascade, o.options.Models
	o.runner.DefaultModel = cmp.Or(m.Default, c.Model, os.Getenv("WINDLASS_MODEL"), o.config.DefaultModel)
	o.runner.PhaseModels = map[string]string{}
	for _, phase := range sortedKeys(m.Phases) {
		if !c.Has(phase) {
			return failure.New(failure.InvalidRequest, &UnknownPhaseError{Phase: phase, Model: m.Phases[phase], File: o.run.header.File}, "")
		}
		o.runner.PhaseModels[phase] = m.Phases[phase]
	}
	switch {
	case o.runner.DefaultModel != "":
	case o.options.Extensions.Model != nil:
		o.runner.DefaultModel = ownModel
	case o.options.Offline:
		o.runner.DefaultModel = scriptedModel
	}
	return nil
}

// chooseModel sets what answers: the caller's model, the script beside the cascade, or the
// endpoints of the configuration, each checked for what it needs before anything is sent.
func (o *opening) chooseModel() error {
	if err := o.assignModels(); err != nil {
		return err
	}
	if err := o.choosePrices(); err != nil {
		return err
	}
	if o.parent != nil {
		return o.shareModel()
	}
	o.router = llm.NewRouter(o.config, environment.Getenv)
	o.router.Know(o.run.secrets)
	o.runner.Facts = o.router.Facts
	switch {
	case o.options.Extensions.Model != nil:
		o.runner.Facts = factsUnasked(o.router)
		o.runner.Model = o.options.Extensions.Model
		return nil
	case o.options.Offline:
		o.runner.Facts = o.run.started.PriceAs.facts(factsOffline(o.router))
		return o.chooseScript()
	}
	o.runner.Model = o.router
	return o.checkModels()
}

// shareModel has a child ask what its parent asks. Its own script comes before that of its parent.
func (o *opening) shareModel() error {
	p := o.parent
	o.router, o.runner.Facts, o.runner.Model, o.script = p.router, p.runner.Facts, p.runner.Model, p.script
	switch {
	case o.options.Extensions.Model != nil:
		return nil
	case !o.options.Offline:
		return o.checkModels()
	}
	if _, err := script.Find(o.run.header.File); o.run.header.Script == "" && errors.Is(err, fs.ErrNotExist) || o.run.header.Script == p.script {
		return nil
	}
	return o.chooseScript()
}

// checkModels finds out whether every model that the run may ask can be asked.
func (o *opening) checkModels() error {
	for _, model := range modelsInUse(o.run.cascade, o.run.started.Off, o.runner, o.config) {
		if model == "" {
			return failure.New(failure.InvalidRequest, &NoModelError{o.run.header.File}, "")
		}
		if err := o.router.Check(model); err != nil {
			return cards.ModelError(err)
		}
	}
	return nil
}

// loadTokenizers loads those of the phases that select, while earlier phases run: what may come in
// is counted for the model of the phase.
func (o *opening) loadTokenizers() {
	c := o.run.cascade
	for p := range c.EachPhase() {
		if c.EffectiveInter(p).Enabled {
			o.router.LoadTokenizer(modelOf(p, o.runner))
		}
	}
}

// modelOf returns the model of a phase, of one with soundings that name models the first of these.
func modelOf(p *cascade.Phase, r *engine.Runner) string {
	first := ""
	if p.Soundings.Active() && len(p.Soundings.Models) > 0 {
		first = p.Soundings.Models[0].Name
	}
	return cmp.Or(first, r.PhaseModels[p.Name], p.Model, r.DefaultModel)
}

// factsOffline returns what is known of models that a script plays: their limits are kept to, but
// nothing is paid, and a script calls tools in the way that the cascade says.
func factsOffline(r *llm.Router) func(string) effect.ModelFacts {
	unasked := factsUnasked(r)
	return func(model string) effect.ModelFacts {
		f := unasked(model)
		f.Price, f.Tariff, f.NativeTools = nil, nil, nil
		return f
	}
}

// factsUnasked returns what is known of models that no endpoint answers for: none is asked for a
// window, and a name that stands for no model has none.
func factsUnasked(r *llm.Router) func(string) effect.ModelFacts {
	return func(model string) effect.ModelFacts {
		f := r.Facts(model)
		f.AskWindow, f.MarkCache = nil, false
		if model == scriptedModel || model == ownModel {
			f.DefaultWindow = 0
		}
		return f
	}
}

// chooseScript has a script answer: that of a session that is resumed, or the one beside the
// cascade.
func (o *opening) chooseScript() error {
	path := o.run.header.Script
	if path == "" {
		var err error
		if path, err = script.Find(o.run.header.File); err != nil {
			return failure.New(failure.InvalidRequest, &NoScriptError{failure.Cause{Err: err}}, "")
		}
	}
	plan, err := script.Load(path)
	if err != nil {
		return failure.New(failure.InvalidCascade, err, "docs/models.md describes scripts")
	}
	o.runner.Model, o.script = script.NewModel(plan), path
	if p := o.run.started.PriceAs; p != nil {
		o.runner.Model = pretending{o.runner.Model, *p}
	}
	return nil
}

// fallbackOf lists the models that may be asked in place of a phase's.
func fallbackOf(c *cascade.Cascade, p *cascade.Phase, model string, known *config.Config) []string {
	switch {
	case p.Fallback != nil:
		return p.Fallback
	case c.Fallback != nil:
		return c.Fallback
	}
	m, _ := known.Lookup(model)
	return m.Fallback
}

// modelsInUse lists the models that a run may ask, each once; "" when there is none for a phase.
func modelsInUse(c *cascade.Cascade, off cascade.SwitchedOff, r *engine.Runner, known *config.Config) []string {
	var list []string
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range c.Soundings.Asks(r.DefaultModel) {
		add(name)
	}
	tried := c.Soundings.Active() && len(c.Soundings.Models) > 0 // these are the defaults of its candidates
	for p := range c.EachPhase() {
		for _, name := range p.Soundings.Asks(r.DefaultModel) {
			add(name)
		}
		if p.Deterministic() {
			continue
		}
		own := modelOf(p, r)
		if own != "" || !tried {
			add(own)
		}
		for _, name := range fallbackOf(c, p, own, known) {
			add(name)
		}
		if g := c.EffectiveIntra(p).Guard; g.Enabled && g.SummarizerModel != "" {
			add(g.SummarizerModel)
		}
		if in := off.Inter(c.EffectiveInter(p)); in.Enabled && in.Selection.Strategy.AsksModel() && in.Selection.SelectorModel != "" {
			add(in.Selection.SelectorModel)
		}
		if v, ok := c.Validators[p.Rules.LoopUntil]; ok && (v.Model != "" || own != "" || !tried) {
			add(cmp.Or(v.Model, own))
		}
	}
	return list
}
