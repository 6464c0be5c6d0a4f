package autocontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// Placeholders and cuts depend on the message alone, so they are the same bytes on every turn, and
// name its hash, by which recall returns the original.
const (
	namesInPlaceholder = 160 // characters of names kept of a masked tool result
	remarkLimit        = 300 // characters kept of what an assistant said beside its calls
	namesInRemark      = 80  // characters of names kept of what was cut from it
	argumentLimit      = 400 // characters of a call's arguments that are left as they are
	argumentHead       = 300 // characters kept of a long string in a call's arguments
	namesInArgument    = 240 // characters of names kept of what was cut from it
)

// placeholder returns a tool result with its content and images masked.
func placeholder(m *echo.Message) *echo.Message {
	text := m.Text()
	s := fmt.Sprintf("[Masked, %d characters: recall(%q)]", utf8.RuneCountInString(text), m.Hash())
	if names := joinNames(text, namesInPlaceholder); names != "" {
		s += " " + names
	}
	return withText(m, s)
}

// sameAsLater returns a tool result that says that a later one has its content.
func sameAsLater(m *echo.Message) *echo.Message {
	return withText(m, fmt.Sprintf("[Same as a later result, %d characters: recall(%q)]", utf8.RuneCountInString(m.Text()), m.Hash()))
}

func bare(m *echo.Message) *echo.Message {
	return withText(m, fmt.Sprintf("[Removed. recall(%q)]", m.Hash()))
}

// leftOut is what stands for the text of an old answer.
func leftOut(m *echo.Message) string {
	return fmt.Sprintf("[Earlier text left out: %d characters. recall(%q)]", utf8.RuneCountInString(m.Text()), m.Hash())
}

// excerpt cuts m's text to about limit characters: head, tail, and lines around a failure.
func excerpt(m *echo.Message, limit int) *echo.Message {
	text := m.Text()
	cut := cutMiddle(text, limit, m.Hash())
	if m.Failed() {
		cut = cutAround(text, limit, m.Hash(), hasFailureWord)
	}
	return withText(m, imagesNamed(m, cut))
}

// imagesNamed says where images are that an excerpt lacks, unless the mark of its cut does.
func imagesNamed(m *echo.Message, cut string) string {
	if cut != m.Text() || !hasImages(m) {
		return cut
	}
	return strings.TrimPrefix(fmt.Sprintf("%s\n[Images left out: recall(%q)]", cut, m.Hash()), "\n")
}

func withText(m *echo.Message, text string) *echo.Message {
	d := m.Derived()
	d.Parts = echo.Text(text)
	return echo.Seal(d)
}

// stub returns an assistant message with its long arguments cut, and its words cut to limit
// characters (left out below zero). In the prompted dialect the calls in the text are cut, too.
func stub(m *echo.Message, limit int, told dialect.Dialect) *echo.Message {
	d := m.Derived()
	d.ToolCalls = make([]echo.ToolCall, len(m.ToolCalls()))
	for i, c := range m.ToolCalls() {
		c.Arguments = stubArguments(c.Arguments, m.Hash())
		d.ToolCalls[i] = c
	}
	words, calls := m.Text(), ""
	if told == dialect.Prompted {
		if before := beforeCalls(words); before != words {
			words, calls = strings.TrimSpace(before), dialect.CallsAsText(d.ToolCalls)
		}
	}
	switch {
	case limit < 0:
		words = ""
	case words != "":
		words = cutTail(words, min(limit, remarkLimit), namesInRemark, m.Hash())
	}
	if calls != "" {
		words = strings.TrimPrefix(words+"\n"+calls, "\n")
	}
	if d.Parts = nil; words != "" {
		d.Parts = echo.Text(words)
	}
	return echo.Seal(d)
}

// cutTail keeps the head of a text and names of the rest, if that is shorter than the text.
func cutTail(text string, head, keep int, h echo.Hash) string {
	kept, rest := splitRunes(text, head)
	mark := fmt.Sprintf(" [%d characters cut: recall(%q)]", utf8.RuneCountInString(rest), h)
	if n := joinNames(rest, keep); n != "" {
		mark += " " + n
	}
	if len(mark) >= len(rest) {
		return text
	}
	return kept + mark
}

// stubArguments cuts the long strings of arguments; text that is not JSON stays.
func stubArguments(args string, h echo.Hash) string {
	if shorter(args, argumentLimit+1) || !json.Valid([]byte(args)) {
		return args
	}
	dec := json.NewDecoder(strings.NewReader(args))
	dec.UseNumber()
	var value any
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if dec.Decode(&value) != nil || enc.Encode(cutStrings(value, h)) != nil {
		return args
	}
	if out := strings.TrimSuffix(b.String(), "\n"); len(out) < len(args) {
		return out
	}
	return args
}

func cutStrings(v any, h echo.Hash) any {
	switch t := v.(type) {
	case string:
		return cutTail(t, argumentHead, namesInArgument, h)
	case []any:
		for i := range t {
			t[i] = cutStrings(t[i], h)
		}
	case map[string]any:
		for k := range t {
			t[k] = cutStrings(t[k], h)
		}
	}
	return v
}

// cutMiddle keeps the head and the tail of a text, two thirds and one third of limit characters.
func cutMiddle(text string, limit int, h echo.Hash) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	head, rest := splitRunes(text, limit-limit/3)
	_, tail := splitRunes(rest, n-limit)
	return head + cutMark(n-limit, h) + tail
}

// cutMark says how much was cut and, when h is not "", how to get it.
func cutMark(n int, h echo.Hash) string {
	if h == "" {
		return fmt.Sprintf("\n[%d characters cut.]\n", n)
	}
	return fmt.Sprintf("\n[%d characters cut. recall(%q) returns all.]\n", n, h)
}

func splitRunes(s string, n int) (head, rest string) {
	for i := range s {
		if n == 0 {
			return s[:i], s[i:]
		}
		n--
	}
	return s, ""
}

// failureWords choose lines of a result that failed; they never decide whether it failed.
var failureWords = []string{"error", "fail", "fatal", "panic", "exception", "traceback", "expected", "cannot", "denied", "not found"}

func hasFailureWord(line string) bool {
	low := strings.ToLower(line)
	return slices.ContainsFunc(failureWords, func(w string) bool { return strings.Contains(low, w) })
}

// cutAround keeps a quarter of limit characters at head and tail, and between them the lines that
// tell what went wrong, with their neighbours.
func cutAround(text string, limit int, h echo.Hash, tell func(line string) bool) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	head, rest := splitRunes(text, limit/4)
	middle, tail := splitRunes(rest, n-limit/4-limit/4)
	kept, of := failureLines(middle, limit/2, tell)
	if kept == "" {
		return cutMiddle(text, limit, h)
	}
	return head + cutMark(max(utf8.RuneCountInString(middle)-of, 0), h) + kept + "\n" + gapMark + tail
}

// gapMark stands for lines that are left out.
const gapMark = "[...]\n"

// failureLines returns the lines that tell of a failure and their neighbours (a quarter of limit
// each), in limit characters at most, and how many characters of the text that are.
func failureLines(text string, limit int, tell func(line string) bool) (kept string, of int) {
	lines := strings.Split(text, "\n")
	failure := make([]bool, len(lines))
	for i, l := range lines {
		failure[i] = tell(l)
	}
	var b strings.Builder
	left, gap := limit, false
	for i, l := range lines {
		if beside := i > 0 && failure[i-1] || i+1 < len(lines) && failure[i+1]; !failure[i] && !beside {
			gap = b.Len() > 0
			continue
		}
		if gap {
			left -= len(gapMark)
		}
		most := left - 1 // for the end of the line
		if !failure[i] {
			most = min(most, limit/4)
		}
		if most <= 0 {
			break
		}
		if gap {
			b.WriteString(gapMark)
			gap = false
		}
		l, _ = splitRunes(l, most)
		n := utf8.RuneCountInString(l) + 1
		left, of = left-n, of+n
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n"), of
}
