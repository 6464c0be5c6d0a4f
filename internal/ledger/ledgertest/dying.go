// Package ledgertest has disks of processes that die, for the tests of what is kept in ledgers.
package ledgertest

import (
	"errors"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/ledger"
)

// ErrDied is the error of all that a dead process does.
var ErrDied = errors.New("the process has died")

// WriteParts is in how many parts a write can stop.
const WriteParts = 12

// Dying are the files of a process that dies at one of its operations, or of which one fails. Nothing is synced: what a
// power failure would leave of the ledger is known without. It is used by one goroutine at a time.
type Dying struct {
	path string // of the ledger
	at   int    // the place at which it dies, from 1; 0: it does not
	Fail func(op, path string) error

	Places int // at which it could have died by now
	Dead   bool
	States [][]byte // of the ledger, since it was synced
}

// New returns the files of a process that dies at a place, if the ledger at a path is what it works on.
func New(t testing.TB, path string, at int) *Dying {
	t.Helper()
	d := &Dying{path: path, at: at}
	text, err := os.ReadFile(path)
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(t, err)
	}
	d.States = [][]byte{text}
	return d
}

// Next returns the files of the next process, for which the machine has not synced more.
func (d *Dying) Next(at int) *Dying { return &Dying{path: d.path, at: at, States: d.States} }

// passes counts a place, and reports whether the process lives on.
func (d *Dying) passes() bool {
	if d.Dead {
		return false
	}
	d.Places++
	d.Dead = d.Places == d.at
	return !d.Dead
}

// do does something between two places.
func (d *Dying) do(op, path string, do func() error) error {
	if !d.passes() {
		return ErrDied
	}
	if d.Fail != nil {
		if err := d.Fail(op, path); err != nil {
			return err
		}
	}
	if err := do(); err != nil {
		return err
	}
	if path == d.path {
		d.Note(op)
	}
	if !d.passes() {
		return ErrDied
	}
	return nil
}

// Note notes what the ledger is after an operation.
func (d *Dying) Note(op string) {
	text, err := os.ReadFile(d.path)
	if err != nil {
		text = nil
	}
	if op == "sync" || op == "rename" {
		d.States = nil
	}
	d.States = append(d.States, text)
}

// PowerOff leaves what a power failure leaves of the ledger: one of the sizes that it has had since it was synced, and
// of each sector one of the states.
func (d *Dying) PowerOff(t testing.TB, r *rand.Rand) {
	t.Helper()
	one := func() []byte { // the first and the last one are more likely: what is lost, and what is not
		switch n := len(d.States); r.IntN(3) {
		case 0:
			return d.States[0]
		case 1:
			return d.States[n-1]
		default:
			return d.States[r.IntN(n)]
		}
	}
	out := make([]byte, len(one()))
	for at := 0; at < len(out); at += ledger.Sector {
		if from := one(); at < len(from) {
			copy(out[at:min(at+ledger.Sector, len(out))], from[at:])
		}
	}
	if _, err := os.Stat(d.path); err == nil {
		require.NoError(t, os.WriteFile(d.path, out, 0o600))
	}
}

// Open implements [ledger.Files].
func (d *Dying) Open(path string, flags int) (f ledger.Disk, err error) {
	if flags == os.O_RDONLY {
		if d.Dead {
			return nil, ErrDied
		}
		f, err = ledger.OS{}.Open(path, flags)
		return &dyingDisk{d, path, f}, err
	}
	var opened ledger.Disk
	err = d.do("open", path, func() error {
		opened, err = ledger.OS{}.Open(path, flags)
		return err
	})
	if err != nil && opened != nil {
		_ = opened.Close()
	}
	return &dyingDisk{d, path, opened}, err
}

// Rename implements [ledger.Files].
func (d *Dying) Rename(from, to string) error {
	return d.do("rename", to, func() error { return os.Rename(from, to) })
}

// Remove implements [ledger.Files].
func (d *Dying) Remove(path string) error {
	return d.do("remove", path, func() error { return os.Remove(path) })
}

// SyncDir implements [ledger.Files].
func (d *Dying) SyncDir(string) {}

type dyingDisk struct {
	on   *Dying
	path string
	ledger.Disk
}

func (f *dyingDisk) ReadAt(b []byte, at int64) (int, error) {
	if f.on.Dead {
		return 0, ErrDied
	}
	return f.Disk.ReadAt(b, at)
}

func (f *dyingDisk) WriteAt(b []byte, at int64) (n int, err error) {
	err = f.on.do("write", f.path, func() error {
		for i := range WriteParts {
			part := b[len(b)*i/WriteParts : len(b)*(i+1)/WriteParts]
			if _, err := f.Disk.WriteAt(part, at+int64(n)); err != nil {
				return err
			}
			n += len(part)
			if i+1 < WriteParts && !f.on.passes() {
				if f.path == f.on.path { // otherwise the disk gets no part of what a sector is written with
					f.on.Note("write")
				}
				return ErrDied
			}
		}
		return nil
	})
	return n, err
}

func (f *dyingDisk) Truncate(size int64) error {
	return f.on.do("truncate", f.path, func() error { return f.Disk.Truncate(size) })
}

func (f *dyingDisk) Sync() error { return f.on.do("sync", f.path, func() error { return nil }) }
