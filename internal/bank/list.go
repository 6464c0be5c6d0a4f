package bank

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/internal/config"
)

// Info is a bank in a list.
type Info struct {
	Ref      Ref
	Files    int
	Bytes    int // of the texts of the files
	Versions int
	Sessions int       // that have seen it
	Last     time.Time // when it was last written; zero: never
	Unread   []string  // see [History.Unread]
	Err      error     // why it cannot be read; the other fields but Ref are empty then
}

// UnreadRuns is after how many runs that have not read a file it is listed as one that nobody reads.
const UnreadRuns = 30

// List returns the banks of the project folder and those that all projects share, or the banks of every project, by
// folder and name.
func (s *Store) List(every bool) ([]Info, error) {
	refs, err := s.refs(every)
	if err != nil {
		return nil, err
	}
	var out []Info
	for _, ref := range refs {
		info := Info{Ref: ref}
		if h, err := s.at(ref).read(); err != nil {
			info.Err = err
		} else {
			info.sum(h)
		}
		out = append(out, info)
	}
	return out, nil
}

func (i *Info) sum(h *History) {
	for _, text := range h.Files(h.Now()) {
		i.Files++
		i.Bytes += len(text)
	}
	for _, e := range h.Entries {
		if len(e.Versions) > 0 {
			i.Last = e.At
		}
		i.Versions += len(e.Versions)
	}
	i.Sessions = len(h.sessions(0))
	i.Unread = h.Unread(UnreadRuns)
}

// refs returns the banks that there are.
func (s *Store) refs(every bool) (out []Ref, err error) {
	root := config.BanksDir(s.home)
	folders, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, storage("list", root, err)
	}
	own, err := resolved(s.folder)
	if err != nil && !every {
		return nil, storage("list", root, err)
	}
	for _, folder := range folders {
		found, err := refsIn(filepath.Join(root, folder.Name()), folder.Name() == sharedDir)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.DeleteFunc(found, func(r Ref) bool { return !every && r.Folder != "" && r.Folder != own })...)
	}
	slices.SortFunc(out, func(a, b Ref) int {
		return strings.Compare(a.Folder+"\x00"+a.Name, b.Folder+"\x00"+b.Name)
	})
	return out, nil
}

func refsIn(dir string, shared bool) (out []Ref, err error) {
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, storage("list", dir, err)
	}
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), suffix)
		if !is || !f.Type().IsRegular() {
			continue
		}
		ref := Ref{Name: name}
		if !shared {
			if ref.Folder, err = folderOf(filepath.Join(dir, f.Name())); err != nil {
				return nil, err
			}
		}
		out = append(out, ref)
	}
	return out, nil
}

// sessions returns the sessions that have seen the bank after an entry, in the order in which they did first.
func (h *History) sessions(after uint64) (out []string) {
	for _, e := range h.Entries[min(after, h.Last()):] {
		if id := e.By.Session; id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Unread returns the files that at least so many runs have not read since they were written, sorted.
func (h *History) Unread(runs int) (out []string) {
	for path := range h.Files(h.Now()) {
		v, _ := h.Current(path)
		since := v.Entry.Seq
		if readers := h.Readers(path); len(readers) > 0 {
			since = max(since, readers[len(readers)-1].Seq)
		}
		if len(h.sessions(since)) >= runs {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// Readers returns the entries of those who have read a version of a path, the oldest first.
func (h *History) Readers(path string) (out []*Entry) {
	for _, e := range h.Entries {
		if slices.ContainsFunc(e.Reads, func(r Read) bool { return r.Path == path }) {
			out = append(out, e)
		}
	}
	return out
}
