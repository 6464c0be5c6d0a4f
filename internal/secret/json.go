package secret

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// jsonString is a string of a JSON text, with its quotes.
var jsonString = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// JSON returns a JSON value with placeholders for the secrets in its strings, else byte for byte.
func (s *Set) JSON(raw []byte) []byte {
	if !s.Has(string(raw)) {
		return raw
	}
	return jsonString.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return quoted
		}
		clean := s.Text(text)
		if clean == text {
			return quoted
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(clean) // a string can always be encoded
		return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	})
}

// Any returns a copy of a decoded JSON value with placeholders for the secrets in its strings.
func (s *Set) Any(value any) any {
	if s == nil {
		return value
	}
	switch t := value.(type) {
	case string:
		return s.Text(t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = s.Any(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[s.Text(k)] = s.Any(e)
		}
		return out
	}
	return value
}

// Head is [Set.Text] for a text that was cut, without what may begin a secret at its end.
func (s *Set) Head(text string) string {
	out, _ := s.replace(text, false)
	return out
}

// Stream masks a text that comes in pieces, holding back what may begin a secret. It is not
// shared.
type Stream struct {
	Set  *Set
	held string
}

// Next takes a piece and returns what can be shown of the text so far and was not before.
func (s *Stream) Next(piece string) string {
	if s.Set == nil {
		return piece
	}
	text := s.held + piece
	out, rest := s.Set.replace(text, false)
	s.held = strings.Clone(text[rest:])
	return out
}

// Rest returns what was held back, at the end of the text.
func (s *Stream) Rest() string {
	out := s.Set.Text(s.held)
	s.held = ""
	return out
}
