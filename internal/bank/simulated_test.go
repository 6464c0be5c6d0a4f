package bank

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var errDied = errors.New("the process has died")

// writeParts is in how many parts a write can stop.
const writeParts = 12

// dying are the files of a process that dies at one of its operations, or of which one fails. Nothing is synced: what a
// power failure would leave of the bank's file is known without. It is used by one goroutine at a time.
type dying struct {
	path string // of the bank
	at   int    // the place at which it dies, from 1; 0: it does not
	fail func(op, path string) error

	places int
	dead   bool
	states [][]byte // of the bank's file, since it was synced
}

func newDying(t testing.TB, path string, at int) *dying {
	t.Helper()
	d := &dying{path: path, at: at}
	text, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	d.states = [][]byte{text}
	return d
}

// next returns the files of the next process, for which the machine has not synced more.
func (d *dying) next(at int) *dying { return &dying{path: d.path, at: at, states: d.states} }

// passes counts a place, and reports whether the process lives on.
func (d *dying) passes() bool {
	if d.dead {
		return false
	}
	d.places++
	d.dead = d.places == d.at
	return !d.dead
}

// do does something between two places.
func (d *dying) do(op, path string, do func() error) error {
	if !d.passes() {
		return errDied
	}
	if d.fail != nil {
		if err := d.fail(op, path); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if path == d.path {
		d.note(op)
	}
	if !d.passes() {
		return errDied
	}
	return nil
}

// note notes what the bank's file is after an operation.
func (d *dying) note(op string) {
	text, err := os.ReadFile(d.path)
	if err != nil {
		text = nil
	}
	if op == "sync" || op == "rename" {
		d.states = nil
	}
	d.states = append(d.states, text)
}

// powerOff leaves what a power failure leaves of the bank's file: one of the sizes that it has had since it was synced, and
// of each sector one of the states.
func (d *dying) powerOff(t testing.TB, r *rand.Rand) {
	t.Helper()
	one := func() []byte { // the first and the last one are more likely: what is lost, and what is not
		switch n := len(d.states); r.IntN(3) {
		case 0:
			return d.states[0]
		case 1:
			return d.states[n-1]
		default:
			return d.states[r.IntN(n)]
		}
	}
	out := make([]byte, len(one()))
	for at := 0; at < len(out); at += sector {
		if from := one(); at < len(from) {
			copy(out[at:min(at+sector, len(out))], from[at:])
		}
	}
	if _, err := os.Stat(d.path); err == nil {
		require.NoError(t, os.WriteFile(d.path, out, 0o600))
	}
}

func (d *dying) Open(path string, flags int) (f disk, err error) {
	if flags&os.O_CREATE == 0 {
		if d.dead {
			return nil, errDied
		}
		f, err = osFiles{}.Open(path, flags)
		return &dyingDisk{d, path, f}, err
	}
	var opened disk
	err = d.do("open", path, func() error {
		opened, err = osFiles{}.Open(path, flags)
		return err
	})
	if err != nil && opened != nil {
		_ = opened.Close()
	}
	return &dyingDisk{d, path, opened}, err
}

func (d *dying) Rename(from, to string) error {
	return d.do("rename", to, func() error { return os.Rename(from, to) })
}

func (d *dying) Remove(path string) error {
	return d.do("remove", path, func() error { return os.Remove(path) })
}

func (d *dying) SyncDir(string) {}

type dyingDisk struct {
	on   *dying
	path string
	disk
}

func (f *dyingDisk) ReadAt(b []byte, at int64) (int, error) {
	if f.on.dead {
		return 0, errDied
	}
	return f.disk.ReadAt(b, at)
}

func (f *dyingDisk) WriteAt(b []byte, at int64) (n int, err error) {
	err = f.on.do("write", f.path, func() error {
		for i := range writeParts {
			part := b[len(b)*i/writeParts : len(b)*(i+1)/writeParts]
			if _, err := f.disk.WriteAt(part, at+int64(n)); err != nil {
				return err
			}
			n += len(part)
			if i+1 < writeParts && !f.on.passes() {
				if f.path == f.on.path { // otherwise the disk gets no part of what a sector is written with
					f.on.note("write")
				}
				return errDied
			}
		}
		return nil
	})
	return n, err
}

func (f *dyingDisk) Truncate(size int64) error {
	return f.on.do("truncate", f.path, func() error { return f.disk.Truncate(size) })
}

func (f *dyingDisk) Sync() error { return f.on.do("sync", f.path, func() error { return nil }) }
