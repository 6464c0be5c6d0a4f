package journal

import (
	"os"
	"path/filepath"
	"sync/atomic"
)

// faulty are files of which operations fail when fails says so. A write that fails gets half of it
// through.
type faulty struct {
	files
	fails func(operation, path string) error
}

func (f faulty) Mkdir(path string) error {
	if err := f.fails("mkdir", path); err != nil {
		return err
	}
	return f.files.Mkdir(path)
}

func (f faulty) Create(path string) (disk, error) {
	if err := f.fails("create", path); err != nil {
		return nil, err
	}
	d, err := f.files.Create(path)
	return &faultyDisk{disk: d, path: path, fails: f.fails}, err
}

func (f faulty) Open(path string, flags int) (disk, error) {
	if err := f.fails("open", path); err != nil {
		return nil, err
	}
	d, err := f.files.Open(path, flags)
	return &faultyDisk{disk: d, path: path, fails: f.fails}, err
}

func (f faulty) Remove(path string) error {
	if err := f.fails("remove", path); err != nil {
		return err
	}
	return f.files.Remove(path)
}

func (f faulty) SyncDir(path string) error {
	if err := f.fails("sync folder", path); err != nil {
		return err
	}
	return f.files.SyncDir(path)
}

type faultyDisk struct {
	disk
	path  string
	fails func(operation, path string) error

	closed atomic.Bool
}

func (d *faultyDisk) Write(b []byte) (int, error) {
	if err := d.fails("write", d.path); err != nil {
		n, _ := d.disk.Write(b[:len(b)/2])
		return n, err
	}
	return d.disk.Write(b)
}

func (d *faultyDisk) WriteAt(b []byte, at int64) (int, error) {
	if err := d.fails("write at", d.path); err != nil {
		n, _ := d.disk.WriteAt(b[:len(b)/2], at)
		return n, err
	}
	return d.disk.WriteAt(b, at)
}

func (d *faultyDisk) Sync() error {
	if d.closed.Load() {
		return os.ErrClosed
	}
	if err := d.fails("sync", d.path); err != nil {
		if lost, ok := d.disk.(interface{ lose() }); ok {
			lost.lose()
		}
		return err
	}
	return d.disk.Sync()
}

func (d *faultyDisk) Truncate(size int64) error {
	if err := d.fails("truncate", d.path); err != nil {
		return err
	}
	return d.disk.Truncate(size)
}

func (d *faultyDisk) Close() error {
	d.closed.Store(true)
	err := d.fails("close", d.path)
	if cerr := d.disk.Close(); err == nil {
		err = cerr
	}
	return err
}

// inCommitFolder reports whether a path is that of a file of the commit folder.
func inCommitFolder(path string) bool { return filepath.Base(filepath.Dir(path)) == "commit" }

// once fails one operation of a session's journal, when it is armed: a system says only once that
// it could not write back.
type once struct {
	operation, session string
	err                error
	armed              atomic.Bool
}

func (o *once) fails(operation, path string) error {
	if operation == o.operation && filepath.Base(filepath.Dir(path)) == o.session && filepath.Base(path) == File && o.armed.CompareAndSwap(true, false) {
		return o.err
	}
	return nil
}
