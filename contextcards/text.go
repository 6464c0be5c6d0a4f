package contextcards

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRead bounds, in bytes, what is read of a text: a card must not cost more than its turn.
const maxRead = 16 << 10

// oneLine writes a text in one line of at most limit characters, with single spaces and no terminal
// or direction controls; "..." ends it when something was left out.
func oneLine(s string, limit int) string {
	var b strings.Builder
	b.Grow(min(len(s), 4*limit))
	n, gap := 0, false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r):
			gap = n > 0
			continue
		case isHidden(r):
			continue
		}
		if gap {
			b.WriteByte(' ')
			n++
		}
		gap = false
		b.WriteRune(r)
		if n++; n > limit {
			return ellipsis(b.String(), limit)
		}
	}
	return b.String()
}

// ellipsis cuts a line that is longer than limit characters, at the end of a word when one is near.
func ellipsis(line string, limit int) string {
	const mark = "..."
	if limit <= len(mark) {
		return cut(line, limit)
	}
	head := cut(line, limit-len(mark))
	if at := strings.LastIndexByte(head, ' '); at > len(head)*2/3 {
		head = head[:at]
	}
	return head + mark
}

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for i := range s {
		if limit == 0 {
			return s[:i]
		}
		limit--
	}
	return s
}

// head returns at most limit bytes, whole characters.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// isHidden reports whether a character has no shape of its own: directions, marks of byte order,
// tags. Joiners stay, as some scripts and emoji are wrong without them.
func isHidden(r rune) bool {
	return r >= 0x80 && unicode.Is(unicode.Cf, r) && r != '\u200C' && r != '\u200D'
}

// longerThan reports whether a text has more than limit characters, without counting all of them.
func longerThan(s string, limit int) bool {
	return len(s) > limit && (len(s) > limit*utf8.UTFMax || utf8.RuneCountInString(s) > limit)
}
