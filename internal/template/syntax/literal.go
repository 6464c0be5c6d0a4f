package syntax

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number adds a number, or a name that begins with a digit. Behind a dot, a.0.1 is two steps.
func (l *lexer) number() {
	start := l.at
	n := len(identifier(l.src[start:]))
	member := l.list[len(l.list)-1].text == "." && l.list[len(l.list)-1].kind == kindSign
	if rest := l.src[start+n:]; !member && len(rest) > 1 && rest[0] == '.' && isDigit(rest[1]) {
		n += 1 + len(identifier(rest[1:]))
	}
	text, rest := l.src[start:start+n], l.src[start+n:]
	decimal := !strings.ContainsAny(text, "xX")
	if last := text[n-1] | ' '; decimal && last == 'e' && len(rest) > 1 && (rest[0] == '-' || rest[0] == '+') && isDigit(rest[1]) {
		n += 1 + len(identifier(rest[1:]))
		text = l.src[start : start+n]
	}
	value, err := numberOf(text, decimal && !member)
	switch {
	case errors.Is(err, strconv.ErrRange):
		l.fail(start, "the number %s is too large", text)
	case err == nil && n > 1 && text[0] == '0' && isDigit(text[1]):
		l.fail(start, "the number %s cannot begin with 0", text)
	case err == nil:
		l.add(kindValue, start, text, value)
	case IsName(text):
		l.add(kindWord, start, text, nil)
	default:
		l.fail(start, "%s is not a number", text)
	}
	l.at += n
}

func numberOf(text string, mayBeFloat bool) (any, error) {
	i, err := strconv.ParseInt(text, 0, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) || !mayBeFloat {
		return i, err
	}
	return strconv.ParseFloat(text, 64)
}

// quoted adds a string.
func (l *lexer) quoted(quote byte) {
	start := l.at
	var decoded []byte // nil as long as the string is what it says
	from := start + 1
	for at := from; at < len(l.src); {
		switch l.src[at] {
		case quote:
			text := l.src[from:at]
			if decoded != nil {
				text = string(append(decoded, text...))
			}
			l.add(kindValue, start, text, text)
			l.at = at + 1
			return
		case '\\':
			decoded = append(decoded, l.src[from:at]...)
			decoded, from = l.escape(decoded, at)
			at = from
		default:
			at++
		}
	}
	l.fail(start, "the string is not closed: %c is missing", quote)
}

// escape appends what the escape at an offset means, and returns where it ends.
func (l *lexer) escape(dst []byte, at int) ([]byte, int) {
	if at+1 == len(l.src) { // the string is not closed
		return dst, at + 1
	}
	if c := l.src[at+1]; c == '"' || c == '\'' {
		return append(dst, c), at + 2
	}
	r, multibyte, tail, err := strconv.UnquoteChar(l.src[at:], 0)
	if err != nil {
		c, _ := utf8.DecodeRuneInString(l.src[at+1:])
		l.fail(at, `there is no escape \%c in a string; write \\ for a backslash`, c)
	}
	if multibyte {
		dst = append(dst, string(r)...)
	} else {
		dst = append(dst, byte(r))
	}
	return dst, len(l.src) - len(tail)
}
