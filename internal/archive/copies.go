package archive

import (
	"bytes"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/redaction"
	"github.com/windlass-run/windlass/internal/sessions"
	"github.com/windlass-run/windlass/internal/source"
)

// sessionsWith returns the ids of the other sessions of a home that have a message.
func sessionsWith(home, but string, hash echo.Hash) []string {
	found, err := sessions.Find(config.SessionsDir(home))
	if err != nil {
		return nil
	}
	needle := []byte(`"content_hash":"` + string(hash) + `"`)
	var mu sync.Mutex
	var ids []string
	sessions.Each(found, func(s *sessions.Found) {
		if s.ID != but && hasBytes(filepath.Join(s.Dir, journal.File), needle) {
			mu.Lock()
			ids = append(ids, s.ID)
			mu.Unlock()
		}
	})
	slices.Sort(ids)
	return ids
}

// Relative is a session of the same tree that has the texts of a message, or parts of them. Each session
// is redacted by itself.
type Relative struct {
	ID      string            `json:"session_id"`
	Places  []redaction.Place `json:"places"`
	Problem string            `json:"problem,omitempty"` // why it could not be looked through
}

// Hashes returns the messages of the session that have them, each once.
func (r *Relative) Hashes() (all []echo.Hash) {
	for _, p := range r.Places {
		if p.Hash != "" && !slices.Contains(all, p.Hash) {
			all = append(all, p.Hash)
		}
	}
	return all
}

// relativesWith returns the sessions of the tree of a session that have texts or parts of a message, in
// the order in which they began.
func relativesWith(home, id string, parts *redaction.Leftover) (list []Relative) {
	for _, s := range treeOf(home, id) {
		rec, err := journal.Read(filepath.Join(s.Dir, journal.File))
		r := Relative{ID: s.ID, Places: []redaction.Place{}}
		if err == nil {
			r.Places, err = parts.Places(rec)
		}
		if err != nil {
			r.Problem = err.Error()
		}
		if err != nil || len(r.Places) > 0 {
			list = append(list, r)
		}
	}
	return list
}

// treeOf returns the other sessions of a home that are in the tree of one, in the order in which they
// began.
func treeOf(home, id string) (tree []*sessions.Found) {
	found, err := sessions.Find(config.SessionsDir(home))
	if err != nil {
		return nil
	}
	above := map[string]string{}
	for _, s := range found {
		above[s.ID] = s.ChildOf
	}
	root := func(id string) string {
		for range cascade.MaxDepth + 1 { // a journal may say anything
			if above[id] == "" {
				break
			}
			id = above[id]
		}
		return id
	}
	for _, s := range found {
		if s.ID != id && root(s.ID) == root(id) {
			tree = append(tree, s)
		}
	}
	slices.SortStableFunc(tree, func(a, b *sessions.Found) int { return a.StartedAt.Compare(b.StartedAt) })
	return tree
}

// hasBytes reports whether a file has some bytes. What is no file, or cannot be read, has none.
func hasBytes(path string, needle []byte) bool {
	f, err := source.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	buf := make([]byte, 1<<16)
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		text := buf[:kept+n]
		if bytes.Contains(text, needle) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, text[len(text)-len(needle)+1:])
	}
}

// maxSearched bounds the files that are searched for copies: larger ones are none of windlass's.
const maxSearched = 32 << 20

// filesWith returns the files below folders that have parts of a message, without journals and what
// windlass keeps beside them. Links are not followed.
func filesWith(parts *redaction.Leftover, folders []string) []string {
	var paths []string
	for _, dir := range folders {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || d.Name() == journal.File || d.Name() == delivery.MarksFile {
				return nil //nolint:nilerr // what cannot be read has no copies for others either
			}
			text, err := source.ReadFile(path, maxSearched)
			if err == nil && parts.In(string(text)) {
				paths = append(paths, path)
			}
			return nil
		})
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// testFolders returns where frozen tests of a session are by default.
func testFolders(h journal.Header) []string {
	dir := sessions.Folder(h.Options)
	if dir == "" {
		return nil
	}
	folders := []string{filepath.Join(dir, "tests")}
	file := h.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if dir := filepath.Join(filepath.Dir(file), "tests"); !slices.Contains(folders, dir) {
		folders = append(folders, dir)
	}
	return slices.DeleteFunc(folders, func(dir string) bool { return !filepath.IsAbs(dir) || strings.Contains(dir, "\x00") })
}
