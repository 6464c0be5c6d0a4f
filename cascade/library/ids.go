package library

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/source"
)

// The bounds of a search in one folder, far above what people keep in one.
const (
	maxFiles  = 10_000   // whose ids are read
	maxRead   = 64 << 20 // bytes of them together
	maxListed = 50_000   // entries of the folder
)

// maxWhole bounds a YAML file that is parsed as a whole for its id: parsing one takes half a second
// for each MiB.
const maxWhole = 64 << 10

// shelf is what a search knows of one folder.
type shelf struct {
	ids   map[string][]string // the names of the files with an id, sorted
	files []string            // with the names of cascade files, read or not
	notes []string            // what was not read, and why
}

// IDs are what searches have read of files, for those that follow: an id holds while its file has the
// same size and time of change. The zero value has none. It is safe for concurrent use.
type IDs struct {
	mu sync.Mutex
	of map[string]keptID // by the folder and the name of the file
}

type keptID struct {
	id      string
	size    int64
	changed time.Time
	read    int64 // bytes that were read for it, which count in the bound of a search
}

// settled is how long ago a file must have changed for its time of change to tell it from a later one.
const settled = 2 * time.Second

type idsKey struct{}

// WithIDs returns a context in which searches use what earlier ones have read.
func WithIDs(ctx context.Context, ids *IDs) context.Context {
	return context.WithValue(ctx, idsKey{}, ids)
}

// get returns the id of a file, if it was read before, and how much was read then.
func (i *IDs) get(file string, info fs.FileInfo) (id string, read int64, ok bool) {
	if i == nil {
		return "", 0, false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	k, ok := i.of[file]
	if !ok || k.size != info.Size() || !k.changed.Equal(info.ModTime()) {
		return "", 0, false
	}
	return k.id, k.read, true
}

func (i *IDs) keep(file string, info fs.FileInfo, id string, read int64) {
	if i == nil || time.Since(info.ModTime()) < settled {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.of == nil {
		i.of = map[string]keptID{}
	}
	i.of[file] = keptID{id: id, size: info.Size(), changed: info.ModTime(), read: read}
}

// readShelf reads the ids of the cascades of a place. A missing folder is an empty shelf with a note.
func readShelf(ctx context.Context, p place) *shelf {
	fsys, dir := p.fsys, p.dir
	ids, _ := ctx.Value(idsKey{}).(*IDs)
	s := &shelf{ids: map[string][]string{}}
	names, err := s.list(fsys, dir)
	if err != nil {
		s.notes = append(s.notes, reason(err))
		return s
	}
	unread, outside := 0, 0
	budget := &countdown{left: maxRead}
	for i, name := range names {
		if ctx.Err() != nil {
			break
		}
		if budget.left <= 0 {
			s.notes = append(s.notes, fmt.Sprintf("%s were not read: those before them have more than %d MiB", quantity.Of(len(names)-i, "file"), maxRead>>20))
			break
		}
		id, err := readID(fsys, path.Join(dir, name), budget, ids, cmp.Or(p.kept, p.key)+"\x00"+name)
		switch {
		case escapes(err):
			outside++
		case err != nil:
			unread++
		case id != "":
			s.ids[id] = append(s.ids[id], name)
		}
	}
	if outside > 0 {
		s.notes = append(s.notes, quantity.Of(outside, "link")+" out of it not followed")
	}
	if unread > 0 {
		s.notes = append(s.notes, quantity.Of(unread, "file")+" that cannot be read")
	}
	return s
}

// list returns the names in a folder that are those of cascade files, sorted.
func (s *shelf) list(fsys fs.FS, dir string) ([]string, error) {
	info, err := fs.Stat(fsys, dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, errNoFolder
	}
	f, err := fsys.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	d, ok := f.(fs.ReadDirFile)
	if !ok {
		return nil, errNoFolder
	}
	entries, err := d.ReadDir(maxListed + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxListed {
		s.notes = append(s.notes, fmt.Sprintf("only %d of its files were looked at", maxListed))
	}
	for _, e := range entries {
		if name := e.Name(); IsPath(name) && !cascade.IsToolFile(name) && !e.IsDir() {
			s.files = append(s.files, name)
		}
	}
	slices.Sort(s.files)
	if len(s.files) > maxFiles {
		s.notes = append(s.notes, fmt.Sprintf("only %d of its %d JSON and YAML files were read", maxFiles, len(s.files)))
	}
	return s.files[:min(len(s.files), maxFiles)], nil
}

var errNoFolder = errors.New("no folder")

// reason says in a few words why a folder was not read.
func reason(err error) string {
	var p *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case escapes(err):
		return "a link that leads out of the project folder"
	case errors.As(err, &p):
		return p.Err.Error()
	}
	return err.Error()
}

// missing is the note of a folder that is not there.
const missing = "not there"

// escapes reports whether a link leads out of a folder. The error of an os.Root has no type of its own.
func escapes(err error) bool {
	var p *fs.PathError
	return errors.As(err, &p) && strings.Contains(p.Err.Error(), "escapes")
}

// countdown is how many bytes may still be read.
type countdown struct{ left int64 }

type counted struct {
	r io.Reader
	c *countdown
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.c.left -= int64(n)
	return n, err
}

// readID reads the cascade_id of a file, "" when it has none that can be found. The error says why the
// file cannot be read; that something else is wrong with it is none. It is kept as that of a file.
func readID(fsys fs.FS, name string, budget *countdown, ids *IDs, file string) (string, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return "", err
	}
	if err := source.Readable(name, info.Mode()); err != nil {
		return "", nil // a folder or a pipe is no cascade, whatever its name
	}
	if id, read, ok := ids.get(file, info); ok {
		budget.left -= read
		return id, nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	before := budget.left
	r := bufio.NewReader(counted{io.LimitReader(f, source.MaxBytes), budget})
	if start, _ := r.Peek(3); bytes.Equal(start, []byte("\ufeff")) {
		_, _ = r.Discard(3)
	}
	find := idOfYAML
	if path.Ext(name) == ".json" {
		find = idOfJSON
	}
	id := find(r)
	ids.keep(file, info, id, before-budget.left)
	return id, nil
}

// idOfJSON reads up to the id: what is wrong behind it does not matter.
func idOfJSON(r io.Reader) string {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		value, err := d.Token()
		if err != nil {
			return ""
		}
		if key == "cascade_id" {
			id, _ := value.(string)
			return id
		}
		if delim, ok := value.(json.Delim); ok && (delim == '{' || delim == '[') && !skip(d) {
			return ""
		}
	}
	return ""
}

// skip reads to the end of the object or list that has begun.
func skip(d *json.Decoder) bool {
	for depth := 1; depth > 0; {
		t, err := d.Token()
		if err != nil {
			return false
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth > source.MaxDepth {
			return false
		}
	}
	return true
}

// idOfYAML reads the line of the key, which stands at the left margin. A small file that has the word
// elsewhere is parsed.
func idOfYAML(r io.Reader) string {
	var text []byte
	word, whole := false, true
	lines := bufio.NewReaderSize(r, 4096)
	for read := 0; read < source.MaxYAMLBytes; {
		line, err := lines.ReadSlice('\n')
		read += len(line)
		if start := bytes.TrimLeft(line, `"'`); bytes.HasPrefix(start, []byte("cascade_id")) {
			if id := scalarOf(line); id != "" {
				return id
			}
		}
		word = word || bytes.Contains(line, []byte("cascade_id"))
		if whole = whole && len(text)+len(line) <= maxWhole; whole {
			text = append(text, line...)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			break
		}
	}
	if !word || !whole {
		return ""
	}
	return scalarOf(text)
}

func scalarOf(text []byte) string {
	root := source.Parse("id.yaml", text).Root
	if root == nil || root.Kind != source.Object {
		return ""
	}
	if n := root.Get("cascade_id"); n != nil && n.Kind == source.String {
		return n.Text
	}
	return ""
}

// join joins a folder and a name as it is shown.
func join(dir, name string) string { return path.Join(cmp.Or(dir, "."), name) }
