package autocontext

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Some models number their calls from 1 in every phase, or in every answer. Where such calls come
// together in a request, an id that an earlier one has is sent as another id, which follows from the
// history alone: the prefix of requests stays. The history and the record keep the model's ids.

// usedIDs counts how often calls have had each id that requests know.
type usedIDs map[string]int

// again reports whether an id is used already.
func (u usedIDs) again(calls []echo.ToolCall) bool {
	return slices.ContainsFunc(calls, func(c echo.ToolCall) bool { return u[c.ID] > 0 })
}

func (u usedIDs) use(calls []echo.ToolCall) {
	for i := range calls {
		u[calls[i].ID]++
	}
}

// rename uses the ids of calls, and returns other ones for those that are used already.
func (u usedIDs) rename(calls []echo.ToolCall) renamed {
	as := renamed{}
	for _, c := range calls {
		if u[c.ID] == 0 {
			u[c.ID] = 1
		} else {
			as[c.ID] = ""
		}
	}
	for _, c := range calls {
		if _, again := as[c.ID]; again {
			as[c.ID] = u.fresh(c.ID)
		}
	}
	return as
}

// fresh returns an id in place of one that is used already.
func (u usedIDs) fresh(id string) string {
	for {
		u[id]++
		if own := numbered(id, u[id]); u[own] == 0 {
			u[own] = 1
			return own
		}
	}
}

// ownID is the form of an id that every provider takes: some want nine letters and digits.
const (
	ownIDLength = 9
	ownIDDigits = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// numbered returns the id of the nth call that has an id.
func numbered(id string, n int) string {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(id), uint64(n)))
	rest := binary.BigEndian.Uint64(sum[:])
	var out [ownIDLength]byte
	for i := range out {
		out[i] = ownIDDigits[rest%uint64(len(ownIDDigits))]
		rest /= uint64(len(ownIDDigits))
	}
	return string(out[:])
}

// incomplete reports whether a call lacks its id or name, or has the id of another one of them.
func incomplete(calls []echo.ToolCall) bool {
	for i := range calls {
		same := func(c echo.ToolCall) bool { return c.ID == calls[i].ID }
		if calls[i].ID == "" || calls[i].Name == "" || slices.ContainsFunc(calls[:i], same) {
			return true
		}
	}
	return false
}

// renamed has the ids that are sent for those of a group of calls. Without any they stay.
type renamed map[string]string

// id returns the id that is sent for one.
func (r renamed) id(id string) string {
	if own, ok := r[id]; ok {
		return own
	}
	return id
}

// of returns what a result needs of the ids of its group.
func (r renamed) of(id string) renamed {
	if _, ok := r[id]; !ok {
		return nil
	}
	return r
}

// in returns a message with the ids that are sent.
func (r renamed) in(m *echo.Message) *echo.Message {
	if r == nil || m.Role() != echo.RoleTool && len(m.ToolCalls()) == 0 {
		return m
	}
	d := m.Derived()
	d.ToolCalls = slices.Clone(d.ToolCalls)
	for i := range d.ToolCalls {
		d.ToolCalls[i].ID = r.id(d.ToolCalls[i].ID)
	}
	if m.Role() == echo.RoleTool {
		d.ToolCallID = r.id(d.ToolCallID)
	}
	return echo.Seal(d)
}

// withOwnIDs returns a message with ids of the form that they are given.
func withOwnIDs(m *echo.Message) *echo.Message {
	as := renamed{m.ToolCallID(): numbered(m.ToolCallID(), 2)}
	for _, c := range m.ToolCalls() {
		as[c.ID] = numbered(c.ID, 2)
	}
	return as.in(m)
}
