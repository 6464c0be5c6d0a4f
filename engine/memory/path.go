package memory

import (
	"fmt"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/windlass-run/windlass/internal/excerpt"
)

const (
	maxName  = 255 // bytes of one name in a path: the limit of most file systems
	maxShown = 200 // bytes of a wrong path in the error of it
)

// cleanPath returns a path without a slash at its end. The problem is for the model.
func cleanPath(p string) (clean, problem string) {
	clean = strings.TrimSuffix(p, "/")
	if !strings.HasPrefix(clean, Root) {
		return "", "Path must start with /memories, got: " + visible(excerpt.Clip(p, maxShown))
	}
	if inside := path.Clean(clean); inside != Root && !isBelow(inside, Root) && slices.Contains(strings.Split(clean, "/"), "..") {
		return "", fmt.Sprintf("Path %s would escape /memories directory", visible(excerpt.Clip(p, maxShown)))
	}
	if wrong := wrongPath(clean); wrong != "" {
		return "", fmt.Sprintf("Error: Invalid path %s: %s. Paths begin with /memories, for example /memories/notes.md", visible(excerpt.Clip(p, maxShown)), wrong)
	}
	return clean, ""
}

// wrongPath says what is wrong with a path that begins with the letters of Root.
func wrongPath(p string) string {
	switch {
	case !utf8.ValidString(p):
		return "it is not valid UTF-8"
	case len(p) > MaxPath:
		return fmt.Sprintf("it has %d bytes, the limit is %d", len(p), MaxPath)
	case strings.ContainsFunc(p, isHidden):
		return "it has a character that cannot be seen, or a space of another kind"
	case strings.ContainsAny(norm.NFKC.String(p), `\`):
		return "it has a backslash"
	case isEncoded(p):
		return "it has a percent-encoded dot, slash or backslash"
	case strings.ContainsAny(p, "⁄∕⧸") || strings.Count(norm.NFKC.String(p), "/") != strings.Count(p, "/"):
		return "it has a character that looks like a slash"
	}
	names := strings.Split(p, "/")[1:]
	if "/"+names[0] != Root {
		return fmt.Sprintf("its first folder is `%s`", names[0])
	}
	for _, name := range names[1:] {
		if wrong := wrongName(name); wrong != "" {
			return wrong
		}
	}
	return ""
}

// wrongName says what is wrong with one name of a path, whose characters are right.
func wrongName(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	switch norm.NFKC.String(name) { // which makes dots of what looks like dots
	case "":
		return "a name in it is empty"
	case ".", "..":
		return fmt.Sprintf("a name in it is `%s`", name)
	}
	switch {
	case len(name) > maxName:
		return fmt.Sprintf("a name in it has %d bytes, the limit is %d", len(name), maxName)
	case strings.Trim(name, " ") != name:
		return "a name in it begins or ends with a space"
	case unicode.Is(unicode.M, first):
		return "a name in it begins with a combining character"
	}
	return ""
}

// isEncoded reports whether a path has what someone who decodes it takes for a dot, a slash or a backslash.
func isEncoded(p string) bool {
	p = strings.ToLower(p)
	return strings.Contains(p, "%2e") || strings.Contains(p, "%2f") || strings.Contains(p, "%5c")
}

// isHidden reports whether a character is seen as nothing or as another one, or changes how others are seen.
func isHidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case unicode.ReplacementChar, '\u2800': // what is no text, and a blank of Braille
		return true
	}
	return !unicode.IsGraphic(r) || unicode.In(r, unicode.Zs, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// visible returns a text with an escape for each hidden character.
func visible(s string) string {
	var out strings.Builder
	for _, r := range s {
		if isHidden(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// folders yields the folders on the way to a path, below Root, from the top.
func folders(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(Root) + 1; i < len(p); i++ {
			if p[i] == '/' && !yield(p[:i]) {
				return
			}
		}
	}
}

// lookalike returns the existing file or folder that a disk may take for the path, or for a folder on the way to it; or
// nothing.
func (f Files) lookalike(p string) string {
	names, folded := strings.Split(p, "/"), strings.Split(fold(p), "/")
	for _, existing := range slices.Sorted(maps.Keys(f)) {
		others, otherFolded := strings.Split(existing, "/"), strings.Split(fold(existing), "/")
		for i := range min(len(names), len(others)) {
			if folded[i] != otherFolded[i] {
				break
			}
			if names[i] == others[i] {
				continue
			}
			if f.exists(strings.Join(names[:i+1], "/")) { // a bank from elsewhere has both
				break
			}
			return strings.Join(others[:i+1], "/")
		}
	}
	return ""
}

// fold returns a path as disks without case compare it.
func fold(p string) string {
	return norm.NFC.String(cases.Fold().String(norm.NFD.String(p)))
}
