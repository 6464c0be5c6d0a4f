package syntax

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a token is.
type kind uint8

const (
	kindEnd     kind = iota // of the template
	kindText                // outside of tags
	kindComment             // {# #}
	kindOutput              // {{
	kindTag                 // {%
	kindClose               // }} or %}
	kindWord                // a name, or a word of the language
	kindValue               // a number or a string
	kindSign                // brackets, operators, punctuation
)

// token is a piece of a template. text is what stands there, or means in texts and strings.
type token struct {
	Pos
	kind  kind
	text  string
	value any // of a kindValue
}

type lexer struct {
	src  string
	at   int
	list []token
	trim bool // the tag before ended with -, which takes the white space behind it

	line, lineStart, counted int // the lines before the offset counted
}

const space = " \t\r\n"

var endRaw = regexp.MustCompile(`\{%[-+]?\s*endraw`)

func lex(src string) []token {
	l := &lexer{src: src, line: 1, list: make([]token, 0, len(src)/8+8)}
	for l.at < len(src) {
		start := l.at
		l.at = l.nextTag()
		l.text(start, l.at)
		l.tag()
	}
	l.add(kindEnd, l.at, "", nil)
	return l.list
}

// nextTag returns where the next tag begins, or the end.
func (l *lexer) nextTag() int {
	for at := l.at; ; at++ {
		i := strings.IndexByte(l.src[at:], '{')
		if i < 0 || at+i+1 == len(l.src) {
			return len(l.src)
		}
		at += i
		if strings.IndexByte("{%#", l.src[at+1]) >= 0 {
			return at
		}
	}
}

// text adds the text between two tags, without the white space that the tags take.
func (l *lexer) text(start, end int) {
	text := l.src[start:end]
	if l.trim {
		text = strings.TrimLeft(text, space)
	}
	if strings.HasPrefix(l.src[min(end+2, len(l.src)):], "-") {
		text = strings.TrimRight(text, space)
	}
	if text != "" {
		l.add(kindText, start, text, nil)
	}
	l.trim = false
}

// tag adds the tokens of one tag, and the text of {% raw %}.
func (l *lexer) tag() {
	start := l.at
	switch {
	case start == len(l.src):
	case l.src[start+1] == '#':
		l.comment()
	case l.src[start+1] == '{':
		l.add(kindOutput, start, "{{", nil)
		l.code("}}")
	default:
		l.add(kindTag, start, "{%", nil)
		name := len(l.list)
		l.code("%}")
		if l.list[name].kind != kindWord || l.list[name].text != "raw" {
			return
		}
		end := endRaw.FindStringIndex(l.src[l.at:])
		if end == nil {
			l.fail(start, "the tag raw is not closed: {%% endraw %%} is missing")
		}
		l.text(l.at, l.at+end[0])
		l.at += end[0]
		l.tag()
	}
}

func (l *lexer) comment() {
	l.add(kindComment, l.at, "{#", nil)
	inside, _, ok := strings.Cut(l.src[l.at+2:], "#}")
	if !ok {
		l.fail(l.at, "the comment is not closed: #} is missing")
	}
	l.at += 2 + len(inside) + 2
	l.trim = len(inside) > 1 && strings.HasSuffix(inside, "-")
}

// code adds the tokens inside a tag, up to its end.
func (l *lexer) code(end string) {
	start := l.at
	var awaited []byte // the brackets that close what is open
	l.at += 2
	if l.at < len(l.src) && (l.src[l.at] == '-' || l.src[l.at] == '+' && end == "%}") {
		l.at++
	}
	for l.at < len(l.src) {
		c := l.src[l.at]
		inner := len(awaited) > 0 && awaited[len(awaited)-1] == '}' // what could end the tag closes a bracket
		switch {
		case strings.IndexByte(space, c) >= 0:
			l.at++
		case !inner && l.closes(end):
			return
		case c == '(' || c == '[' || c == '{':
			if len(awaited) == maxNesting {
				l.fail(l.at, "brackets nest deeper than %d levels", maxNesting)
			}
			awaited = append(awaited, map[byte]byte{'(': ')', '[': ']', '{': '}'}[c])
			l.sign(1)
		case c == ')' || c == ']' || c == '}':
			if len(awaited) == 0 || awaited[len(awaited)-1] != c {
				l.fail(l.at, "unexpected %q", c)
			}
			awaited = awaited[:len(awaited)-1]
			l.sign(1)
		default:
			l.token(c)
		}
	}
	l.fail(start, "the tag is not closed: %s is missing", end)
}

// closes goes over the end of a tag, if that is what comes next.
func (l *lexer) closes(end string) bool {
	rest := l.src[l.at:]
	n := len(end)
	if rest[0] == '-' || rest[0] == '+' && end == "%}" {
		rest, n = rest[1:], n+1
	}
	if !strings.HasPrefix(rest, end) {
		return false
	}
	l.trim = n > len(end) && l.src[l.at] == '-'
	l.add(kindClose, l.at, end, nil)
	l.at += n
	return true
}

// token adds a token that is no bracket.
func (l *lexer) token(c byte) {
	switch {
	case c == '"' || c == '\'':
		l.quoted(c)
	case isDigit(c):
		l.number()
	case slices.Contains(longSigns, l.src[l.at:min(l.at+2, len(l.src))]):
		l.sign(2)
	case strings.IndexByte(",|+-~:.%/<>*=", c) >= 0:
		l.sign(1)
	default:
		r, _ := utf8.DecodeRuneInString(l.src[l.at:])
		if r != '_' && !unicode.IsLetter(r) {
			l.fail(l.at, "unexpected character %q", r)
		}
		word := identifier(l.src[l.at:])
		l.add(kindWord, l.at, word, nil)
		l.at += len(word)
	}
}

var longSigns = []string{"//", "**", "==", "!=", "<=", ">="}

func (l *lexer) sign(n int) {
	l.add(kindSign, l.at, l.src[l.at:l.at+n], nil)
	l.at += n
}

// add adds a token that begins at an offset, which is not before that of the token before it.
func (l *lexer) add(k kind, at int, text string, value any) {
	between := l.src[l.counted:at]
	if n := strings.Count(between, "\n"); n > 0 {
		l.line += n
		l.lineStart = l.counted + strings.LastIndexByte(between, '\n') + 1
	}
	l.counted = at
	l.list = append(l.list, token{Pos: Pos{l.line, at - l.lineStart + 1}, kind: k, text: text, value: value})
}

// fail ends the reading of a template with an error at an offset.
func (l *lexer) fail(at int, format string, args ...any) {
	before := l.src[:at]
	Pos{strings.Count(before, "\n") + 1, at - strings.LastIndexByte(before, '\n')}.fail(format, args...)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// identifier returns the letters, digits and underscores that s begins with.
func identifier(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if end < 0 {
		return s
	}
	return s[:end]
}

// IsName reports whether s could stand in a template as a name.
func IsName(s string) bool { return s != "" && identifier(s) == s }
