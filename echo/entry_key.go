package echo

import (
	"errors"
	"fmt"
	"strings"
)

var errNoKey = errors.New("it has no key")

// Background reports whether an entry is of making cards in the background. The run depends on
// neither its place nor its number, and a replay skips it.
func (e *Entry) Background() bool { return e.Key.VisitKey() == CardsKey() }

// keyFields are the fields of an entry that follow from its key.
type keyFields struct {
	phase                   string
	attempt, turn, sounding int
}

// fields returns what an entry with this key has in them. It allocates only to unescape names.
func (k Key) fields() (f keyFields) {
	head, rest, more := strings.Cut(k.text, "/")
	if head == "" {
		return f
	}
	var p Path
	err := p.readHead(head)
	f.phase = p.Phase
	for more && err == nil {
		var s Step
		s, rest, more, err = readStep(rest)
		switch s.Kind {
		case wordAttempt:
			f.attempt = s.Number
		case wordTurn:
			f.turn = s.Number
		case StepSounding:
			f.sounding = s.Number // the innermost is the last
		}
	}
	if err != nil {
		panic("echo: a key that was not made here: " + err.Error())
	}
	return f
}

// SetKeyFields sets Phase, Attempt, Turn and Sounding, which follow from the key.
func (e *Entry) SetKeyFields() {
	f := e.Key.fields()
	e.Phase, e.Attempt, e.Turn, e.Sounding = f.phase, f.attempt, f.turn, f.sounding
}

// CheckKey returns an error for an entry without a key, or with fields that contradict its key.
func (e *Entry) CheckKey() error {
	if e.Key.IsZero() {
		return errNoKey
	}
	f := e.Key.fields()
	if (keyFields{e.Phase, e.Attempt, e.Turn, e.Sounding}) == f {
		return nil
	}
	for _, c := range []struct {
		field     string
		said, key any
	}{{"phase", e.Phase, f.phase}, {"attempt", e.Attempt, f.attempt}, {"turn", e.Turn, f.turn}, {"sounding", e.Sounding, f.sounding}} {
		if c.said != c.key {
			return fmt.Errorf("its %s is %#v, but its key %s says %#v", c.field, c.said, e.Key, c.key)
		}
	}
	return nil
}
