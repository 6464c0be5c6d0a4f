package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textFilters are the filters that make or change texts.
func textFilters() map[string]filter {
	return map[string]filter{
		"lower":      mapText(strings.ToLower),
		"upper":      mapText(strings.ToUpper),
		"capitalize": mapText(capitalize),
		"title":      mapText(titleCase),
		"string":     mapText(func(s string) string { return s }),
		"trim":       trimFilter,
		"truncate":   truncateFilter,
		"replace":    replaceFilter,
		"indent":     indentFilter,
		"wordcount":  wordcountFilter,
		"lines":      linesFilter,
		"split":      splitFilter,
		"tojson":     jsonFilter,
		"json":       jsonFilter,
		"fromjson":   fromJSONFilter,
		"urlencode":  urlencodeFilter,
	}
}

func mapText(fn func(string) string) filter {
	return func(c *call) (any, error) {
		s, err := c.text()
		return fn(s), err
	}
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

func trimFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	chars, err := c.stringArg("chars", "")
	if chars == "" {
		return strings.TrimSpace(s), err
	}
	return strings.Trim(s, chars), err
}

// truncateFilter cuts a text to a length in characters, the mark at its end included. By default it cuts at a word.
func truncateFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	length, err := c.intArg("length", 255)
	if err != nil {
		return nil, err
	}
	killWords := c.boolArg("killwords")
	end, err := c.stringArg("end", "...")
	if err != nil {
		return nil, err
	}
	leeway, err := c.intArg("leeway", 0)
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(s); n <= length+leeway {
		return s, nil
	}
	cut := string([]rune(s)[:max(0, length-utf8.RuneCountInString(end))])
	if i := strings.LastIndexByte(cut, ' '); i > 0 && !killWords {
		cut = cut[:i]
	}
	return cut + end, nil
}

func replaceFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	old, err := c.stringArg("old", "")
	if err != nil {
		return nil, err
	}
	by, err := c.stringArg("new", "")
	if err != nil {
		return nil, err
	}
	count, err := c.intArg("count", -1)
	if err != nil {
		return nil, err
	}
	return c.replace(s, old, by, count)
}

// replace replaces after counting, so that a text that would be too long is not made.
func (r *run) replace(s, old, by string, count int) (any, error) {
	n := strings.Count(s, old)
	if count >= 0 {
		n = min(n, count)
	}
	if float64(n)*float64(len(by)) > float64(r.maxOutput) {
		return nil, r.tooLong()
	}
	if err := r.spendBytes(len(s) + n*len(by)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, by, count), nil
}

func indentFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	width, err := c.intArg("width", 4)
	if err != nil {
		return nil, err
	}
	first, blank := c.boolArg("first"), c.boolArg("blank")
	if width < 0 || width > 1000 {
		return nil, fmt.Errorf("the width %d is not between 0 and 1000", width)
	}
	lines := strings.Split(s, "\n")
	if err := c.spendBytes(len(s) + len(lines)*width); err != nil {
		return nil, err
	}
	for i, l := range lines {
		if (i > 0 || first) && (l != "" || blank) {
			lines[i] = strings.Repeat(" ", width) + l
		}
	}
	return strings.Join(lines, "\n"), nil
}

func wordcountFilter(c *call) (any, error) {
	s, err := c.text()
	return int64(len(strings.Fields(s))), err
}

func linesFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil || s == "" {
		return []any{}, err
	}
	return c.list(strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n"))
}

func splitFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	sep, err := c.stringArg("sep", "")
	if err != nil {
		return nil, err
	}
	return c.split(s, sep)
}

func (r *run) split(s, sep string) (any, error) {
	if sep == "" {
		return r.list(strings.Fields(s))
	}
	return r.list(strings.Split(s, sep))
}

func (r *run) list(parts []string) (any, error) {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p
	}
	return out, r.spendItems(len(out))
}

func jsonFilter(c *call) (any, error) {
	indent, err := c.intArg("indent", 0)
	if err != nil {
		return nil, err
	}
	return c.json(c.v, strings.Repeat(" ", min(max(indent, 0), 16)))
}

func fromJSONFilter(c *call) (any, error) {
	s, err := c.text()
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(s)) {
		return nil, fmt.Errorf("the text is not JSON")
	}
	return decode([]byte(s)), nil
}

func urlencodeFilter(c *call) (any, error) {
	m, ok := c.v.(map[string]any)
	if !ok {
		return percentEncode(c.run, c.v)
	}
	var parts []string
	for _, p := range pairs(m) {
		pair := p.([]any) //nolint:forcetypeassert // made by pairs
		k, err := percentEncode(c.run, pair[0])
		if err != nil {
			return nil, err
		}
		v, err := percentEncode(c.run, pair[1])
		if err != nil {
			return nil, err
		}
		parts = append(parts, k+"="+v)
	}
	return strings.Join(parts, "&"), nil
}
