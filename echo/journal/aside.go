package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// lostFile is what a journal is called from an offset on where it was cut off. When there is one
// with other content already, a number follows.
const lostFile = "%s.lost-%d"

// lost is what a journal loses from an offset on.
type lost struct {
	path string
	from int64
	tail int64  // how many bytes are cut off there
	rest []byte // lines of commit logs that do not continue the journal
}

// setAside makes a copy of what a journal loses in a file beside it, durably, once.
func (m maker) setAside(l lost) error {
	from, err := openOwn(l.path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // only read from
	content := func() io.Reader {
		return io.MultiReader(io.NewSectionReader(from, l.from, l.tail), bytes.NewReader(l.rest))
	}
	name := fmt.Sprintf(lostFile, l.path, l.from)
	for n := 2; ; n++ {
		f, err := m.on.Create(name)
		if errors.Is(err, os.ErrExist) && hasContent(name, content()) { // by who was cut short before it was durable
			f, err = m.on.Open(name, os.O_WRONLY)
		} else if errors.Is(err, os.ErrExist) {
			name = fmt.Sprintf(lostFile+"-%d", l.path, l.from, n)
			continue
		}
		if err != nil {
			return err
		}
		return m.fill(name, f, content())
	}
}

// fill writes a file from its beginning, durably.
func (m maker) fill(name string, f disk, content io.Reader) error {
	_, err := io.CopyBuffer(io.NewOffsetWriter(f, 0), content, make([]byte, copyBlock))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		_ = m.on.Remove(name) // what it is a copy of is still there
		return err
	}
	return m.on.SyncDir(filepath.Dir(name))
}

// hasContent reports whether there is a file with such content.
func hasContent(name string, want io.Reader) bool {
	f, err := openOwn(name, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read from
	a, b := make([]byte, copyBlock), make([]byte, copyBlock)
	for {
		n, errA := io.ReadFull(f, a)
		m, errB := io.ReadFull(want, b)
		if n != m || !bytes.Equal(a[:n], b[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return isEnd(errA) && isEnd(errB)
		}
	}
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
