package settings

import (
	"encoding/json"

	"github.com/windlass-run/windlass/cascade/document"
)

// UnmarshalJSON reads an object, or a boolean that switches the block on or off.
func (t *Truncation) UnmarshalJSON(data []byte) error {
	type plain Truncation
	return document.ReadEither(data, document.ABoolean, &t.Enabled, (*plain)(t))
}

// UnmarshalJSON reads an object, or a boolean that switches the block on or off.
func (c *ClearToolUses) UnmarshalJSON(data []byte) error {
	type plain ClearToolUses
	whole := struct {
		*plain
		Keep kept `json:"keep"`
	}{plain: (*plain)(c)}
	if err := document.ReadEither(data, document.ABoolean, &c.Enabled, &whole); err != nil {
		return err
	}
	c.Keep = whole.Keep.count
	for _, of := range []struct {
		amount **Amount
		tokens **int64
	}{{&c.Trigger, &c.TriggerTokens}, {&c.ClearAtLeast, &c.ClearAtLeastTokens}} {
		if *of.amount != nil {
			*of.tokens, *of.amount = &(*of.amount).Value, nil
		}
	}
	return nil
}

// kept is how many results stay: a number, or an [Amount].
type kept struct{ count *int }

// UnmarshalJSON reads either.
func (k *kept) UnmarshalJSON(data []byte) error {
	if document.KindOf(data) == '{' {
		var a Amount
		if err := json.Unmarshal(data, &a); err != nil {
			return err
		}
		count := int(a.Value)
		k.count = &count
		return nil
	}
	return json.Unmarshal(data, &k.count)
}

// UnmarshalJSON reads an object, or a boolean that switches the guard on or off.
func (g *Guard) UnmarshalJSON(data []byte) error {
	type plain Guard
	return document.ReadEither(data, document.ABoolean, &g.Enabled, (*plain)(g))
}

// UnmarshalJSON fills in the ceiling that a block does not name.
func (b *TokenBudget) UnmarshalJSON(data []byte) error {
	type plain TokenBudget
	if document.KindOf(data) == 'n' {
		return nil
	}
	b.MaxTotal = DefaultMaxTotal
	return json.Unmarshal(data, (*plain)(b))
}

// UnmarshalJSON reads an object, or a number for the ceiling alone.
func (o *TokenBudgetOverride) UnmarshalJSON(data []byte) error {
	type plain TokenBudgetOverride
	return document.ReadEither(data, document.ANumber, &o.MaxTotal, (*plain)(o))
}

// UnmarshalJSON also reads prev for previous.
func (a *Anchors) UnmarshalJSON(data []byte) error {
	type plain Anchors
	err := json.Unmarshal(data, (*plain)(a))
	Canonical(a.FromPhases)
	return err
}

// FromPrev is the short way to write [FromPrevious].
const FromPrev = "prev"

// Canonical writes the short name of a source out, in place.
func Canonical(names []string) {
	for i, name := range names {
		if name == FromPrev {
			names[i] = FromPrevious
		}
	}
}

// The words for phases that sources understand beside names.
const (
	FromAll      = "all"
	FromFirst    = "first"
	FromPrevious = "previous" // short: prev
)
