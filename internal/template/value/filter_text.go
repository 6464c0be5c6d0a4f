package value

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

func mapText(fn func(string) string) filter {
	return func(c *call) any { return fn(c.text()) }
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.ToLower(s[n:])
}

func titleCase(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		first := !inWord
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\''
		if first {
			return unicode.ToTitle(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func trimFilter(c *call) any {
	s, chars := c.text(), c.stringArg("chars", "")
	if chars == "" {
		return strings.TrimSpace(s)
	}
	return strings.Trim(s, chars)
}

// truncateFilter cuts a text, at a word, to a length in characters that includes its end mark.
func truncateFilter(c *call) any {
	s, length, killWords := c.text(), c.intArg("length", 255), c.boolArg("killwords")
	end, leeway := c.stringArg("end", "..."), c.intArg("leeway", 0)
	if n := utf8.RuneCountInString(s); n <= length+leeway {
		return s
	}
	cut := string([]rune(s)[:max(0, length-utf8.RuneCountInString(end))])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && !killWords {
		cut = cut[:i]
	}
	return cut + end
}

func replaceFilter(c *call) any {
	s, old, by, count := c.text(), c.stringArg("old", ""), c.stringArg("new", ""), c.intArg("count", -1)
	return c.replace(s, old, by, count)
}

// replace replaces after counting, so that a text that would be too long is not made.
func (r *Run) replace(s, old, by string, count int) any {
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	if float64(n)*float64(len(by)) > float64(maxOutput) {
		panic(tooLong())
	}
	r.SpendBytes(len(s) + n*len(by))
	return strings.Replace(s, old, by, count)
}

func indentFilter(c *call) any {
	s, width, first, blank := c.text(), c.intArg("width", 4), c.boolArg("first"), c.boolArg("blank")
	if width < 0 || width > 1000 {
		panic(Failf("the width %d is not between 0 and 1000", width))
	}
	lines := strings.Split(s, "\n")
	c.SpendBytes(len(s) + len(lines)*width)
	for i, l := range lines {
		if (i > 0 || first) && (l != "" || blank) {
			lines[i] = strings.Repeat(" ", width) + l
		}
	}
	return strings.Join(lines, "\n")
}

func wordcountFilter(c *call) any { return int64(len(strings.Fields(c.text()))) }

func linesFilter(c *call) any {
	s := c.text()
	if s == "" {
		return []any{}
	}
	return listOf(c.Run, strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n"))
}

func split(r *Run, s, sep string) any {
	if sep == "" {
		return listOf(r, strings.Fields(s))
	}
	return listOf(r, strings.Split(s, sep))
}

func listOf(r *Run, parts []string) any {
	r.SpendItems(len(parts))
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out
}

func jsonFilter(c *call) any {
	return c.JSON(c.v, strings.Repeat(" ", min(max(c.intArg("indent", 0), 0), 16)))
}

func fromJSONFilter(c *call) any {
	s := c.text()
	if !json.Valid([]byte(s)) {
		panic(Failf("the text is not JSON"))
	}
	return decode([]byte(s))
}

func urlencodeFilter(c *call) any {
	m, ok := c.v.(map[string]any)
	if !ok {
		return c.PercentEncode(c.v)
	}
	parts := make([]string, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, c.PercentEncode(k)+"="+c.PercentEncode(Plain(m[k])))
	}
	return strings.Join(parts, "&")
}

// PercentEncode writes a value as one part of a path or a query; items of lists with commas.
func (r *Run) PercentEncode(v any) string {
	if l, ok := v.([]any); ok {
		parts := make([]string, len(l))
		for i, x := range l {
			if _, nested := Plain(x).([]any); nested {
				panic(Failf("a list inside a list cannot be put into a URL; use the filter tojson"))
			}
			parts[i] = r.PercentEncode(Plain(x))
		}
		return strings.Join(parts, ",")
	}
	s := r.Text(v)
	r.SpendBytes(len(s))
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// isUnreserved reports whether a character means itself everywhere in a URL (RFC 3986, 2.3).
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}
