package contextcards

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxSentences = 400 // looked at
	minSentence  = 20  // characters; shorter ones ("Sure!") are passed over
)

// extract joins the first sentence that says something and the one with most keywords.
func extract(text string, keywords []string) string {
	list := sentences(head(text, maxRead))
	if len(list) == 0 {
		return oneLine(text, maxSummary)
	}
	first := max(slices.IndexFunc(list, func(s string) bool { return longerThan(s, minSentence-1) }), 0)
	opening := oneLine(list[first], maxSummary)
	second := fullest(list, first, keywords)
	if second < 0 {
		return opening
	}
	other := oneLine(list[second], maxSummary)
	if n := utf8.RuneCountInString(other); utf8.RuneCountInString(opening)+1+n > maxSummary {
		opening = oneLine(opening, max(maxSummary-1-n, maxSummary/2))
		other = oneLine(other, maxSummary-1-utf8.RuneCountInString(opening))
	}
	if second < first {
		return other + " " + opening
	}
	return opening + " " + other
}

// fullest returns the index of the sentence, except first, with most keywords; -1 for none.
func fullest(list []string, first int, keywords []string) int {
	wanted := make(map[string]uint, 2*len(keywords)) // a bit each
	for i, k := range keywords {
		wanted[k], wanted[singular(k)] = 1<<i, 1<<i
	}
	best, most := -1, 0
	for i, s := range list {
		if i == first {
			continue
		}
		var seen uint
		eachWord(s, func(w string, _ bool) { seen |= wanted[judge(w, true).key] })
		if n := bits.OnesCount(seen); n > most {
			best, most = i, n
		}
	}
	return best
}

// sentences splits a text. A sentence ends at its full stop, at an empty line, and before a line
// that begins an item of a list, a heading, or a row of a table; blocks of code are left out.
func sentences(text string) []string {
	var list []string
	var run strings.Builder // lines that belong together
	flush := func() {
		list = appendSentences(list, run.String())
		run.Reset()
	}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			flush()
			continue
		}
		if fenced {
			continue
		}
		if line == "" || beginsItem(line) {
			flush()
		}
		run.WriteString(strings.TrimLeft(line, "#>*-| \t"))
		run.WriteByte(' ')
		if strings.HasPrefix(line, "#") {
			flush()
		}
		if len(list) >= maxSentences {
			return list
		}
	}
	flush()
	return list
}

func beginsItem(line string) bool {
	if strings.ContainsAny(line[:1], "#>*-|") {
		return true
	}
	rest := strings.TrimLeft(line, "0123456789")
	return len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") "))
}

// appendSentences splits running text at full stops. One ends a sentence when a space and anything
// but a small letter follow: so abbreviations, versions and file names do not.
func appendSentences(list []string, text string) []string {
	start := 0
	for i, r := range text {
		if !strings.ContainsRune(".!?。！？।؟", r) {
			continue
		}
		end := i + utf8.RuneLen(r)
		if r < utf8.RuneSelf && !followed(text[end:]) {
			continue
		}
		list = appendSentence(list, text[start:end])
		start = end
	}
	return appendSentence(list, text[start:])
}

func followed(rest string) bool {
	rest = strings.TrimLeft(rest, ".!?\"')]*")
	r, size := utf8.DecodeRuneInString(rest)
	if size == 0 {
		return true
	}
	if !unicode.IsSpace(r) {
		return false
	}
	r, size = utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t"))
	return size == 0 || !unicode.IsLower(r)
}

func appendSentence(list []string, s string) []string {
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		list = append(list, s)
	}
	return list
}
