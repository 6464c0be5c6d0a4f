package core

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Kept returns a message as it is recorded under a key and enters the history: without secrets, or
// as the recording has it. The phase's own is sent with what its templates rendered.
func (r *Recorder) Kept(key echo.Key, m *echo.Message, own bool) *echo.Message {
	if e := r.Peek(echo.NodeMessage, key); e != nil && r.Redacted(e, m) {
		return e.Message
	}
	clean := m.Rewritten(r.Mask.Text)
	if clean == m {
		return m
	}
	if e := r.Peek(echo.NodeMessage, key); e != nil && e.Message != nil && e.Message.Rewritten(r.Mask.Text).Hash() == clean.Hash() {
		clean = e.Message
	}
	if own {
		return clean.SentAs(m)
	}
	return clean
}

// Shown returns a message that is recorded by the hash of its request alone.
func (r *Recorder) Shown(m *echo.Message) *echo.Message {
	if clean := m.Rewritten(r.Mask.Text); clean != m {
		return clean.SentAs(m)
	}
	return m
}

// StateKept returns a value of the session's state in the form in which it is recorded under a key.
func (r *Recorder) StateKept(key echo.Key, value any) any {
	clean := r.Mask.Any(value)
	e := r.Peek(echo.NodeState, key)
	if e == nil {
		return clean
	}
	recorded, err := echo.Read[echo.State](e)
	if err != nil {
		return clean
	}
	was := effect.MustJSON(recorded.Value)
	switch {
	case string(r.Mask.JSON(was)) != string(effect.MustJSON(clean)):
		return clean
	case string(was) == string(effect.MustJSON(value)):
		return value
	}
	return recorded.Value
}

// Fresh masks what templates see of the session so far; in the recording it is what it was.
func (r *Recorder) Fresh(value any) any {
	if r.Replaying() {
		return value
	}
	return r.Mask.Any(value)
}
