package vectors

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
)

var _ contextcards.Embedder = (*Words)(nil)

func TestWordsOfAText(t *testing.T) {
	t.Parallel()
	table := madeOf("the", "user", "well", "formed", "well-known", "don't", "don", "parse", "http", "request", "2",
		"naïve", "日本", "github", "git", "hub", "o'brien", "utf", "8", "ünder").table(t)
	tests := map[string]string{
		"":                           "",
		"The THE the":                "the the the",
		"user's users’s user’s":      "user user", // "users" is not in the table
		"USER'S":                     "user",
		"well-formed, well-known":    "well formed well-known",
		"don't don’t":                "don't don't",
		"don'tx":                     "don",
		"O'Brien's":                  "o'brien",
		"parseHTTPRequest2":          "parse http request 2",
		"parse_http_request":         "parse http request",
		"GitHub":                     "github",
		"gitHubX":                    "git hub",
		"utf8":                       "utf 8",
		"--the--well--the-":          "the well the",
		"NAÏVE Ünder 日本":             "naïve ünder 日本",
		"unknown zzz":                "",
		"a\xff\xfethe\xff":           "the",
		strings.Repeat("x", 1000):    "",
		"the " + "http://user/2?the": "the http user 2 the",
	}
	for text, want := range tests {
		var got []string
		table.eachPlace(text, func(place int) { got = append(got, string(table.word(place))) })
		require.Equal(t, want, strings.Join(got, " "), text)
	}
}

func similarity(a, b []float32) float64 {
	sum := 0.0
	for d := range a {
		sum += float64(a[d]) * float64(b[d])
	}
	return sum
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	w := &Words{table: madeOf("the", "of", "lock", "user", "migration").table(t)}
	require.Equal(t, "words-100d@1", w.Name())
	v, err := w.Embed(t.Context(), []string{"the lock of the user", "the user of the lock", "", "nothing known", "lock lock", "lock"})
	require.NoError(t, err)
	require.Len(t, v, 6)
	for _, i := range []int{0, 1, 4, 5} {
		require.Len(t, v[i], 8)
		require.InDelta(t, 1, similarity(v[i], v[i]), 1e-5, "the length is 1")
	}
	require.InDelta(t, 1, similarity(v[0], v[1]), 1e-5, "the order of words is not seen")
	require.InDelta(t, 1, similarity(v[4], v[5]), 1e-5, "the length of a text is not seen")
	require.Nil(t, v[2])
	require.Nil(t, v[3])
	none, err := w.Embed(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

// A rare word decides, a frequent one hardly counts.
func TestFrequentWordsCountLess(t *testing.T) {
	t.Parallel()
	words := []string{"the"}
	for _, a := range "abcdefghijklmnopqrstuvwxyz" {
		for _, b := range "abcdefghijklmnopqrstuvwxyz" {
			words = append(words, "q"+string(a)+string(b))
		}
	}
	table := madeOf(append(words, "lock")...).table(t)
	both, lock, the := table.embed("the lock"), table.embed("lock"), table.embed("the")
	require.Greater(t, similarity(both, lock), 0.95)
	require.Greater(t, similarity(both, lock), similarity(both, the)+0.2)
}

func TestEmbedEndsWithItsContext(t *testing.T) {
	t.Parallel()
	w := &Words{table: madeOf("the").table(t)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.Embed(ctx, []string{"the"})
	require.ErrorIs(t, err, context.Canceled)
}

func FuzzEmbed(f *testing.F) {
	for _, s := range []string{"the user's parseHTTPRequest", "日本-’s", "a\xff'", "'", "A1B2-C3's"} {
		f.Add(s)
	}
	m := made{words: []string{"the", "user", "s", "a"}, vectors: [][]float64{{1, 0}, {0, 1}, {1, 1}, {-1, 2}}}
	f.Fuzz(func(t *testing.T, text string) {
		table := m.table(t)
		if v := table.embed(text); v != nil {
			require.InDelta(t, 1, similarity(v, v), 1e-4)
		}
		eachRun(text, isJoint, func(run string) {
			require.Contains(t, text, run)
			require.True(t, utf8.ValidString(run))
			whole := ""
			eachHump(run, func(hump string) { whole += hump })
			require.Equal(t, run, whole)
		})
	})
}
