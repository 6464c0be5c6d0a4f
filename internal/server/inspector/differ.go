package inspector

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/linediff"
	"github.com/windlass-run/windlass/internal/quantity"
	"github.com/windlass-run/windlass/internal/server/page"
)

// answerDiff is how the answers of two candidates differ.
type answerDiff struct {
	A, B           string // the names of the candidates
	Same           bool
	Removed, Added int // lines of the whole comparison, of long ones sentences
	Lines          []diffLine
	Pages          []page.Link
	Page           string
}

// diffLine is a line of a comparison, a piece of a long one, or a mark for lines that both have.
type diffLine struct {
	Op    linediff.Op
	Text  string
	Piece bool // it goes on with the line before it
	Gap   bool // it stands for lines that both have
}

// wholeAnswer is the answer of one candidate.
type wholeAnswer struct{ Name, Text string }

// How much of a comparison is shown.
const (
	longLine   = 120  // bytes: a longer one is compared by sentences
	pieceRunes = 2000 // of a line: a longer one is shown in several pieces
	linesAPage = 400
	bytesAPage = 60_000
)

func newWholeAnswer(name string, c *inspect.Candidate) *wholeAnswer {
	return &wholeAnswer{name, answerText(c)}
}

// answerText is the answer of a candidate as it is shown: JSON on lines of its own.
func answerText(c *inspect.Candidate) string {
	if text := strings.TrimSpace(c.Output); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if json.Valid([]byte(text)) {
			return waiting.Visible(json.RawMessage(text))
		}
	}
	return visibleText(strings.ToValidUTF8(strings.ReplaceAll(c.Output, "\r\n", "\n"), "\uFFFD"))
}

// compareAnswers compares what two candidates have answered. Nothing that differs is left out: what has no room is on the next page.
func (v *visit) compareAnswers(a, b string, first, other *inspect.Candidate) (*answerDiff, error) {
	lines := linediff.Of(parted(answerText(first)), parted(answerText(other)))
	out := &answerDiff{A: a, B: b, Same: !linediff.Changed(lines)}
	for _, l := range lines {
		switch l.Op {
		case linediff.Old:
			out.Removed++
		case linediff.New:
			out.Added++
		case linediff.Both, linediff.Gap:
		}
	}
	pages := parts(hunks(lines))
	at := 1
	if text := v.Query().Get("page"); text != "" {
		var err error
		if at, err = strconv.Atoi(text); err != nil || at < 1 || at > max(len(pages), 1) {
			return nil, page.Missing("This comparison has %s.", quantity.Of(max(len(pages), 1), "page"))
		}
	}
	if out.Same {
		return out, nil
	}
	out.Lines, out.Page = pages[at-1], strconv.Itoa(at)
	if len(pages) > 1 {
		out.Pages = pagesOf(at, len(pages), func(n int) string {
			return v.Path() + "?" + url.Values{"a": {a}, "b": {b}, "page": {strconv.Itoa(n)}}.Encode() + "#answer"
		})
	}
	return out, nil
}

// goesOn stands before a part of a line that goes on with the part before it. No text that is shown has it.
const goesOn = "\x00"

// sentenceEnd is where a long line is parted.
var sentenceEnd = regexp.MustCompile(`[.!?;:] `)

// parted returns a text whose long lines are parted at the ends of sentences, so that a paragraph is compared sentence by sentence.
func parted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if len(line) > longLine {
			line = sentenceEnd.ReplaceAllString(line, "$0\n"+goesOn)
		}
		b.WriteString(line)
	}
	return b.String()
}

// hunks returns the lines that differ with some around them, and marks in place of the others.
func hunks(lines []linediff.Line) (out []diffLine) {
	for _, l := range linediff.Around(lines, around) {
		if l.Op == linediff.Gap {
			out = append(out, diffLine{Op: l.Op, Text: l.Text, Gap: true})
		} else {
			out = append(out, pieces(l)...)
		}
	}
	return out
}

// pieces returns a line as it is shown.
func pieces(l linediff.Line) (out []diffLine) {
	whole, on := strings.CutPrefix(l.Text, goesOn)
	text := []rune(whole)
	for len(text) > pieceRunes {
		out = append(out, diffLine{Op: l.Op, Text: string(text[:pieceRunes]), Piece: on || len(out) > 0})
		text = text[pieceRunes:]
	}
	return append(out, diffLine{Op: l.Op, Text: string(text), Piece: on || len(out) > 0})
}

// parts divides lines among pages.
func parts(lines []diffLine) (pages [][]diffLine) {
	from, size := 0, 0
	for i := range lines {
		if i > from && (i-from >= linesAPage || size+len(lines[i].Text) > bytesAPage) {
			pages = append(pages, lines[from:i])
			from, size = i, 0
		}
		size += len(lines[i].Text)
	}
	if from < len(lines) {
		pages = append(pages, lines[from:])
	}
	return pages
}

// Sign is what stands before a line.
func (l diffLine) Sign() string {
	if l.Piece {
		return string(l.Op) + "… "
	}
	return string(l.Op) + " "
}
