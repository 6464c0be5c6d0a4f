package wire

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// maxDepth is how deep values may be nested that are passed over here.
const maxDepth = 64

// scanner reads JSON from the front. Each method reports whether it found what it looks for; after a
// false one its place means nothing. It is stricter than encoding/json, never laxer.
type scanner struct {
	b       []byte
	at      int
	scratch []byte // texts that had escapes; only grows, so that what was read from it stays
}

func (s *scanner) space() {
	for s.at < len(s.b) && (s.b[s.at] == ' ' || s.b[s.at] == '\n' || s.b[s.at] == '\t' || s.b[s.at] == '\r') {
		s.at++
	}
}

// peek returns the next byte that is no space, 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.at == len(s.b) {
		return 0
	}
	return s.b[s.at]
}

// take takes a byte when it comes next.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// ended reports whether nothing but space is left.
func (s *scanner) ended() bool {
	s.space()
	return s.at == len(s.b)
}

func (s *scanner) word(w string) bool {
	if !bytes.HasPrefix(s.b[s.at:], []byte(w)) {
		return false
	}
	s.at += len(w)
	return true
}

// null takes a null when it comes next.
func (s *scanner) null() bool { return s.peek() == 'n' && s.word("null") }

// object reads an object, one member after the other. member reads the value of a key.
func (s *scanner) object(member func(key []byte) bool) bool {
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	for {
		key, ok := s.key()
		if !ok || !s.take(':') || !member(key) {
			return false
		}
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// array reads an array, one element after the other.
func (s *scanner) array(element func() bool) bool {
	if !s.take('[') {
		return false
	}
	if s.take(']') {
		return true
	}
	for {
		if !element() {
			return false
		}
		if s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

// names are the members that chunks are read for.
var names = [][]byte{
	[]byte("model"), []byte("choices"), []byte("usage"), []byte("x_groq"), []byte("error"), []byte("index"), []byte("delta"), []byte("message"),
	[]byte("finish_reason"), []byte("content"), []byte("refusal"), []byte("reasoning"), []byte("reasoning_content"), []byte("tool_calls"),
	[]byte("id"), []byte("function"), []byte("name"), []byte("arguments"),
}

// key reads a key that can only be one of the names when it is the same: encoding/json would take
// one in other letters for it, too.
func (s *scanner) key() ([]byte, bool) {
	key, escaped, ascii, ok := s.plain()
	if !ok || escaped || !ascii {
		return nil, false
	}
	taken := hasUpper(key) && slices.ContainsFunc(names, func(name []byte) bool { return bytes.EqualFold(name, key) })
	return key, !taken
}

// plain finds the end of a string; escaped and ascii say what is in it.
func (s *scanner) plain() (text []byte, escaped, ascii, ok bool) {
	if s.peek() != '"' {
		return nil, false, false, false
	}
	from := s.at + 1
	ascii = true
	for i := from; i < len(s.b); i++ {
		switch c := s.b[i]; {
		case c == '"':
			s.at = i + 1
			return s.b[from:i], escaped, ascii, true
		case c == '\\':
			escaped = true
			i++
			if i == len(s.b) || !isEscape(s.b[i:]) {
				return nil, false, false, false
			}
		case c < ' ':
			return nil, false, false, false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	return nil, false, false, false
}

// isEscape reports whether an escape may go on with these bytes.
func isEscape(b []byte) bool {
	if b[0] == 'u' {
		return len(b) > 4 && isHex(b[1]) && isHex(b[2]) && isHex(b[3]) && isHex(b[4])
	}
	return unescaped[b[0]] != 0
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// unescaped has what a letter after a backslash stands for.
var unescaped = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// text reads a string, without the escapes by number, which few endpoints send.
func (s *scanner) text() ([]byte, bool) {
	raw, escaped, ascii, ok := s.plain()
	if !ok || !ascii && !utf8.Valid(raw) {
		return nil, false
	}
	if !escaped {
		return raw, true
	}
	from := len(s.scratch)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\\' {
			i++
			if c = unescaped[raw[i]]; c == 0 {
				return nil, false
			}
		}
		s.scratch = append(s.scratch, c)
	}
	return s.scratch[from:len(s.scratch):len(s.scratch)], true
}

// value passes over any value and returns its bytes.
func (s *scanner) value() ([]byte, bool) {
	s.space()
	from := s.at
	if !s.skip(maxDepth) {
		return nil, false
	}
	return s.b[from:s.at], true
}

func (s *scanner) skip(depth int) bool {
	if depth == 0 {
		return false
	}
	switch s.peek() {
	case '{':
		return s.object(func([]byte) bool { return s.skip(depth - 1) })
	case '[':
		return s.array(func() bool { return s.skip(depth - 1) })
	case '"':
		_, _, _, ok := s.plain()
		return ok
	case 't':
		return s.word("true")
	case 'f':
		return s.word("false")
	case 'n':
		return s.word("null")
	default:
		return s.number()
	}
}

// number passes over a number.
func (s *scanner) number() bool {
	if s.at < len(s.b) && s.b[s.at] == '-' {
		s.at++
	}
	zero := s.at < len(s.b) && s.b[s.at] == '0'
	if n := s.digits(); n == 0 || zero && n > 1 {
		return false
	}
	if s.at < len(s.b) && s.b[s.at] == '.' {
		s.at++
		if s.digits() == 0 {
			return false
		}
	}
	if s.at < len(s.b) && (s.b[s.at] == 'e' || s.b[s.at] == 'E') {
		s.at++
		if s.at < len(s.b) && (s.b[s.at] == '+' || s.b[s.at] == '-') {
			s.at++
		}
		return s.digits() > 0
	}
	return true
}

func (s *scanner) digits() int {
	from := s.at
	for s.at < len(s.b) && s.b[s.at] >= '0' && s.b[s.at] <= '9' {
		s.at++
	}
	return s.at - from
}

// small reads a whole number of at most nine digits.
func (s *scanner) small() (n int, ok bool) {
	s.space()
	from := s.at
	if !s.number() || s.at-from > 9 {
		return 0, false
	}
	digits := s.b[from:s.at]
	negative := digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}
