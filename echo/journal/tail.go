package journal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal/chain"
)

// Tail reads a journal from its beginning, and on while it grows. It never holds up the process
// that writes. It is used by one goroutine at a time.
type Tail struct {
	path   string
	folder string // the name of the session that the journal must be of; "": any
	file   io.Closer
	lines  chain.Lines
	header *Header   // nil: it was not there yet
	sum    chain.Sum // of the line that was read last
	seq    uint64    // of the entry that was read last
	from   uint64
}

// OpenTail opens the journal at path. Its entries before number from are checked and skipped. The
// error is [os.ErrNotExist] without a file, a [*VersionError], or a [*DamageError] for the header.
// A file without a header yet is like one without entries.
func OpenTail(path string, from uint64) (*Tail, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	t := newTail(path, folderOf(path), f, chain.BoundsOfAll)
	t.file, t.from = f, from
	if err := t.readHeader(); err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func newTail(path, folder string, file io.ReaderAt, b chain.Bounds) *Tail {
	return &Tail{path: path, folder: folder, lines: chain.NewLines(file, b, 0)}
}

// Next returns the next entry. When the file has no further whole line the error is [io.EOF]: there
// may be one later, so Next may be called again. A journal that is damaged is a [*DamageError].
func (t *Tail) Next() (*echo.Entry, error) {
	if t.header == nil {
		if err := t.readHeader(); err != nil {
			return nil, err
		}
	}
	for {
		e, err := t.readEntry()
		if e != nil || err != nil {
			return e, err
		}
	}
}

// SkipTo makes Next pass over the entries before number from, which are checked all the same.
func (t *Tail) SkipTo(from uint64) { t.from = from }

// Seq returns the number of the entry that was read last, or passed over; 0 when none was.
func (t *Tail) Seq() uint64 { return t.seq }

// Offset returns how many bytes of the file were read, in whole lines.
func (t *Tail) Offset() int64 { return t.lines.Offset() }

// Close closes the file.
func (t *Tail) Close() error { return t.file.Close() }

func (t *Tail) readHeader() error {
	line, err := t.readLine(1)
	if err != nil {
		return err
	}
	h, sum, err := decodeHeader(t.path, t.folder, line)
	var version *VersionError
	switch {
	case errors.As(err, &version):
		return err
	case err != nil:
		return &DamageError{Path: t.path, Line: 1, Err: err}
	}
	t.header, t.sum = &h, sum
	return nil
}

// readEntry reads the next line. The entry is nil when it is to be passed over.
func (t *Tail) readEntry() (*echo.Entry, error) {
	number := int(t.seq) + 2 // the header is a line, too
	line, err := t.readLine(number)
	if err != nil {
		return nil, err
	}
	e, sum, err := t.checkEntry(line)
	if err != nil {
		return nil, &DamageError{Path: t.path, Line: number, Err: err}
	}
	t.seq++
	t.sum = sum
	return e, nil
}

// checkEntry checks a line, and decodes it unless it is to be passed over.
func (t *Tail) checkEntry(line []byte) (e *echo.Entry, sum chain.Sum, err error) {
	if sum, err = t.sum.Check(line); err != nil || t.seq+1 < t.from {
		return nil, sum, err
	}
	if e, err = decodeEntry(line, t.header); err != nil {
		return nil, sum, err
	}
	return e, sum, checkSeq(e, t.seq+1)
}

func (t *Tail) readLine(number int) ([]byte, error) {
	line, err := t.lines.Next()
	switch {
	case errors.Is(err, chain.ErrLongLine):
		return nil, &DamageError{Path: t.path, Line: number, Err: err}
	case err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("read journal %s: %w", t.path, err)
	}
	return line, err
}
