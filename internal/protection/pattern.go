package protection

import (
	"errors"
	"path"
	"path/filepath"
	"strings"
)

// pattern is a path with wildcards, cut into names: * and ? stand for characters of one name, [a-z] for one of a set, **
// for any number of names, none included.
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

// parsePath reads a pattern of protect_paths. A slash at its end, which says that a folder is meant, changes nothing.
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

// protects says whether the pattern matches a folded path, or a folder that it is in. A pattern that is not rooted may
// begin at any name.
func (p pattern) protects(folded []string, absolute bool) bool {
	if p.rooted {
		return absolute && covers(p.names, folded)
	}
	for i := range folded {
		if covers(p.names, folded[i:]) {
			return true
		}
	}
	return false
}

// covers says whether a pattern matches the first names of a path, or all of them.
func covers(names, folded []string) bool {
	switch {
	case len(names) == 0:
		return true
	case names[0] == "**":
		return covers(names[1:], folded) || len(folded) > 0 && covers(names, folded[1:])
	case len(folded) == 0:
		return false
	}
	return matchName(names[0], folded[0]) && covers(names[1:], folded[1:])
}

// grants says whether the pattern matches a whole path, as it is written. The names that are explicit are matched by no
// wildcard.
func (p pattern) grants(names []string, explicit []bool) bool {
	return grants(p.names, names, explicit)
}

func grants(pattern, names []string, explicit []bool) bool {
	switch {
	case len(pattern) == 0:
		return len(names) == 0
	case pattern[0] == "**":
		return grants(pattern[1:], names, explicit) || len(names) > 0 && !explicit[0] && grants(pattern, names[1:], explicit[1:])
	case len(names) == 0:
		return false
	}
	if explicit[0] {
		if unescaped(pattern[0]) != names[0] {
			return false
		}
	} else if ok, err := path.Match(pattern[0], names[0]); err != nil || !ok {
		return false
	}
	return grants(pattern[1:], names[1:], explicit[1:])
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
