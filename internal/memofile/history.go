package memofile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/internal/ledger"
)

// History is a scope as it was read: all its entries. It is not changed any more, and safe for concurrent use.
type History struct {
	Scope   string
	Folder  string // the project folder; "": the memos are global
	Entries []*Entry
}

// with returns a history with more entries.
func (h *History) with(more ...*Entry) *History {
	return &History{Scope: h.Scope, Folder: h.Folder, Entries: append(h.Entries[:len(h.Entries):len(h.Entries)], more...)}
}

// Last returns the number of the newest entry, 0 without one.
func (h *History) Last() uint64 { return uint64(len(h.Entries)) }

// until returns a history as it was up to an entry.
func (h *History) until(seq uint64) *History {
	return &History{Scope: h.Scope, Folder: h.Folder, Entries: h.Entries[:seq:seq]}
}

// opened returns the number of the entry by which a session has begun, 0 where it has not.
func (h *History) opened(by memo.Writer) uint64 {
	for _, e := range h.Entries {
		if e.Command == commandOpen && e.By == by {
			return e.Seq
		}
	}
	return 0
}

// latest returns when the newest version was written, of all: an import may have brought it.
func (h *History) latest() (at time.Time) {
	for _, e := range h.Entries {
		if e.At.After(at) {
			at = e.At
		}
		for i := range e.Versions {
			if o := e.Versions[i].Origin; o != nil && o.At.After(at) {
				at = o.At
			}
		}
	}
	return at
}

// Placed is a version with the entry that has it.
type Placed struct {
	*Version
	Entry *Entry
}

// Origin returns who wrote the version, and when.
func (p Placed) Origin() Origin { return p.Entry.Origin(p.Version) }

// later reports whether a version counts and not another one of the same memo: it was written later.
func (p Placed) later(than Placed) bool {
	a, b := p.Origin(), than.Origin()
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(p.ID, than.ID)) > 0
}

// Versions returns all versions of a memo, or of all memos when id is "", in the order in which they were written.
func (h *History) Versions(id string) (out []Placed) {
	for _, e := range h.Entries {
		for i := range e.Versions {
			if v := &e.Versions[i]; id == "" || v.Memo == id {
				out = append(out, Placed{v, e})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Placed) int {
		if a.later(b) {
			return 1
		}
		return -1
	})
	return out
}

// As returns the memos as somebody sees them who sees some of the entries. Of each it is the version that was written last.
// A text that a person has forgotten is seen by nobody.
func (h *History) As(sees func(*Entry) bool) memo.Set {
	last := map[string]Placed{}
	var ids []string
	for _, e := range h.Entries {
		if !sees(e) {
			continue
		}
		for i := range e.Versions {
			p := Placed{&e.Versions[i], e}
			had, is := last[p.Memo]
			if !is {
				ids = append(ids, p.Memo)
			}
			if !is || p.later(had) {
				last[p.Memo] = p
			}
		}
	}
	var set memo.Set
	for _, id := range ids {
		if p := last[id]; p.hasText() {
			set = append(set, h.memo(p))
		}
	}
	return set
}

// Now returns the memos as they are now.
func (h *History) Now() memo.Set { return h.As(func(*Entry) bool { return true }) }

func (h *History) memo(p Placed) memo.Memo {
	o := p.Origin()
	return memo.Memo{ID: p.Memo, Version: p.ID, Scope: h.Scope, Text: p.Text, Tags: p.Tags, By: o.By, At: o.At}
}

// has reports whether there is or was a memo of an id.
func (h *History) has(id string) bool {
	return slices.ContainsFunc(h.Entries, func(e *Entry) bool {
		return slices.ContainsFunc(e.Versions, func(v Version) bool { return v.Memo == id })
	})
}

// idDigits is how long the id of a memo is: short enough to be written again by a model.
const idDigits = 8

// newID returns an id for the memo of an entry that no other has.
func (h *History) newID(e *Entry) (string, error) {
	text, err := json.Marshal(e)
	if err != nil {
		return "", err
	}
	for n := 0; ; n++ {
		id := "m" + string(echo.TextHash(fmt.Appendf(slices.Clip(text), "%s %s %d", h.Scope, h.Folder, n)))[:idDigits]
		if !h.has(id) {
			return id, nil
		}
	}
}

// by returns the entry with versions that a call has written, nil when it has not.
func (h *History) by(w memo.Writer, call echo.Hash) *Entry {
	for _, e := range slices.Backward(h.Entries) {
		if e.By == w && e.Call == call && len(e.Versions) > 0 {
			return e
		}
	}
	return nil
}

// Readers returns the entries of those who were told of a memo, the oldest first.
func (h *History) Readers(id string) (out []*Entry) {
	for _, e := range h.Entries {
		if slices.ContainsFunc(e.Reads, func(r Read) bool { return r.Memo == id }) {
			out = append(out, e)
		}
	}
	return out
}

// Unread returns the ids of the memos of which at least so many runs have not been told since they were written.
func (h *History) Unread(runs int) (out []string) {
	last := map[string]uint64{} // the last entry that has written a memo, or has told of it
	sessions := make([]string, len(h.Entries))
	for i, e := range h.Entries {
		sessions[i] = e.By.Session
		for _, v := range e.Versions {
			last[v.Memo] = e.Seq
		}
		for _, r := range e.Reads {
			last[r.Memo] = e.Seq
		}
	}
	after := ledger.After(sessions)
	for _, m := range h.Now() {
		if after[last[m.ID]] >= runs {
			out = append(out, m.ID)
		}
	}
	return out
}
