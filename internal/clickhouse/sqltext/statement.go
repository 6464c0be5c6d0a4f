// Package sqltext reads untrusted SQL: where a statement ends, and what it may not do.
package sqltext

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// token is a piece of SQL text.
type token struct {
	start, end int    // in the text
	kind       byte   // 'w' word or number, 'q' quoted name, 's' string, or the character itself
	text       string // of a word: as written; of a quoted name: without the quotes
}

// ErrEmpty and ErrMany are the two things that make a text no query.
var (
	ErrEmpty = errors.New("the query is empty")
	ErrMany  = errors.New("more than one statement: give one at a time")
)

// tokenize splits SQL into tokens, without comments. What never ends, ends with the text.
func tokenize(sql string) []token {
	var tokens []token
	for i := 0; i < len(sql); {
		if n := blank(sql[i:]); n > 0 {
			i += n
			continue
		}
		t := next(sql, i)
		tokens = append(tokens, t)
		i = t.end
	}
	return tokens
}

func blank(s string) int {
	switch {
	case strings.ContainsRune(" \t\r\n\f\v", rune(s[0])):
		return 1
	case strings.HasPrefix(s, "\u00a0"), strings.HasPrefix(s, "\ufeff"):
		return len(s) - len(strings.TrimLeft(s, "\u00a0\ufeff"))
	case strings.HasPrefix(s, "--"), strings.HasPrefix(s, "# "), strings.HasPrefix(s, "#!"):
		return lengthUntil(s, "\n")
	case strings.HasPrefix(s, "/*"):
		return blockComment(s)
	}
	return 0
}

func blockComment(s string) int {
	depth := 0
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "/*"):
			depth++
			i += 2
		case strings.HasPrefix(s[i:], "*/"):
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return len(s)
}

func lengthUntil(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return len(s)
}

func next(sql string, i int) token {
	s := sql[i:]
	switch c := s[0]; {
	case c == '\'':
		return token{start: i, end: i + QuotedLength(s), kind: 's'}
	case c == '`' || c == '"':
		n := QuotedLength(s)
		return token{start: i, end: i + n, kind: 'q', text: Unquote(s[:n])}
	case strings.HasPrefix(s, "‘"):
		return token{start: i, end: i + lengthUntil(s, "’"), kind: 's'}
	case strings.HasPrefix(s, "“"):
		n := lengthUntil(s, "”")
		return token{start: i, end: i + n, kind: 'q', text: strings.TrimSuffix(s[len("“"):n], "”")}
	case c == '$':
		if n := heredoc(s); n > 0 {
			return token{start: i, end: i + n, kind: 's'}
		}
	case isWord(c):
		n := 1
		for n < len(s) && isWord(s[n]) {
			n++
		}
		return token{start: i, end: i + n, kind: 'w', text: s[:n]}
	}
	return token{start: i, end: i + 1, kind: s[0]}
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// QuotedLength returns the length of a quoted piece; a doubled quote is one quote.
func QuotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			if i+1 < len(s) && s[i+1] == s[0] {
				i++
				continue
			}
			return i + 1
		}
	}
	return len(s)
}

// Unquote returns what a quoted name says, well enough to compare it with plain names.
func Unquote(s string) string {
	if len(s) < 2 {
		return ""
	}
	quote := s[:1]
	s = strings.ReplaceAll(s[1:len(s)-1], quote+quote, quote)
	return strings.ReplaceAll(s, `\`, "")
}

// heredoc returns the length of a $tag$...$tag$ string, 0 if s is none.
func heredoc(s string) int {
	n := 1
	for n < len(s) && isWord(s[n]) {
		n++
	}
	if n >= len(s) || s[n] != '$' {
		return 0
	}
	tag := s[:n+1]
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return len(tag) + end + len(tag)
	}
	return 0
}

func (t token) is(word string) bool { return t.kind == 'w' && strings.EqualFold(t.text, word) }

// Statement is one query as it is sent.
type Statement struct {
	SQL    string
	Format string // of a FORMAT clause at its end, which is taken off: the native protocol has none

	source string // the text that the tokens are positions in
	tokens []token
}

// Parse checks that sql is one statement, and takes the semicolon and FORMAT off its end.
func Parse(sql string) (Statement, error) {
	tokens := tokenize(sql)
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return Statement{}, ErrEmpty
	}
	// A word after a semicolon may be data of INSERT ... VALUES. It is refused like a second
	// statement.
	if slices.ContainsFunc(tokens, func(t token) bool { return t.kind == ';' }) {
		return Statement{}, ErrMany
	}
	st := Statement{source: sql, tokens: tokens}
	if n := len(tokens); n >= 3 && tokens[n-2].is("FORMAT") && tokens[n-1].kind == 'w' && !st.isInsert() {
		st.Format = tokens[n-1].text
		tokens = tokens[:n-2]
		st.tokens = tokens
	}
	st.SQL = sql[:tokens[len(tokens)-1].end] // from the very beginning, so that positions in errors are those of the text
	return st, nil
}

func (s Statement) isInsert() bool { return s.tokens[0].is("INSERT") }

// ReturnsRows reports whether the server answers with a table.
func (s Statement) ReturnsRows() bool {
	if s.tokens[0].kind == '(' {
		return true
	}
	words := []string{"SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK", "FROM", "KILL", "VALUES"}
	return slices.ContainsFunc(words, s.tokens[0].is)
}

var plainValue = regexp.MustCompile(`^(-?[0-9A-Za-z_.]+|'[^'\\]*')$`)

// TakeSettings takes the SETTINGS clause off the end of a statement, if all that it sets is
// settable, and set to plain values. Otherwise it returns the statement as it is.
func (s Statement) TakeSettings(settable []string) (Statement, map[string]any) {
	at := len(s.tokens) - 1
	for at > 0 && !s.tokens[at].is("SETTINGS") {
		at--
	}
	settings := map[string]any{}
	if at <= 0 || at == len(s.tokens)-1 {
		return s, settings
	}
	for i := at + 1; i < len(s.tokens); {
		name, value, next := s.settingAt(i)
		if !slices.Contains(settable, name) || !plainValue.MatchString(value) {
			return s, map[string]any{}
		}
		settings[name] = strings.Trim(value, "'")
		i = next
	}
	bare := s
	bare.tokens = s.tokens[:at]
	bare.SQL = s.source[:s.tokens[at-1].end]
	return bare, settings
}

// settingAt returns the setting that begins at token i, and the index after its comma.
func (s Statement) settingAt(i int) (name, value string, next int) {
	next = i
	for next < len(s.tokens) && s.tokens[next].kind != ',' {
		next++
	}
	if next-i < 3 || s.tokens[i+1].kind != '=' {
		return "", "", next
	}
	return s.tokens[i].text, s.source[s.tokens[i+2].start:s.tokens[next-1].end], next + 1
}
