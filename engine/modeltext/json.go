package modeltext

import (
	"bytes"
	"encoding/json"
	"fmt"
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
