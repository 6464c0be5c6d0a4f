package echo

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string by RFC 8785 (JCS), which escapes only what JSON requires.
// Bytes that are not UTF-8 become U+FFFD: the output is always valid, with any version of Go.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if b >= 0x20 && b != '"' && b != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, b)
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\uFFFD"...)
			i++
			start = i
			continue
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, b byte) []byte {
	if at := strings.IndexByte("\"\\\b\f\n\r\t", b); at >= 0 {
		return append(dst, '\\', `"\bfnrt`[at])
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&0xF])
}

// appendMember appends a comma, the quoted key and a colon.
func appendMember(dst []byte, key string) []byte {
	return append(strconv.AppendQuote(append(dst, ','), key), ':')
}
