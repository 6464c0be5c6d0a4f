package people

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/source"
)

// Check holds the block at a place to the rules that need nothing else.
func (h *HumanInput) Check(at document.Place) {
	if n := at.Node(); n == nil || n.Kind != source.Object {
		return // true, or wrong by itself
	}
	sound := h.checkForm(at)
	h.checkTimeout(at, sound)
}

// checkForm reports whether the form is sound: answers can be held against it.
func (h *HumanInput) checkForm(at document.Place) bool {
	if !at.Intact("type", "options", "fields") {
		return false
	}
	sound := checkChoices(at, h.Kind(), "type", h.Options)
	isForm := h.Kind() == string(echo.FormFields)
	switch {
	case isForm && !at.Has("fields") && !at.Meant("fields"):
		at.Key("type").Error(document.CodeMissingKey, fmt.Sprintf("%s asks with a form, which has no fields", at.Describe()), `add "fields": [{"name": "reason"}], or choose another type`)
		return false
	case !isForm && at.Has("fields"):
		at.KeyError("fields", document.CodeConflicting, fmt.Sprintf("%s is of the type %q, which has no fields", at.Describe(), h.Kind()), `remove them, or set "type" to "form"`)
		return false
	}
	seen := map[string]bool{}
	for i, x := range h.Fields {
		where := at.Key("fields").Index(i)
		if !where.Sound() || !where.Intact("name", "type", "options") {
			sound = false
			continue
		}
		if seen[x.Name] && x.Name != "" {
			where.Key("name").Error(document.CodeDuplicateField, fmt.Sprintf("%s has two fields with the name %q", at.Describe(), x.Name), "give each field a name of its own")
			sound = false
		}
		seen[x.Name] = true
		sound = checkChoices(where, cmp.Or(x.Type, string(echo.FormText)), "type", x.Options) && sound
	}
	return sound
}

// checkChoices holds the options of something that is answered in a way against that, and reports whether they
// are sound.
func checkChoices(at document.Place, kind, key string, options []Option) bool {
	chooses := kind == string(echo.FormChoice) || kind == string(echo.FormMultiChoice)
	switch {
	case chooses && !at.Has("options") && !at.Meant("options"):
		at.Key(key).Error(document.CodeMissingKey, fmt.Sprintf("%s asks for a choice, which has no options", at.Describe()), `add "options": ["yes", "no"], or choose another type`)
		return false
	case !chooses && at.Has("options"):
		at.KeyError("options", document.CodeConflicting, fmt.Sprintf("%s is of the type %q, which has no options", at.Describe(), kind), fmt.Sprintf(`remove them, or set %q to "choice" or "multi_choice"`, key))
		return false
	case len(options) > waiting.MaxOptions:
		at.Key("options").Error(document.CodeOutOfRange, fmt.Sprintf("%s has %d options, at most %d are possible", at.Describe(), len(options), waiting.MaxOptions), "group them, or ask for a text")
		return false
	}
	sound := true
	var ids []string
	for i, o := range options {
		where := at.Key("options").Index(i)
		id := where
		if n := where.Node(); n != nil && n.Kind == source.Object {
			id = where.Key("id")
		}
		switch {
		case !where.Sound() || !id.Sound() || o.ID == "":
			sound = false
		case slices.Contains(ids, o.ID):
			id.Error(document.CodeDuplicateOption, fmt.Sprintf("%s has two options with the id %q", at.Describe(), o.ID), "give each option an id of its own")
			sound = false
		}
		ids = append(ids, o.ID)
	}
	return sound
}

// CheckIDs finds ids of options that nobody can type, in the block at a place.
func (h *HumanInput) CheckIDs(at document.Place) {
	checkIDs(at, h.Options)
	for i := range h.Fields {
		checkIDs(at.Key("fields").Index(i), h.Fields[i].Options)
	}
}

func checkIDs(at document.Place, options []Option) {
	if !at.Sound() || !at.Intact("options") {
		return
	}
	for i, o := range options {
		id := at.Key("options").Index(i)
		if n := id.Node(); n != nil && n.Kind == source.Object {
			id = id.Key("id")
		}
		if id.Sound() && !waiting.IsPlain(o.ID) {
			id.Error(document.CodeInvalidValue, fmt.Sprintf("the id %+q of an option of %s has a line break, or a character that is not seen", o.ID, at.Describe()), `write the id as one line, and what else it says into its "description"`)
		}
	}
}

// checkTimeout checks what follows when nobody answers.
func (h *HumanInput) checkTimeout(at document.Place, sound bool) {
	if !at.Intact("timeout_seconds", "on_timeout", "default_value") || at.Meant("timeout_seconds") || at.Meant("on_timeout") || at.Meant("default_value") {
		return
	}
	timed, taken := at.Has("timeout_seconds"), h.OnTimeout == Default
	switch {
	case at.Has("on_timeout") && !timed:
		at.NoEffect("on_timeout", fmt.Sprintf("%s waits without an end, so nothing follows", at.Describe()), `add "timeout_seconds", or remove it`)
	case at.Has("default_value") && !taken:
		at.NoEffect("default_value", fmt.Sprintf("%s never takes its default: nothing says that it does when nobody answers", at.Describe()), `set "on_timeout" to "default", or remove it`)
	}
	if !taken {
		return
	}
	if !at.Has("default_value") {
		at.Key("on_timeout").Error(document.CodeMissingKey, fmt.Sprintf("%s takes a default when nobody answers, and has no %q", at.Describe(), "default_value"), "add it")
		return
	}
	var wrong *waiting.FormError
	if _, err := waiting.Check(h.Form(), h.DefaultValue); sound && errors.As(err, &wrong) {
		at.Key("default_value").Error(document.CodeInvalidValue, fmt.Sprintf("%s does not answer what is asked: %s", at.Key("default_value").Describe(), wrong), "write it as a person would answer")
	}
}
