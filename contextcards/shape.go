package contextcards

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
)

const (
	maxKeys  = 12  // members named of a JSON value
	maxQuote = 100 // characters quoted of a line
	maxNames = 120 // characters of names
)

// shape describes a long tool result by its looks: the tool, failure, the members of a JSON value
// or the first line, the size, and the most frequent names, which help to find it again.
func shape(m *echo.Message, words *tally) string {
	text := m.Text()
	var parts []string
	if looks := jsonShape(text); looks != "" {
		parts = append(parts, looks, size(text))
	} else {
		parts = append(parts, size(text), fmt.Sprintf("begins %q", oneLine(firstLine(text), maxQuote)))
		if last := lastLine(text); m.Failed() && last != "" {
			// What went wrong is mostly said at the end.
			parts = append(parts, fmt.Sprintf("ends %q", oneLine(last, maxQuote)))
		}
	}
	if n := images(m); n != "" {
		parts = append(parts, n)
	}
	s := label(m) + strings.Join(parts, "; ")
	const lead = "; names "
	if room := maxSummary - utf8.RuneCountInString(s) - len(lead); room >= minWord {
		if names := words.names(s, min(room, maxNames)); names != "" {
			s += lead + names
		}
	}
	return oneLine(s, maxSummary)
}

// label says which tool a result is of and whether it failed.
func label(m *echo.Message) string {
	s := cmp.Or(oneLine(m.Tool(), maxWord), "tool")
	if m.Failed() {
		s += " failed"
	}
	return s + ": "
}

func size(text string) string {
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	chars := utf8.RuneCountInString(text)
	if lines == 1 {
		return fmt.Sprintf("%d characters", chars)
	}
	return fmt.Sprintf("%d lines, %d characters", lines, chars)
}

// images says how many images a message has, "" for none.
func images(m *echo.Message) string {
	n := 0
	for _, p := range m.Parts() {
		if p.Type == echo.PartImage {
			n++
		}
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "1 image"
	}
	return fmt.Sprintf("%d images", n)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(head(text, maxRead), " \t\r\n"), "\n")
	return line
}

// lastLine returns the last line that has something, "" when that is the first one.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	at := strings.LastIndexByte(text, '\n')
	if at < 0 {
		return ""
	}
	return text[at+1:]
}

// maxJSON bounds, in bytes, what is read of a JSON text.
const maxJSON = 4 * maxRead

const objectShape = "JSON object"

// jsonShape names the members of a JSON object, or of the first object of an array and how many
// elements it has. It returns "" for a text that is neither.
func jsonShape(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return ""
	}
	cutOff := len(text) > maxJSON
	dec := json.NewDecoder(strings.NewReader(head(text, maxJSON)))
	if _, err := dec.Token(); err != nil {
		return ""
	}
	if text[0] == '{' {
		keys, whole, ok := members(dec, cutOff)
		if !ok {
			return ""
		}
		return objectShape + with(keys, whole)
	}
	return arrayShape(dec, cutOff)
}

func arrayShape(dec *json.Decoder, cutOff bool) string {
	n := 0
	var first json.RawMessage
	for dec.More() {
		var element json.RawMessage
		if err := dec.Decode(&element); err != nil {
			if !cutOff || !isCutOff(err) || n == 0 {
				return ""
			}
			return fmt.Sprintf("JSON array of more than %d elements", n) + elementShape(first)
		}
		if n == 0 {
			first = element
		}
		n++
	}
	if !ends(dec, cutOff) {
		return ""
	}
	return fmt.Sprintf("JSON array of %d elements", n) + elementShape(first)
}

// elementShape names the members of the first element, when it is an object.
func elementShape(first json.RawMessage) string {
	members, isObject := strings.CutPrefix(jsonShape(string(first)), objectShape)
	if !isObject {
		return ""
	}
	return members
}

// members reads the names of an object's members. whole: these are all; ok: it is an object so far.
func members(dec *json.Decoder, cutOff bool) (keys []string, whole, ok bool) {
	for dec.More() {
		key, err := dec.Token()
		if err == nil {
			var skipped json.RawMessage
			name, _ := key.(string) // a member's name always is one
			keys = append(keys, oneLine(name, maxQuote/2))
			err = dec.Decode(&skipped)
		}
		if err != nil {
			return keys, false, cutOff && isCutOff(err) && len(keys) > 0
		}
	}
	return keys, true, ends(dec, cutOff)
}

// ends reports whether a JSON value is closed and nothing follows it.
func ends(dec *json.Decoder, cutOff bool) bool {
	if _, err := dec.Token(); err != nil {
		return cutOff && isCutOff(err)
	}
	_, err := dec.Token()
	return errors.Is(err, io.EOF)
}

func isCutOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

func with(keys []string, whole bool) string {
	if len(keys) == 0 {
		return ""
	}
	more := ""
	if len(keys) > maxKeys || !whole {
		keys, more = keys[:min(len(keys), maxKeys)], " and more"
	}
	return " with " + strings.Join(keys, ", ") + more
}
