package contextcards

import (
	"cmp"
	"strings"
	"time"

	"github.com/windlass-run/windlass/echo"
)

const (
	maxShort   = 200 // characters of a message that is its own summary
	maxSummary = 300 // characters of any summary
	maxEmbed   = 4000
)

// The generators of cards that no model had a part in.
const (
	GeneratorMessage    = "message"    // the message is its own summary
	GeneratorShape      = "shape"      // what a tool result or a list of calls looks like
	GeneratorExtraction = "extraction" // sentences of the message
)

// Extract makes the card of a message without a model, and without an embedding. It is pure.
func Extract(s Source, now time.Time) Card {
	words := tallyOf(s.Message)
	defer words.release()
	keywords := words.keywords()
	summary, generator := describe(s.Message, words, keywords)
	c := Card{
		Summary: summary, Keywords: keywords, Hash: s.Message.Hash(), Role: s.Message.Role(),
		Tokens: tokens(s.Message), GeneratedAt: stamp(now), Generator: generator,
	}
	return c.placed(s)
}

// placed returns the card with the place of a source that has its message, and its callout.
func (c Card) placed(s Source) Card {
	c.SessionID, c.Phase, c.Visit, c.Attempt = s.SessionID, s.Phase, s.Visit, s.Attempt
	c.Turn, c.Order, c.Callout, c.MessageAt = s.Turn, s.Order, cmp.Or(s.Callout, c.Callout), stamp(s.At)
	return c
}

// EmbedText returns the text of a message that stands for it in an embedding: what it says and what
// it calls, or, when that is very long, the card's summary and the beginning.
func EmbedText(m *echo.Message, summary string) string {
	var b strings.Builder
	b.WriteString(m.Text())
	for _, c := range m.ToolCalls() {
		b.WriteString("\n" + c.Name + " " + head(c.Arguments, maxEmbed))
	}
	if !longerThan(b.String(), maxEmbed) {
		return strings.TrimSpace(b.String())
	}
	return summary + "\n" + strings.TrimSpace(cut(b.String(), maxEmbed))
}

// describe sums a message up as well as can be done without a model, and says how.
func describe(m *echo.Message, words *tally, keywords []string) (summary, generator string) {
	text := m.Text()
	switch {
	case m.Role() == echo.RoleTool:
		if strings.TrimSpace(text) == "" {
			return oneLine(label(m)+cmp.Or(images(m), "nothing"), maxSummary), GeneratorShape
		}
		if line, ok := short(text); ok {
			return oneLine(label(m)+line+also(m), maxSummary), GeneratorMessage
		}
		return shape(m, words), GeneratorShape
	case strings.TrimSpace(text) == "":
		return oneLine(strings.TrimPrefix(also(m)+calls(m), "; "), maxSummary), GeneratorShape
	}
	if line, ok := short(text); ok {
		return oneLine(line+also(m)+calls(m), maxSummary), GeneratorMessage
	}
	return extract(text, keywords), GeneratorExtraction
}

// short returns a text in one line when it is short enough to be its own summary.
func short(text string) (string, bool) {
	text = strings.TrimSpace(text)
	if text == "" || longerThan(text, maxShort) {
		return "", false
	}
	return oneLine(text, maxShort), true
}

// needsModel reports whether a model could sum a message up better than [describe].
func needsModel(m *echo.Message) bool {
	return m.Role() != echo.RoleTool && longerThan(strings.TrimSpace(m.Text()), maxShort)
}

// calls says what a message calls: "; calls read_file {...}, bash {...}".
func calls(m *echo.Message) string {
	var list []string
	for _, c := range m.ToolCalls() {
		s := c.Name
		if args := oneLine(head(c.Arguments, maxRead), maxQuote); args != "" && args != "{}" {
			s += " " + args
		}
		list = append(list, s)
	}
	if len(list) == 0 {
		return ""
	}
	return "; calls " + strings.Join(list, ", ")
}

func also(m *echo.Message) string {
	if n := images(m); n != "" {
		return "; " + n
	}
	return ""
}

// tokens estimates as autocontext.Tokens does, which a test of autocontext checks.
func tokens(m *echo.Message) int64 { return int64(len(m.JSON())+3) / 4 }

// stamp returns a time as it is kept: UTC, microseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
