package echo

import (
	"cmp"
	"strings"
)

// CompareKeys sorts keys by their structure: what is done for all of a place before what is done in a part of it, and
// numbers by their size.
func CompareKeys(a, b Key) int {
	as, bs := strings.Split(a.text, "/"), strings.Split(b.text, "/")
	for i := range min(len(as), len(bs)) {
		if c := compareParts(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func compareParts(a, b string) int {
	aw, an := cutNumber(a)
	bw, bn := cutNumber(b)
	return cmp.Or(cmp.Compare(aw, bw), cmp.Compare(len(an), len(bn)), cmp.Compare(an, bn))
}

// cutNumber splits a part into what comes before its number and the number, which may be empty.
func cutNumber(part string) (word, number string) {
	i := len(part)
	for i > 0 && part[i-1] >= '0' && part[i-1] <= '9' {
		i--
	}
	return part[:i], part[i:]
}
