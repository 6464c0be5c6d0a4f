package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/windlass-run/windlass/echo"
)

// FillCallID returns an id for the i-th call of the answer to these messages. It depends on nothing but them, and no
// two answers of one conversation get the same.
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

// usesCallID reports whether a conversation has a call with the id. Most answers have one or two calls, so looking
// through the messages for each is cheaper than gathering all ids first.
func usesCallID(msgs []*echo.Message, id string) bool {
	for _, m := range msgs {
		for _, c := range m.ToolCalls() {
			if c.ID == id {
				return true
			}
		}
	}
	return false
}
