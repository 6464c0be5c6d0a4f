// Package words reads texts as the words by which they are compared: stems in lower case, without words that say nothing.
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxWord is the longest word, in bytes; anything longer is data.
const maxWord = 80

// maxIndexed bounds what is indexed of a message, in bytes. Its beginning says what it is about;
// and a log of a million lines would make every word seem frequent.
const maxIndexed = 16 << 10

// stopWord is the term of words without a meaning of their own.
const stopWord = -1

// Lexicon numbers terms. It remembers what became of each word, as stemming is slow. It belongs to one goroutine.
type Lexicon struct {
	words map[string]int32 // by the word in lower case
	terms map[string]int32 // by the stem
}

// New returns a lexicon without a term.
func New() *Lexicon { return &Lexicon{words: map[string]int32{}, terms: map[string]int32{}} }

// Len returns how many terms have a number; the numbers are below it.
func (l *Lexicon) Len() int { return len(l.terms) }

// Read appends the terms of at most [maxIndexed] bytes of a text: stemmed words in lower case
// without stop words. A path or an identifier is a term, and so is each of its parts. Scripts
// without spaces are read in pairs of characters.
func (l *Lexicon) Read(terms []int32, text string) []int32 {
	w := wordReader{Lexicon: l, out: terms}
	for _, r := range text[:min(len(text), maxIndexed)] {
		w.take(r)
	}
	w.end()
	return w.out
}

// term returns the number of a word in lower case.
func (l *Lexicon) term(word []byte) int32 {
	if t, known := l.words[string(word)]; known {
		return t
	}
	w := string(word)
	t := int32(stopWord)
	if !stopWords[w] {
		stem := stem(w)
		number, known := l.terms[stem]
		if t = number; !known {
			t = int32(len(l.terms))
			l.terms[stem] = t
		}
	}
	l.words[w] = t
	return t
}

// stem cuts English endings. What has other characters than letters is a name, and stays.
func stem(word string) string {
	if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return word
	}
	return english.Stem(word, false)
}

type wordReader struct {
	*Lexicon
	out []int32

	field []byte // the run of characters since the last one that is in no word, in lower case
	part  int    // where its last part begins
	parts int    // that ended before
	lower bool   // the last character was a small letter

	wide  rune // the last character of a run without spaces
	pairs int  // that it has given
}

func (w *wordReader) take(r rune) {
	switch {
	case r < utf8.RuneSelf && asciiWord[r]:
		if 'A' <= r && r <= 'Z' {
			if w.lower {
				w.endPart()
			}
			r += 'a' - 'A'
			w.lower = false
		} else {
			w.lower = r >= 'a'
		}
		w.field = append(w.field, byte(r))
	case r == '_' || r == '.' || r == '/' || r == '-':
		if len(w.field) > 0 {
			w.endPart()
			w.field = append(w.field, byte(r))
			w.part = len(w.field)
		}
	case r < utf8.RuneSelf:
		w.end()
	case unicode.In(r, unspaced...):
		w.takeWide(r)
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
		w.field = utf8.AppendRune(w.field, unicode.ToLower(r))
		w.lower = unicode.IsLower(r)
	default:
		w.end()
	}
}

func (w *wordReader) takeWide(r rune) {
	w.endField()
	if w.wide != 0 {
		w.add(utf8.AppendRune(utf8.AppendRune(nil, w.wide), r))
		w.pairs++
	}
	w.wide = r
}

func (w *wordReader) end() {
	w.endField()
	if w.wide != 0 && w.pairs == 0 {
		w.add(utf8.AppendRune(nil, w.wide))
	}
	w.wide, w.pairs = 0, 0
}

func (w *wordReader) endPart() {
	if w.part < len(w.field) {
		w.add(w.field[w.part:])
		w.parts++
	}
	w.part, w.lower = len(w.field), false
}

func (w *wordReader) endField() {
	if len(w.field) == 0 {
		return
	}
	w.endPart()
	whole := w.field
	for last := len(whole) - 1; strings.IndexByte("_./-", whole[last]) >= 0; last-- {
		whole = whole[:last]
	}
	if w.parts > 1 {
		w.add(whole)
	}
	w.field, w.part, w.parts = w.field[:0], 0, 0
}

func (w *wordReader) add(word []byte) {
	if len(word) > maxWord {
		return
	}
	if t := w.term(word); t != stopWord {
		w.out = append(w.out, t)
	}
}

var asciiWord = func() (is [utf8.RuneSelf]bool) {
	for r := range rune(utf8.RuneSelf) {
		is[r] = 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return is
}()

// unspaced are the scripts that write words without spaces between them, or with too few.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// stopWords find nothing; leaving them out helps as much as stemming (docs/selection.md).
var stopWords = set(`a about again all am an and any are as at be been being both but by can could d did do does doing don down each
few for from had has have having he her him his how i if in into is it its just ll m may me might more most must my no nor not of
on or other our out over own re s same shall she should so some such t than that the their them these they this those to too
under up us ve very was we were what when where which who whom why will with would you your`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
