package echo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// emptyName is written for a name without characters: an escape that no character has.
const emptyName = "%"

// escaped writes a name as one part of a key: slashes, percent signs, control characters, what is
// no UTF-8 and, for phases, the tilde become a percent sign and two hexadecimal digits.
func escaped(name string, phase bool) string {
	if name == "" {
		return emptyName
	}
	if !slices.ContainsFunc([]byte(name), func(c byte) bool { return mustEscape(c, phase) }) && utf8.ValidString(name) {
		return name
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && size == 1 || size == 1 && mustEscape(name[i], phase) {
			fmt.Fprintf(&b, "%%%02X", name[i])
		} else {
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func mustEscape(c byte, phase bool) bool {
	return c == '/' || c == '%' || c < ' ' || c == 0x7f || phase && c == '~'
}

func unescaped(part string) (string, error) {
	if part == emptyName {
		return "", nil
	}
	if part == "" {
		return "", fmt.Errorf("a part is empty")
	}
	if !strings.Contains(part, "%") {
		return part, nil
	}
	b := make([]byte, 0, len(part))
	for i := 0; i < len(part); i++ {
		if part[i] != '%' {
			b = append(b, part[i])
			continue
		}
		if i+2 >= len(part) {
			return "", fmt.Errorf("%q ends within an escape", part)
		}
		n, err := strconv.ParseUint(part[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("%q has an escape without two hexadecimal digits", part)
		}
		b = append(b, byte(n))
		i += 2
	}
	return string(b), nil
}
