package standing

import (
	"encoding/json"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
)

// Values are the values of the state that stand, by their names.
type Values map[string]string

// Follow has values become what a visit has made of them: its history is that of messages which persons have left in it. Results of
// calls say whether a call has changed anything.
func (v Values) Follow(on continuity.InForce, history []echo.Item) {
	for i := range history {
		m := history[i].Message
		if m.Role() != echo.RoleAssistant {
			continue
		}
		scratchpad, state, hasScratchpad, hasState := In(m.Text())
		if on.Scratchpad && hasScratchpad && Unfit(scratchpad, on) == "" {
			v[Scratchpad] = scratchpad
		}
		if on.StateBlock && hasState && Unfit(state, on) == "" {
			v[StateBlock] = state
		}
		for _, c := range m.ToolCalls() {
			if wentWell(c.ID, history[i+1:]) {
				v.call(on, c)
			}
		}
	}
}

// setState is the tool that sets any value of the state.
const setState = "set_state"

func (v Values) call(on continuity.InForce, c echo.ToolCall) {
	switch c.Name {
	case Scratchpad:
		if now, _, failed, err := Do(json.RawMessage(c.Arguments), v[Scratchpad]); err == nil && !failed {
			v[Scratchpad] = now
		}
	case setState:
		var in struct {
			Key   string
			Value any
		}
		if json.Unmarshal([]byte(c.Arguments), &in) == nil && (in.Key == Scratchpad && on.Scratchpad || in.Key == StateBlock && on.StateBlock) {
			v[in.Key] = echo.AsText(in.Value)
		}
	}
}

// wentWell reports whether the result of a call is among messages that follow it, and is no failure.
func wentWell(id string, follow []echo.Item) bool {
	for i := range follow {
		m := follow[i].Message
		if m.Role() == echo.RoleTool && m.ToolCallID() == id {
			return !m.Failed()
		}
		if m.Role() == echo.RoleAssistant {
			break
		}
	}
	return false
}
