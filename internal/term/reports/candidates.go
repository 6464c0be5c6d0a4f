package reports

import (
	"fmt"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/excerpt"
)

// mostOffered is how many bytes are shown of the answer of a candidate. The record has it whole.
const mostOffered = 4000

// candidateLines has the candidates that a person chooses from, one below the other.
func candidateLines(c *echo.Choose) []string {
	var lines []string
	for _, x := range c.Candidates {
		head := x.Label
		if x.Note != "" {
			head += " (" + x.Note + ")"
		}
		text := excerpt.Clip(x.Text, mostOffered)
		if text != x.Text {
			text += fmt.Sprintf("\n[%d of %d bytes; windlass answer ID --json has it whole]", len(text), len(x.Text))
		}
		lines = append(lines, "", head)
		for line := range strings.SplitSeq(text, "\n") {
			lines = append(lines, "  "+line)
		}
	}
	return lines
}

// chooseHow says what to type to choose.
func chooseHow(answer string, c *echo.Choose) []string {
	labels, reason := waiting.Labels(c), ""
	if c.Reason {
		reason = ` --reason "..."`
	}
	switch c.Mode {
	case echo.ChooseRank:
		return []string{answer + strings.Join(labels, ",") + reason + ", the best first"}
	case echo.ChooseRate:
		return []string{answer + strings.Join(labels, "=N,") + "=N" + reason + fmt.Sprintf(", each from 1 to %d", waiting.DefaultMost)}
	case echo.ChooseOne:
	}
	var lines []string
	for _, word := range waiting.Winners(c) {
		lines = append(lines, answer+word+reason)
	}
	return lines
}
