package cascade

import (
	"fmt"

	"github.com/windlass-run/windlass/internal/source"
)

// wardRules are those of the validators around a phase.
type wardRules struct{ *checker }

func (k wardRules) checkWards(p located) {
	if p.Wards == nil {
		return
	}
	at := p.at.Key("wards")
	if n := at.Node(); n != nil && n.Kind == source.Object && len(n.Members) == 0 {
		p.at.NoEffect("wards", fmt.Sprintf("the wards of %s are empty", p.title()), `write "wards": {"pre": [...]}, or remove it`)
	}
	if p.at.Has("tool") && at.Has("turn") {
		at.KeyError("turn", CodeMisplacedField, fmt.Sprintf(`"wards.turn" belongs to a phase that asks a model; %s runs a tool`, p.title()), `write "pre" or "post"`)
	}
	k.checkMoment(p, at.Key("pre"), p.Wards.Pre)
	k.checkMoment(p, at.Key("turn"), p.Wards.Turn)
	k.checkMoment(p, at.Key("post"), p.Wards.Post)
}

// checkMoment checks the wards of one moment.
func (k wardRules) checkMoment(p located, list place, wards []Ward) {
	seen := map[string]bool{}
	for i, w := range wards {
		at := list.Index(i)
		ref := wardRef(at)
		switch {
		case !at.Sound() || !ref.Sound():
			continue
		case ref.Blank():
			ref.Error(CodeUnknownValidator, describe(list)+" names no validator", "name one or remove the element")
			continue
		case seen[w.Validator]:
			ref.Warn(CodeNoEffect, fmt.Sprintf("%s has %q twice", describe(list), w.Validator), "remove one of the two")
		}
		seen[w.Validator] = true
		validatorRules(k).checkValidatorRef(ref, w.Validator)
		k.checkMode(p, at, list, w)
	}
}

// wardRef returns the place of the validator of a ward, which may be written as that alone.
func wardRef(at place) place {
	if n := at.Node(); n != nil && n.Kind == source.Object {
		return at.Key("validator")
	}
	return at
}

// checkMode warns of what a ward of this moment, or mode, does not do.
func (k wardRules) checkMode(p located, at, list place, w Ward) {
	again := w.Mode == WardRetry && at.Intact("mode")
	switch {
	case again && list.Pointer() == p.at.Keys("wards", "pre").Pointer():
		at.NoEffect("mode", fmt.Sprintf("a ward before %s has nothing to retry: nothing has been answered yet, so it is blocking", p.title()), `write "mode": "blocking", or make it a ward of "turn" or "post"`)
	case w.Mode != WardRetry && at.Intact("mode") && at.Has("max_attempts"):
		at.NoEffect("max_attempts", fmt.Sprintf("%s: %q is only used with \"mode\": \"retry\"", describe(at), "max_attempts"), `set "mode" to "retry" or remove it`)
	}
}
