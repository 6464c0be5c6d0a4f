package modeltext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// FindJSON finds the JSON value in an answer: the whole text, else the last ```json block that
// holds one, else the widest stretch between brackets.
func FindJSON(text string) (raw json.RawMessage, ok bool) {
	whole := strings.TrimSpace(text)
	if json.Valid([]byte(whole)) {
		return json.RawMessage(whole), true
	}
	for _, block := range slices.Backward(jsonBlocks(text)) {
		if b := strings.TrimSpace(block); json.Valid([]byte(b)) {
			return json.RawMessage(b), true
		}
	}
	for _, pair := range []string{"{}", "[]"} {
		from, to := strings.IndexByte(whole, pair[0]), strings.LastIndexByte(whole, pair[1])
		if from >= 0 && to > from && json.Valid([]byte(whole[from:to+1])) {
			return json.RawMessage(whole[from : to+1]), true
		}
	}
	return nil, false
}

// mostRead is how many bytes are read in search of an object, those read again included; each try counts
// for a few more.
const (
	mostRead = 4 << 20
	perTry   = 64
)

// FirstObject returns the members of the first JSON object in a text that has a given one, also of
// an object in another value.
func FirstObject(text, member string) (members map[string]json.RawMessage, ok bool) {
	for members = range Objects(text, member) {
		return members, true
	}
	return nil, false
}

// Objects yields the members of all JSON objects in a text that have a given one, as [FirstObject]
// finds them. It does not look into those.
func Objects(text, member string) iter.Seq[map[string]json.RawMessage] {
	return func(yield func(map[string]json.RawMessage) bool) {
		for _, members := range ObjectTexts(text, member) {
			if !yield(members) {
				return
			}
		}
	}
}

// ObjectTexts is [Objects] with the text of each.
func ObjectTexts(text, member string) iter.Seq2[string, map[string]json.RawMessage] {
	return func(yield func(string, map[string]json.RawMessage) bool) {
		read := 0
		for at := 0; read < mostRead; at++ {
			next := strings.IndexByte(text[at:], '{')
			if next < 0 {
				return
			}
			at += next
			if !strings.HasPrefix(strings.TrimLeft(text[at+1:], " \t\r\n"), `"`) {
				continue
			}
			var object map[string]json.RawMessage
			dec := json.NewDecoder(strings.NewReader(text[at:]))
			err := dec.Decode(&object)
			read += perTry + consumed(dec, err, len(text)-at)
			if _, has := object[member]; has && err == nil {
				end := at + int(dec.InputOffset())
				if !yield(text[at:end], object) {
					return
				}
				at = end - 1
			}
		}
	}
}

// Values returns all values that the text of an object gives one of its members: a member that stands there twice
// has two.
func Values(object, member string) (values []json.RawMessage) {
	dec := json.NewDecoder(strings.NewReader(object))
	if _, err := dec.Token(); err != nil { // the brace
		return nil
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return values
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return values
		}
		if name == member {
			values = append(values, value)
		}
	}
	return values
}

// consumed returns how many of the bytes that are left a decoder has looked at.
func consumed(dec *json.Decoder, err error, left int) int {
	var wrong *json.SyntaxError
	switch {
	case err == nil:
		return int(dec.InputOffset())
	case errors.As(err, &wrong):
		return int(wrong.Offset)
	}
	return left
}

// Decode reads a JSON value and keeps numbers exact.
func Decode(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return value, nil
}

// Value returns a tool's text as a value: parsed when it is a JSON object or array, else as it is.
func Value(text string) any {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "{") && !strings.HasPrefix(t, "[") || !json.Valid([]byte(t)) {
		return text
	}
	if value, err := Decode([]byte(t)); err == nil {
		return value
	}
	return text
}
