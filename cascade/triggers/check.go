package triggers

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"

	"github.com/windlass-run/windlass/cascade/document"
	"github.com/windlass-run/windlass/schema"
)

// keysOf are the keys that a type of triggers alone has.
var keysOf = map[Type][]string{
	Cron:    {"schedule", "timezone"},
	Sensor:  {"file", "url", "every_seconds"},
	Webhook: {"secret_env"},
}

// Check holds triggers to their rules. at is the place of their list, misfits says what the cascade has against an input.
func Check(at document.Place, list []Trigger, misfits func(map[string]any) []schema.Violation) {
	names := map[string]bool{}
	for i := range list {
		t, where := &list[i], at.Index(i)
		if !where.Sound() || !where.Intact("name", "type") || t.Type == "" {
			continue
		}
		if unit := t.Unit(); names[unit] && unit != "" {
			where.Key("name").Error(document.CodeDuplicateTrigger, fmt.Sprintf("another trigger has the name %q, or one that is the same in lower case with - for _", t.Name), "give each trigger a name of its own")
		}
		names[t.Unit()] = true
		t.checkKeys(where)
		t.checkInputs(where.Key("inputs"), misfits)
		switch t.Type {
		case Cron:
			t.checkSchedule(where)
		case Sensor:
			t.checkSensor(where)
		case Webhook:
			t.checkSecret(where)
		case Manual:
		}
	}
}

// checkKeys finds keys of other types.
func (t *Trigger) checkKeys(at document.Place) {
	for _, other := range []Type{Cron, Sensor, Webhook} {
		if other == t.Type {
			continue
		}
		for _, key := range at.Written(keysOf[other]...) {
			at.KeyError(key, document.CodeMisplacedField, fmt.Sprintf("%q belongs to a trigger of the type %q; %s is one of the type %q", key, other, at.Describe(), t.Type), "remove it, or set another type")
		}
	}
}

func (t *Trigger) checkInputs(at document.Place, misfits func(map[string]any) []schema.Violation) {
	if t.Inputs == nil || !at.Sound() {
		return
	}
	for _, v := range misfits(t.Inputs) {
		at.Error(document.CodeInvalidValue, fmt.Sprintf("%s does not match inputs_schema: %s", at.Describe(), v), "change the inputs, or inputs_schema")
	}
}

// CheckGiven finds triggers whose runs would lack an input that the cascade needs: times and sensors bring none. A
// person gives them, and so may a request.
func CheckGiven(at document.Place, list []Trigger, misfits func(map[string]any) []schema.Violation) {
	for i := range list {
		t, where := &list[i], at.Index(i)
		if t.Type != Cron && t.Type != Sensor || !where.Sound() || !where.Intact("type", "inputs") || where.Has("inputs") || where.Meant("inputs") {
			continue
		}
		for _, v := range misfits(map[string]any{}) {
			hint := `add "inputs"`
			if v.Keyword == "required" && v.Pointer == "" && v.Property != "" {
				hint = fmt.Sprintf(`add "inputs": {%q: ...}`, v.Property)
			}
			where.Error(document.CodeMissingKey, fmt.Sprintf("%s begins runs without an input, which does not match inputs_schema: %s", where.Describe(), v), hint)
		}
	}
}

func missing(at document.Place, key, hint string) bool {
	if at.Has(key) || at.Meant(key) {
		return false
	}
	at.Error(document.CodeMissingKey, fmt.Sprintf("%s has no %q", at.Describe(), key), hint)
	return true
}

func (t *Trigger) checkSchedule(at document.Place) {
	if missing(at, "schedule", `add the times, as "schedule": "0 6 * * 1-5"`) || !at.Intact("schedule", "timezone") {
		return
	}
	_, err := t.Times()
	var zone *ZoneError
	var times *ScheduleError
	switch {
	case errors.As(err, &zone):
		at.Key("timezone").Error(document.CodeInvalidValue, zone.Error(), `write a name of the IANA database, as "Europe/Berlin" or "UTC"`)
	case errors.As(err, &times):
		at.Key("schedule").Error(document.CodeInvalidValue, fmt.Sprintf("%q is no schedule: %s", t.Schedule, times.Why), times.Hint)
	}
}

func (t *Trigger) checkSensor(at document.Place) {
	has := at.Written("file", "url")
	switch {
	case at.Meant("file") || at.Meant("url"):
	case len(has) == 0:
		at.Error(document.CodeMissingKey, fmt.Sprintf("%s watches nothing", at.Describe()), `add "file": "incoming/*.csv", or "url"`)
	case len(has) == 2:
		at.KeyError("url", document.CodeConflicting, fmt.Sprintf("%s watches a file and an address", at.Describe()), "declare two triggers")
	}
	if _, err := path.Match(t.File, ""); err != nil && at.Intact("file") {
		at.Key("file").Error(document.CodeInvalidValue, fmt.Sprintf("%q is no pattern of files", t.File), "close its brackets")
	}
	if t.URL == "" || !at.Intact("url") {
		return
	}
	u, err := url.Parse(t.URL)
	switch {
	case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme):
		at.Key("url").Error(document.CodeInvalidValue, fmt.Sprintf("%q is no address that can be asked", t.URL), "write https:// and a host")
	case u.User != nil:
		at.Key("url").Error(document.CodeInvalidValue, fmt.Sprintf("%s has a password in it", at.Key("url").Describe()), "a file is no place for secrets")
	}
}

func (t *Trigger) checkSecret(at document.Place) {
	missing(at, "secret_env", `add the name of a variable, as "secret_env": "DEPLOY_HOOK_SECRET": without a secret everybody could begin runs`)
}
