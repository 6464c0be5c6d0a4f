package journal

import (
	"bytes"
	"errors"
	"io"

	"github.com/windlass-run/windlass/echo/journal/chain"
)

// linesBack reads the lines of a file from the last one back to start, where one begins.
type linesBack struct {
	bounds chain.Bounds
	file   io.ReaderAt
	start  int64
	at     int64  // how far back the file was read
	buf    []byte // what is there and was not returned yet
}

// dropTorn leaves out what is after the last newline, if anything. It is called first.
func (l *linesBack) dropTorn() (bool, error) {
	from, err := l.lastLine(0)
	if err != nil {
		return false, err
	}
	torn := from < len(l.buf)
	l.buf = l.buf[:from]
	return torn, nil
}

// prev returns the line before the one that it returned last; at start the error is [io.EOF].
func (l *linesBack) prev() ([]byte, error) {
	end, err := l.end(1)
	if err != nil {
		return nil, err
	}
	if len(end) == 0 {
		return nil, io.EOF
	}
	from, err := l.lastLine(1)
	if err != nil {
		return nil, err
	}
	line := l.buf[from:]
	l.buf = l.buf[:from]
	return line, nil
}

// end returns the last n bytes before the line that was returned last, or as many as there are.
func (l *linesBack) end(n int) ([]byte, error) {
	for len(l.buf) < n && l.at > l.start {
		if _, err := l.readBack(); err != nil {
			return nil, err
		}
	}
	return l.buf[max(len(l.buf)-n, 0):], nil
}

// lastLine returns where in buf the last line begins. Its own newline is among the last skip bytes.
func (l *linesBack) lastLine(skip int) (int, error) {
	unseen := len(l.buf) - skip
	for {
		from := bytes.LastIndexByte(l.buf[:unseen], '\n') + 1
		found := from > 0 || l.at == l.start
		if len(l.buf)-from > l.bounds.Max {
			return 0, chain.ErrLongLine
		}
		if found {
			return from, nil
		}
		n, err := l.readBack()
		if err != nil {
			return 0, err
		}
		unseen = n
	}
}

// readBack puts what is before buf in the file in front of it, and returns how much that is. It
// doubles buf, so that a long line is not copied again for every block.
func (l *linesBack) readBack() (int, error) {
	n := int(min(l.at-l.start, max(int64(l.bounds.Block), int64(len(l.buf)))))
	buf := make([]byte, n, n+len(l.buf))
	if got, err := l.file.ReadAt(buf, l.at-int64(n)); got < n {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the file was cut off since
		}
		return 0, err
	}
	l.at -= int64(n)
	l.buf = append(buf, l.buf...)
	return n, nil
}
