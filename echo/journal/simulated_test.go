package journal

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// sector is what a disk writes as a whole, or not at all.
const sector = 512

// tape is a disk that records, in their order, the operations that change it. They are done below a
// real folder, except for syncing, which only counts on the tape.
type tape struct {
	root string

	mu    sync.Mutex
	ops   []operation
	files map[string]int // the file that a path leads to, by its number
	sizes []int64        // of files
}

// operation is one of: a name that is made or removed, a change of a file, the begin or the end of a
// sync, or a promise to the user of the disk.
type operation struct {
	kind string
	path string // below the root; of a folder's sync the folder
	file int
	data []byte
	size int64 // where data goes, or what the file is cut to
	sync int   // of an end: where the sync began

	session string // of a promise
	entries int
}

func newTape(root string) *tape { return &tape{root: root, files: map[string]int{}} }

func (t *tape) discard() { _ = os.RemoveAll(t.root) }

func (t *tape) rel(path string) string {
	rel, err := filepath.Rel(t.root, path)
	if err != nil {
		panic(err)
	}
	return rel
}

// do does something and records it when it succeeds.
func (t *tape) do(op operation, do func() error) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if do != nil {
		if err := do(); err != nil {
			return 0, err
		}
	}
	t.ops = append(t.ops, op)
	return len(t.ops) - 1, nil
}

func (t *tape) Mkdir(path string) error {
	for p := t.rel(path); p != "."; p = filepath.Dir(p) {
		if _, err := os.Lstat(filepath.Join(t.root, p)); err != nil {
			defer func() { _, _ = t.do(operation{kind: "mkdir", path: p}, nil) }() // the outermost first
		}
	}
	return osFiles{}.Mkdir(path)
}

func (t *tape) Create(path string) (disk, error) {
	f, err := osFiles{}.Create(path)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.sizes)
	t.sizes = append(t.sizes, 0)
	t.files[t.rel(path)] = n
	t.ops = append(t.ops, operation{kind: "create", path: t.rel(path), file: n})
	return &tapedFile{tape: t, disk: f, file: n}, nil
}

func (t *tape) Open(path string, flags int) (disk, error) {
	f, err := osFiles{}.Open(path, flags)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return &tapedFile{tape: t, disk: f, file: t.files[t.rel(path)]}, nil
}

func (t *tape) Remove(path string) error {
	_, err := t.do(operation{kind: "remove", path: t.rel(path)}, func() error { return os.Remove(path) })
	return err
}

func (t *tape) SyncDir(path string) error {
	begin, _ := t.do(operation{kind: "begin"}, nil)
	_, _ = t.do(operation{kind: "synced folder", path: t.rel(path), sync: begin}, nil)
	return nil
}

// promise records that a session has so many entries on the disk.
func (t *tape) promise(session string, entries int) {
	_, _ = t.do(operation{kind: "promise", session: session, entries: entries}, nil)
}

type tapedFile struct {
	*tape
	disk
	file int

	closed atomic.Bool
}

func (f *tapedFile) Write(b []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, err = f.disk.Write(b); err == nil {
		f.wrote(b, f.sizes[f.file])
	}
	return n, err
}

func (f *tapedFile) WriteAt(b []byte, at int64) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n, err = f.disk.WriteAt(b, at); err == nil {
		f.wrote(b, at)
	}
	return n, err
}

func (f *tapedFile) wrote(b []byte, at int64) {
	f.ops = append(f.ops, operation{kind: "write", file: f.file, data: bytes.Clone(b), size: at})
	f.sizes[f.file] = max(f.sizes[f.file], at+int64(len(b)))
}

func (f *tapedFile) Truncate(size int64) error {
	_, err := f.do(operation{kind: "truncate", file: f.file, size: size}, func() error {
		err := f.disk.Truncate(size)
		if err == nil {
			f.sizes[f.file] = size
		}
		return err
	})
	return err
}

func (f *tapedFile) Sync() error {
	if f.closed.Load() {
		return os.ErrClosed
	}
	begin, _ := f.do(operation{kind: "begin"}, nil)
	_, _ = f.do(operation{kind: "synced", file: f.file, sync: begin}, nil)
	return nil
}

// lose is a sync that fails: what was to be synced is never written, and the next sync does not know.
func (f *tapedFile) lose() { _, _ = f.do(operation{kind: "lost", file: f.file}, nil) }

func (f *tapedFile) Close() error {
	f.closed.Store(true)
	return f.disk.Close()
}

// platter is what is on a disk: what was synced, and what was not.
type platter struct {
	files   map[int]*platterFile
	folders map[string]*folderChanges // by path; the root is "."
}

type platterFile struct {
	content []byte
	pending []operation // not synced yet, with their places on the tape in sync
}

// folderChanges are the names of a folder: those that are synced, and what was done since.
type folderChanges struct {
	names   map[string]operation
	pending []operation
}

// replay returns the disk after operations.
func replay(ops []operation) *platter {
	p := &platter{files: map[int]*platterFile{}, folders: map[string]*folderChanges{}}
	for i, op := range ops {
		place := i
		switch op.kind {
		case "mkdir", "create", "remove":
			if op.kind == "create" {
				p.files[op.file] = &platterFile{}
			}
			d := p.folder(filepath.Dir(op.path))
			op.sync = place
			d.pending = append(d.pending, op)
		case "write", "truncate":
			f := p.files[op.file]
			op.sync = place
			f.pending = append(f.pending, op)
		case "synced":
			f := p.files[op.file]
			for len(f.pending) > 0 && f.pending[0].sync < op.sync {
				f.content, f.pending = apply(f.content, f.pending[0]), f.pending[1:]
			}
		case "lost":
			f := p.files[op.file]
			f.pending = slices.DeleteFunc(f.pending, func(o operation) bool { return o.kind == "write" })
		case "synced folder":
			d := p.folder(op.path)
			for len(d.pending) > 0 && d.pending[0].sync < op.sync {
				d.apply(d.pending[0])
				d.pending = d.pending[1:]
			}
		}
	}
	return p
}

func (p *platter) folder(path string) *folderChanges {
	if p.folders[path] == nil {
		p.folders[path] = &folderChanges{names: map[string]operation{}}
	}
	return p.folders[path]
}

func (d *folderChanges) apply(op operation) {
	name := filepath.Base(op.path)
	if op.kind == "remove" {
		delete(d.names, name)
		return
	}
	d.names[name] = op
}

// apply returns the content of a file after a change.
func apply(content []byte, op operation) []byte {
	end := op.size + int64(len(op.data))
	if op.kind == "truncate" || end > int64(len(content)) {
		content = append(bytes.Clone(content), make([]byte, max(end-int64(len(content)), 0))...)[:end]
	} else {
		content = bytes.Clone(content)
	}
	copy(content[op.size:], op.data)
	return content
}

// The ways in which a power failure treats what was not synced.
const (
	lostAll  = iota
	lostData // names are kept
	keptAll
	anyOf // each name, each size, and each sector for itself
	ways
)

// powerOff makes a folder of what is left on the disk, and returns a tape of it. Who is done with it
// removes it.
func (p *platter) powerOff(t *testing.T, dir string, way int, r *rand.Rand) *tape {
	t.Helper()
	root, err := os.MkdirTemp(dir, "")
	require.NoError(t, err)
	out := newTape(root)
	p.leave(t, out, ".", way, r)
	return out
}

func (p *platter) leave(t *testing.T, out *tape, folder string, way int, r *rand.Rand) {
	t.Helper()
	d := p.folder(folder)
	for _, op := range d.pending {
		if way == lostData || way == keptAll || way == anyOf && r.IntN(2) == 0 {
			d.apply(op)
		}
	}
	for name, op := range d.names {
		path := filepath.Join(folder, name)
		if op.kind == "mkdir" {
			require.NoError(t, out.Mkdir(filepath.Join(out.root, path)))
			_ = out.SyncDir(filepath.Join(out.root, folder))
			p.leave(t, out, path, way, r)
			continue
		}
		f, err := out.Create(filepath.Join(out.root, path))
		require.NoError(t, err)
		_, err = f.Write(p.files[op.file].left(way, r))
		require.NoError(t, err)
		require.NoError(t, f.Sync())
		require.NoError(t, f.Close())
	}
	_ = out.SyncDir(filepath.Join(out.root, folder))
}

// left returns what is left of a file: of each sector one of the states that it had since it was
// synced, and one of the sizes.
func (f *platterFile) left(way int, r *rand.Rand) []byte {
	states := [][]byte{f.content}
	for _, op := range f.pending {
		states = append(states, apply(states[len(states)-1], op))
	}
	switch way {
	case lostAll, lostData:
		return states[0]
	case keptAll:
		return states[len(states)-1]
	}
	out := make([]byte, len(states[r.IntN(len(states))]))
	for at := 0; at < len(out); at += sector {
		if from := states[r.IntN(len(states))]; at < len(from) {
			copy(out[at:min(at+sector, len(out))], from[at:])
		}
	}
	return out
}
