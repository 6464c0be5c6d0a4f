package excerpt

import (
	"fmt"
	"strings"
	"unicode"
)

// Hidden reports whether a character is shown as nothing, moves others, or commands a terminal, so that a person does not
// see what a model reads. Line breaks and tabs are seen. Joiners and variation selectors are not hidden: scripts and emoji
// are written with them.
func Hidden(r rune) bool {
	switch r {
	case '\n', '\r', '\t', '\u200c', '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// FirstHidden returns the first hidden character of a text, if there is one.
func FirstHidden(s string) (r rune, is bool) {
	at := strings.IndexFunc(s, Hidden)
	if at < 0 {
		return 0, false
	}
	for _, r = range s[at:] {
		break
	}
	return r, true
}

// Unhidden returns a text with an escape for each hidden character, as \u001b, and how many there were.
func Unhidden(s string) (text string, count int) {
	if _, is := FirstHidden(s); !is {
		return s, 0
	}
	var out strings.Builder
	for _, r := range s {
		if !Hidden(r) {
			out.WriteRune(r)
			continue
		}
		count++
		fmt.Fprintf(&out, `\u%04x`, r)
	}
	return out.String(), count
}
