package redaction

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/secret"
)

// What counts as a part of a message that tells it apart from others.
const (
	minLine  = 16 // bytes of a line, without white space around it
	minWord  = 20 // bytes of a word: keys and tokens are long
	maxParts = 1000
	maxKey   = 24 // bytes of the name of a JSON member that stays
)

// texts finds texts, in whatever encoding they stand, and puts marks in their place.
type texts struct {
	set   *secret.Set
	marks *strings.Replacer
}

func newTexts(of echo.Hash, all []string) *texts {
	values := make([]secret.Value, 0, len(all))
	var marks []string
	for i, t := range all {
		name := fmt.Sprintf("%s %d", of, i)
		values = append(values, secret.Value{Name: name, Value: t})
		marks = append(marks, secret.Placeholder(name), echo.RedactionMark(of, t))
	}
	return &texts{set: secret.New(values...), marks: strings.NewReplacer(marks...)}
}

func (t *texts) has(text string) bool { return t.set.Has(text) }

func (t *texts) without(text string) string {
	if !t.set.Has(text) {
		return text
	}
	return t.marks.Replace(t.set.Text(text))
}

// replacer returns what takes the texts out of strings of JSON, also those that are one of leaves.
func (t *texts) replacer(of echo.Hash, leaves map[string]bool) func(string) string {
	return func(text string) string {
		if leaves[text] {
			return echo.RedactionMark(of, text)
		}
		return t.without(text)
	}
}

// textsOf returns the texts of a message as it was recorded: what it says, its images, and the
// arguments of its calls.
func textsOf(m *echo.Message) []string {
	var all []string
	for _, p := range m.Parts() {
		all = append(all, p.Text, p.URL)
	}
	for _, c := range m.ToolCalls() {
		all = append(all, c.Arguments)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return distinct(all, secret.MinLength)
}

// partsOf returns the lines and long words of texts, the longest first.
func partsOf(all []string) []string {
	var parts []string
	for _, t := range all {
		for _, l := range strings.Split(t, "\n") {
			if l = strings.TrimSpace(l); len(l) >= minLine {
				parts = append(parts, l)
			}
		}
		for _, w := range strings.FieldsFunc(t, betweenWords) {
			if w = strings.Trim(w, ".!?"); len(w) >= minWord {
				parts = append(parts, w)
			}
		}
	}
	parts = distinct(parts, minLine)
	slices.SortStableFunc(parts, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return parts[:min(len(parts), maxParts)]
}

func betweenWords(r rune) bool { return strings.ContainsRune(" \t\r\n\"'`=,;:()[]{}<>|\\", r) }

func distinct(all []string, least int) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool {
		known := seen[t] || len(t) < least
		seen[t] = true
		return known
	})
}

// leavesOf returns the strings in a JSON value.
func leavesOf(raw string) []string {
	var value any
	if json.Unmarshal([]byte(raw), &value) != nil {
		return nil
	}
	var out []string
	var walk func(any)
	walk = func(v any) {
		switch t := v.(type) {
		case string:
			out = append(out, t)
		case []any:
			for _, e := range t {
				walk(e)
			}
		case map[string]any:
			for _, e := range t {
				walk(e)
			}
		}
	}
	walk(value)
	return out
}

// shape says how JSON becomes marks.
type shape struct {
	of    echo.Hash
	names map[string]bool // that the keys of the journal have, too: they stay
}

// text returns a JSON object or array with a mark in place of each string, and 0 for each number:
// what reads it finds the types that it expects. ok is false for any other text.
func (s shape) text(text string) (out string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '{' && text[0] != '[' {
		return "", false
	}
	var value any
	if json.Unmarshal([]byte(text), &value) != nil {
		return "", false
	}
	b, _ := json.Marshal(s.value(value)) // it came from JSON
	return string(b), true
}

func (s shape) value(value any) any {
	switch t := value.(type) {
	case string:
		if s.names[t] {
			return t
		}
		return markOf(s.of, t)
	case float64, json.Number:
		return 0
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = s.value(t[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, v := range t {
			if len(k) > maxKey {
				k = echo.RedactionMark(s.of, k)
			}
			out[k] = s.value(v)
		}
		return out
	}
	return value
}

// markOf returns the mark for a whole text, nothing for nothing.
func markOf(of echo.Hash, text string) string {
	if text == "" {
		return ""
	}
	return echo.RedactionMark(of, text)
}

// sameJSON reports whether a text is a JSON value.
func sameJSON(text string, value any) bool {
	var is any
	if json.Unmarshal([]byte(text), &is) != nil {
		return false
	}
	a, err := json.Marshal(is)
	if err != nil {
		return false
	}
	b, err := json.Marshal(value)
	return err == nil && bytes.Equal(a, b)
}
