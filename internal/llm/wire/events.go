package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
)

// MaxLine is how long a line of a stream may be.
const MaxLine = 32 << 20

const (
	firstBuffer = 4 << 10
	maxPooled   = 64 << 10 // a larger buffer is not kept for other streams
	maxEmpty    = 100      // reads without data or error, one after the other
)

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, firstBuffer)} }}

type buffer struct{ b []byte }

// Events reads a stream of events. It is not safe for concurrent use.
type Events struct {
	r          io.Reader
	buf        *buffer
	start, end int    // what is read and not taken yet
	looked     int    // bytes from start on that hold no end of a line
	err        error  // of the reader
	joined     []byte // data of several lines
}

// NewEvents returns a reader of the events in r. It is to be closed.
func NewEvents(r io.Reader) *Events {
	return &Events{r: r, buf: buffers.Get().(*buffer)} //nolint:forcetypeassert // New makes them
}

// Close lets other streams have the buffer. It does not close the reader.
func (e *Events) Close() {
	if e.buf != nil && len(e.buf.b) <= maxPooled {
		buffers.Put(e.buf)
	}
	e.buf, e.start, e.end, e.err = nil, 0, 0, io.ErrClosedPipe
}

// Next returns the data of the next event, without white space around it. It is valid until the
// next call. Comments, fields other than data, and events without data are passed over. An event
// that the stream ends in counts; one that it breaks off in does not. The error is io.EOF at the
// end, bufio.ErrTooLong for a line that is too long, or that of the reader.
func (e *Events) Next() ([]byte, error) {
	var data []byte
	lines := 0
	for {
		line, err := e.line()
		if err != nil && (err != io.EOF || lines == 0) { //nolint:errorlint // as an io.Reader returns it
			return nil, err
		}
		if err != nil || len(line) == 0 {
			if data = bytes.TrimSpace(data); len(data) > 0 {
				return data, nil
			}
			data, lines = nil, 0
			continue
		}
		value, ok := dataOf(line)
		if !ok {
			continue
		}
		switch lines++; lines {
		case 1:
			data = e.hold(value)
		case 2:
			e.joined = append(append(append(e.joined[:0], data...), '\n'), value...)
			data = e.joined
		default:
			e.joined = append(append(e.joined, '\n'), value...)
			data = e.joined
		}
	}
}

// hold returns data that stays valid until the event ends: most events have one line, and the empty
// one after it has been read already.
func (e *Events) hold(value []byte) []byte {
	rest := e.buf.b[e.start:e.end]
	if len(rest) > 0 && rest[0] == '\n' || len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
		return value
	}
	e.joined = append(e.joined[:0], value...)
	return e.joined
}

// dataOf returns the value of a line of data.
func dataOf(line []byte) ([]byte, bool) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	if string(name) != "data" {
		return nil, false
	}
	return bytes.TrimPrefix(value, []byte(" ")), true
}

// line returns the next line without its end, valid until the next call. The last one needs no end
// when the reader has come to its own.
func (e *Events) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(e.buffered()[e.looked:], '\n'); i >= 0 {
			end := e.start + e.looked + i
			line := bytes.TrimSuffix(e.buf.b[e.start:end], []byte("\r"))
			e.start, e.looked = end+1, 0
			return line, nil
		}
		e.looked = e.end - e.start
		if e.err == nil {
			e.fill()
			continue
		}
		if rest := e.buffered(); e.err == io.EOF && len(rest) > 0 { //nolint:errorlint // as an io.Reader returns it
			e.start, e.looked = e.end, 0
			return bytes.TrimSuffix(rest, []byte("\r")), nil
		}
		return nil, e.err
	}
}

func (e *Events) buffered() []byte {
	if e.buf == nil {
		return nil
	}
	return e.buf.b[e.start:e.end]
}

// fill reads more, after making room for it.
func (e *Events) fill() {
	if e.start > 0 {
		copy(e.buf.b, e.buf.b[e.start:e.end])
		e.start, e.end = 0, e.end-e.start
	}
	if e.end == len(e.buf.b) {
		if e.end >= MaxLine {
			e.err = bufio.ErrTooLong
			return
		}
		grown := make([]byte, min(2*len(e.buf.b), MaxLine))
		copy(grown, e.buf.b)
		e.buf.b = grown
	}
	for range maxEmpty {
		n, err := e.r.Read(e.buf.b[e.end:])
		if n < 0 || n > len(e.buf.b)-e.end {
			n, err = 0, errors.New("the reader counts bytes that it was not given room for")
		}
		e.end += n
		e.err = err
		if n > 0 || err != nil {
			return
		}
	}
	e.err = io.ErrNoProgress
}
