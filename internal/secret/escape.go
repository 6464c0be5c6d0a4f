package secret

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// char is one reading of what stands in a text: these bytes, written with so many.
type char struct {
	bytes string
	width int
}

func (c char) first() byte { return c.bytes[0] }

// maxEscape is how many bytes the escape of one character has at most, in texts inside texts.
const maxEscape = 32

const maxReadings = 8

// escapes adds the readings of an escape at a place. cut: the text ends within what may be one.
func escapes(to []char, text string, at int) (chars []char, cut bool) {
	rest := text[at:min(len(text), at+maxEscape)]
	cut = len(rest) < maxEscape && mayGoOn(rest)
	switch rest[0] {
	case '+':
		to = append(to, char{" ", 1})
	case '%':
		to = percent(to, rest)
	case '&':
		to = entity(to, rest)
	case '\\':
		to = backslash(to, rest)
	}
	return to, cut
}

// mayGoOn reports whether a text that begins with an escape may end in the middle of it.
func mayGoOn(rest string) bool {
	switch rest[0] {
	case '%':
		return len(strings.TrimPrefix(rest[1:], "25")) < 2 || rest == "%25" || rest == "%252"
	case '&':
		return len(rest) < 8 && !strings.ContainsAny(rest[1:], "; \n&")
	case '\\':
		word := strings.TrimLeft(rest, `\`)
		return word == "" || (word[0] == 'u' || word[0] == 'U') && len(word) < 12 || word[0] == 'x' && len(word) < 3
	}
	return false
}

// percent reads %41, and %2541, which is %41 escaped again.
func percent(out []char, rest string) []char {
	b, ok := hexByte(rest[1:])
	if !ok {
		return out
	}
	out = append(out, char{single[b], 3})
	switch b {
	case '+':
		out = append(out, char{" ", 3})
	case '%':
		if b, ok := hexByte(rest[3:]); ok {
			out = append(out, char{single[b], 5})
		}
	}
	return out
}

var single = func() (t [256]string) {
	for i := range t {
		t[i] = string([]byte{byte(i)})
	}
	return t
}()

func hexByte(s string) (byte, bool) {
	if len(s) < 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:2], 16, 8)
	return byte(n), err == nil && s[0] != '+' && s[0] != '-'
}

var entities = map[string]string{"amp": "&", "lt": "<", "gt": ">", "quot": `"`, "apos": "'"}

// entity reads &amp;, &#38; and &#x26;.
func entity(out []char, rest string) []char {
	name, _, ok := strings.Cut(rest[1:], ";")
	if !ok || name == "" {
		return out
	}
	width := len(name) + 2
	if c, ok := entities[name]; ok {
		return append(out, char{c, width})
	}
	number, base := strings.TrimPrefix(name, "#"), 10
	if number == name {
		return out
	}
	if hex := strings.TrimLeft(number, "xX"); hex != number {
		number, base = hex, 16
	}
	n, err := strconv.ParseUint(number, base, 21)
	if err != nil || !utf8.ValidRune(rune(n)) {
		return out
	}
	return append(out, char{string(rune(n)), width})
}

var letters = map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'b': "\b", 'f': "\f", '"': `"`, '\'': "'", '/': "/"}

// backslash reads \n, \", \u0041, \x41 and \\. A text that was escaped again has more backslashes.
func backslash(out []char, rest string) []char {
	word := strings.TrimLeft(rest, `\`)
	slashes := len(rest) - len(word)
	for n := 2; n <= slashes; n *= 2 {
		out = append(out, char{`\`, n})
	}
	if word == "" {
		return out
	}
	if c, ok := letters[word[0]]; ok {
		out = append(out, char{c, slashes + 1})
	}
	if word[0] == 'x' {
		if b, ok := hexByte(word[1:]); ok {
			out = append(out, char{single[b], slashes + 3})
		}
	}
	if word[0] == 'u' || word[0] == 'U' {
		if c, n := unicodeEscape(word); n > 0 {
			out = append(out, char{c, slashes + n})
		}
	}
	return out
}

// unicodeEscape reads u0041, of two that are one character both, and U00000041.
func unicodeEscape(word string) (c string, width int) {
	if word[0] == 'U' && len(word) >= 9 {
		n, err := strconv.ParseUint(word[1:9], 16, 31)
		if err != nil || !utf8.ValidRune(rune(n)) {
			return "", 0
		}
		return string(rune(n)), 9
	}
	r, ok := hexRune(word)
	switch {
	case !ok:
		return "", 0
	case !utf16.IsSurrogate(r):
		return string(r), 5
	}
	low := strings.TrimLeft(word[5:], `\`)
	if second, ok := hexRune(low); ok && utf16.DecodeRune(r, second) != utf8.RuneError {
		return string(utf16.DecodeRune(r, second)), len(word) - len(low) + 5
	}
	return "", 0
}

func hexRune(word string) (rune, bool) {
	if len(word) < 5 || word[0] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(word[1:5], 16, 32)
	return rune(n), err == nil
}

// maxWork bounds escapes read at one place, for each byte of a form: backslashes can be endless.
const maxWork = 8

// end returns where a form ends whose bytes from i on stand at a place; 0: it does not stand
// there. cut: the text ends before that is known.
func (f *form) end(text string, at, i int, work *int) (end int, cut bool) {
	for ; i < len(f.text); i++ {
		switch {
		case at == len(text):
			return 0, true
		case isEscape(text[at]):
			return f.endEscaped(text, at, i, work)
		case f.is(i, text[at]):
			at++
		case f.breaks(i, text[at]):
			at, i = at+1, i-1
		default:
			return 0, false
		}
	}
	return at, false
}

func isEscape(b byte) bool { return b == '%' || b == '\\' || b == '&' || b == '+' }

// breaks reports whether a byte may stand between those of a form, as the end of a line.
func (f *form) breaks(i int, b byte) bool {
	return i > 0 && f.kind != formPlain && (b == '\n' || b == '\r')
}

// endEscaped is end at a place that can be read in several ways. The longest counts.
func (f *form) endEscaped(text string, at, i int, work *int) (end int, cut bool) {
	if *work--; *work < 0 {
		return 0, false
	}
	var room [maxReadings]char
	chars, cut := escapes(room[:0], text, at)
	for _, c := range append(chars, char{text[at : at+1], 1}) {
		from := i + len(c.bytes)
		switch {
		case f.breaks(i, c.first()):
			from = i
		case from > len(f.text) || !f.reads(i, c.bytes):
			continue
		}
		e, open := f.end(text, at+c.width, from, work)
		end, cut = max(end, e), cut || open
	}
	return end, cut
}

func (f *form) reads(i int, bytes string) bool {
	for k := range len(bytes) {
		if !f.is(i+k, bytes[k]) {
			return false
		}
	}
	return true
}

func (f *form) is(i int, b byte) bool {
	want := f.text[i]
	if want == b {
		return true
	}
	switch f.kind {
	case formHex:
		return want >= 'a' && b == want-'a'+'A'
	case formBase64:
		return want == '+' && b == '-' || want == '/' && b == '_'
	}
	return false
}
