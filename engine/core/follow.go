package core

import (
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// Followed returns what an entry under a key says: now or, where it is recorded and follows from what was
// redacted since, what is recorded. It is still to be recorded.
func Followed[T echo.Payload](r *Recorder, key echo.Key, now T) (T, error) {
	e := r.Peek(r.Entry(key, now).NodeType, key)
	if e == nil || !r.AfterRedaction(e) {
		return now, nil
	}
	was, err := echo.Read[T](e)
	if err == nil && string(effect.MustJSON(was)) != string(effect.MustJSON(now)) {
		effect.CountTaken(r.Recorder)
	}
	return was, err
}

// Follow records what [Followed] returns, and returns that.
func Follow[T echo.Payload](r *Recorder, key echo.Key, now T) (T, error) {
	said, err := Followed(r, key, now)
	if err != nil {
		return said, err
	}
	return said, r.Add(key, said)
}

// Remark warns of what follows from the texts of messages; "" for nothing. Where some of them were redacted since, there
// is a warning where one is recorded.
func (r *Recorder) Remark(key echo.Key, message string) error {
	key = key.Step(echo.StepWarning)
	if next := r.Pending(r.Branch); next != nil && r.SomethingRedacted(next) {
		r.Take(echo.NodeWarning, key)
		return nil
	}
	if message == "" {
		return nil
	}
	return r.Add(key, echo.Warning{Message: message})
}
