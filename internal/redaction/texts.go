package redaction

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-run/windlass/cascade/continuity"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/standing"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/secret"
)

// What counts as a part of a message that tells it apart from others.
const (
	minLine  = 16 // bytes of a line, without white space around it
	minWord  = 20 // bytes of a word: keys and tokens are long
	maxParts = 1000

	minHead = 8  // characters of the beginning of a line by which a shortened copy is found
	maxHead = 24 // of them that a copy is taken to have

	minText     = 4    // characters of a text or value that is looked for elsewhere
	minAnywhere = 16   // bytes of one that is found inside words, and in other encodings
	maxAnywhere = 1500 // so many are found so; the others where they stand by themselves
	maxKey      = 24   // bytes of the name of a JSON member that stays
)

// texts finds texts, and puts marks in their place: long ones in whatever encoding they stand, others
// where they stand by themselves.
type texts struct {
	of     echo.Hash
	set    *secret.Set
	marks  *strings.Replacer
	whole  map[string]bool // numbers and strings that are the whole of a value
	alone  map[string]int  // texts between characters that are no letters and digits, with their lengths in characters
	widths []int           // of those, in bytes, the longest first
}

// newTexts takes texts, the most important first.
func newTexts(of echo.Hash, all []string) *texts {
	t := &texts{of: of, whole: map[string]bool{}, alone: map[string]int{}}
	var values []secret.Value
	var marks []string
	for i, one := range all {
		t.whole[one] = true
		if len(one) < minAnywhere || len(values) == maxAnywhere {
			t.addAlone(one)
			continue
		}
		name := fmt.Sprintf("%s %d", of, i)
		values = append(values, secret.Value{Name: name, Value: one})
		marks = append(marks, secret.Placeholder(name), echo.RedactionMark(of, one))
	}
	t.set, t.marks = secret.New(values...), strings.NewReplacer(marks...)
	widths := map[int]bool{}
	for one := range t.alone {
		widths[len(one)] = true
	}
	t.widths = slices.SortedFunc(maps.Keys(widths), func(a, b int) int { return b - a })
	return t
}

// addAlone adds a text with the ways in which it may be written.
func (t *texts) addAlone(one string) {
	escaped := quoted(one)
	for _, form := range []string{
		one, escaped[1 : len(escaped)-1], url.QueryEscape(one), url.PathEscape(one), hex.EncodeToString([]byte(one)),
		base64.StdEncoding.EncodeToString([]byte(one)), base64.RawStdEncoding.EncodeToString([]byte(one)), base64.URLEncoding.EncodeToString([]byte(one)),
	} {
		t.alone[form] = utf8.RuneCountInString(one)
	}
}

func (t *texts) has(text string) bool { return t.whole[text] || t.set.Has(text) || t.standsIn(text) }

// hasLong is has for texts that are no words.
func (t *texts) hasLong(text string) bool { return t.set.Has(text) }

func (t *texts) without(text string) string {
	if t.whole[text] {
		return echo.RedactionMark(t.of, text)
	}
	if t.set.Has(text) {
		text = t.marks.Replace(t.set.Text(text))
	}
	var b strings.Builder
	done := 0
	t.eachAlone(text, func(at, end, characters int) bool {
		b.WriteString(text[done:at])
		b.WriteString(echo.RedactionMarkOf(t.of, characters))
		done = end
		return true
	})
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// number returns what stands in place of a number, if it is one of the texts.
func (t *texts) number(n json.Number) (string, bool) { return "0", n != "0" && t.whole[n.String()] }

func (t *texts) standsIn(text string) (found bool) {
	t.eachAlone(text, func(int, int, int) bool {
		found = true
		return false
	})
	return found
}

// eachAlone calls see with each place of a text, outside of marks, at which one of the texts stands by itself.
func (t *texts) eachAlone(text string, see func(at, end, characters int) bool) {
	if len(t.alone) == 0 {
		return
	}
	for at := 0; at < len(text); at++ {
		if strings.HasPrefix(text[at:], markHead) {
			if n := strings.IndexByte(text[at:], ']'); n > 0 {
				at += n
			}
			continue
		}
		if !begins(text, at) {
			continue
		}
		for _, width := range t.widths {
			if end := at + width; end <= len(text) && ends(text, end) {
				if characters, ok := t.alone[text[at:end]]; ok {
					if !see(at, end, characters) {
						return
					}
					at = end - 1
					break
				}
			}
		}
	}
}

const markHead = "[redacted "

// escapeBefore is an escape whose last character is none of the text.
var escapeBefore = regexp.MustCompile(`(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2})$`)

// begins reports whether something that stands by itself may begin at a place.
func begins(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	now, _ := utf8.DecodeRuneInString(text[at:])
	return at == 0 || !isWord(before) || !isWord(now) || escapeBefore.MatchString(text[max(at-6, 0):at])
}

func ends(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	next, _ := utf8.DecodeRuneInString(text[at:])
	return at == len(text) || !isWord(before) || !isWord(next)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// textsOf returns the texts of a message as it was recorded: what it says, its images, and the
// arguments of its calls.
func textsOf(m *echo.Message) []string {
	var all []string
	for _, p := range m.Parts() {
		all = append(all, p.Text, p.URL)
		all = append(all, readOut(m, p.Text)...)
	}
	for _, c := range m.ToolCalls() {
		all = append(all, c.Arguments)
	}
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return distinct(all, 1)
}

// readOut returns what the engine reads out of an answer, and keeps by itself: the scratchpad, the state block and its parts, and
// the answer without them; of a message that stands at the end of a request, what stands; of memos, each of them.
func readOut(m *echo.Message, text string) (all []string) {
	if m.Kind() == echo.KindMemos || memo.Is(m.Tool()) {
		return memo.Quoted(text)
	}
	if m.Kind().Stands() {
		_, value, _ := strings.Cut(text, "\n\n")
		return append(partTexts(value), value)
	}
	if m.Role() != echo.RoleAssistant {
		return nil
	}
	scratchpad, state, hasScratchpad, hasState := standing.In(text)
	if hasScratchpad {
		all = append(all, scratchpad)
	}
	if hasState {
		all = append(append(all, state), partTexts(state)...)
	}
	for _, on := range []continuity.InForce{
		{Scratchpad: true},
		{StateBlock: true},
		{Scratchpad: true, StateBlock: true},
		{StateBlock: true, Lenient: true},
		{Scratchpad: true, StateBlock: true, Lenient: true},
	} {
		if visible := standing.Visible(text, on); visible != text {
			all = append(all, visible)
		}
	}
	return all
}

func partTexts(block string) (all []string) {
	for _, p := range standing.Parts(block) {
		all = append(all, p.Text)
	}
	return all
}

// toldOf returns what a model is told of a text that a check has printed: its last lines.
func toldOf(text string) string {
	told := excerpt.Verdict(text)
	if told == text {
		return text
	}
	if _, end, ok := strings.Cut(told, "\n"); ok {
		told = end
	}
	return strings.TrimSpace(strings.TrimPrefix(told, "…"))
}

// longEnough returns the texts that are looked for elsewhere.
func longEnough(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(t string) bool { return utf8.RuneCountInString(t) < minText })
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

// headsOf returns how texts and their lines begin, in one line and without the full stop that a copy lacks.
func headsOf(all []string) []string {
	var heads []string
	for _, t := range all {
		for _, l := range append(strings.Split(t, "\n"), t) {
			head := []rune(strings.TrimRight(oneline.Of(l), ". "))
			if len(head) >= minHead {
				heads = append(heads, string(head[:min(len(head), maxHead)]))
			}
		}
	}
	return distinct(heads, 1)
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

// leavesOf returns the strings and numbers in a JSON value, once each.
func leavesOf(raw string) []string {
	if !isContainer(raw) {
		return nil
	}
	var out []string
	seen := map[string]bool{}
	add := func(s string) {
		if s = strings.TrimSpace(s); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	_, err := echo.RewriteContent([]byte(raw), allData, echo.ContentChange{
		Text:   func(s string) string { add(s); return s },
		Number: func(n json.Number) (string, bool) { add(n.String()); return "", false },
		Name: func(s string) string {
			if len(s) > maxKey {
				add(s)
			}
			return s
		},
	})
	if err != nil {
		return nil
	}
	return out
}

// isContainer reports whether a text is a JSON object or array.
func isContainer(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// shape says how JSON becomes marks.
type shape struct {
	of      echo.Hash
	names   map[string]bool // of the cascade and of keys of the journal: they stay
	numbers *int            // counts those that became 0
}

// text returns a JSON object or array with a mark in place of each string, and 0 for each number:
// what reads it finds the types that it expects. ok is false for any other text.
func (s shape) text(text string) (out string, ok bool) {
	text = strings.TrimSpace(text)
	if !isContainer(text) {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
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
	case float64:
		return s.zero(t == 0)
	case json.Number:
		return s.zero(t == "0")
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = s.value(t[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, v := range t {
			if len(k) > maxKey && !s.names[k] {
				k = echo.RedactionMark(s.of, k)
			}
			out[k] = s.value(v)
		}
		return out
	}
	return value
}

func (s shape) zero(already bool) any {
	if !already {
		*s.numbers++
	}
	return json.Number("0")
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
	return json.Unmarshal([]byte(text), &is) == nil && sameValue(is, value)
}

// sameValue reports whether two values are the same as JSON.
func sameValue(one, other any) bool {
	a, err := json.Marshal(one)
	if err != nil {
		return false
	}
	b, err := json.Marshal(other)
	return err == nil && bytes.Equal(a, b)
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string can always be encoded
	return string(b)
}
