package figures

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Quoted returns a text as a string of SQL. Bytes that nobody sees are escaped.
func Quoted(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			for i := range n {
				fmt.Fprintf(&b, `\x%02X`, s[i])
			}
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteByte('\'')
	return b.String()
}

// quotedAll returns texts as a list of SQL.
func quotedAll(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Quoted(t)
	}
	return strings.Join(out, ", ")
}

// moment returns a time as SQL has it.
func moment(t time.Time) string {
	return "toDateTime64('" + t.UTC().Format("2006-01-02 15:04:05.000000") + "', 6, 'UTC')"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// conditions are parts of a WHERE, all of which must hold.
type conditions []string

func (c *conditions) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// sql returns the clause in a line of its own; "" for no conditions.
func (c conditions) sql() string {
	if len(c) == 0 {
		return ""
	}
	return "\nWHERE " + strings.Join(c, "\n  AND ")
}

// tagIs is the condition that a tag is a given one; a key also stands for all its values.
func tagIs(tag, want string) string {
	if strings.Contains(want, "=") {
		return tag + " = " + Quoted(want)
	}
	return "(" + tag + " = " + Quoted(want) + " OR startsWith(" + tag + ", " + Quoted(want+"=") + "))"
}
