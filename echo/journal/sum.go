package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// sumDigits is how many hexadecimal digits a checksum has.
const sumDigits = 16

// lineSum is the checksum of a line and of all lines before it. That of nothing is zero.
type lineSum [sumDigits]byte

var errSum = errors.New("the line does not match its checksum: it was changed, or a line before it was added, removed or moved")

// A line ends with its checksum as the last member of the object.
const (
	sumMember = `,"sum":"`
	sumEnd    = "\"}\n"
	sumSize   = len(sumMember) + sumDigits + len(sumEnd)
)

// next returns the checksum of the next line, given as an object without checksum and closing
// brace.
func (s lineSum) next(open []byte) lineSum {
	h := sha256.New()
	h.Write(s[:])
	h.Write(open)
	h.Write([]byte{'}'})
	var digest [sha256.Size]byte
	var out lineSum
	hex.Encode(out[:], h.Sum(digest[:0])[:sumDigits/2])
	return out
}

// check holds a line, with its newline, against the checksum that it ends with, and returns that. s
// is the sum of the line before.
func (s lineSum) check(line []byte) (lineSum, error) {
	sum, ok := sumOf(line)
	if !ok || sum != s.next(line[:len(line)-sumSize]) {
		return sum, errSum
	}
	return sum, nil
}

// sumOf returns the checksum that a line, or the end of one, ends with, if it has one.
func sumOf(text []byte) (s lineSum, ok bool) {
	at := len(text) - sumSize
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(sumMember)) || !bytes.HasSuffix(text, []byte(sumEnd)) {
		return s, false
	}
	copy(s[:], text[at+len(sumMember):])
	return s, true
}

// appendSum ends a line, an object without its closing brace, with its checksum.
func appendSum(open []byte, s lineSum) []byte {
	open = append(open, sumMember...)
	open = append(open, s[:]...)
	return append(open, sumEnd...)
}
