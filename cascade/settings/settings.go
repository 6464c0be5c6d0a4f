package settings

import (
	"reflect"
	"time"
)

// DefaultIntra returns the settings of a phase whose intra_context is an empty block.
func DefaultIntra() Intra {
	return Intra{
		Enabled: true, Window: 5, MaskAfter: 3, MinMaskedSize: 200, Advance: AdvanceCost, StepTurns: 10,
		PreserveReasoning: true, ReasoningLimit: 2000, PreserveErrors: true, Dedupe: true,
		CompressLoops: true, LoopHistoryLimit: 3, LoopOutputLimit: 500,
		Guard: IntraGuard{
			Enabled: true, WarnPercent: 80, CompactPercent: 90, TargetPercent: 72, RemovalLevels: []int{10, 20, 50, 100},
			KeepRecentMessages: 10, Recount: RecountTokenizer,
		},
	}
}

// DefaultTruncation returns the tiers of a truncation that is only switched on.
func DefaultTruncation() IntraTruncation {
	return IntraTruncation{RecentResults: 5, RecentLimit: 5000, OlderLimit: 1000, InactiveLimit: 300}
}

// DefaultClear returns the settings of a clear_tool_uses that is only switched on.
func DefaultClear() IntraClear {
	return IntraClear{TriggerTokens: 100_000, Keep: 3, ClearAtLeastTokens: 5000}
}

// DefaultInter returns the settings of a phase whose context only has the mode auto.
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
		Cards: InterCards{Enabled: true, Wait: 5 * time.Second},
	}
}

// Inter returns the block for the context between phases, or nil.
func (a *AutoContext) Inter() *InterContext {
	if a == nil {
		return nil
	}
	return a.InterPhase
}

// Intra returns the block for the context inside a phase, or nil.
func (a *AutoContext) Intra() *IntraContext {
	if a == nil {
		return nil
	}
	return a.IntraPhase
}

// MergeInter puts layers, each of which may be nil, over the defaults, the last one on top.
func MergeInter(layers ...*InterContext) Inter {
	in := DefaultInter()
	for _, s := range layers {
		if s == nil {
			continue
		}
		set(&in.Selection.Strategy, s.Strategy)
		set(&in.Selection.SelectorModel, s.SelectorModel)
		set(&in.Cards.Model, s.CardModel)
		if s.Cards != nil && s.Cards.WaitSeconds != nil {
			in.Cards.Wait = time.Duration(*s.Cards.WaitSeconds * float64(time.Second))
		}
		mergeInto(&in, s)
	}
	return in
}

// MergeIntra puts layers, each of which may be nil, over the defaults, the last one on top. A
// layer that has a block switches it on unless it says otherwise; so do the settings as a whole.
// What was written into a block that is switched off still counts.
func MergeIntra(layers ...*IntraContext) Intra {
	in, truncation, clearing := DefaultIntra(), DefaultTruncation(), DefaultClear()
	in.Enabled = false
	for _, s := range layers {
		if s == nil {
			continue
		}
		in.Enabled = true
		in.Guard.Enabled = in.Guard.Enabled || s.Guard != nil
		set(&in.MaskAfter, s.MaskObservationsAfter)
		mergeInto(&in, s)
		if t := s.Truncation; t != nil {
			in.Truncation = switched(t.Enabled, &truncation)
			mergeInto(&truncation, t)
		}
		if c := s.ClearToolUses; c != nil {
			in.ClearToolUses = switched(c.Enabled, &clearing)
			mergeInto(&clearing, c)
		}
	}
	return in
}

func switched[T any](enabled *bool, block *T) *T {
	if enabled != nil && !*enabled {
		return nil
	}
	return block
}

// set overwrites a value with one that is there.
func set[T any](dst, src *T) {
	if src != nil {
		*dst = *src
	}
}

// mergeInto puts settings as a file has them over settings that are decided, by field names; an
// empty list counts as written. Fields without a counterpart, or with a pointer, are left out.
func mergeInto[S, W any](settings *S, written *W) {
	mergeFields(reflect.ValueOf(settings).Elem(), reflect.ValueOf(written).Elem())
}

// mergeFields copies lists: several phases share what the file says of all of them.
func mergeFields(settings, written reflect.Value) {
	for i := range written.NumField() {
		value := written.Field(i)
		if value.IsZero() {
			continue
		}
		target := settings.FieldByName(written.Type().Field(i).Name)
		switch value = reflect.Indirect(value); target.Kind() {
		case reflect.Invalid, reflect.Pointer:
		case reflect.Struct:
			mergeFields(target, value)
		case reflect.Slice:
			target.Set(reflect.AppendSlice(reflect.MakeSlice(target.Type(), 0, value.Len()), value))
		default:
			target.Set(value)
		}
	}
}

// Written returns settings as a cascade file has them. Those not enabled have only a guard.
func (in Intra) Written() *IntraContext {
	out := &IntraContext{}
	writeFields(reflect.ValueOf(out).Elem(), reflect.ValueOf(&in).Elem())
	out.MaskObservationsAfter = &in.MaskAfter
	if in.Guard.SummarizerModel == "" {
		out.Guard.SummarizerModel = nil
	}
	if in.Guard.CompactAtTokens == 0 { // records of before it was there have none
		out.Guard.CompactAtTokens = nil
	}
	if in.Advance != AdvanceStep {
		out.StepTurns = nil
	}
	if !in.Enabled {
		return &IntraContext{Enabled: out.Enabled, Guard: out.Guard}
	}
	return out
}

// writeFields is mergeFields in the other direction.
func writeFields(written, settings reflect.Value) {
	for i := range written.NumField() {
		target, value := written.Field(i), settings.FieldByName(written.Type().Field(i).Name)
		switch {
		case !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil():
		case target.Kind() == reflect.Slice && !value.IsNil():
			target.Set(reflect.AppendSlice(reflect.MakeSlice(target.Type(), 0, value.Len()), value))
		case target.Kind() != reflect.Pointer:
			target.Set(value)
		case target.Type().Elem().Kind() == reflect.Struct:
			target.Set(reflect.New(target.Type().Elem()))
			writeFields(target.Elem(), reflect.Indirect(value))
		default:
			target.Set(value.Addr())
		}
	}
}

// For returns the ceiling of a phase, with what it inherits; nil for none. What is zero follows from
// the model.
func (b *TokenBudget) For(phase string) *TokenBudget {
	if b == nil {
		return nil
	}
	out := *b
	own := out.PhaseOverrides[phase]
	out.PhaseOverrides = nil
	mergeInto(&out, &own)
	if out.Strategy == "" {
		out.Strategy = BudgetSummarize
	}
	return &out
}
