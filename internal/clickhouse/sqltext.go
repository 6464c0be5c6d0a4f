package clickhouse

import (
	"errors"
	"slices"
	"strings"
)

// token is a piece of SQL text: what windlass has to understand of a query before the server reads it. The server's own
// parser decides everything else.
type token struct {
	start, end int    // in the text
	kind       byte   // 'w' word or number, 'q' quoted name, 's' string, or the character itself
	text       string // of a word: as written; of a quoted name: without the quotes
}

// ErrEmptyQuery and ErrManyStatements are the two things that make a text no query.
var (
	ErrEmptyQuery     = errors.New("the query is empty")
	ErrManyStatements = errors.New("more than one statement: give one at a time")
)

// tokenize splits SQL into tokens, without comments. What never ends (a string, a comment) ends with the text; the server
// then says what is wrong.
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

// blank returns the length of the white space or comment that s begins with.
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

// blockComment returns the length of a comment, which may hold others.
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

// lengthUntil returns the length of s up to and including end, or of all of s.
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
		return token{start: i, end: i + quoted(s), kind: 's'}
	case c == '`' || c == '"':
		n := quoted(s)
		return token{start: i, end: i + n, kind: 'q', text: unquote(s[:n])}
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

// quoted returns the length of a quoted piece: a backslash escapes, a doubled quote is one quote.
func quoted(s string) int {
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

// unquote returns what a quoted name says, well enough to compare it with plain names.
func unquote(s string) string {
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

// statement is one query as it is sent.
type statement struct {
	source string // the text that the tokens are positions in
	sql    string
	tokens []token
	format string // of a FORMAT clause at its end, which is taken off: the native protocol has no formats
}

// parseStatement checks that sql is one statement, and takes off what belongs to a command line and not to the protocol:
// the semicolon and FORMAT at its end.
func parseStatement(sql string) (statement, error) {
	tokens := tokenize(sql)
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == ';' {
		tokens = tokens[:len(tokens)-1]
	}
	if len(tokens) == 0 {
		return statement{}, ErrEmptyQuery
	}
	// A word after a semicolon may be data: INSERT ... VALUES ends the SQL in a text of its own. It is not told apart,
	// because windlass writes through parameters and a person can write one statement.
	if slices.ContainsFunc(tokens, func(t token) bool { return t.kind == ';' }) {
		return statement{}, ErrManyStatements
	}
	st := statement{source: sql, tokens: tokens}
	if n := len(tokens); n >= 3 && tokens[n-2].is("FORMAT") && tokens[n-1].kind == 'w' && !st.isInsert() {
		st.format = tokens[n-1].text
		tokens = tokens[:n-2]
		st.tokens = tokens
	}
	st.sql = sql[:tokens[len(tokens)-1].end] // from the very beginning, so that positions in errors are those of the text
	return st, nil
}

func (s statement) isInsert() bool { return s.tokens[0].is("INSERT") }

// returnsRows reports whether the server answers with a table.
func (s statement) returnsRows() bool {
	if s.tokens[0].kind == '(' {
		return true
	}
	words := []string{"SELECT", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK", "FROM", "KILL", "VALUES"}
	return slices.ContainsFunc(words, s.tokens[0].is)
}
