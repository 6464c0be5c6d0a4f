package inspector

import (
	"encoding/json"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/waiting"
	"github.com/windlass-run/windlass/internal/quantity"
)

// charactersEach is how many characters of a text a page has.
const charactersEach = 6000

// said is what messages say, as it is shown.
type said struct {
	Text  string
	Calls []calledTool
	Notes []string
	Raw   []string // in place of the others: the JSON of each
	Left  int      // characters that are not shown

	whole bool // nothing is left out
}

// calledTool is a call in a message of a model.
type calledTool struct{ Name, Arguments string }

// add shows a message.
func (s *said) add(m *echo.Message) {
	if s.Text != "" {
		s.Text += "\n\n" // another message that was sent with it
	}
	s.Text += s.cut(m.Text())
	for _, c := range m.ToolCalls() {
		s.Calls = append(s.Calls, calledTool{c.Name, s.cut(waiting.Visible(json.RawMessage(c.Arguments)))})
	}
	for _, p := range m.Parts() {
		if p.Type != echo.PartText {
			s.Notes = append(s.Notes, string(p.Type)+", "+quantity.Grouped(int64(len(p.URL)))+" characters of data, not shown here")
		}
	}
}

// addRaw shows a message as it was sent.
func (s *said) addRaw(m *echo.Message) {
	s.Raw = append(s.Raw, s.cut(waiting.Visible(json.RawMessage(m.JSON()))))
}

// cut returns the beginning of a text, and counts what is left out.
func (s *said) cut(text string) string {
	if s.whole || len(text) <= charactersEach {
		return text
	}
	runes := []rune(text)
	if len(runes) <= charactersEach {
		return text
	}
	s.Left += len(runes) - charactersEach
	return string(runes[:charactersEach])
}

// visibleText is [waiting.VisibleText] of a text whose tabs are seen as what they are.
func visibleText(text string) string {
	parts := strings.Split(text, "\t")
	for i, p := range parts {
		parts[i] = waiting.VisibleText(p)
	}
	return strings.Join(parts, "\t")
}
