package engine

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// kept returns a message in the form in which it enters the history under a key, and is recorded: without secrets, or as far
// as the record has it without them. A message that the phase's author wrote is sent with what its templates rendered.
func (v *visit) kept(key echo.Key, m *echo.Message, own bool) *echo.Message {
	clean := m.Rewritten(v.mask.Text)
	if clean == m {
		return m
	}
	if e := v.rec.Peek(echo.NodeMessage, key); e != nil && e.Message != nil && e.Message.Rewritten(v.mask.Text).Hash() == clean.Hash() {
		clean = e.Message
	}
	if own {
		return clean.SentAs(m)
	}
	return clean
}

// shown returns a message that is recorded by the hash of its request alone.
func (v *visit) shown(m *echo.Message) *echo.Message {
	if clean := m.Rewritten(v.mask.Text); clean != m {
		return clean.SentAs(m)
	}
	return m
}

// stateKept returns a value in the form in which it is kept under a name of the session's state.
func (v *visit) stateKept(name string, value any) any {
	clean := v.mask.Any(value)
	e := v.rec.Peek(echo.NodeState, v.here().Named(echo.StepState, name))
	if e == nil {
		return clean
	}
	recorded, err := echo.Read[echo.State](e)
	if err != nil {
		return clean
	}
	was := effect.MustJSON(recorded.Value)
	switch {
	case string(v.mask.JSON(was)) != string(effect.MustJSON(clean)):
		return clean
	case string(was) == string(effect.MustJSON(value)):
		return value
	}
	return recorded.Value
}

// fresh returns what templates see of the session so far, without secrets that were recorded before they were known to be
// some. What is rendered again from the record is rendered as it was.
func (v *visit) fresh(value any) any {
	if v.rec.Pending(trunk) != nil {
		return value
	}
	return v.mask.Any(value)
}
