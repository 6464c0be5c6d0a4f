package sessions

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// firstLine returns the first line of a file, without its newline.
func firstLine(f *os.File) ([]byte, error) {
	line, err := bufio.NewReaderSize(f, 1<<14).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil, errors.New("no header")
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// blockSize is how much is read at once from the end of a file.
const blockSize = 1 << 16

// linesBack calls each with the whole lines of a file, without their newlines, from the last one back to the one that
// begins at start, until it returns false. torn says that the file ends in the middle of a line, which is left out.
func linesBack(f *os.File, start int64, each func(line []byte) (bool, error)) (torn bool, err error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	var rest []byte // what is read and not yet given to each: it ends where a line ends, once the torn end is off
	whole := false
	for at := info.Size(); ; {
		cut := bytes.LastIndexByte(rest, '\n')
		switch {
		case !whole && cut >= 0:
			whole, torn = true, cut < len(rest)-1
			rest = rest[:cut]
			continue
		case whole && (cut >= 0 || at == start && len(rest) > 0):
			line := rest[cut+1:]
			rest = rest[:max(cut, 0)]
			if more, err := each(line); err != nil || !more {
				return torn, err
			}
			continue
		case at <= start:
			return torn || !whole && len(rest) > 0, nil
		}
		n := min(at-start, max(blockSize, int64(len(rest)))) // a long line is not copied again for every block of it
		block := make([]byte, n, n+int64(len(rest)))
		if _, err := f.ReadAt(block, at-n); err != nil {
			return torn, err
		}
		at -= n
		rest = append(block, rest...)
	}
}
