package validators

import (
	"fmt"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/internal/source"
)

// Around is what a phase has around its wards.
type Around struct {
	Phase     document.Place
	AsksModel bool                                      // it asks a model
	CheckRef  func(at document.Place, validator string) // holds a name, or a built-in validator, against what there is
}

// Check holds wards, those of a phase, to their rules.
func (w *Wards) Check(a Around) {
	if w == nil {
		return
	}
	at := a.Phase.Key("wards")
	if n := at.Node(); n != nil && n.Kind == source.Object && len(n.Members) == 0 {
		a.Phase.NoEffect("wards", fmt.Sprintf("the wards of %s are empty", a.Phase.Describe()), `write "wards": {"pre": [...]}, or remove it`)
	}
	if !a.AsksModel && at.Has("turn") {
		at.KeyError("turn", document.CodeMisplacedField, fmt.Sprintf(`"wards.turn" belongs to a phase that asks a model; %s runs a tool`, a.Phase.Describe()), `write "pre" or "post"`)
	}
	a.checkMoment(at.Key("pre"), w.Pre)
	a.checkMoment(at.Key("turn"), w.Turn)
	a.checkMoment(at.Key("post"), w.Post)
}

// checkMoment checks the wards of one moment.
func (a *Around) checkMoment(list document.Place, wards []Ward) {
	seen := map[string]bool{}
	for i, w := range wards {
		at := list.Index(i)
		ref := Ref(at)
		switch {
		case !at.Sound() || !ref.Sound():
			continue
		case ref.Blank():
			ref.Error(document.CodeUnknownValidator, list.Describe()+" names no validator", "name one or remove the element")
			continue
		case seen[w.Validator]:
			ref.Warn(document.CodeNoEffect, fmt.Sprintf("%s has %q twice", list.Describe(), w.Validator), "remove one of the two")
		}
		seen[w.Validator] = true
		a.CheckRef(ref, w.Validator)
		a.checkMode(at, list, w)
	}
}

// Ref returns the place of the validator of a ward, which may be written as that alone.
func Ref(at document.Place) document.Place {
	if n := at.Node(); n != nil && n.Kind == source.Object {
		return at.Key("validator")
	}
	return at
}

// checkMode warns of what a ward of this moment, or mode, does not do.
func (a *Around) checkMode(at, list document.Place, w Ward) {
	again := w.Mode == Retry && at.Intact("mode")
	switch {
	case again && list.Pointer() == a.Phase.Keys("wards", "pre").Pointer():
		at.NoEffect("mode", fmt.Sprintf("a ward before %s has nothing to retry: nothing has been answered yet, so it is blocking", a.Phase.Describe()), `write "mode": "blocking", or make it a ward of "turn" or "post"`)
	case w.Mode != Retry && at.Intact("mode") && at.Has("max_attempts"):
		at.NoEffect("max_attempts", fmt.Sprintf("%s: %q is only used with \"mode\": \"retry\"", at.Describe(), "max_attempts"), `set "mode" to "retry" or remove it`)
	}
}
