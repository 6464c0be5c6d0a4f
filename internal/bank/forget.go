package bank

import (
	"context"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
)

// Forgotten is what a bank has forgotten.
type Forgotten struct {
	Versions int      // whose text is gone
	Texts    int      // remembered texts that are gone
	Paths    []string // whose versions these are: the path, and those that the file had before it was renamed
	Sessions []string // that have written or read one of them: their records have the texts still
	Calls    []Writer // the calls by which they did, each once
	Also     []string // paths at which the bank has one of the texts still, now or before
}

// Forget takes the texts of all versions of a path out of the file of a bank, for good; also those that the file had under
// earlier names. The versions stay, with the hashes of their texts. What records of sessions have of them stays.
func (s *Store) Forget(ctx context.Context, bank, person, path string) (*Forgotten, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	var out *Forgotten
	err = f.Rewrite(ctx, func(h *History) (entries []*Entry, err error) {
		if out, entries = h.without(path); out.Versions == 0 {
			return nil, failure.Newf(failure.InvalidRequest, "forget %s: the bank %s has no text of it", path, bank)
		}
		last := &Entry{By: Writer{Person: person}, Command: commandForget, Versions: []Version{{Path: path, Gone: true, Parents: ids(h.Heads(path, h.Last()))}}}
		slices.Sort(last.Versions[0].Parents)
		return append(entries, last), f.seal(last, h.Last()+1)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Family returns the versions of a path, and those that its file had under earlier names, by their ids; with their paths. A
// file that was made at an earlier name later is another one.
func (h *History) Family(path string) (ids map[string]bool, paths []string) {
	ids, paths = map[string]bool{}, []string{path}
	next := slices.Clone(h.Versions(path))
	for len(next) > 0 {
		v := next[0]
		next = next[1:]
		if ids[v.ID] {
			continue
		}
		ids[v.ID] = true
		if !slices.Contains(paths, v.Path) {
			paths = append(paths, v.Path)
		}
		if v.Path != path {
			next = append(next, h.parents(v)...)
		}
		if v.From != "" {
			next = append(next, h.left(v)...)
		}
	}
	return ids, paths
}

// parents returns the versions that one replaces.
func (h *History) parents(v Placed) (out []Placed) {
	for _, o := range h.Versions(v.Path) {
		if slices.Contains(v.Parents, o.ID) {
			out = append(out, o)
		}
	}
	return out
}

// left returns the versions by which the file of a version has left the path that it was renamed from.
func (h *History) left(v Placed) (out []Placed) {
	for _, o := range h.Versions(v.From) {
		if o.Gone && o.Origin() == v.Origin() {
			out = append(out, o)
		}
	}
	return out
}

// ToForget returns what [Store.Forget] would forget.
func (h *History) ToForget(path string) *Forgotten {
	out, _ := h.without(path)
	return out
}

// without returns the entries of a history with the texts of a path taken out, as copies.
func (h *History) without(path string) (*Forgotten, []*Entry) {
	family, paths := h.Family(path)
	out := &Forgotten{Paths: paths}
	hashes := map[echo.Hash]bool{}
	entries := make([]*Entry, 0, len(h.Entries)+1)
	for _, e := range h.Entries {
		c := *e
		c.Versions = slices.Clone(e.Versions)
		touched := slices.ContainsFunc(e.Reads, func(r Read) bool { return family[r.Version] })
		for i := range c.Versions {
			if v := &c.Versions[i]; v.hasText() && family[v.ID] {
				hashes[v.Hash] = true
				v.Text, v.Forgotten = "", true
				out.Versions++
				touched = true
			}
		}
		if touched && e.By.Session != "" {
			out.by(e.By)
		}
		entries = append(entries, &c)
	}
	for _, other := range h.Paths() {
		if slices.ContainsFunc(h.Versions(other), func(v Placed) bool { return !family[v.ID] && v.hasText() && hashes[v.Hash] }) {
			out.Also = append(out.Also, other)
		}
	}
	return out, entries
}

// by notes a call of a session, once.
func (f *Forgotten) by(call Writer) {
	if !slices.Contains(f.Sessions, call.Session) {
		f.Sessions = append(f.Sessions, call.Session)
	}
	if !slices.Contains(f.Calls, call) {
		f.Calls = append(f.Calls, call)
	}
}

func (v *Version) hasText() bool { return !v.Gone && !v.Forgotten }
