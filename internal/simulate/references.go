package simulate

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// A reference is a word of a call's arguments that occurred earlier, such as a path, identifier or
// number. Its model most likely read it, and may have to guess once it is no longer sent.
var referenceWord = regexp.MustCompile(`[A-Za-z0-9_./-]{4,}`)

// referenceMark is what tells a reference from a plain word of prose.
const referenceMark = "0123456789/_."

// references counts references. A message is searched for a word once, whoever asks.
type references struct {
	history []string            // what each message of the conversation says
	words   map[int][]string    // of the calls of the message at this index, each word once
	places  map[string]*placing // by word
}

// placing is where a word stands in the history, as far as it was searched.
type placing struct {
	searched int
	at       []int // rising
}

func newReferences(c *Conversation) *references {
	r := &references{words: map[int][]string{}, places: map[string]*placing{}}
	for _, it := range c.Items {
		r.history = append(r.history, saidBy(it.Message))
	}
	return r
}

// sentText is a request as references are looked for in it.
type sentText struct {
	whole []bool   // the message of the history at this index is in it as it is
	other []string // what the other messages say
}

// count returns how many references the answer at index at makes to the messages before it, and how
// many of them stand literally in what was sent.
func (r *references) count(answer *echo.Message, at int, sent *sentText) (all, kept int) {
	for _, w := range r.wordsOf(answer, at) {
		places := r.find(w, at)
		if len(places) == 0 {
			continue
		}
		all++
		if sent.has(w, places) {
			kept++
		}
	}
	return all, kept
}

// find returns the messages before index end that hold a word.
func (r *references) find(word string, end int) []int {
	p := r.places[word]
	if p == nil {
		p = &placing{}
		r.places[word] = p
	}
	for ; p.searched < end; p.searched++ {
		if strings.Contains(r.history[p.searched], word) {
			p.at = append(p.at, p.searched)
		}
	}
	before, _ := slices.BinarySearch(p.at, end)
	return p.at[:before]
}

func (s *sentText) has(word string, places []int) bool {
	return slices.ContainsFunc(places, func(i int) bool { return s.whole[i] }) ||
		slices.ContainsFunc(s.other, func(text string) bool { return strings.Contains(text, word) })
}

func (r *references) wordsOf(m *echo.Message, at int) []string {
	words, ok := r.words[at]
	if !ok {
		words = referenceWords(argumentsOf(m))
		r.words[at] = words
	}
	return words
}

// referenceWords returns the words of a text that may be references, each once.
func referenceWords(text string) (words []string) {
	seen := map[string]bool{}
	for _, w := range referenceWord.FindAllString(text, -1) {
		if strings.ContainsAny(w, referenceMark) && !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return words
}

// saidBy returns all that a message says: its text and the values in its calls' arguments.
func saidBy(m *echo.Message) string {
	if len(m.ToolCalls()) == 0 {
		return m.Text()
	}
	return m.Text() + "\n" + argumentsOf(m)
}

// argumentsOf returns the values in calls' arguments, one per line; what is no JSON as it is.
func argumentsOf(m *echo.Message) string {
	var b strings.Builder
	for _, c := range m.ToolCalls() {
		dec := json.NewDecoder(strings.NewReader(c.Arguments))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			v = c.Arguments
		}
		writeValues(&b, v)
	}
	return b.String()
}

// writeValues writes the strings and numbers of a JSON value, the members of objects in any order.
func writeValues(b *strings.Builder, v any) {
	switch t := v.(type) {
	case string, json.Number:
		fmt.Fprintln(b, t)
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
