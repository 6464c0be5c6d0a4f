package settings

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/windlass-run/windlass/cascade/document"
)

// CheckModel refuses a blank model. None is fine: others may bring it.
func CheckModel(owner document.Place, key string) {
	if at := owner.Key(key); at.Blank() {
		at.Error(document.CodeEmptyModel, owner.Describe()+" names a model of nothing", "name a model, or remove the key to use the default")
	}
}

// Layered is a block of settings and the one it inherits from; the cascade's is below itself.
type Layered struct{ At, Below document.Place }

// origin says where a value comes from that the block itself does not have.
func (l Layered) origin(block, key string) string {
	switch {
	case l.At.Key(block).Has(key):
		return ""
	case l.Below.Key(block).Has(key):
		return " in the cascade"
	default:
		return " by default"
	}
}

// conflict returns where to report two conflicting settings; there is no such place when neither
// is written here (it is reported where they are), or one has a wrong type.
func (l Layered) conflict(block, first, second string) (document.Place, bool) {
	at := l.At.Key(block)
	if !at.Intact(first, second) || !l.Below.Key(block).Intact(first, second) {
		return document.Place{}, false
	}
	if at.Has(first) {
		return at.Key(first), true
	}
	return at.Key(second), at.Has(second)
}

// IntraBlock is a block of settings for the context inside a phase.
type IntraBlock struct {
	*IntraContext
	Layered
	Merged Intra // over what it inherits
}

// Check holds the block to the rules that need only it and what it inherits.
func (b *IntraBlock) Check() {
	CheckModel(b.At.Key("guard"), "summarizer_model")
	b.checkRemovalLevels()
	b.checkForms()
	g := b.Merged.Guard
	compact := number{"compact_percent", g.CompactPercent}
	b.checkOrder("guard", number{"warn_percent", g.WarnPercent}, compact, true, "the warning has to come before the guard acts")
	b.checkOrder("guard", number{"target_percent", g.TargetPercent}, compact, false, "the guard would act again on what it has just done")
	if t := b.Merged.Truncation; t != nil {
		const why = "older results would keep more than newer ones"
		older := number{"older_limit", t.OlderLimit}
		b.checkOrder("truncation", older, number{"recent_limit", t.RecentLimit}, true, why)
		b.checkOrder("truncation", number{"inactive_limit", t.InactiveLimit}, older, true, why)
	}
}

// checkForms refuses a size that is written in both forms, and one that counts something else.
func (b *IntraBlock) checkForms() {
	at := b.At.Key("clear_tool_uses")
	for _, of := range []struct{ form, plain, counts string }{
		{"trigger", "trigger_tokens", InputTokens}, {"clear_at_least", "clear_at_least_tokens", InputTokens}, {"keep", "", ToolUses},
	} {
		if of.plain != "" && at.Has(of.plain) && at.Has(of.form) {
			at.KeyError(of.form, document.CodeConflicting, fmt.Sprintf("%s has %q and %q, which say the same", at.Describe(), of.plain, of.form), "remove one of the two")
		}
		kind := at.Keys(of.form, "type")
		if n := kind.Node(); n != nil && kind.Sound() && n.Text != of.counts {
			kind.Error(document.CodeInvalidValue, fmt.Sprintf("%q of %s counts %s, not %s", of.form, at.Describe(), of.counts, n.Text), "write "+of.counts)
		}
	}
}

func (b *IntraBlock) checkRemovalLevels() {
	if b.Guard == nil {
		return
	}
	list := b.At.Keys("guard", "removal_levels")
	for i, level := range b.Guard.RemovalLevels {
		if i == 0 || level > b.Guard.RemovalLevels[i-1] || !list.Intact(strconv.Itoa(i-1), strconv.Itoa(i)) {
			continue
		}
		list.Index(i).Error(document.CodeInvalidValue,
			fmt.Sprintf("the levels of %s do not rise: %d comes after %d", list.Describe(), level, b.Guard.RemovalLevels[i-1]),
			"write them in rising order, each once, as [10, 20, 50, 100]")
	}
}

// number is a merged setting of a block.
type number struct {
	key   string
	value int
}

// checkOrder refuses a number above another one of its block, or equal to it where that is wrong.
func (b *IntraBlock) checkOrder(block string, low, high number, mayEqual bool, why string) {
	at, reported := b.conflict(block, low.key, high.key)
	if !reported || low.value < high.value || mayEqual && low.value == high.value {
		return
	}
	limit := "below"
	if mayEqual {
		limit = "to at most"
	}
	at.Error(document.CodeConflicting,
		fmt.Sprintf("%s: %q is %d%s and %q is %d%s: %s", b.At.Key(block).Describe(), low.key, low.value, b.origin(block, low.key),
			high.key, high.value, b.origin(block, high.key), why),
		fmt.Sprintf("set %q %s %d", low.key, limit, high.value))
}

// StepWithoutEffect warns of a step that nothing takes.
func (b *IntraBlock) StepWithoutEffect() {
	if b.StepTurns != nil && b.At.Intact("advance") {
		b.At.NoEffect("step_turns", `"step_turns" is only used with "advance": "step"`, `add "advance": "step" or remove it`)
	}
}

// InterBlock is a block of settings for the context between phases.
type InterBlock struct {
	*InterContext
	Layered
	Merged Inter // over what it inherits

	// Strategies are those of the phases that the block is for; empty when there are none or a
	// mistake elsewhere makes them uncertain: then no setting is said to have no effect.
	Strategies []SelectionStrategy
}

// Certain reports whether what the block and the one below say about the strategy is sound.
func (b *InterBlock) Certain() bool {
	certain := func(at document.Place) bool {
		return at.Intact("strategy", "selection") && at.Key("selection").Intact("strategy")
	}
	return certain(b.At) && certain(b.Below)
}

// CheckWrittenTwice refuses a value that stands in the block and in its selection.
func (b *InterBlock) CheckWrittenTwice() {
	for _, key := range b.At.Key("selection").Written(b.At.Written("strategy", "selector_model")...) {
		b.At.KeyError(key, document.CodeMisplacedField, fmt.Sprintf("%s has %q and %q, which mean the same", b.At.Describe(), key, "selection."+key), "keep one of the two")
	}
}

// CheckMode refuses settings for a selection in a phase that makes none.
func (b *InterBlock) CheckMode() {
	if !b.At.Intact("mode") || b.At.Meant("mode") {
		return
	}
	for _, key := range b.At.Written("anchors", "selection") {
		b.At.KeyError(key, document.CodeMisplacedField, fmt.Sprintf(`%s goes with "mode": "auto", which is missing`, b.At.Key(key).Describe()), `add "mode": "auto" or remove this`)
	}
}

// CheckWeights refuses weights that find no message: recency only raises what the other two find.
func (b *InterBlock) CheckWeights() {
	const block, keyword, callout = "selection", "keyword_weight", "callout_weight"
	at, reported := b.conflict(block, keyword, callout)
	if s := b.Merged.Selection; s.KeywordWeight > 0 || s.CalloutWeight > 0 || !reported {
		return
	}
	at.Error(document.CodeConflicting,
		fmt.Sprintf("%s: %q is 0%s and %q is 0%s: nothing could be chosen by words, which is what every strategy falls back to",
			b.At.Key(block).Describe(), keyword, b.origin(block, keyword), callout, b.origin(block, callout)),
		`set one of them above 0; "recency_weight" only raises what they find`)
}

// Unused warns of a key that no strategy uses of the phases that the block is for.
func (b *InterBlock) Unused(at document.Place, key string, used func(SelectionStrategy) bool, message, hint string) {
	if at.Has(key) && at.Intact(key) && len(b.Strategies) > 0 && !slices.ContainsFunc(b.Strategies, used) && !used(b.Merged.Selection.Strategy) {
		at.NoEffect(key, message, hint)
	}
}

// ModelWithoutEffect warns of a model that is never asked, in either of its two places.
func (b *InterBlock) ModelWithoutEffect(at document.Place) {
	b.Unused(at, "selector_model", SelectionStrategy.AsksModel,
		`"selector_model" is only used with the strategies "llm" and "hybrid"`, `set "strategy" to one of them or remove it`)
}
