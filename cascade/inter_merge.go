package cascade

import (
	"slices"
	"time"
)

// DefaultInter returns the settings of a phase that says nothing but that its context has the mode auto.
func DefaultInter() Inter {
	return Inter{
		Enabled: true,
		Anchors: InterAnchors{
			Window: 3, FromPhases: []string{FromPrevious}, Include: []AnchorInclude{AnchorOutput, AnchorCallouts, AnchorInput, AnchorErrors},
		},
		Selection: InterSelection{
			Strategy: StrategyHeuristic, MaxTokens: 30_000, MaxMessages: 50,
			RecencyWeight: 0.3, KeywordWeight: 0.4, CalloutWeight: 0.3, SimilarityThreshold: 0.5,
		},
		Cards: InterCards{Wait: 5 * time.Second},
	}
}

// EffectiveInter returns what comes into a phase beside what its context lists: its own settings, over those of the
// cascade, over the defaults, field by field. They are enabled when the phase's context has the mode auto, unless the
// cascade switches them off.
func (c *Cascade) EffectiveInter(p *Phase) Inter {
	in := mergeInter(c.AutoContext.inter(), p.Context.inter())
	in.Enabled = in.Enabled && p.Context.auto()
	return in
}

// EffectiveCards returns what cards are made with.
func (c *Cascade) EffectiveCards() InterCards { return mergeInter(c.AutoContext.inter()).Cards }

// UsesCards reports whether some phase has a use for cards: it selects messages, or its model can search them.
func (c *Cascade) UsesCards() bool {
	for i := range c.Phases {
		for p := &c.Phases[i]; p != nil; p = p.inline() {
			if slices.Contains(p.Tackle, searchTool) || c.EffectiveInter(p).Enabled {
				return true
			}
		}
	}
	return false
}

// searchTool is the tool by which a model searches its session.
const searchTool = "search_context"

// auto reports whether messages are selected for the phase.
func (c *Context) auto() bool { return c != nil && c.Mode == ContextAuto }

// inter returns what a phase says about the messages that are selected for it.
func (c *Context) inter() *InterContext {
	if c == nil {
		return nil
	}
	return &InterContext{Anchors: c.Anchors, Selection: c.Selection}
}

func (a *AutoContext) inter() *InterContext {
	if a == nil {
		return nil
	}
	return a.InterPhase
}

// mergeInter puts layers over the defaults, the last one on top; a layer may be nil.
func mergeInter(layers ...*InterContext) Inter {
	in := DefaultInter()
	for _, s := range layers {
		if s != nil {
			in.merge(s)
		}
	}
	return in
}

func (in *Inter) merge(s *InterContext) {
	set(&in.Enabled, s.Enabled)
	set(&in.Selection.Strategy, s.Strategy)
	set(&in.Selection.SelectorModel, s.SelectorModel)
	set(&in.Cards.Model, s.CardModel)
	if s.Cards != nil && s.Cards.WaitSeconds != nil {
		in.Cards.Wait = time.Duration(*s.Cards.WaitSeconds * float64(time.Second))
	}
	if s.Anchors != nil {
		in.Anchors.merge(s.Anchors)
	}
	if s.Selection != nil {
		in.Selection.merge(s.Selection)
	}
}

func (a *InterAnchors) merge(s *Anchors) {
	set(&a.Window, s.Window)
	setList(&a.FromPhases, s.FromPhases)
	setList(&a.Include, s.Include)
}

func (sel *InterSelection) merge(s *Selection) {
	set(&sel.Strategy, s.Strategy)
	set(&sel.MaxTokens, s.MaxTokens)
	set(&sel.MaxMessages, s.MaxMessages)
	set(&sel.SelectorModel, s.SelectorModel)
	set(&sel.RecencyWeight, s.RecencyWeight)
	set(&sel.KeywordWeight, s.KeywordWeight)
	set(&sel.CalloutWeight, s.CalloutWeight)
	set(&sel.SimilarityThreshold, s.SimilarityThreshold)
}
