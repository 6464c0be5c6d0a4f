package handoff

import (
	"regexp"
	"strings"
)

// A section is what stands under a heading: "## Blockers", "**Blockers**" or "Blockers:".
var (
	headingLine  = regexp.MustCompile(`^\s{0,3}#{1,6}\s+(.+?)[\s#]*$`)
	boldLine     = regexp.MustCompile(`^\s{0,3}(?:\*\*|__)(.+?)(?:\*\*|__)\s*:?\s*$`)
	wordsLine    = regexp.MustCompile(`^\s{0,3}([A-Za-z][A-Za-z ]{2,40}):\s*$`)
	listItem     = regexp.MustCompile(`^(\s*)(?:[-*+]|\d+[.)])\s+(\S.*)$`)
	boxOfItem    = regexp.MustCompile(`^\[([^\]]?)\]\s+`)
	blockerTitle = regexp.MustCompile(`(?i)^(?:(?:current|open|known|remaining)\s+)?(?:blockers?|blocking(?:\s+(?:issues?|items?|problems?))?|blocked(?:\s+(?:by|on|items?))?)$`)
	choiceTitle  = regexp.MustCompile(`(?i)^(?:(?:key|main|important|design)\s+)?decisions?(?:\s+(?:made|taken))?$`)
	nothing      = regexp.MustCompile(`(?i)^[-_(*\s]*(?:none|nothing|n/?a|no blockers?|no decisions?)(?:\s+(?:yet|so far|at the moment|right now|currently|known|remaining))?[)_*.!\s]*$`)
)

// hasSection reports whether a text has a section of a title, even one that says there is nothing.
func hasSection(text string, title *regexp.Regexp) bool {
	for l := range strings.SplitSeq(text, "\n") {
		if title.MatchString(headingOf(l)) {
			return true
		}
	}
	return false
}

// sectionsIn returns the items of all sections of a text with such a title: those of lists at the
// outermost level that are not ticked, and paragraphs. What stands below an item is a part of it.
func sectionsIn(text string, title *regexp.Regexp) []string {
	var out, paragraph []string
	inside, fenced := false, false
	end := func() {
		if s := strings.TrimSpace(strings.Join(paragraph, " ")); s != "" && !nothing.MatchString(s) {
			out = append(out, s)
		}
		paragraph = nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
			continue
		}
		if h := headingOf(l); h != "" && !fenced {
			end()
			inside = title.MatchString(h)
			continue
		}
		switch item := listItem.FindStringSubmatch(l); {
		case !inside || fenced:
		case item != nil && len(item[1]) > 1: // below another item
		case item != nil:
			end()
			paragraph = []string{unticked(item[2])}
		case strings.TrimSpace(l) == "":
			end()
		default:
			paragraph = append(paragraph, strings.TrimSpace(l))
		}
	}
	end()
	return out
}

// unticked returns the text of a list item without its box; "" when the box is ticked.
func unticked(item string) string {
	box := boxOfItem.FindStringSubmatch(item)
	if box == nil {
		return item
	}
	if box[1] == "x" || box[1] == "X" {
		return ""
	}
	return item[len(box[0]):]
}

// headingOf returns the words of a heading without marks; "" for any other line.
func headingOf(line string) string {
	for _, form := range []*regexp.Regexp{headingLine, boldLine, wordsLine} {
		if m := form.FindStringSubmatch(line); m != nil {
			return strings.Trim(m[1], " \t\r*_:")
		}
	}
	return ""
}
