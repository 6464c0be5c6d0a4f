package echo

import (
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// What is written on every turn is encoded without reflection, as encoding/json encodes it, byte
// for byte: what is on disk and what is compared with it came from either. What encoding/json
// refuses is left to it.

// AppendJSON appends the entry as [json.Marshal] encodes it.
func (e *Entry) AppendJSON(dst []byte) ([]byte, error) {
	w := writer{buf: dst}
	w.entry(e)
	if !w.refused {
		return w.buf, nil
	}
	text, err := json.Marshal(e)
	return append(dst, text...), err
}

// AppendJSON appends the selection as [json.Marshal] encodes it.
func (s *Selection) AppendJSON(dst []byte) ([]byte, error) {
	w := writer{buf: dst}
	w.selection(s)
	if !w.refused {
		return w.buf, nil
	}
	text, err := json.Marshal(s)
	return append(dst, text...), err
}

// writer appends JSON. Methods whose names begin with "opt" leave out what is empty.
type writer struct {
	buf     []byte
	refused bool // there is something that JSON cannot express
}

// key appends the quoted name of a member, and what comes before it.
func (w *writer) key(name string) {
	if w.buf[len(w.buf)-1] != '{' {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(w.buf, '"')
	w.buf = append(w.buf, name...)
	w.buf = append(w.buf, '"', ':')
}

func (w *writer) open()  { w.buf = append(w.buf, '{') }
func (w *writer) close() { w.buf = append(w.buf, '}') }

func (w *writer) str(name, s string) {
	w.key(name)
	w.buf = appendHTMLString(w.buf, s)
}

func (w *writer) optStr(name, s string) {
	if s != "" {
		w.str(name, s)
	}
}

func (w *writer) num(name string, n int64) {
	w.key(name)
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

func (w *writer) optNum(name string, n int64) {
	if n != 0 {
		w.num(name, n)
	}
}

func (w *writer) bool(name string, b bool) {
	w.key(name)
	w.buf = strconv.AppendBool(w.buf, b)
}

func (w *writer) optBool(name string, b bool) {
	if b {
		w.bool(name, b)
	}
}

func (w *writer) float(name string, f float64) {
	w.key(name)
	w.number(f)
}

func (w *writer) optFloat(name string, f float64) {
	if f != 0 {
		w.float(name, f)
	}
}

func (w *writer) optFloatAt(name string, f *float64) {
	if f != nil {
		w.float(name, *f)
	}
}

// number appends a number as encoding/json does: shortest, like JavaScript.
func (w *writer) number(f float64) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		w.refused = true
		return
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, f, format, -1, 64)
	if n := len(w.buf); format == 'e' && n >= 4 && w.buf[n-4] == 'e' && w.buf[n-3] == '-' && w.buf[n-2] == '0' {
		w.buf[n-2] = w.buf[n-1] // e-09 is e-9
		w.buf = w.buf[:n-1]
	}
}

// optRaw appends JSON that may have come from anywhere.
func (w *writer) optRaw(name string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	w.key(name)
	if isPlain(raw) && json.Valid(raw) {
		w.buf = append(w.buf, raw...)
		return
	}
	w.any(raw)
}

// any appends what has no appender.
func (w *writer) any(v any) {
	text, err := json.Marshal(v)
	w.buf, w.refused = append(w.buf, text...), w.refused || err != nil
}

// isPlain reports whether JSON surely has nothing that encoding/json would write in another way:
// white space, or characters that it escapes for HTML.
func isPlain(raw []byte) bool {
	for _, b := range raw {
		if b <= ' ' || b == '<' || b == '>' || b == '&' || b == 0xE2 { // the first byte of U+2028
			return false
		}
	}
	return true
}

// list appends an array, null for nil.
func list[T any](w *writer, of []T, one func(*T)) {
	if of == nil {
		w.buf = append(w.buf, "null"...)
		return
	}
	w.buf = append(w.buf, '[')
	for i := range of {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		one(&of[i])
	}
	w.buf = append(w.buf, ']')
}

// optList appends an array unless it is empty.
func optList[T any](w *writer, name string, of []T, one func(*T)) {
	if len(of) > 0 {
		w.key(name)
		list(w, of, one)
	}
}

// appendHTMLString appends a JSON string as encoding/json does, which also escapes what HTML and
// JavaScript would not take. Bytes that are not UTF-8 become \ufffd.
func appendHTMLString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		b := s[i]
		if plainBytes[b] {
			i++
			continue
		}
		size := 1
		var escaped string
		if b >= utf8.RuneSelf {
			var r rune
			if r, size = utf8.DecodeRuneInString(s[i:]); r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
				i += size
				continue
			}
			switch r {
			case '\u2028':
				escaped = `\u2028`
			case '\u2029':
				escaped = `\u2029`
			default:
				escaped = `\ufffd`
			}
		}
		dst = append(dst, s[start:i]...)
		switch {
		case escaped != "":
			dst = append(dst, escaped...)
		case b == '<' || b == '>' || b == '&':
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xF])
		default:
			dst = appendEscape(dst, b)
		}
		i += size
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// plainBytes are those of ASCII that stand for themselves in a string.
var plainBytes = func() (plain [256]bool) {
	for b := 0x20; b < utf8.RuneSelf; b++ {
		plain[b] = b != '"' && b != '\\' && b != '<' && b != '>' && b != '&'
	}
	return plain
}()
