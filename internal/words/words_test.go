package words

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// termsOf returns the terms of a text as words.
func termsOf(text string) []string {
	l := New()
	read := l.Read(nil, text)
	names := make([]string, len(l.terms))
	for name, n := range l.terms {
		names[n] = name
	}
	out := []string{}
	for _, t := range read {
		out = append(out, names[t])
	}
	return out
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                              "",
		"The cause was in the cache.":   "caus cach",
		"Caches, caching; CACHED!":      "cach cach cach",
		"she doesn't know what it's to": "doesn know",
		"Caroline's plans":              "carolin plan",
		"see root_cause.go":             "see root caus go root_cause.go",
		"rootCause":                     "root caus rootcaus",
		"HTTPServer and XMLv2":          "httpserver xmlv2",
		"a/b-c.d":                       "b c a/b-c.d", // "a" and "d" say nothing
		"...--- /etc/ -v":               "etc v",
		"end. Begin":                    "end begin",
		"v1.2.3":                        "v1 2 3 v1.2.3",
		"error 404":                     "error 404",
		"Größe der Änderung":            "größe der änderung",
		"ПРИВЕТ мир":                    "привет мир",
		"नमस्ते दुनिया":                 "नमस्ते दुनिया", // vowel signs belong to the word
		"東京都 に":                         "東京 京都 に",
		"abc東京":                         "abc 東京",
		"東京abc":                         "東京 abc",
		"日":                             "日",
		"a\x00b\xffc \u2028 word":       "b c word",
		strings.Repeat("x", 81):         "",
		strings.Repeat("x", 80):         strings.Repeat("x", 80),
	} {
		require.Equal(t, strings.Fields(want), termsOf(text), "%q", text)
	}
}

// A query and a message are read alike, however the words are written.
func TestTermsMeet(t *testing.T) {
	t.Parallel()
	meet := func(a, b string) bool {
		l := New()
		in := map[int32]bool{}
		for _, n := range l.Read(nil, a) {
			in[n] = true
		}
		for _, n := range l.Read(nil, b) {
			if in[n] {
				return true
			}
		}
		return false
	}
	for _, pair := range [][2]string{
		{"Cause", "root_cause.go"},
		{"cause", "rootCause()"},
		{"root_cause.go", "open root_cause.go now"},
		{"rootCause", "ROOTCAUSE"},
		{"paintings", "I painted it"},
		{"src/main.go", "the file main.go"},
		{"京都", "東京都です"},
	} {
		require.True(t, meet(pair[0], pair[1]), "%q", pair)
	}
	for _, pair := range [][2]string{{"the cause", "the effect"}, {"what is it", "it is what it is"}, {"cat", "concatenate"}} {
		require.False(t, meet(pair[0], pair[1]), "%q", pair)
	}
}

// What is read of a text is bounded, whatever it is.
func TestTermsOfLongTexts(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{"word ", "x", "_", "東", "a_", "aB", "é", "\xff"} {
		got := termsOf(strings.Repeat(unit, 1<<20/len(unit)))
		require.LessOrEqual(t, len(got), maxIndexed+1, "%q", unit)
		for _, w := range got {
			require.LessOrEqual(t, len(w), maxWord)
		}
	}
	require.Equal(t, []string{"earli"}, termsOf("early "+strings.Repeat("\n", maxIndexed)+"late"))
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"root_cause.go rootCause HTTPServer", "東京都abc.東", "a\xff_b", "x.-/_", "नमस्ते", "yyy's sses ied"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := termsOf(text)
		require.LessOrEqual(t, len(words), 2*len(text)+1)
		for _, w := range words {
			require.NotEmpty(t, w)
			require.True(t, utf8.ValidString(w), "%q", w)
			require.LessOrEqual(t, len(w), 2*maxWord, "%q", w)
		}
		l := New()
		first := l.Read(nil, text)
		require.Equal(t, first, l.Read(nil, text), "what was seen before changes nothing")
	})
}
