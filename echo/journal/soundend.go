package journal

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// journalEnd is how far a journal is sound.
type journalEnd struct {
	header    *Header
	sum       chain.Sum // of its last sound line
	seq       uint64    // of the entry there
	size      int64     // of the sound lines
	mark      int64     // of those before the entry that was asked for; at most size
	whole     int64     // of the file
	unwritten bool      // what follows is what the disk did not get
	damaged   bool      // what follows was changed, which is for people to look at
}

// soundEnd reads a journal to its end, or to where it is damaged; nil when nothing of it is sound. It
// notes where the entry of a number begins.
//
// A line with a zero byte is what a power failure leaves of entries that were not synced: windlass
// writes none into a line, as JSON has them escaped. So is what follows it.
func soundEnd(path string, mark uint64) (*journalEnd, error) {
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t := newTail(path, folderOf(path), f, chain.BoundsOfAll)
	if err := t.readHeader(); err != nil {
		if errors.Is(err, io.EOF) || IsUnreadable(err) {
			err = nil
		}
		return nil, err
	}
	end := &journalEnd{header: t.header, whole: info.Size()}
	for {
		end.sum, end.seq, end.size = t.sum, t.seq, t.lines.Offset()
		if t.seq < mark {
			end.mark = end.size
		}
		_, err := t.Next()
		var damage *DamageError
		switch {
		case err == nil:
			continue
		case errors.As(err, &damage):
			end.unwritten = hasZeros(f, end.size)
			end.damaged = !end.unwritten
		case !errors.Is(err, io.EOF):
			return nil, err
		}
		return end, nil
	}
}

// hasZeros reports whether the line at an offset has a zero byte. One that is too long for a line
// has none that a power failure left.
func hasZeros(f io.ReaderAt, offset int64) bool {
	l := chain.NewLines(f, chain.BoundsOfAll, offset)
	line, err := l.Next()
	switch {
	case errors.Is(err, chain.ErrLongLine):
		return false
	case err != nil:
		line = l.Unread()
	}
	return bytes.IndexByte(line, 0) >= 0
}
