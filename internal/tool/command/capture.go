package command

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Capture keeps the beginning and the end of what is written to it, in bounded memory.
type Capture struct {
	limit int
	head  []byte
	tail  []byte // a ring once it is full
	next  int    // where the ring goes on
	total int64
}

// Cut returns at most limit bytes of a text, cut in the middle, as valid UTF-8.
func Cut(text string, limit int) string {
	c := Capture{limit: limit}
	_, _ = c.Write([]byte(text)) // it never fails
	return c.String()
}

// Write never fails.
func (c *Capture) Write(p []byte) (int, error) {
	n := len(p)
	c.total += int64(n)
	take := min(c.headSize()-len(c.head), n)
	c.head, p = append(c.head, p[:take]...), p[take:]
	size := c.limit - c.headSize()
	p = p[max(0, len(p)-size):] // only the last of it can remain
	take = min(size-len(c.tail), len(p))
	c.tail, p = append(c.tail, p[:take]...), p[take:]
	for len(p) > 0 {
		k := copy(c.tail[c.next:], p)
		c.next = (c.next + k) % len(c.tail)
		p = p[k:]
	}
	return n, nil
}

func (c *Capture) headSize() int { return c.limit * 2 / 3 }

// Total returns how many bytes were written.
func (c *Capture) Total() int64 { return c.total }

// Cut returns how many bytes were not kept.
func (c *Capture) Cut() int64 { return c.total - int64(len(c.head)) - int64(len(c.tail)) }

// String returns what was kept, as valid UTF-8, with a line in between that says what was left out.
func (c *Capture) String() string {
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	if c.Cut() == 0 {
		return strings.ToValidUTF8(string(c.head)+tail, "\uFFFD")
	}
	head := trimBroken(string(c.head))
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	cut := c.total - int64(len(head)) - int64(len(tail))
	note := fmt.Sprintf("\n[... %d of %d bytes left out ...]\n", cut, c.total)
	return strings.ToValidUTF8(head, "\uFFFD") + note + strings.ToValidUTF8(tail, "\uFFFD")
}

// trimBroken removes a character at the end of s that was cut in two.
func trimBroken(s string) string {
	for i := 1; i <= min(utf8.UTFMax, len(s)); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}
