package cascade

import (
	"github.com/windlass-run/windlass/cascade/inputs"
	"github.com/windlass-run/windlass/cascade/settings"
)

// InputsSchema is [inputs.Contract]: what a run, or a tool, is given.
type InputsSchema = inputs.Contract

// The settings of context, as a file has them and merged with their defaults, are those of package
// settings.

type (
	// AutoContext is [settings.AutoContext].
	AutoContext = settings.AutoContext
	// IntraContext is [settings.IntraContext].
	IntraContext = settings.IntraContext
	// Advance is [settings.Advance].
	Advance = settings.Advance
	// Truncation is [settings.Truncation].
	Truncation = settings.Truncation
	// ClearToolUses is [settings.ClearToolUses].
	ClearToolUses = settings.ClearToolUses
	// Guard is [settings.Guard].
	Guard = settings.Guard
	// Recount is [settings.Recount].
	Recount = settings.Recount
	// TokenBudget is [settings.TokenBudget].
	TokenBudget = settings.TokenBudget
	// TokenBudgetOverride is [settings.TokenBudgetOverride].
	TokenBudgetOverride = settings.TokenBudgetOverride
	// Summarizer is [settings.Summarizer].
	Summarizer = settings.Summarizer
	// BudgetStrategy is [settings.BudgetStrategy].
	BudgetStrategy = settings.BudgetStrategy
	// Intra is [settings.Intra].
	Intra = settings.Intra
	// IntraTruncation is [settings.IntraTruncation].
	IntraTruncation = settings.IntraTruncation
	// IntraClear is [settings.IntraClear].
	IntraClear = settings.IntraClear
	// IntraGuard is [settings.IntraGuard].
	IntraGuard = settings.IntraGuard
	// InterContext is [settings.InterContext].
	InterContext = settings.InterContext
	// Cards is [settings.Cards].
	Cards = settings.Cards
	// Anchors is [settings.Anchors].
	Anchors = settings.Anchors
	// AnchorInclude is [settings.AnchorInclude].
	AnchorInclude = settings.AnchorInclude
	// Selection is [settings.Selection].
	Selection = settings.Selection
	// SelectionStrategy is [settings.SelectionStrategy].
	SelectionStrategy = settings.SelectionStrategy
	// Inter is [settings.Inter].
	Inter = settings.Inter
	// InterAnchors is [settings.InterAnchors].
	InterAnchors = settings.InterAnchors
	// InterSelection is [settings.InterSelection].
	InterSelection = settings.InterSelection
	// InterCards is [settings.InterCards].
	InterCards = settings.InterCards
	// SwitchedOff is [settings.SwitchedOff].
	SwitchedOff = settings.SwitchedOff
)

// The words of their closed sets.
const (
	AdvanceCost         = settings.AdvanceCost
	AdvanceEveryTurn    = settings.AdvanceEveryTurn
	AdvanceStep         = settings.AdvanceStep
	RecountTokenizer    = settings.RecountTokenizer
	RecountProbe        = settings.RecountProbe
	BudgetSummarize     = settings.BudgetSummarize
	BudgetPruneOldest   = settings.BudgetPruneOldest
	BudgetSlidingWindow = settings.BudgetSlidingWindow
	BudgetFail          = settings.BudgetFail
	AnchorOutput        = settings.AnchorOutput
	AnchorCallouts      = settings.AnchorCallouts
	AnchorInput         = settings.AnchorInput
	AnchorErrors        = settings.AnchorErrors
	StrategyHeuristic   = settings.StrategyHeuristic
	StrategySemantic    = settings.StrategySemantic
	StrategyLLM         = settings.StrategyLLM
	StrategyHybrid      = settings.StrategyHybrid
)

// DefaultIntra returns the settings of a phase whose intra_context is an empty block.
func DefaultIntra() Intra { return settings.DefaultIntra() }

// DefaultTruncation returns the tiers of a truncation that is only switched on.
func DefaultTruncation() IntraTruncation { return settings.DefaultTruncation() }

// DefaultClear returns the settings of a clear_tool_uses that is only switched on.
func DefaultClear() IntraClear { return settings.DefaultClear() }

// DefaultInter returns the settings of a phase whose context only has the mode auto.
func DefaultInter() Inter { return settings.DefaultInter() }

// EffectiveIntra returns a phase's settings over the cascade's over the defaults, field by field.
// Without either block only the guard applies.
func (c *Cascade) EffectiveIntra(p *Phase) Intra {
	return settings.MergeIntra(c.AutoContext.Intra(), p.IntraContext)
}

// EffectiveInter returns a phase's settings over the cascade's over the defaults, field by field.
// They are enabled by the phase's mode auto, unless the cascade has switched them off.
func (c *Cascade) EffectiveInter(p *Phase) Inter {
	in := settings.MergeInter(c.AutoContext.Inter(), p.Context.inter())
	in.Enabled = in.Enabled && p.Context.auto()
	return in
}

// EffectiveCards returns what cards are made with.
func (c *Cascade) EffectiveCards() InterCards {
	return settings.MergeInter(c.AutoContext.Inter()).Cards
}

// EffectiveTokenBudget returns a phase's ceiling or nil. What is zero follows from the model.
func (c *Cascade) EffectiveTokenBudget(p *Phase) *TokenBudget {
	return c.TokenBudget.For(p.Name)
}

// searchTool is the tool by which a model searches its session.
const searchTool = "search_context"

func (c *Context) auto() bool { return c != nil && c.Mode == ContextAuto }

func (c *Context) inter() *InterContext {
	if c == nil {
		return nil
	}
	return &InterContext{Anchors: c.Anchors, Selection: c.Selection}
}
