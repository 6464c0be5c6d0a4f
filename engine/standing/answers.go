package standing

import (
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/cascade/continuity"
)

// StateBlock is the name of the value of the session's state that is the state block.
const StateBlock = "state_block"

// section is a part of an answer that is read out of it.
type section struct {
	from, to int    // bytes of the answer, with the line that begins it
	text     string // behind that line
	state    bool   // a state block; else a scratchpad
}

var (
	stateLine   = regexp.MustCompile(`^### STATE[ \t]*:?[ \t]*$`)
	headingLine = regexp.MustCompile(`^#{1,3}[ \t]`)
	fenceLine   = regexp.MustCompile("^[ \t]*(```|~~~)")
	stateLabel  = regexp.MustCompile(`(?i)^[ \t>*_#-]*(goal|context|resolved|technical anchors|next)[ \t*_]*(?::[ \t*_]*(.*))?$`)
)

// scratchpadMark begins, at the beginning of a line, the scratchpad in an answer.
const scratchpadMark = "SCRATCHPAD:"

// sections returns those of an answer, in order. A line in a block of code begins none: it is quoted.
func sections(answer string) []section {
	var out []section
	end := func(at int) {
		if n := len(out) - 1; n >= 0 && out[n].to < 0 {
			out[n].to = at
			out[n].text = strings.TrimSpace(answer[out[n].from+len(out[n].text) : at])
		}
	}
	fenced := false
	for at := 0; at < len(answer); {
		next := len(answer)
		if i := strings.IndexByte(answer[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimRight(answer[at:next], "\r\n")
		switch {
		case fenceLine.MatchString(line):
			fenced = !fenced
		case fenced:
		case stateLine.MatchString(line):
			end(at)
			out = append(out, section{from: at, to: -1, text: line, state: true})
		case strings.HasPrefix(line, scratchpadMark):
			end(at)
			out = append(out, section{from: at, to: -1, text: scratchpadMark})
		case headingLine.MatchString(line) && len(out) > 0 && out[len(out)-1].state:
			end(at)
		}
		at = next
	}
	end(len(answer))
	return out
}

// In returns the scratchpad and the state block that an answer writes, the last of each. Not written, or without any of the
// parts of a state block, it is not found.
func In(answer string) (scratchpad, state string, hasScratchpad, hasState bool) {
	for _, s := range sections(answer) {
		if s.state {
			state, hasState = s.text, len(Parts(s.text)) > 0
			continue
		}
		scratchpad, hasScratchpad = s.text, true
	}
	if !hasState {
		state = ""
	}
	return scratchpad, state, hasScratchpad, hasState
}

// Visible returns an answer without the sections that are read out of it where a phase has them. A state block without any of
// its parts is not read, and stays.
func Visible(answer string, on continuity.InForce) string {
	if !on.Scratchpad && !on.StateBlock {
		return answer
	}
	var out strings.Builder
	at := 0
	for _, s := range sections(answer) {
		if s.state && on.StateBlock && (on.Lenient || len(Parts(s.text)) > 0) || !s.state && on.Scratchpad {
			out.WriteString(answer[at:s.from])
			at = s.to
		}
	}
	if at == 0 {
		return answer
	}
	out.WriteString(answer[at:])
	return strings.TrimSpace(out.String())
}

// The labels of the parts of a state block.
const (
	Goal     = "Goal"
	Context  = "Context"
	Resolved = "Resolved"
	Anchors  = "Technical anchors"
	Next     = "Next"
)

// Part is a part of a state block, on one line.
type Part struct{ Label, Text string }

// Parts returns those of a state block that say something, in its order.
func Parts(block string) []Part {
	var out []Part
	for line := range strings.SplitSeq(block, "\n") {
		if m := stateLabel.FindStringSubmatch(strings.TrimRight(line, "\r")); m != nil {
			out = append(out, Part{Label: labelOf(m[1]), Text: m[2]})
		} else if n := len(out) - 1; n >= 0 {
			out[n].Text += " " + strings.TrimSpace(line)
		}
	}
	for i := range out {
		out[i].Text = strings.TrimSpace(out[i].Text)
	}
	return slices.DeleteFunc(out, func(p Part) bool { return p.Text == "" })
}

func labelOf(text string) string {
	for _, label := range []string{Goal, Context, Resolved, Anchors} {
		if strings.EqualFold(text, label) {
			return label
		}
	}
	return Next
}
