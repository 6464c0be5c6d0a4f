package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/script"
	"github.com/windlass-run/windlass/internal/vault"
)

// chooseModels sets the model of the run: the script beside the cascade, or the endpoints of the configuration, each
// checked for what it needs before anything is sent. It returns the script's file.
func (s *session) chooseModels(cfg *config.Config) (scriptFile string, err error) {
	if err := s.splitModels(cfg); err != nil {
		return "", err
	}
	s.router = llm.NewRouter(cfg, vault.Getenv)
	s.router.Know(s.secrets)
	s.runner.Facts = s.router.Facts
	if s.options.offline {
		s.runner.Facts = factsOffline(s.router)
		return s.chooseScript()
	}
	for _, model := range s.modelsInUse() {
		if model == "" {
			return "", usageError(fmt.Errorf("no model: %s names none, and neither --model, WINDLASS_MODEL nor windlass.json does", s.file),
				"windlass run "+s.file+" --model gpt-5-mini, or --offline to use the script beside the cascade")
		}
		if err := s.router.Check(model); err != nil {
			return "", providerError(err)
		}
	}
	s.runner.Model = s.router
	return "", nil
}

// splitModels sets which phases ask which model.
func (s *session) splitModels(cfg *config.Config) error {
	s.runner.DefaultModel = cmp.Or(s.cascade.Model, os.Getenv("WINDLASS_MODEL"), cfg.DefaultModel)
	s.runner.PhaseModels = map[string]string{}
	for _, m := range s.options.models {
		phase, model, one := strings.Cut(m, "=")
		switch {
		case !one && m != "":
			s.runner.DefaultModel = m
		case !one || phase == "" || model == "":
			return usageError(fmt.Errorf("--model %q: expected MODEL or PHASE=MODEL", m), "windlass run --help")
		case !hasPhase(s.cascade, phase):
			return usageError(fmt.Errorf("--model %q: the cascade has no phase %q", m, phase), "windlass validate "+s.file)
		default:
			s.runner.PhaseModels[phase] = model
		}
	}
	if s.options.offline && s.runner.DefaultModel == "" {
		s.runner.DefaultModel = "scripted"
	}
	return nil
}

// factsOffline returns what is known of models that a script plays: their limits are kept to, but nothing is paid, and a
// script calls tools in the way that the cascade says.
func factsOffline(r *llm.Router) func(string) effect.ModelFacts {
	return func(model string) effect.ModelFacts {
		f := r.Facts(model)
		f.Price, f.Tariff, f.NativeTools = nil, nil, nil
		return f
	}
}

func (s *session) chooseScript() (string, error) {
	path := s.header.Script // of a session that is taken up
	if path == "" {
		var err error
		if path, err = script.Find(s.file); err != nil {
			return "", usageError(err, "docs/models.md describes scripts; without --offline a model answers")
		}
	}
	plan, err := script.Load(path)
	if err != nil {
		return "", withExit(exitInvalid, err, "docs/models.md describes scripts")
	}
	s.runner.Model = script.NewModel(plan)
	return path, nil
}

// modelsInUse lists the models that the run may ask, each once.
func (s *session) modelsInUse() []string {
	var names []string
	add := func(name string) {
		for _, n := range names {
			if n == name {
				return
			}
		}
		names = append(names, name)
	}
	for i := range s.cascade.Phases {
		for p := &s.cascade.Phases[i]; p != nil; p = inlinePhase(p) {
			if p.Deterministic() {
				continue
			}
			own := cmp.Or(s.runner.PhaseModels[p.Name], p.Model, s.runner.DefaultModel)
			add(own)
			if g := s.cascade.EffectiveIntra(p).Guard; g.Enabled && g.SummarizerModel != "" {
				add(g.SummarizerModel)
			}
			if in := s.cascade.EffectiveInter(p); in.Enabled && in.Selection.Strategy.AsksModel() && in.Selection.SelectorModel != "" {
				add(in.Selection.SelectorModel)
			}
			if v, ok := s.cascade.Validators[p.Rules.LoopUntil]; ok {
				add(cmp.Or(v.Model, own))
			}
		}
	}
	return names
}

func inlinePhase(p *cascade.Phase) *cascade.Phase {
	if p.OnError == nil {
		return nil
	}
	return p.OnError.Inline
}

func hasPhase(c *cascade.Cascade, name string) bool {
	for i := range c.Phases {
		for p := &c.Phases[i]; p != nil; p = inlinePhase(p) {
			if p.Name == name {
				return true
			}
		}
	}
	return false
}
