package journal

import (
	"bytes"
	"fmt"
	"io"
)

// maxLine bounds a line with its newline. The longest that windlass writes is a header with an
// input of 32 MiB, or an answer of an endpoint.
const maxLine = 256 << 20

// bounds are how lines are read.
type bounds struct {
	block int // how much of a file is read at once, when no line is longer
	max   int // how long a line may be, with its newline
}

var (
	boundsOfAll  = bounds{block: 1 << 16, max: maxLine} // for who reads all of a file
	boundsOfEnds = bounds{block: 1 << 14, max: maxLine} // for who reads a few lines
)

var errLongLine = fmt.Errorf("the line has more than %d MiB", maxLine>>20)

// checkLength demands that what reads journals reads a line of so many bytes, without its checksum.
func checkLength(bytes int) error {
	if bytes+sumSize > maxLine {
		return errLongLine
	}
	return nil
}

// lines reads the lines of a file in their order. What is after the last newline may grow, or be
// cut off and replaced, so it is read anew each time.
type lines struct {
	bounds
	file   io.ReaderAt
	offset int64  // of the next line
	unread []byte // what was read from there on
	buf    []byte // which unread is a part of
}

// next returns the next line with its newline, valid until the next call. The error is [io.EOF]
// when there is no whole line: what there is of one is in unread.
func (l *lines) next() ([]byte, error) {
	line, err := l.find()
	if len(line) > l.max {
		return nil, errLongLine
	}
	return line, err
}

func (l *lines) find() ([]byte, error) {
	if line := l.take(0); line != nil {
		return line, nil
	}
	if len(l.buf) > l.block { // after a long line
		l.buf = nil
	}
	l.unread = l.buf[:0]
	for size := l.block; ; size = min(2*size, l.max+1) {
		known := len(l.unread)
		err := l.read(size)
		if line := l.take(known); line != nil {
			return line, nil
		}
		if len(l.unread) > l.max {
			return nil, errLongLine
		}
		if err != nil {
			return nil, err
		}
	}
}

// read reads on, until size bytes are unread or the file ends, which is [io.EOF].
func (l *lines) read(size int) error {
	known := len(l.unread)
	if len(l.buf) < size {
		l.buf = append(make([]byte, 0, size), l.unread...)[:size]
	}
	n, err := l.file.ReadAt(l.buf[known:size], l.offset+int64(known))
	l.unread = l.buf[:known+n]
	return err
}

// take returns the first line of what is unread, nil when there is none. The first known bytes have
// no newline.
func (l *lines) take(known int) []byte {
	at := bytes.IndexByte(l.unread[known:], '\n')
	if at < 0 {
		return nil
	}
	end := known + at + 1
	line := l.unread[:end]
	l.unread = l.unread[end:]
	l.offset += int64(end)
	return line
}
