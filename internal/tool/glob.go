package tool

import (
	"fmt"
	"regexp"
	"strings"
)

// glob matches paths: * and ? stay within a name, ** crosses folders, [a-z] is one of a set, {a,b}
// one of several. Without a slash it matches the last name of a path.
type glob struct {
	re       *regexp.Regexp
	baseOnly bool
}

func newGlob(pattern string) (*glob, error) {
	if pattern == "" {
		return nil, nil //nolint:nilnil // no pattern: everything matches
	}
	pattern = strings.TrimPrefix(pattern, "./")
	re, err := regexp.Compile("^(?:" + globSource(pattern) + ")$")
	if err != nil {
		return nil, &failure{kindBadArguments, fmt.Errorf("the pattern %q is not a glob: write for example **/*.go", pattern)}
	}
	return &glob{re: re, baseOnly: !strings.Contains(pattern, "/")}, nil
}

func (g *glob) match(path string) bool {
	if g == nil {
		return true
	}
	if g.baseOnly {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return g.re.MatchString(path)
}

// globSource translates a glob into a regular expression.
func globSource(pattern string) string {
	var b strings.Builder
	braces := 0
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case strings.HasPrefix(pattern[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			i += set(&b, pattern[i:])
		case c == '{':
			braces++
			b.WriteString("(?:")
		case c == '}' && braces > 0:
			braces--
			b.WriteByte(')')
		case c == ',' && braces > 0:
			b.WriteByte('|')
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return b.String()
}

// set writes the set that a pattern begins with, and returns how many more characters it has.
func set(b *strings.Builder, pattern string) int {
	end := strings.IndexByte(pattern[1:], ']')
	if end < 1 {
		b.WriteString(`\[`)
		return 0
	}
	inside := strings.ReplaceAll(pattern[1:end+1], `\`, `\\`)
	if inside[0] == '!' {
		inside = "^/" + inside[1:]
	}
	b.WriteString("[" + strings.ReplaceAll(inside, "[", `\[`) + "]")
	return end + 1
}
