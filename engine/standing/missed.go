package standing

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/internal/excerpt"
)

// Lines that are meant to begin a scratchpad or a state block and do not: in other case, quoted, or behind characters that
// nobody sees. A line "State" that is no heading is not meant so.
var (
	likeMark  = regexp.MustCompile(`^[ \t*_#>\x{FEFF}\x{200B}-\x{200D}\x{2060}]*(?i:SCRATCHPAD)[ \t*_]*(?::[*_]*|$)`)
	likeState = regexp.MustCompile(`^[ \t*_>\x{FEFF}\x{200B}-\x{200D}\x{2060}]*(?:STATE|#{1,6}[ \t*_]*(?i:STATE))[ \t*_]*:?[ \t*_]*$`)
)

// Missed says why an answer from which nothing was taken for a value was meant to write it; "" where it does not look so. What
// is in a block of code is quoted, unless the block does not end.
func Missed(answer, name string) string {
	like, line := likeMark, scratchpadMark
	if name == StateBlock {
		like, line = likeState, "### STATE"
		for _, s := range sections(answer) {
			if s.state {
				return "a section ### STATE has none of the lines Goal:, Context:, Resolved:, Technical anchors: and Next: before the next heading"
			}
		}
	}
	outside, inside, fenced := "", "", false
	for l := range strings.Lines(answer) {
		l = strings.TrimRight(l, "\r\n")
		mark := like.FindString(l) // the text behind it is not quoted: it may be redacted
		switch {
		case fenceLine.MatchString(l):
			fenced, inside = !fenced, ""
		case mark == "":
		case fenced:
			inside = mark
		default:
			outside = mark
		}
	}
	if fenced && inside != "" {
		return fmt.Sprintf("%q is in a block of code that does not end", excerpt.Line(inside, mostOfMark))
	}
	if outside != "" {
		return fmt.Sprintf("%q is not %s at the beginning of a line", excerpt.Line(outside, mostOfMark), line)
	}
	return ""
}

// mostOfMark is how much of a mark a warning quotes, in bytes.
const mostOfMark = 60
