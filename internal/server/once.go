package server

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// saidOnce refuses a JSON value that has an object with a name in it twice: which of the values
// counts depends on who reads it, so one could be checked and another one used. What is no JSON at
// all is left for others to say.
func saidOnce(data []byte) error {
	if !json.Valid(data) { // it also bounds how deep the value is
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var open []*level
	for {
		token, err := dec.Token()
		if err != nil {
			return nil //nolint:nilerr // the end, as it is valid
		}
		switch delim, _ := token.(json.Delim); {
		case delim == '{' || delim == '[':
			top(open).value()
			l := &level{}
			if delim == '{' {
				l.names, l.wantsName = map[string]bool{}, true
			}
			open = append(open, l)
		case delim != 0:
			open = open[:len(open)-1]
		default:
			if name, again := top(open).take(token); again {
				return fmt.Errorf("an object has the name %s twice", quote(name))
			}
		}
	}
}

// level is an object or an array that is open.
type level struct {
	names     map[string]bool // nil in an array
	wantsName bool
}

// top returns the innermost level; nil outside of all.
func top(open []*level) *level {
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

// value notes that a value begins.
func (l *level) value() {
	if l != nil && l.names != nil {
		l.wantsName = true
	}
}

// take takes in a name or a value that is neither object nor array, and reports whether it is a
// name that was there.
func (l *level) take(token json.Token) (name string, again bool) {
	if l == nil || l.names == nil || !l.wantsName {
		l.value()
		return "", false
	}
	name, _ = token.(string)
	again = l.names[name]
	l.names[name], l.wantsName = true, false
	return name, again
}
