package simulate

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// A reference is a word of a call's arguments that occurred earlier in the conversation: a path, an identifier, a number.
// A model that writes one has most likely read it somewhere. When what it read is no longer sent, it may have to guess.
var referenceWord = regexp.MustCompile(`[A-Za-z0-9_./-]{4,}`)

// referenceMark is what tells a reference from a plain word of prose.
const referenceMark = "0123456789/_."

// ReferencePattern describes what counts as a reference, for reports.
const ReferencePattern = `words of [A-Za-z0-9_./-]{4,} with a digit, "/", "_" or "."`

// references counts the references of a conversation's calls. It remembers which message holds which word.
type references struct {
	words map[*echo.Message][]string // of a message's calls, each word once
	texts map[*echo.Message]string
	holds map[holding]bool
}

type holding struct {
	word    string
	message *echo.Message
}

func newReferences() *references {
	return &references{
		words: map[*echo.Message][]string{}, texts: map[*echo.Message]string{}, holds: map[holding]bool{},
	}
}

// count returns how many references the answer to a call makes to the history before it, and how many of them stand
// literally in what was sent.
func (r *references) count(answer *echo.Message, history []echo.Item, sent []*echo.Message) (all, kept int) {
	for _, w := range r.wordsOf(answer) {
		if !r.inHistory(w, history) {
			continue
		}
		all++
		if r.inSent(w, sent) {
			kept++
		}
	}
	return all, kept
}

func (r *references) inHistory(word string, history []echo.Item) bool {
	for i := range history {
		if r.in(word, history[i].Message) {
			return true
		}
	}
	return false
}

func (r *references) inSent(word string, sent []*echo.Message) bool {
	for _, m := range sent {
		if r.in(word, m) {
			return true
		}
	}
	return false
}

func (r *references) in(word string, m *echo.Message) bool {
	key := holding{word, m}
	found, known := r.holds[key]
	if !known {
		found = strings.Contains(r.textOf(m), word)
		r.holds[key] = found
	}
	return found
}

// textOf returns all that a message says: its text and the strings of its calls' arguments.
func (r *references) textOf(m *echo.Message) string {
	if len(m.ToolCalls()) == 0 {
		return m.Text()
	}
	text, ok := r.texts[m]
	if !ok {
		text = m.Text() + "\n" + argumentsOf(m)
		r.texts[m] = text
	}
	return text
}

func (r *references) wordsOf(m *echo.Message) []string {
	words, ok := r.words[m]
	if ok {
		return words
	}
	seen := map[string]bool{}
	for _, w := range referenceWord.FindAllString(argumentsOf(m), -1) {
		if strings.ContainsAny(w, referenceMark) && !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	r.words[m] = words
	return words
}

// argumentsOf returns the values in the arguments of a message's calls, one per line; arguments that are not JSON as they
// are.
func argumentsOf(m *echo.Message) string {
	var b strings.Builder
	for _, c := range m.ToolCalls() {
		dec := json.NewDecoder(strings.NewReader(c.Arguments))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			b.WriteString(c.Arguments)
			b.WriteByte('\n')
			continue
		}
		writeValues(&b, v)
	}
	return b.String()
}

// writeValues writes the strings and numbers of a JSON value. Objects are read in any order: what is made of the text
// does not depend on it.
func writeValues(b *strings.Builder, v any) {
	switch t := v.(type) {
	case string:
		b.WriteString(t)
		b.WriteByte('\n')
	case json.Number:
		b.WriteString(t.String())
		b.WriteByte('\n')
	case []any:
		for _, e := range t {
			writeValues(b, e)
		}
	case map[string]any:
		for _, e := range t {
			writeValues(b, e)
		}
	}
}
