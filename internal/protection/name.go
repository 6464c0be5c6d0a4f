package protection

import (
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// fold returns a name as it is compared: HFS+ and APFS ignore case and some characters and compose
// others; Windows ignores case, dots and spaces at the end, and what follows a colon.
func fold(name string) string {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if ignored(r) {
			return -1
		}
		return r
	}, name)
	return strings.TrimRight(norm.NFKD.String(cases.Fold().String(norm.NFKD.String(name))), ". ")
}

// ignored are the characters that HFS+, or an ext4 without case, ignores in names.
func ignored(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// shortForm is a short name of Windows: its beginning, or two characters and a checksum.
var shortForm = regexp.MustCompile(`^([^.~]{1,6})~[0-9]{1,3}(?:\.([^.]{1,3}))?$`)

// foldedName is a name of a path in the form in which it is compared.
type foldedName struct {
	text  string
	short []string // the parts of a short form; nil when it is none
}

func foldName(name string) foldedName {
	f := foldedName{text: fold(name)}
	if strings.Contains(f.text, "~") {
		f.short = shortForm.FindStringSubmatch(f.text)
	}
	return f
}

// isShortFor says whether a name can be the short one of a file that a folded pattern matches.
func (f foldedName) isShortFor(pattern string) bool {
	if f.short == nil {
		return false
	}
	stem, extension := strings.TrimLeft(pattern, "."), ""
	if i := strings.LastIndexByte(stem, '.'); i >= 0 {
		stem, extension = stem[:i], stem[i+1:]
	}
	stem = strings.NewReplacer(".", "", " ", "").Replace(stem)
	return isCut(extension, f.short[2], 3) && (isCut(stem, f.short[1], 6) || isChecksum(stem, f.short[1]))
}

// isCut says whether short is a part of a pattern, cut to most characters or one or two less.
func isCut(pattern, short string, most int) bool {
	if i := strings.IndexAny(pattern, `*?[\`); i >= 0 {
		return strings.HasPrefix(short, pattern[:min(i, len(short))])
	}
	return pattern == short || strings.HasPrefix(pattern, short) && len(short) >= min(len(pattern), most)-2 && short != ""
}

var checksumForm = regexp.MustCompile(`^.{2}[0-9a-f]{4}$`)

func isChecksum(pattern, short string) bool {
	return checksumForm.MatchString(short) && len(pattern) >= 2 && pattern[:2] == short[:2]
}

// matches says whether a folded pattern of one name protects the name.
func (f foldedName) matches(pattern string) bool {
	ok, err := path.Match(pattern, f.text)
	return err == nil && ok || f.isShortFor(pattern)
}
