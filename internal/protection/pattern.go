package protection

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
)

// pattern is a path with wildcards, cut into names: *, ? and [a-z] within one, ** for any.
type pattern struct {
	rooted bool // it is about absolute paths
	names  []string
}

// parsePattern reads a pattern. The error says what is wrong with it.
func parsePattern(text string) (pattern, error) {
	p := pattern{rooted: isRooted(text)}
	p.names = strings.Split(strings.TrimPrefix(text, "/"), "/")
	for _, name := range p.names {
		switch {
		case text == "":
			return p, errors.New("it is empty")
		case strings.ContainsRune(text, 0):
			return p, errors.New("it holds a NUL character")
		case name == "":
			return p, errors.New("it has an empty name in it; everything in a folder is FOLDER/**")
		case name == "." || name == "..":
			return p, errors.New(`it has "` + name + `" in it; paths are compared with links followed and without it`)
		}
		if _, err := path.Match(name, ""); err != nil {
			return p, errors.New(`"` + name + `" is no pattern: a [ or a \ at its end is not closed`)
		}
	}
	return p, nil
}

// isRooted says whether a pattern is about absolute paths; on Windows these may begin with a drive.
func isRooted(text string) bool {
	return strings.HasPrefix(text, "/") || filepath.IsAbs(filepath.FromSlash(text))
}

// CheckGrant says what is wrong with a pattern of --allow-write, or returns nil.
func CheckGrant(text string) error {
	_, err := parsePattern(text)
	return err
}

// CheckPath says what is wrong with a pattern of protect_paths, or returns nil.
func CheckPath(text string) error {
	_, err := parsePath(text)
	return err
}

// parsePath reads a pattern of protect_paths. A slash at its end changes nothing.
func parsePath(text string) (pattern, error) {
	p, err := parsePattern(strings.TrimSuffix(text, "/"))
	if err != nil {
		return p, err
	}
	for i := range p.names {
		p.names[i] = fold(p.names[i])
	}
	return p, nil
}

// protects says whether the pattern, from any name on if not rooted, matches a path or a parent.
func (p pattern) protects(folded []foldedName, absolute bool) bool {
	if p.rooted && !absolute {
		return false
	}
	at := p.begin()
	for _, name := range folded {
		if !p.rooted {
			at[0] = true
			at = p.skip(at)
		}
		at = p.step(at, true, name.matches)
		if at[len(p.names)] {
			return true
		}
	}
	return false
}

// grants says whether the pattern matches a whole path, names that are explicit without wildcards.
func (p pattern) grants(names []string, explicit []bool) bool {
	at := p.begin()
	for i, name := range names {
		at = p.step(at, !explicit[i], func(want string) bool {
			if explicit[i] {
				return unescaped(want) == name
			}
			ok, err := path.Match(want, name)
			return err == nil && ok
		})
	}
	return at[len(p.names)]
}

// begin returns the states before the first name of a path: how many names of the pattern are
// matched. All are followed at once, so the time is that of the lengths of path and pattern.
func (p pattern) begin() []bool {
	at := make([]bool, len(p.names)+1)
	at[0] = true
	return p.skip(at)
}

// step returns the places after one more name of a path. A ** matches the name if it may match any.
func (p pattern) step(at []bool, any bool, matches func(want string) bool) []bool {
	next := make([]bool, len(at))
	for i, want := range p.names {
		switch {
		case !at[i]:
		case want == "**":
			next[i] = next[i] || any
		case matches(want):
			next[i+1] = true
		}
	}
	return p.skip(next)
}

func (p pattern) skip(at []bool) []bool {
	for i, want := range p.names {
		if at[i] && want == "**" {
			at[i+1] = true
		}
	}
	return at
}

// unescaped returns the name that a pattern without wildcards stands for, "" when it has some.
func unescaped(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*', '?', '[':
			return ""
		case '\\':
			i++
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}

// escapedPath makes a pattern of a path.
func escapedPath(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
