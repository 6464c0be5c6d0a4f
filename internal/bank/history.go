package bank

import (
	"cmp"
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memory"
)

// History is a bank as it was read: all its entries. It is not changed any more, and safe for concurrent use.
type History struct {
	Ref     Ref
	Entries []*Entry
	paths   map[string]*versions
}

// versions are those of one path.
type versions struct {
	list     []Placed          // in the order of their entries
	replaced []uint64          // of each, the number of the first entry that replaces it; 0: none
	early    map[string]uint64 // the same of those that are not there yet, by their ids: an import brings them in any order
}

func (v *versions) clone() *versions {
	if v == nil {
		return &versions{early: map[string]uint64{}}
	}
	return &versions{slices.Clone(v.list), slices.Clone(v.replaced), maps.Clone(v.early)}
}

func (v *versions) add(p Placed) {
	v.list, v.replaced = append(v.list, p), append(v.replaced, v.early[p.ID])
	for _, parent := range p.Parents {
		v.replace(parent, p.Entry.Seq)
	}
}

// replace notes which entry replaces a version, which is mostly the newest one.
func (v *versions) replace(id string, by uint64) {
	for i, had := range slices.Backward(v.list) {
		if had.ID == id {
			v.replaced[i] = cmp.Or(v.replaced[i], by)
			return
		}
	}
	v.early[id] = cmp.Or(v.early[id], by)
}

// Placed is a version with the entry that has it.
type Placed struct {
	*Version
	Entry *Entry
}

// Origin returns who wrote the version, and when.
func (p Placed) Origin() Origin { return p.Entry.origin(p.Version) }

// with returns a history with more entries.
func (h *History) with(more ...*Entry) *History {
	out := &History{Ref: h.Ref, Entries: append(h.Entries[:len(h.Entries):len(h.Entries)], more...), paths: h.paths}
	changed := map[string]*versions{}
	for _, e := range more {
		for i := range e.Versions {
			v := &e.Versions[i]
			if changed[v.Path] == nil {
				changed[v.Path] = h.paths[v.Path].clone()
			}
			changed[v.Path].add(Placed{v, e})
		}
	}
	if len(changed) > 0 || out.paths == nil {
		out.paths = make(map[string]*versions, len(h.paths)+len(changed))
		maps.Copy(out.paths, h.paths)
		maps.Copy(out.paths, changed)
	}
	return out
}

// Last returns the number of the newest entry, 0 without one.
func (h *History) Last() uint64 { return uint64(len(h.Entries)) }

// Paths returns every path that has or had a file, sorted.
func (h *History) Paths() []string { return slices.Sorted(maps.Keys(h.paths)) }

// Versions returns all versions of a path, the oldest first.
func (h *History) Versions(path string) []Placed {
	if v := h.paths[path]; v != nil {
		return v.list
	}
	return nil
}

// Heads returns the versions of a path that no other replaces, as of an entry: one, unless machines that did not know
// of each other have written it; the newest first. An import may bring versions in any order.
func (h *History) Heads(path string, asOf uint64) []Placed {
	all := h.paths[path]
	if all == nil {
		return nil
	}
	var out []Placed
	for i, by := range all.replaced {
		if by != 0 && by <= asOf {
			continue
		}
		if all.list[i].Entry.Seq > asOf {
			break
		}
		out = append(out, all.list[i])
	}
	slices.SortStableFunc(out, func(a, b Placed) int {
		return cmp.Or(b.Origin().At.Compare(a.Origin().At), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// current returns the version that counts of those that nothing replaces: the newest that has a text.
func current(heads []Placed) (Placed, bool) {
	i := slices.IndexFunc(heads, func(v Placed) bool { return v.hasText() })
	if i < 0 {
		return Placed{}, false
	}
	return heads[i], true
}

// Current returns the version of a path that counts now.
func (h *History) Current(path string) (Placed, bool) { return current(h.Heads(path, h.Last())) }

// Files returns the files as somebody sees them.
func (h *History) Files(seen memory.Seen) memory.Files {
	files := memory.Files{}
	for path := range h.paths {
		if v, is := current(h.Heads(path, seen.Of(path))); is {
			files[path] = v.Text
		}
	}
	return files
}

// Now is how somebody sees the bank who sees all of it.
func (h *History) Now() memory.Seen { return memory.Seen{Start: h.Last()} }

// withOwn returns how a run sees the bank that has written into it since: paths of which all later versions are its own
// are seen as they are now.
func (h *History) withOwn(seen memory.Seen, by Writer) memory.Seen {
	own := map[string]bool{}
	for _, e := range h.Entries[min(seen.Start, h.Last()):] {
		mine := by.Session != "" && e.By.Session == by.Session && e.By.Began == by.Began
		for i := range e.Versions {
			path := e.Versions[i].Path
			if was, has := own[path]; e.Seq > seen.Of(path) {
				own[path] = mine && (was || !has)
			}
		}
	}
	var more []echo.MemorySeen
	for path, is := range own {
		if is {
			more = append(more, echo.MemorySeen{Path: path, At: h.Last()})
		}
	}
	return seen.With(more)
}

// by returns the entry that a call has written, nil when it has not.
func (h *History) by(w Writer, command string, same func(*Entry) bool) *Entry {
	for _, e := range slices.Backward(h.Entries) {
		if e.By == w && e.Command == command && same(e) {
			return e
		}
	}
	return nil
}
