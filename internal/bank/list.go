package bank

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/ledger"
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
	Texts    int       // that were remembered
	Idle     int       // see [History.UnreadTexts]
	// Err says why the bank cannot be read; the other fields but Ref are empty then, and where not even its project folder
	// can, the folder of Ref is that of the file.
	Err error
}

// UnreadRuns is after how many runs that have not read a file it is listed as one that nobody reads.
const UnreadRuns = 30

// List returns the banks of the project folder and those that all projects share, or the banks of every project, by
// folder and name.
func (s *Store) List(every bool) ([]Info, error) {
	found, err := s.find(every)
	if err != nil {
		return nil, err
	}
	for i := range found {
		info := &found[i]
		if info.Err != nil {
			continue
		}
		f := s.at(info.Ref)
		h, err := f.Read()
		if err == nil && h.Last() == 0 {
			err = f.Whole()
		}
		if info.Err = err; err == nil {
			info.sum(h)
		}
	}
	slices.SortFunc(found, func(a, b Info) int {
		return cmp.Or(strings.Compare(a.Ref.Folder, b.Ref.Folder), strings.Compare(a.Ref.Name, b.Ref.Name))
	})
	return found, nil
}

func (i *Info) sum(h *History) {
	for _, text := range h.Files(h.Now()) {
		i.Files++
		i.Bytes += len(text)
	}
	for _, e := range h.Entries {
		if len(e.Versions)+len(e.Texts) > 0 {
			i.Last = e.At
		}
		i.Versions += len(e.Versions)
	}
	i.Sessions = h.sessions()
	i.Unread = h.Unread(UnreadRuns)
	i.Texts, i.Idle = len(h.Texts(h.Now())), h.UnreadTexts(UnreadRuns)
}

// find returns the banks that there are.
func (s *Store) find(every bool) (out []Info, err error) {
	root := config.BanksDir(s.home)
	if !every {
		own, err := resolved(s.folder)
		if err != nil {
			return nil, unlisted(root, err)
		}
		for _, folder := range []string{"", own} {
			found, err := s.findIn(Ref{Folder: folder}.dir(s.home), &folder)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
		return out, nil
	}
	folders, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, unlisted(root, err)
	}
	for _, dir := range folders {
		if !dir.IsDir() {
			continue
		}
		var folder *string
		if dir.Name() == sharedDir {
			folder = new(string)
		}
		found, err := s.findIn(filepath.Join(root, dir.Name()), folder)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return out, nil
}

func unlisted(dir string, err error) error {
	return failure.New(failure.StorageFailed, fmt.Errorf("list the banks in %s: %w", dir, err), "")
}

// Check reads the files of all banks of a home, and changes nothing.
func Check(home string) (out []ledger.Health, err error) {
	s := Open(home, "", nil)
	found, err := s.find(true)
	for _, info := range found {
		if info.Err != nil { // its folder is that of the file
			out = append(out, ledger.Health{Path: filepath.Join(info.Ref.Folder, info.Ref.Name+suffix), Err: info.Err})
			continue
		}
		out = append(out, s.at(info.Ref).Health())
	}
	return out, err
}

// Whole is an error where the file of a bank is there and has no whole entry, so that it seems not to be there.
func (s *Store) Whole(bank string) error {
	f, err := s.file(bank)
	if err != nil {
		return err
	}
	return f.Whole()
}

// findIn returns the banks in a folder of the home. They are those of a project folder, which their heads name where it is
// nil.
func (s *Store) findIn(dir string, folder *string) (out []Info, err error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, unlisted(dir, err)
	}
	for _, f := range names {
		name, is := strings.CutSuffix(f.Name(), suffix)
		if !is || memory.CheckName(name) != nil { // what is no file has a row with that
			continue
		}
		path := filepath.Join(dir, f.Name())
		in, err := s.folderOf(path)
		if errors.Is(err, io.EOF) { // it was cut, or whoever makes it has not written into it yet, or died
			err = ledger.Cut(noun, path)
		}
		switch {
		case folder != nil:
			out = append(out, Info{Ref: Ref{Name: name, Folder: *folder}})
		case err != nil:
			out = append(out, Info{Ref: Ref{Name: name, Folder: dir}, Err: err})
		default:
			out = append(out, Info{Ref: Ref{Name: name, Folder: in}})
		}
	}
	return out, nil
}

// folderOf returns the project folder that the head of a bank's file names. The error is an [io.EOF] where there is no
// whole head.
func (s *Store) folderOf(path string) (string, error) {
	from, err := s.on.Open(path, os.O_RDONLY)
	if err != nil {
		return "", storage("open", path, err)
	}
	defer from.Close() //nolint:errcheck // only read from
	line, err := format(Ref{}).FirstLine(from)
	switch {
	case errors.Is(err, io.EOF):
		return "", io.EOF
	case err != nil:
		return "", storage("read", path, err)
	}
	h, _, err := parseHead(path, line)
	if err == nil && (Ref{Folder: h.Folder}).dir(s.home) != filepath.Dir(path) {
		err = damaged(path, 1, errOtherBank)
	}
	return h.Folder, err
}

// sessions returns how many sessions have seen the bank.
func (h *History) sessions() int {
	ids := map[string]bool{}
	for _, e := range h.Entries {
		ids[e.By.Session] = true
	}
	delete(ids, "")
	return len(ids)
}

// Unread returns the files that at least so many runs have not read since they were written, sorted.
func (h *History) Unread(runs int) (out []string) {
	last := map[string]uint64{} // the last entry that has read a path
	for _, e := range h.Entries {
		for _, r := range e.Reads {
			last[r.Path] = e.Seq
		}
	}
	seen := sessionsAfter(h)
	for path := range h.Files(h.Now()) {
		if v, _ := h.Current(path); seen[max(v.Entry.Seq, last[path])] >= runs {
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
