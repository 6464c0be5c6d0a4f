package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// Ends is what [Look] found at both ends of a journal.
type Ends struct {
	Header Header
	Torn   bool // the last line was cut off in the middle
}

// Look reads the header of a journal, and then its entries from the newest back until back returns
// false. What is before them is not read, so it takes no longer for a long journal. Each entry is
// checked against the line before it. Errors are those of [Read]; the ends are nil when the header
// cannot be read.
func Look(path string, back func(*echo.Entry) bool) (*Ends, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	return look(path, f, info.Size(), chain.BoundsOfEnds, back)
}

func look(path string, file io.ReaderAt, size int64, b chain.Bounds, back func(*echo.Entry) bool) (*Ends, error) {
	b.Block = int(min(int64(b.Block), max(size, 1)))
	t := newTail(path, folderOf(path), file, b)
	switch err := t.readHeader(); {
	case errors.Is(err, io.EOF):
		return nil, &DamageError{Path: path, Line: 1, Err: ErrNotBegun}
	case err != nil:
		return nil, err
	}
	r := &backReader{
		path: path, header: t.header, first: t.sum,
		lines: linesBack{bounds: b, file: file, start: t.lines.Offset(), at: max(size, t.lines.Offset())},
	}
	if r.lines.start+int64(len(t.lines.Unread())) == size { // a short journal was read whole for its header
		r.lines.at, r.lines.buf = r.lines.start, t.lines.Unread()
	}
	torn, err := r.read(back)
	return &Ends{Header: *t.header, Torn: torn}, err
}

// backReader reads the entries of a journal from the newest back.
type backReader struct {
	path   string
	header *Header
	first  chain.Sum // of the header
	lines  linesBack
	count  int    // of entries that were read
	seq    uint64 // of the one that was read last
}

func (b *backReader) read(back func(*echo.Entry) bool) (torn bool, err error) {
	if torn, err = b.lines.dropTorn(); err != nil {
		return torn, b.failed(err)
	}
	for {
		e, err := b.prev()
		if errors.Is(err, io.EOF) {
			return torn, nil
		}
		if err != nil || !back(e) {
			return torn, err
		}
	}
}

// prev returns the entry before the one that was read last; [io.EOF] when that was the first.
func (b *backReader) prev() (*echo.Entry, error) {
	line, err := b.lines.prev()
	if err != nil {
		return nil, b.failed(err)
	}
	before, err := b.lines.end(chain.Size)
	if err != nil {
		return nil, b.failed(err)
	}
	e, err := b.decode(line, before)
	if err != nil {
		return nil, b.damage(err)
	}
	b.count++
	b.seq = e.Seq
	return e, nil
}

// decode checks a line against the end of the line before, which is empty when that is the header.
func (b *backReader) decode(line, before []byte) (*echo.Entry, error) {
	sum, isFirst := b.first, len(before) == 0
	if !isFirst {
		var ok bool
		if sum, ok = chain.SumOf(before); !ok {
			return nil, chain.ErrSum
		}
	}
	if _, err := sum.Check(line); err != nil {
		return nil, err
	}
	e, err := decodeEntry(line, b.header)
	if err == nil && b.count > 0 {
		err = checkSeq(e, b.seq-1)
	}
	if err == nil && isFirst {
		err = checkSeq(e, 1)
	}
	return e, err
}

func (b *backReader) failed(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return err
	case errors.Is(err, chain.ErrLongLine):
		return b.damage(err)
	}
	return fmt.Errorf("read the end of journal %s: %w", b.path, err)
}

func (b *backReader) damage(err error) error {
	return &DamageError{Path: b.path, FromEnd: b.count + 1, Err: err}
}
