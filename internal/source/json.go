package source

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// parseJSON fills in f.Root, or adds the problem that stopped it. Unlike encoding/json it knows
// the offsets of keys and repeated keys, and says what to write instead.
func parseJSON(f *File) {
	s := jsonScanner{file: f, data: f.data}
	s.space()
	if s.at >= len(s.data) {
		f.problem(ProblemSyntax, s.at, s.at, "the file is empty", `a JSON file starts with "{"`)
		return
	}
	root := s.value(0)
	if s.failed {
		return
	}
	s.space()
	if s.at < len(s.data) {
		s.fail(s.at, s.at+1, "unexpected "+s.describe(s.at)+" after the end of the document", "a file holds one JSON value; remove what follows it")
		return
	}
	f.Root = root
}

// jsonScanner is a recursive descent over RFC 8259. The first syntax error ends the scan.
type jsonScanner struct {
	file   *File
	data   []byte
	at     int
	failed bool
}

func (s *jsonScanner) fail(start, end int, message, hint string) {
	if !s.failed {
		s.failed = true
		s.file.problem(ProblemSyntax, start, end, message, hint)
	}
}

func (s *jsonScanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *jsonScanner) peek() byte {
	if s.at < len(s.data) {
		return s.data[s.at]
	}
	return 0
}

func (s *jsonScanner) describe(at int) string {
	if at >= len(s.data) {
		return "end of the file"
	}
	r, _ := utf8.DecodeRune(s.data[at:])
	return strconv.QuoteRune(r)
}

func (s *jsonScanner) value(depth int) *Node {
	if depth > MaxDepth {
		s.failed = true
		s.file.problem(ProblemTooDeep, s.at, s.at+1, fmt.Sprintf("arrays and objects are nested more than %d deep", MaxDepth), "")
		return nil
	}
	switch c := s.peek(); {
	case c == '{':
		return s.object(depth)
	case c == '[':
		return s.array(depth)
	case c == '"':
		start := s.at
		text, ok := s.string()
		if !ok {
			return nil
		}
		return &Node{Kind: String, Start: start, End: s.at, Text: text}
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	default:
		return s.word()
	}
}

func (s *jsonScanner) object(depth int) *Node {
	n := &Node{Kind: Object, Start: s.at, index: map[string]int{}}
	s.inside(n, '}', "object", func() { s.member(n, depth) })
	return n
}

// inside reads the elements between the bracket at the scanner and its counterpart.
func (s *jsonScanner) inside(n *Node, end byte, what string, element func()) {
	s.at++
	s.space()
	if s.peek() == end {
		s.at++
		n.End = s.at
		return
	}
	for {
		element()
		if s.failed || !s.next(end, n.Start, what) {
			break
		}
	}
	n.End = s.at
}

func (s *jsonScanner) member(n *Node, depth int) {
	m := Member{KeyStart: s.at}
	if s.peek() != '"' {
		s.fail(s.at, s.wordEnd(), "expected a key in double quotes, found "+s.describe(s.at), "write keys as \"key\"")
		return
	}
	var ok bool
	if m.Key, ok = s.string(); !ok {
		return
	}
	m.KeyEnd = s.at
	s.space()
	if s.peek() != ':' {
		s.fail(s.at, s.at+1, fmt.Sprintf("expected \":\" after the key %q, found %s", m.Key, s.describe(s.at)), "")
		return
	}
	s.at++
	s.space()
	if m.Value = s.value(depth + 1); s.failed {
		return
	}
	s.file.addMember(n, m)
}

// addMember appends a member, or notes the problem when the object has the key already.
func (f *File) addMember(n *Node, m Member) {
	if i, ok := n.index[m.Key]; ok {
		if len(f.Problems) >= maxProblems {
			return
		}
		first := f.Pos(n.Members[i].KeyStart)
		f.problem(ProblemDuplicateKey, m.KeyStart, m.KeyEnd,
			fmt.Sprintf("the key %q is given twice; the first is at %d:%d", m.Key, first.Line, first.Col), "remove one of the two")
		return
	}
	n.index[m.Key] = len(n.Members)
	n.Members = append(n.Members, m)
}

func (s *jsonScanner) array(depth int) *Node {
	n := &Node{Kind: Array, Start: s.at}
	s.inside(n, ']', "array", func() {
		if item := s.value(depth + 1); !s.failed {
			n.Items = append(n.Items, item)
		}
	})
	return n
}

// next steps over a comma or the closing character, and reports whether another element follows.
func (s *jsonScanner) next(closing byte, opened int, what string) bool {
	s.space()
	switch {
	case s.at >= len(s.data):
		p := s.file.Pos(opened)
		s.fail(s.at, s.at, fmt.Sprintf("the file ends inside the %s that starts at %d:%d", what, p.Line, p.Col), fmt.Sprintf("add the missing %q", closing))
		return false
	case s.peek() == closing:
		s.at++
		return false
	case s.peek() != ',':
		s.fail(s.at, s.wordEnd(), fmt.Sprintf("expected \",\" or %q, found %s", string(closing), s.describe(s.at)), "is a comma missing before this?")
		return false
	}
	comma := s.at
	s.at++
	s.space()
	if s.peek() == closing {
		s.fail(comma, comma+1, fmt.Sprintf("a comma before the closing %q", string(closing)), "JSON allows no comma after the last element; remove it")
		return false
	}
	return true
}

// wordEnd returns the end of the run of letters and digits at the scanner, at least a character on.
func (s *jsonScanner) wordEnd() int {
	end := s.at
	for end < len(s.data) && isWordByte(s.data[end]) {
		end++
	}
	if end == s.at && end < len(s.data) {
		_, size := utf8.DecodeRune(s.data[end:])
		end += size
	}
	return end
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (s *jsonScanner) word() *Node {
	start, end := s.at, s.wordEnd()
	switch text := string(s.data[start:end]); text {
	case "true", "false":
		s.at = end
		return &Node{Kind: Bool, Start: start, End: end, Text: text}
	case "null":
		s.at = end
		return &Node{Kind: Null, Start: start, End: end}
	default:
		message, hint := "expected a value, found "+s.describe(start), ""
		switch {
		case text == "":
			message = "the file ends where a value is expected"
		case text == "'":
			message, hint = "a string in single quotes", "JSON strings stand in double quotes"
		case text == "/" || text == "#":
			message, hint = "a comment", "JSON has no comments; use a YAML file to keep them"
		case slices.Contains([]string{"true", "false", "null"}, strings.ToLower(text)):
			message, hint = fmt.Sprintf("unknown word %q", text), "write "+strings.ToLower(text)
		case isWordByte(text[0]):
			message, hint = fmt.Sprintf("expected a value, found the word %q", text), "strings stand in double quotes"
		}
		s.fail(start, end, message, hint)
		return nil
	}
}

func (s *jsonScanner) number() *Node {
	start := s.at
	for s.at < len(s.data) && (isWordByte(s.data[s.at]) || strings.IndexByte("+-.", s.data[s.at]) >= 0) {
		s.at++
	}
	text := string(s.data[start:s.at])
	if !json.Valid([]byte(text)) {
		s.fail(start, s.at, fmt.Sprintf("%q is not a JSON number", text), numberHint(text))
		return nil
	}
	if !finite(text) {
		s.fail(start, s.at, fmt.Sprintf("the number %s is out of range", text), "")
		return nil
	}
	return &Node{Kind: Number, Start: start, End: s.at, Text: text}
}

// numberHints say what is wrong with a text that starts with a digit or a minus sign.
var numberHints = []struct {
	wrong *regexp.Regexp
	hint  string
}{
	{regexp.MustCompile(`^-(\D|$)`), "a number starts with a digit"},
	{regexp.MustCompile(`^-?0\d`), "remove the leading zeros"},
	{regexp.MustCompile(`^-?\d+\.(\D|$)`), "a digit must follow the point"},
	{regexp.MustCompile(`^-?\d+(\.\d+)?[eE]([+-](\D|$)|[^\d+-]|$)`), "digits must follow the e"},
}

func numberHint(text string) string {
	for _, h := range numberHints {
		if h.wrong.MatchString(text) {
			return h.hint
		}
	}
	return ""
}

// finite reports whether a number fits a float64; exact arithmetic on 1e999999999 takes gigabytes.
func finite(text string) bool {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return len(text) <= 1000
	}
	exp, err := strconv.Atoi(text[i+1:])
	if err != nil || exp < -400 || exp > 400 {
		return false
	}
	_, err = strconv.ParseFloat(text, 64)
	return err == nil && len(text) <= 1000
}

func (s *jsonScanner) string() (text string, ok bool) {
	start := s.at
	var b strings.Builder
	s.at++
	for s.at < len(s.data) {
		c := s.data[s.at]
		switch {
		case c == '"':
			s.at++
			return b.String(), true
		case c == '\n' || c == '\r':
			s.fail(start, s.at, "a string that does not end on its line", `close it with a double quote; a line break inside a string is written \n`)
			return "", false
		case c < 0x20:
			s.fail(s.at, s.at+1, fmt.Sprintf("the control character 0x%02X inside a string", c), fmt.Sprintf(`write it as %s`, escapeControl(c)))
			return "", false
		case c == '\\':
			r, size := unescape(s.data[s.at:])
			if size == 0 {
				s.fail(s.at, s.at+2, "an unknown escape sequence in a string", `allowed are \" \\ \/ \b \f \n \r \t and \uXXXX; a backslash itself is written \\`)
				return "", false
			}
			b.WriteRune(r)
			s.at += size
		default:
			b.WriteByte(c)
			s.at++
		}
	}
	s.fail(start, s.at, "a string that does not end", "close it with a double quote")
	return "", false
}

func escapeControl(c byte) string {
	if c == '\t' {
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

// unescape decodes an escape sequence; size 0: none. An unpaired surrogate becomes U+FFFD.
func unescape(data []byte) (r rune, size int) {
	if len(data) < 2 {
		return 0, 0
	}
	if i := strings.IndexByte(`"\/bfnrt`, data[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	r, ok := hexEscape(data)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if second, ok := hexEscape(data[6:]); ok {
		if pair := utf16.DecodeRune(r, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

func hexEscape(data []byte) (rune, bool) {
	if len(data) < 6 || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(data[2:6]), 16, 16)
	return rune(v), err == nil
}
