package server

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// saidOnce refuses JSON with a name twice in an object: which value counts depends on who reads it,
// so one could be checked and another one used. Text that is no JSON passes.
func saidOnce(data []byte) error {
	if !json.Valid(data) { // it also bounds how deep the value is
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return namesOnce(dec)
}

type level struct {
	names     map[string]bool // nil in an array
	wantsName bool
}

func top(open []*level) *level {
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}

func (l *level) value() {
	if l != nil && l.names != nil {
		l.wantsName = true
	}
}

// take takes in a name or a plain value, and reports whether it is a name that was there.
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
