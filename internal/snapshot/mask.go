package snapshot

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Mask replaces a text wherever it stands as a whole: a folder, the value of a variable.
type Mask struct{ From, To string }

// shortest is the length below which a text is not masked: it would stand in too many others.
const shortest = 4

// Maskable reports whether a text is long enough to be masked.
func Maskable(s string) bool { return len(s) >= shortest }

// PathMasks returns masks for folders, the first of them under the name of the project's.
func PathMasks(workDir, dir, home string, roots []string) []Mask {
	masks := []Mask{{workDir, WorkDir}, {dir, "/project"}, {home, "/home/user"}}
	for _, r := range roots {
		if !slices.ContainsFunc(masks, func(m Mask) bool { return m.From == r }) {
			masks = append(masks, Mask{r, "/root/" + filepath.Base(r)})
		}
	}
	return slices.DeleteFunc(masks, func(m Mask) bool { return filepath.Dir(m.From) == m.From || !Maskable(m.From) })
}

// mask returns a value of JSON with all texts masked; a folder before the one that it is in.
func mask(value any, masks []Mask) any {
	byLength := func(a, b Mask) int { return cmp.Compare(len(b.From), len(a.From)) }
	return maskAll(value, slices.SortedStableFunc(slices.Values(masks), byLength))
}

func maskAll(value any, masks []Mask) any {
	switch v := value.(type) {
	case string:
		return maskText(v, masks)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = maskAll(v[i], masks)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[maskText(k, masks)] = maskAll(e, masks)
		}
		return out
	}
	return value
}

// maskText replaces masks' texts, in one pass, where they are not part of a longer word or path.
func maskText(s string, masks []Mask) string {
	var b strings.Builder
	kept := 0 // up to where s is written
	for at := 0; at < len(s); {
		i := slices.IndexFunc(masks, func(m Mask) bool {
			return strings.HasPrefix(s[at:], m.From) && boundary(s, at, at+len(m.From))
		})
		if i < 0 {
			at++
			continue
		}
		b.WriteString(s[kept:at] + masks[i].To)
		at += len(masks[i].From)
		kept = at
	}
	return b.String() + s[kept:]
}

// boundary reports whether s[at:end] is no part of a longer word. In JSON, \n may be before it.
func boundary(s string, at, end int) bool {
	if end < len(s) && inWord(s[end]) {
		return false
	}
	if at == 0 || !inWord(s[at-1]) && s[at-1] != '.' {
		return true
	}
	return at > 1 && s[at-2] == '\\' && strings.IndexByte("nrt", s[at-1]) >= 0
}

func inWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}
