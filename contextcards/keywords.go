package contextcards

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/windlass-run/windlass/echo"
)

const (
	maxKeywords = 12
	minWord     = 3  // characters
	maxWord     = 80 // of anything longer than this, data and not a word
	maxCounted  = 6  // more of the same says no more
)

// tallyOf counts the words of a message. The tally is to be released.
func tallyOf(m *echo.Message) *tally {
	t, _ := tallies.Get().(*tally)
	t.read(head(m.Tool(), maxWord))
	t.read(head(m.Text(), maxRead))
	for _, c := range m.ToolCalls() {
		t.read(head(c.Name, maxWord))
		t.read(unescape.Replace(head(c.Arguments, maxRead/4)))
	}
	return t
}

// tallies are used again, as one takes more memory than all else that a card does.
var tallies = sync.Pool{New: func() any { return &tally{index: make(map[string]int, keptTerms/2)} }}

// keptTerms bounds what is pooled: to clear more would cost more than a short message does.
const keptTerms = 512

// release gives a tally back. Nothing may use it afterwards; the words that it gave out stay.
func (t *tally) release() {
	if len(t.terms) > keptTerms {
		return
	}
	clear(t.terms) // a kept text would keep its whole message
	clear(t.index)
	t.terms = t.terms[:0]
	tallies.Put(t)
}

// keywords returns what a message is about, by weight, then place: names (paths, identifiers, words
// with a capital inside a sentence) as written, other words in lower case, singular and plural as
// one, without stop words.
func (t *tally) keywords() []string {
	return t.best(maxKeywords, func(*term) bool { return true })
}

// unescape takes JSON escapes out of arguments: they would stick to the words behind them.
var unescape = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`)

// names returns the most frequent names that are not in said, in at most limit characters.
func (t *tally) names(said string, limit int) string {
	var b strings.Builder
	for _, n := range t.best(2*maxKeywords, func(w *term) bool { return w.name }) {
		if b.Len()+1+utf8.RuneCountInString(n) > limit || strings.Contains(said, n) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(n)
	}
	return b.String()
}

type tally struct {
	terms []term
	index map[string]int // of terms, by what makes two words the same
}

type term struct {
	text   string // as first written; lower case when it is no name
	key    string
	count  int
	weight int
	name   bool
}

func (t *tally) read(text string) {
	start := true // of a sentence
	eachWord(text, func(w string, ends bool) {
		t.add(w, start)
		start = ends
	})
}

func (t *tally) add(w string, start bool) {
	if len(w) > maxWord || utf8.RuneCountInString(w) < minWord && strings.IndexFunc(w, isSpaceless) != 0 {
		return
	}
	one := judge(w, start)
	if i, ok := t.index[one.key]; ok {
		old := &t.terms[i]
		old.count = min(old.count+1, maxCounted)
		old.weight = max(old.weight, one.weight)
		return
	}
	if !one.name && stopWords[one.text] {
		return
	}
	t.index[one.key] = len(t.terms)
	t.terms = append(t.terms, one)
}

// best returns the heaviest words that are wanted.
func (t *tally) best(limit int, wanted func(*term) bool) []string {
	order := make([]int, 0, len(t.terms))
	for i := range t.terms {
		if wanted(&t.terms[i]) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(t.terms[b].score()-t.terms[a].score(), a-b)
	})
	out := make([]string, 0, min(limit, len(order)))
	for _, i := range order[:min(limit, len(order))] {
		out = append(out, t.terms[i].text)
	}
	return out
}

func (w *term) score() int { return w.count * w.weight }

// The weights of one occurrence.
const (
	weighsNumber = 1
	weighsWord   = 2
	weighsLong   = 3 // of seven characters or more: long words say more than short ones
	weighsName   = 4
)

// judge says what a word is. start: it begins a sentence, so that its capital means nothing.
func judge(w string, start bool) term {
	digits, letters, upper, inner, joined, dotted := 0, 0, 0, false, false, false
	for i, r := range w {
		switch {
		case 'a' <= r && r <= 'z':
			letters++
		case r == '_' || r == '/':
			joined = true
		case r == '.':
			dotted = true
		case unicode.IsDigit(r):
			digits++
		case unicode.IsUpper(r):
			letters++
			upper++
			inner = inner || i > 0 && upper < letters
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case letters == 0:
		return term{text: w, key: w, count: 1, weight: weighsNumber}
	case joined || inner || digits > 0 || dotted && len(w) > len("e.g"):
		return term{text: w, key: w, count: 1, weight: weighsName, name: true}
	}
	text := w
	if upper > 0 {
		text = strings.ToLower(w)
	}
	weight := weighsWord
	switch {
	case upper > 0 && !start:
		weight = weighsName
	case len(w) >= 7:
		weight = weighsLong
	}
	return term{text: text, key: singular(text), count: 1, weight: weight}
}

// singular takes the ending of an English plural off a word.
func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && (strings.HasSuffix(w, "sses") || strings.HasSuffix(w, "xes") || strings.HasSuffix(w, "ches") || strings.HasSuffix(w, "shes")):
		return w[:len(w)-2]
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && !strings.HasSuffix(w, "us") && !strings.HasSuffix(w, "is"):
		return w[:len(w)-1]
	}
	return w
}

// eachWord yields the words of a text, and whether a sentence ends behind each. A word is a run of
// letters, digits and underscores with dots, slashes and hyphens inside and one slash or dot
// before, so a path is one word. In scripts without spaces every two adjacent characters are one.
func eachWord(text string, yield func(w string, ends bool)) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isSpaceless(r):
			i = pairs(text, i, yield)
		case isWordRune(r) || isLead(text, i):
			end := wordEnd(text, i)
			last := end
			for last > i && isJoint(rune(text[last-1])) {
				last--
			}
			yield(text[i:last], endsSentence(text, end))
			i = end
		default:
			i += size
		}
	}
}

func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := rune(text[i]); c < utf8.RuneSelf { // most are
			if !isWordRune(c) && !isJoint(c) {
				break
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if isSpaceless(r) || !isWordRune(r) {
			break
		}
		i += size
	}
	return i
}

// isLead reports whether a path begins at i with a slash or dot, other than that of a closing tag.
func isLead(text string, i int) bool {
	if text[i] != '/' && text[i] != '.' || i+1 >= len(text) || i > 0 && text[i-1] == '<' {
		return false
	}
	next := text[i+1]
	return next < utf8.RuneSelf && isWordRune(rune(next)) || text[i] == '.' && next == '/'
}

// endsSentence reports whether a sentence ends at i, behind a word.
func endsSentence(text string, i int) bool {
	if i > 0 && text[i-1] == '.' {
		return true
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '.', '!', '?', ':', '\n', '"', '(', '*', '#', '|', '>':
			return true
		case ' ', '\t', ')', '\'', ']', '}':
		default:
			return false
		}
	}
	return true
}

// pairs gives the pairs of characters of a run of a script without spaces.
func pairs(text string, i int, yield func(w string, ends bool)) int {
	first, before := i, i
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isSpaceless(r) {
			break
		}
		if before < i {
			yield(text[before:i+size], false)
		}
		before = i
		i += size
	}
	if before == first { // a character by itself
		yield(text[first:i], false)
	}
	return i
}

func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isJoint(r rune) bool { return r == '.' || r == '/' || r == '-' }

func isSpaceless(r rune) bool {
	return r == 'ー' || r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// stopWords are English words that are in every text, and what apostrophes leave of them.
var stopWords = set(`a i am an as at be by do he if in is it me my no of on or so to up us we a.m e.g i.e p.m able about above actually after again against all almost alone along already also although always and another any
anyone anything are aren around ask asked asks aside back because been before being below best better between both but came can cannot come comes coming
could couldn did didn different does doesn doing don done down during each either else enough etc even ever every everyone everything few find first
following for found from full further gave general get gets getting give given gives going gone good got great had hadn has hasn have haven
having hello help her here hers him himself his how however into isn its itself just keep kept kind know known last later least less let
lets like likely little long look looking looks lot made make makes making many maybe mean means might more most much must myself need needs
neither never new next nice non none nor not nothing now off often okay once one ones only onto other others our ours out over own particular
per perhaps please possible probably put quite rather really right said same saw say saying says second see seem seems seen several shall she
should shouldn show shows since some someone something sometimes soon still such sure take taken takes taking tell than thank thanks that the
their theirs them themselves then there these they thing things think this those though three through thus time told too took toward tried
try trying two under until upon use used uses using usually very via want wanted wants was wasn way ways well went were weren what whatever
when where whether which while who whole whom whose why will with within without won would wouldn yeah yes yet you your yours yourself`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}
