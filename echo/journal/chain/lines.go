// Package chain has the lines of files that only grow: JSON objects, each with a checksum over itself and all lines
// before it. It knows nothing of what the lines say.
package chain

import (
	"bytes"
	"fmt"
	"io"
)

// MaxLine bounds a line with its newline, in bytes. The longest that windlass writes is a header with an
// input of 32 MiB, or an answer of an endpoint.
const MaxLine = 256 << 20

// Bounds are how lines are read.
type Bounds struct {
	Block int // how many bytes of a file are read at once, when no line is longer
	Max   int // how many bytes a line may have, with its newline
}

var (
	// BoundsOfAll are for who reads all of a file.
	BoundsOfAll = Bounds{Block: 1 << 16, Max: MaxLine}
	// BoundsOfEnds are for who reads a few lines.
	BoundsOfEnds = Bounds{Block: 1 << 14, Max: MaxLine}
)

// ErrLongLine is the error of a line that is too long.
var ErrLongLine = fmt.Errorf("the line has more than %d MiB", MaxLine>>20)

// CheckLength demands that a line of so many bytes, without its checksum, can be read again. The error is [ErrLongLine].
func CheckLength(bytes int) error {
	if bytes+Size > MaxLine {
		return ErrLongLine
	}
	return nil
}

// Lines reads the lines of a file in their order. What is after the last newline may grow, or be
// cut off and replaced, so it is read anew each time. It is used by one goroutine at a time.
type Lines struct {
	bounds Bounds
	file   io.ReaderAt
	offset int64  // of the next line
	unread []byte // what was read from there on
	buf    []byte // which unread is a part of
}

// NewLines returns the lines of a file from an offset on, where one begins.
func NewLines(file io.ReaderAt, b Bounds, offset int64) Lines {
	return Lines{bounds: b, file: file, offset: offset}
}

// Offset returns where in the file the next line begins.
func (l *Lines) Offset() int64 { return l.offset }

// Unread returns what was read after the line that was returned last; after [io.EOF], what there is of a line.
// It is valid until the next call.
func (l *Lines) Unread() []byte { return l.unread }

// Next returns the next line with its newline, valid until the next call. The error is [io.EOF]
// when there is no whole line: what there is of one is unread.
func (l *Lines) Next() ([]byte, error) {
	line, err := l.find()
	if len(line) > l.bounds.Max {
		return nil, ErrLongLine
	}
	return line, err
}

func (l *Lines) find() ([]byte, error) {
	if line := l.take(0); line != nil {
		return line, nil
	}
	if len(l.buf) > l.bounds.Block { // after a long line
		l.buf = nil
	}
	l.unread = l.buf[:0]
	for size := l.bounds.Block; ; size = min(2*size, l.bounds.Max+1) {
		known := len(l.unread)
		err := l.read(size)
		if line := l.take(known); line != nil {
			return line, nil
		}
		if len(l.unread) > l.bounds.Max {
			return nil, ErrLongLine
		}
		if err != nil {
			return nil, err
		}
	}
}

// read reads on, until size bytes are unread or the file ends, which is [io.EOF].
func (l *Lines) read(size int) error {
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
func (l *Lines) take(known int) []byte {
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
