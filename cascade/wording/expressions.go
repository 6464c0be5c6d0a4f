package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Expression writes a path as a template does.
func Expression(path []any) string {
	var b strings.Builder
	for i, part := range path {
		name, ok := part.(string)
		switch {
		case i == 0 && ok:
			b.WriteString(name)
		case ok && isTemplateName(name):
			b.WriteString("." + name)
		case ok:
			fmt.Fprintf(&b, "[%q]", name)
		default:
			fmt.Fprintf(&b, "[%v]", part)
		}
	}
	return b.String()
}

// isTemplateName reports whether a template can take a member of this name with a dot.
func isTemplateName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// MembersHint says which member of something was perhaps meant, or which there are.
func MembersHint(of string, path []any, name string, names []string) string {
	written := make([]string, len(names))
	for i, n := range names {
		written[i] = Expression(append(slices.Clone(path), n))
		if name != "" && strings.HasPrefix(n, name+"-") {
			return "write " + written[i] + ": a name with a hyphen is not read after a dot"
		}
	}
	if near := Meant(name, names); near != "" {
		i := slices.IndexFunc(names, func(n string) bool { return near == fmt.Sprintf("did you mean %q?", n) })
		return fmt.Sprintf("did you mean %s?", QuoteExpression(written[i]))
	}
	return cmp.Or(KnownNames(of+" has ", names), "declare it, or remove it")
}

// QuoteExpression quotes an expression that may have quotes in it.
func QuoteExpression(s string) string {
	if strings.Contains(s, `"`) {
		return s
	}
	return strconv.Quote(s)
}

// AsText says how a text is written where a path is taken for one.
func AsText(text string) string {
	quoted := strconv.Quote(text)
	if !strings.ContainsAny(text, `'\`) {
		quoted = "'" + text + "'" // which needs nothing more within JSON
	}
	return "for a text write {{ " + quoted + " }}"
}
