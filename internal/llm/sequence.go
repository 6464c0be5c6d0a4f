package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// CheckSequence reports why a provider would refuse messages: a call without its result right after
// it or the reverse, an id used twice, an unknown role, an assistant message at the end.
func CheckSequence(msgs []*echo.Message) error {
	if len(msgs) == 0 {
		return errors.New("there are no messages")
	}
	seen := map[string]bool{}    // ids of all calls so far
	waiting := map[string]bool{} // ids of calls that are not answered yet
	for i, m := range msgs {
		if len(waiting) > 0 && m.Role() != echo.RoleTool {
			return fmt.Errorf("message %d (%s) comes before the result of %s", i+1, m.Role(), oneOf(waiting))
		}
		switch m.Role() {
		case echo.RoleSystem, echo.RoleUser:
		case echo.RoleTool:
			if !waiting[m.ToolCallID()] {
				return fmt.Errorf("message %d is the result of call %q, which the assistant message before it did not make",
					i+1, m.ToolCallID())
			}
			delete(waiting, m.ToolCallID())
		case echo.RoleAssistant:
			for _, c := range m.ToolCalls() {
				switch {
				case c.ID == "" || c.Name == "":
					return fmt.Errorf("message %d has a tool call without an id or a name", i+1)
				case seen[c.ID]:
					return fmt.Errorf("message %d uses the call id %q again", i+1, c.ID)
				}
				seen[c.ID], waiting[c.ID] = true, true
			}
		default:
			return fmt.Errorf("message %d has the unknown role %q", i+1, m.Role())
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("the messages end without the result of %s", oneOf(waiting))
	}
	if msgs[len(msgs)-1].Role() == echo.RoleAssistant {
		return errors.New("the last message is the assistant's own")
	}
	return nil
}

// oneOf names the first of the calls, by id, so that the text is always the same.
func oneOf(ids map[string]bool) string {
	return fmt.Sprintf("call %q", slices.Min(slices.Collect(maps.Keys(ids))))
}

// FillCallID returns an id for the i-th call of the answer to these messages. It follows from them
// alone, and no two answers of a conversation get the same.
func FillCallID(msgs []*echo.Message, i int) string {
	h := sha256.New()
	for _, m := range msgs {
		d := m.Digest()
		h.Write(d[:])
	}
	var tail [4]byte
	binary.BigEndian.PutUint32(tail[:], uint32(i))
	h.Write(tail[:])
	return "call_" + hex.EncodeToString(h.Sum(nil)[:12])
}

// usesCallID reports whether a conversation has a call with the id. An answer has one or two calls,
// so looking through the messages for each is cheaper than gathering all ids first.
func usesCallID(msgs []*echo.Message, id string) bool {
	mark := echo.MarkOf(id)
	return slices.ContainsFunc(msgs, func(m *echo.Message) bool { return m.MayCall(mark) && hasCall(m.ToolCalls(), id) })
}

func hasCall(calls []echo.ToolCall, id string) bool {
	return slices.ContainsFunc(calls, func(c echo.ToolCall) bool { return c.ID == id })
}
