package echo

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
)

// WithThought returns the message with what its model reasoned, see [Draft]; none for an empty one.
func WithThought(m *Message, thought json.RawMessage) *Message {
	if len(thought) <= len("{}") {
		return withoutThought(m)
	}
	out := *withoutThought(m)
	out.draft.Thought = thought
	end := len(out.element) - 1
	out.element = slices.Concat(out.element[:end], []byte{','}, thought[1:])
	out.digest = sha256.Sum256(out.JSON())
	return &out
}

func withoutThought(m *Message) *Message {
	if len(m.draft.Thought) == 0 {
		return m
	}
	d := m.draft
	d.Thought = nil
	return seal(d)
}

// Thought returns what the model of a message reasoned, nil for nothing.
func Thought(m *Message) json.RawMessage { return m.draft.Thought }
