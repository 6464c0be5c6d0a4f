package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// sumDigits is how many hexadecimal digits a checksum has.
const sumDigits = 16

// lineSum is the checksum of a line of a journal and of all lines before it. That of nothing is zero.
type lineSum [sumDigits]byte

// next returns the checksum of the line after the one that s is of. The line is a JSON object without its checksum.
func (s lineSum) next(line []byte) lineSum {
	h := sha256.New()
	h.Write(s[:])
	h.Write(line)
	var digest [sha256.Size]byte
	var out lineSum
	hex.Encode(out[:], h.Sum(digest[:0])[:sumDigits/2])
	return out
}

const sumMember = `,"sum":"`

// appendSummed appends a line with its checksum as the last member of the object.
func appendSummed(buf, line []byte, s lineSum) []byte {
	buf = append(buf, line[:len(line)-1]...)
	buf = append(buf, sumMember...)
	buf = append(buf, s[:]...)
	return append(buf, '"', '}', '\n')
}

// cutSum takes the checksum off a line, with the newline; ok is false when it has none.
func cutSum(text []byte) (line []byte, s lineSum, ok bool) {
	const tail = len(sumMember) + sumDigits + len(`"}`) + 1
	at := len(text) - tail
	if at < 0 || !bytes.HasPrefix(text[at:], []byte(sumMember)) || !bytes.HasSuffix(text, []byte("\"}\n")) {
		return text, s, false
	}
	copy(s[:], text[at+len(sumMember):])
	return append(text[:at:at], '}'), s, true
}
