package waiting

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Visible returns JSON on lines of its own, in which nothing is hidden: a character that is seen as nothing or like another
// one is written as its escape, which is the same JSON. What is no JSON is one text.
func Visible(raw json.RawMessage) string {
	return visible(raw, func(b *bytes.Buffer, canonical json.RawMessage) error { return json.Indent(b, canonical, "", "  ") })
}

// VisibleLine is [Visible] in one line.
func VisibleLine(raw json.RawMessage) string {
	return visible(raw, func(b *bytes.Buffer, canonical json.RawMessage) error { return json.Compact(b, canonical) })
}

func visible(raw json.RawMessage, write func(*bytes.Buffer, json.RawMessage) error) string {
	var b bytes.Buffer
	canonical, err := Canonical(raw) // characters stand for themselves, however the record has them
	if err != nil || write(&b, canonical) != nil {
		b.Reset()
		b.WriteString(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	return VisibleText(b.String())
}

// VisibleText is [Visible] of a text as it stands: a character that is seen as nothing, or like another one, is written as
// its escape.
func VisibleText(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || isSeen(r):
			out.WriteRune(r)
		case r > 0xFFFF:
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isSeen reports whether a character is seen as itself: as no other one, and no other space.
func isSeen(r rune) bool {
	switch r {
	case ' ':
		return true
	case unicode.ReplacementChar: // which stands for what is no text
		return false
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) && !IsHidden(r)
}

// IsHidden reports whether a character is shown as nothing, or changes how others are shown.
func IsHidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == '\u2800' // a blank of Braille
}
