package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// digits is how many hexadecimal digits a checksum has.
const digits = 16

// Sum is the checksum of a line and of all lines before it. That of nothing is zero.
type Sum [digits]byte

// ErrSum is the error of a line that is not the one that was written there.
var ErrSum = errors.New("the line does not match its checksum: it was changed, or a line before it was added, removed or moved")

// A line ends with its checksum as the last member of the object.
const (
	member    = `,"sum":"`
	memberEnd = "\"}\n"

	// Size is how many bytes at the end of a line are its checksum, with the closing brace and the newline.
	Size = len(member) + digits + len(memberEnd)
)

// Next returns the checksum of the next line, given as an object without checksum and closing
// brace.
func (s Sum) Next(open []byte) Sum {
	h := sha256.New()
	h.Write(s[:])
	h.Write(open)
	h.Write([]byte{'}'})
	var digest [sha256.Size]byte
	var out Sum
	hex.Encode(out[:], h.Sum(digest[:0])[:digits/2])
	return out
}

// Check holds a line, with its newline, against the checksum that it ends with, and returns that. s
// is the sum of the line before. The error is [ErrSum].
func (s Sum) Check(line []byte) (Sum, error) {
	sum, ok := SumOf(line)
	if !ok || sum != s.Next(line[:len(line)-Size]) {
		return sum, ErrSum
	}
	return sum, nil
}

// SumOf returns the checksum that a line, or the end of one, ends with, if it has one.
func SumOf(text []byte) (s Sum, ok bool) {
	at := len(text) - Size
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(member)) || !bytes.HasSuffix(text, []byte(memberEnd)) {
		return s, false
	}
	copy(s[:], text[at+len(member):])
	return s, true
}

// End ends a line, an object without its closing brace, with its checksum.
func End(open []byte, s Sum) []byte {
	open = append(open, member...)
	open = append(open, s[:]...)
	return append(open, memberEnd...)
}
