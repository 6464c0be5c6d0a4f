package bank

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/wholefile"
)

// Forgotten is what a bank has forgotten.
type Forgotten struct {
	Versions int      // whose text is gone
	Paths    []string // whose versions these are: the path, and those that the file had before it was renamed
	Sessions []string // that have written or read one of them: their records have the texts still
	Also     []string // other paths at which the bank has one of the texts, now or before
}

// Forget takes the texts of all versions of a path out of the file of a bank, for good; also those that the file had under
// earlier names. The versions stay, with the hashes of their texts. What records of sessions have of them stays.
func (s *Store) Forget(ctx context.Context, bank, person, path string) (*Forgotten, error) {
	f, err := s.file(bank)
	if err != nil {
		return nil, err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	h, err := f.read()
	if err != nil {
		return nil, err
	}
	out, entries := h.without(path)
	if out.Versions == 0 {
		return nil, failure.Newf(failure.InvalidRequest, "forget %s: the bank %s has no text of it", path, bank)
	}
	last := &Entry{By: Writer{Person: person}, Command: commandForget, Versions: []Version{{Path: path, Gone: true, Parents: ids(h.Heads(path, h.Last()))}}}
	slices.Sort(last.Versions[0].Parents)
	if err := f.seal(last, h.Last()+1); err != nil {
		return nil, err
	}
	return out, f.replace(append(entries, last))
}

// names returns a path, and those that its file had before it was renamed.
func (h *History) names(path string) []string {
	out := []string{path}
	for i := 0; i < len(out); i++ {
		for _, v := range h.paths[out[i]] {
			if v.From != "" && !slices.Contains(out, v.From) {
				out = append(out, v.From)
			}
		}
	}
	return out
}

// without returns the entries of a history with the texts of a path taken out, as copies.
func (h *History) without(path string) (*Forgotten, []*Entry) {
	out := &Forgotten{Paths: h.names(path)}
	hashes := map[echo.Hash]bool{}
	var entries []*Entry
	for _, e := range h.Entries {
		c := *e
		c.Versions = slices.Clone(e.Versions)
		touched := slices.ContainsFunc(e.Reads, func(r Read) bool { return slices.Contains(out.Paths, r.Path) })
		for i := range c.Versions {
			if v := &c.Versions[i]; v.hasText() && slices.Contains(out.Paths, v.Path) {
				hashes[v.Hash] = true
				v.Text, v.Forgotten = "", true
				out.Versions++
				touched = true
			}
		}
		if touched && e.By.Session != "" && !slices.Contains(out.Sessions, e.By.Session) {
			out.Sessions = append(out.Sessions, e.By.Session)
		}
		entries = append(entries, &c)
	}
	for _, other := range h.Paths() {
		if !slices.Contains(out.Paths, other) && slices.ContainsFunc(h.paths[other], func(v Placed) bool { return v.hasText() && hashes[v.Hash] }) {
			out.Also = append(out.Also, other)
		}
	}
	return out, entries
}

func (v *Version) hasText() bool { return !v.Gone && !v.Forgotten }

// replace writes the whole file anew, with these entries, and puts it in the place of the old one.
func (f *file) replace(entries []*Entry) (err error) {
	to, err := wholefile.Create(f.path, 0o600)
	if err != nil {
		return storage("write", f.path, err)
	}
	defer func() {
		if err != nil {
			err = storage("write", f.path, errors.Join(err, to.Discard()))
		}
	}()
	var sum chain.Sum
	lines := []any{head{FormatVersion, f.ref.Name, f.ref.Folder, entries[0].At}}
	for _, e := range entries {
		lines = append(lines, e)
	}
	for _, l := range lines {
		line, next, err := sealed(l, sum)
		if err != nil {
			return err
		}
		if _, err := to.Write(line); err != nil {
			return err
		}
		sum = next
	}
	if err := to.Sync(); err != nil {
		return err
	}
	if err := to.Commit(); err != nil {
		return fmt.Errorf("replace it: %w", err)
	}
	return nil
}
