package recollection

import "strings"

// maxSection is how long a section is at most, in bytes: a longer one is divided at the end of a line. More would not be
// indexed.
const maxSection = 8 << 10

// Section is a part of a text in Markdown: a heading with what is below it, up to the next one.
type Section struct {
	Heading string // without its marks; "": before the first one
	Text    string
}

// Sections divides a text in Markdown at its headings. Those in blocks of code are none.
func Sections(text string) (out []Section) {
	var part strings.Builder
	heading := ""
	flush := func() {
		if strings.TrimSpace(part.String()) != "" {
			out = append(out, Section{heading, strings.Trim(part.String(), "\n")})
		}
		part.Reset()
	}
	fence := ""
	for line := range strings.Lines(text) {
		fence = fenced(line, fence)
		if h, is := headingOf(line); is && fence == "" {
			flush()
			heading = h
		} else if part.Len()+len(line) > maxSection {
			flush()
		}
		for len(line) > maxSection { // one line without an end
			first := head(line, maxSection)
			part.WriteString(first)
			flush()
			line = line[len(first):]
		}
		part.WriteString(line)
	}
	flush()
	return out
}

// fenced returns the fence of the block of code after a line, by that before it; "": there is none.
func fenced(line, open string) string {
	line = strings.TrimSpace(line)
	for _, fence := range []string{"```", "~~~"} {
		switch {
		case !strings.HasPrefix(line, fence):
		case open == "":
			return fence
		case open == fence && strings.Trim(line, fence[:1]) == "":
			return ""
		}
	}
	return open
}

// headingOf returns the heading that a line is.
func headingOf(line string) (string, bool) {
	marks := len(line) - len(strings.TrimLeft(line, "#"))
	if marks == 0 || marks > 6 || marks < len(line) && !strings.ContainsRune(" \t\r\n", rune(line[marks])) {
		return "", false
	}
	return strings.TrimSpace(line[marks:]), true
}

// headings returns the headings of a text, a line each with its marks, at most so many bytes of them.
func headings(text string, limit int) string {
	var out strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		fence = fenced(line, fence)
		if h, is := headingOf(line); is && fence == "" && h != "" && out.Len()+len(line) <= limit {
			out.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	return out.String()
}
