package vectors

import (
	"context"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Name is the name of the embedder; its number changes with the table or the weights.
const Name = "words-100d@1"

// Words embeds texts with a table of word vectors. It is immutable and safe for concurrent use.
type Words struct{ table *table }

// Name returns [Name].
func (w *Words) Name() string { return Name }

// Embed returns a vector of unit length for each text, nil for one without known words. It fails
// only when ctx has ended.
func (w *Words) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = w.table.embed(text)
	}
	return out, nil
}

func (t *table) embed(text string) []float32 {
	sum := make([]float32, t.dims)
	var mass float32
	t.eachPlace(text, func(place int) {
		weight := float32(weightOf(t.law.frequency(place)))
		t.add(sum, place, weight)
		mass += weight
	})
	var square float64
	for d := range sum {
		sum[d] -= mass * t.mean[d]
		square += float64(sum[d]) * float64(sum[d])
	}
	if square == 0 || mass == 0 {
		return nil
	}
	scale := float32(1 / math.Sqrt(square))
	for d := range sum {
		sum[d] *= scale
	}
	return sum
}

// eachPlace yields the places of the words of a text. A word is a run of letters and digits, with
// single hyphens and apostrophes inside. One that is not in the table counts as its parts:
// "well-formed" as two words if need be, "user's" as "user", "parseHTTPRequest" as three.
func (t *table) eachPlace(text string, tell func(place int)) {
	var lower []byte
	look := func(word string) bool {
		lower = appendLower(lower[:0], word)
		place := t.place(lower)
		if place >= 0 {
			tell(place)
		}
		return place >= 0
	}
	eachRun(text, isJoint, func(word string) {
		if look(trimPossessive(word)) {
			return
		}
		eachRun(word, nil, func(part string) {
			if len(part) == len(word) || !look(part) {
				eachHump(part, func(hump string) {
					if len(hump) < len(part) {
						look(hump)
					}
				})
			}
		})
	})
}

// isJoint reports whether a character may stand inside a word.
func isJoint(r rune) bool { return r == '-' || r == '\'' || r == '’' }

func trimPossessive(word string) string {
	for _, end := range []string{"'s", "’s", "'S", "’S"} {
		if stem, ok := strings.CutSuffix(word, end); ok && stem != "" {
			return stem
		}
	}
	return word
}

// eachRun yields the runs of letters and digits in a text. A single joint, where joint is not nil,
// may stand inside a run. Runs longer than any word of the table are passed over.
func eachRun(text string, joint func(rune) bool, tell func(string)) {
	start, end, held := -1, 0, false // the run so far, and whether a joint follows it
	flush := func() {
		if start >= 0 && end-start <= maxWord {
			tell(text[start:end])
		}
		start, held = -1, false
	}
	for i, r := range text {
		switch {
		case isLetter(r):
			if start < 0 {
				start = i
			}
			end, held = i+utf8.RuneLen(r), false
		case start >= 0 && !held && joint != nil && joint(r):
			held = true
		default:
			flush()
		}
	}
	flush()
}

func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// eachHump yields the words of a name in camel case: "parseHTTPRequest2" is parse, HTTP, Request,
// 2.
func eachHump(name string, tell func(string)) {
	start := 0
	runes := []rune(name)
	at := 0 // the byte of runes[i]
	for i, r := range runes {
		if i > 0 && beginsHump(runes, i) {
			tell(name[start:at])
			start = at
		}
		at += utf8.RuneLen(r)
	}
	tell(name[start:])
}

func beginsHump(runes []rune, i int) bool {
	r, before := runes[i], runes[i-1]
	switch {
	case unicode.IsDigit(r) != unicode.IsDigit(before):
		return true
	case unicode.IsUpper(r) && !unicode.IsUpper(before):
		return true
	case unicode.IsUpper(before) && unicode.IsLower(r):
		return false
	}
	// The last capital of several begins the next word.
	return unicode.IsUpper(r) && unicode.IsUpper(before) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
}

// appendLower appends a word in lower case, with the apostrophe of typewriters.
func appendLower(dst []byte, word string) []byte {
	for _, r := range word {
		switch {
		case 'A' <= r && r <= 'Z':
			dst = append(dst, byte(r)+'a'-'A')
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case r == '’':
			dst = append(dst, '\'')
		default:
			dst = utf8.AppendRune(dst, unicode.ToLower(r))
		}
	}
	return dst
}
