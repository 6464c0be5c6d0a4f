package bank

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/windlass-run/windlass/echo/journal/chain"
	"github.com/windlass-run/windlass/internal/ledger"
)

// file is the file of one bank.
type file struct {
	*ledger.File[Entry, *History]
	ref Ref
	now func() time.Time
}

// newFile returns the file of a bank. Nothing is read or made yet.
func newFile(ref Ref, home string, now func() time.Time, on ledger.Files) *file {
	return &file{ledger.New(format(ref), ref.path(home), on), ref, now}
}

// format is what the file of a bank is.
func format(ref Ref) *ledger.Format[Entry, *History] {
	return &ledger.Format[Entry, *History]{
		Noun:      noun,
		None:      (&History{Ref: ref}).with(),
		With:      (*History).with,
		Head:      func(first *Entry) any { return headOf(ref, []*Entry{first}) },
		HeadOf:    func(all []*Entry) any { return headOf(ref, all) },
		Anew:      anew,
		Durable:   (*Entry).durable,
		Loses:     func(line []byte) bool { return bytes.Contains(line, []byte(`"command":"`+commandView+`"`)) },
		ReadHead:  func(path string, line []byte) (chain.Sum, error) { return readHead(path, ref, line) },
		ReadEntry: readEntry,
	}
}

// headOf returns the head of a file with some entries, of which there is one at least.
func headOf(ref Ref, all []*Entry) head { return head{needsOf(all), ref.Name, ref.Folder, all[0].At} }

// anew returns all entries of a bank to which one is added that its version cannot have.
func anew(h *History, e *Entry) []*Entry {
	if e.needs() == versionFirst || needsOf(h.Entries) >= e.needs() {
		return nil
	}
	return append(slices.Clip(h.Entries), e)
}

// readEntry checks and reads a line of a number, which is that of its entry and one more.
func readEntry(path string, number int, before chain.Sum, line []byte) (*Entry, chain.Sum, error) {
	e := new(Entry)
	sum, err := ledger.Read(line, before, e)
	if err == nil {
		err = e.check(uint64(number - 1))
	}
	if err != nil {
		return nil, sum, damaged(path, number, err)
	}
	return e, sum, nil
}

// seal gives versions their ids, and an entry its number and time.
func (f *file) seal(e *Entry, seq uint64) error {
	e.Seq, e.At = seq, f.now().UTC().Truncate(time.Microsecond)
	for i := range e.Versions {
		v := &e.Versions[i]
		id, err := idOf(*v, e.origin(v))
		if err != nil {
			return fmt.Errorf("write bank %s: %w", f.Path(), err)
		}
		v.ID = id
	}
	return nil
}
