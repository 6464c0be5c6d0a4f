package echo

import (
	"errors"
	"fmt"
	"strings"
)

var errNoKey = errors.New("it has no key")

// Background reports whether an entry records something that was done in the background, to make
// cards of the run's messages: what it cost, or a warning. It is no effect: the run depends on
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
	said := keyFields{e.Phase, e.Attempt, e.Turn, e.Sounding}
	switch {
	case said == f:
		return nil
	case said.phase != f.phase:
		return fmt.Errorf("its phase is %q, but its key %s says %q", said.phase, e.Key, f.phase)
	case said.attempt != f.attempt:
		return e.contradiction("attempt", said.attempt, f.attempt)
	case said.turn != f.turn:
		return e.contradiction("turn", said.turn, f.turn)
	}
	return e.contradiction("sounding", said.sounding, f.sounding)
}

func (e *Entry) contradiction(field string, said, key int) error {
	return fmt.Errorf("its %s is %d, but its key %s says %d", field, said, e.Key, key)
}
