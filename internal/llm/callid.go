package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

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
	return slices.ContainsFunc(msgs, func(m *echo.Message) bool { return hasCall(m.ToolCalls(), id) })
}

func hasCall(calls []echo.ToolCall, id string) bool {
	return slices.ContainsFunc(calls, func(c echo.ToolCall) bool { return c.ID == id })
}
