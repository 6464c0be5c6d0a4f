package journal

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// unwrittenFrom returns where the damage of a journal begins that Read has found, when it is what a
// power failure leaves behind of entries that were not synced: a line with zeros, where the disk did
// not get a block. windlass writes none into a line, as JSON has them escaped.
func unwrittenFrom(path string, found error) (from int64, ok bool) {
	var damage *DamageError
	if !errors.As(found, &damage) || damage.Line < 2 {
		return 0, false
	}
	f, err := openOwn(path, os.O_RDONLY)
	if err != nil {
		return 0, false
	}
	defer f.Close() //nolint:errcheck // only read from
	l := lines{bounds: boundsOfAll, file: f}
	for range damage.Line - 1 {
		if _, err := l.next(); err != nil {
			return 0, false
		}
	}
	return l.offset, hasZeros(f, l.offset)
}

// hasZeros reports whether the line at an offset has a zero byte.
func hasZeros(f io.ReaderAt, offset int64) bool {
	l := lines{bounds: boundsOfAll, file: f, offset: offset}
	line, err := l.next()
	if err != nil {
		line = l.unread
	}
	return bytes.IndexByte(line, 0) >= 0
}
