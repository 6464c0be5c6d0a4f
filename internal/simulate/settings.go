package simulate

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade"
)

// PolicySettings returns the intra_context that has a cascade run under a policy as [ChoosePolicies] reads it: the object of
// settings itself, or that of the name. False: there is none, as of hindsight, which knows the whole conversation, and of
// files.
func PolicySettings(text string) (json.RawMessage, bool) {
	if _, after, ok := strings.Cut(text, "="); ok && !strings.HasPrefix(text, "{") {
		text = after
	}
	if strings.HasPrefix(text, "{") {
		return json.RawMessage(text), true
	}
	p, ok := NamedPolicy(text)
	if !ok || p.Hindsight {
		return nil, false
	}
	switch {
	case !p.Intra.Enabled:
		return json.RawMessage(`{"enabled": false}`), true
	case p.Intra.Advance == cascade.AdvanceStep:
		return json.RawMessage(`{"enabled": true, "advance": "step", "step_turns": ` + strconv.Itoa(p.Intra.StepTurns) + `}`), true
	case p.Intra.Advance == cascade.AdvanceEveryTurn:
		return json.RawMessage(`{"enabled": true, "advance": "every_turn"}`), true
	}
	return json.RawMessage(`{"enabled": true}`), true
}
