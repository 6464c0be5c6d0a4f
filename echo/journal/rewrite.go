package journal

import (
	"errors"
	"io"
	"os"
)

// journalFile is the file of a journal. When it cannot be synced it is written again as it is:
// what a system could not write back it takes for written from then on, so that the next sync, by
// whoever resumes the session, would promise what is not on the disk.
type journalFile struct {
	disk
	on   files
	path string
}

func (f journalFile) Sync() error {
	err := f.disk.Sync()
	if err != nil && !errors.Is(err, os.ErrClosed) {
		_ = f.rewrite(0) // the disk fails already
	}
	return err
}

// rewrite writes what the file has from an offset on into the same places. Who appends to it is not
// disturbed.
func (f journalFile) rewrite(at int64) (err error) {
	from, err := openOwn(f.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read from
	info, err := from.Stat()
	if err != nil {
		return err
	}
	to, err := f.on.Open(f.path, os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	_, err = io.CopyBuffer(io.NewOffsetWriter(to, at), io.NewSectionReader(from, at, info.Size()-at), make([]byte, copyBlock))
	return err
}

// copyBlock is how much of a file is copied at once.
const copyBlock = 1 << 20
