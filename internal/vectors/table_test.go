package vectors

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What was converted is found again, each word at its place, its vector as near as eight bits
// allow.
func TestConvertKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	m := madeOf("the", ",", "don't", `"`, "naïve", "\\", "well-known", "日本")
	table := m.table(t)
	for i, word := range m.words {
		require.Equal(t, i, table.place([]byte(word)), word)
		got := make([]float32, table.dims)
		table.add(got, i, 1)
		largest := 0.0
		for _, x := range m.vectors[i] {
			largest = max(largest, math.Abs(x))
		}
		for d, x := range m.vectors[i] {
			require.InDelta(t, x, got[d], largest/254+1e-6)
		}
	}
	require.Equal(t, -1, table.place([]byte("missing")))
	require.Equal(t, -1, table.place(nil))
}

func TestMeanIsWhatAWordContributes(t *testing.T) {
	t.Parallel()
	m := madeOf("a", "b", "c")
	table := m.table(t)
	l := newLaw(3)
	for d := range table.dims {
		sum, mass := 0.0, 0.0
		for i := range m.words {
			p := l.frequency(i)
			sum, mass = sum+p*weightOf(p)*m.vectors[i][d], mass+p*weightOf(p)
		}
		require.InDelta(t, sum/mass, table.mean[d], 1e-5)
	}
}

// The frequencies of all words sum up to 1, fall with the rank, and the weights rise.
func TestLaw(t *testing.T) {
	t.Parallel()
	for _, n := range []int{100, 10000, 341479} {
		l := newLaw(n)
		sum := 0.0
		for i := range n {
			sum += l.frequency(i)
			if i > 0 && (l.frequency(i) >= l.frequency(i-1) || weightOf(l.frequency(i)) <= weightOf(l.frequency(i-1))) {
				t.Fatalf("of %d words, number %d is not rarer than the one before", n, i)
			}
		}
		require.InDelta(t, 1, sum, 0.01, n)
	}
	require.InDelta(t, 0.5, weightOf(smoothing), 1e-12)
}

// Every word of a large random table is found, and no other.
func TestPlaces(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	seen := map[string]bool{}
	var words []string
	for len(words) < 5000 {
		w := fmt.Sprintf("%x", r.IntN(1<<20))
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	table := madeOf(words...).table(t)
	for i, w := range words {
		require.Equal(t, i, table.place([]byte(w)))
	}
	for range 5000 {
		if w := fmt.Sprintf("%x", r.IntN(1<<20)); !seen[w] {
			require.Equal(t, -1, table.place([]byte(w)))
		}
	}
}

func TestDamagedTables(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, convert(strings.NewReader(madeOf("the", "lock").json(t)), &out))
	whole := out.Bytes()
	for i := range whole {
		broken := bytes.Clone(whole)
		broken[i] ^= 0x41
		_, err := readTable(broken)
		require.ErrorIs(t, err, errDamaged, "byte %d", i)
		_, err = readTable(whole[:i])
		require.ErrorIs(t, err, errDamaged, "%d bytes", i)
	}
	_, err := readTable(append(bytes.Clone(whole), 0))
	require.EqualError(t, err, fmt.Sprintf("the table of word vectors is damaged: it has %d bytes, expected %d", len(whole)+1, len(whole)))
	_, err = readTable([]byte("<html>"))
	require.EqualError(t, err, "the table of word vectors is damaged: it does not begin like one")
}

// A file that is not like the published one is refused, with its place and what is wrong.
func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	const head = `{"size":2,"dimensions":1,"l2NormIndex":1,"wordIndex":2,`
	tests := map[string]struct{ file, want string }{
		"nothing":       {"", "near byte 0: unexpected EOF"},
		"no object":     {"[]", "[ where an object is expected"},
		"no vectors":    {`{}`, "it has no vectors"},
		"no head":       {`{"vectors":{}}`, "its size is 0"},
		"huge":          {`{"size":1e12,"vectors":{}}`, "its size is 1e+12"},
		"no dimensions": {`{"size":1,"vectors":{}}`, "it has 0 dimensions"},
		"half a word":   {`{"size":1,"dimensions":1.5,"vectors":{}}`, "it has 1.5 dimensions"},
		"too many":      {`{"size":1e6,"dimensions":1000,"vectors":{}}`, "it has 1e+06 words of 1000 dimensions"},
		"other order":   {`{"size":1,"dimensions":1,"l2NormIndex":0,"wordIndex":2,"vectors":{}}`, "a word's numbers are in another order"},
		"broken off":    {head + `"vectors":{"a":[1,1,0]`, "unexpected EOF"},
		"too few words": {head + `"vectors":{"a":[1,1,0]}}`, "it has 1 words, 2 were announced"},
		"twice":         {head + `"vectors":{"a":[1,1,0],"b":[1,1,1]},"vectors":{}}`, "it has vectors twice"},
		"same place":    {head + `"vectors":{"a":[1,1,0],"b":[1,1,0]}}`, `"a" and "b" are at the same place`},
		"no place":      {head + `"vectors":{"a":[1,1,2]}}`, `the place of "a" is 2, of 2 words`},
		"half a place":  {head + `"vectors":{"a":[1,1,0.5]}}`, `the place of "a" is 0.5, of 2 words`},
		"no word":       {head + `"vectors":{"":[1,1,0]}}`, "the word at place 0 has 0 bytes"},
		"long word":     {head + `"vectors":{"` + strings.Repeat("x", 256) + `":[1,1,0]}}`, "the word at place 0 has 256 bytes"},
		"endless word":  {head + `"vectors":{"` + strings.Repeat("x", 2*maxValue) + `":[1,1,0]}}`, "a value has no end"},
		"too short":     {head + `"vectors":{"a":[1,1]}}`, `"a" has 2 numbers, expected 3`},
		"too long":      {head + `"vectors":{"a":[1,1,0,0]}}`, `"a" has 4 numbers, expected 3`},
		"no number":     {head + `"vectors":{"a":[-,1,0]}}`, `read the numbers of "a": invalid character ',' in numeric literal`},
		"too large":     {head + `"vectors":{"a":[1e999,1,0]}}`, `read the numbers of "a": json: cannot unmarshal number 1e999`},
		"a word":        {head + `"vectors":{"a":[true,1,0]}}`, `read the numbers of "a": json: cannot unmarshal bool`},
		"null":          {head + `"vectors":{"a":[1,null,0]}}`, `"a" has null among its numbers`},
		"no numbers":    {head + `"vectors":{"a":null}}`, `"a" has 0 numbers, expected 3`},
		"endless":       {head + `"vectors":{"a":[` + strings.Repeat("1", 2*maxValue) + `]}}`, "a value has no end"},
		"no comma":      {head + `"vectors":{"a":[1 1 0]}}`, `read the numbers of "a": invalid character '1' after array element`},
		"bad escape":    {head + `"vectors":{"\x":[1,1,0]}}`, "invalid character 'x' in string escape code"},
		"nested":        {`{"more":{"a":1},"vectors":{}}`, `"more" is no number, no string, and no array of them`},
		"nested twice":  {`{"more":[[1]],"vectors":{}}`, `"more" is no number, no string, and no array of them`},
		"nothing said":  {`{"size":null,"vectors":{}}`, `"size" is no number, no string, and no array of them`},
		"endless space": {`{"size":` + strings.Repeat(" ", 2*maxValue) + `1}`, "a value has no end"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := convert(strings.NewReader(tt.file), &out)
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, out.Bytes(), "nothing is written of a file that is refused")
		})
	}
}

type brokenWriter struct{ left int }

var errFull = errors.New("the disk is full")

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

func TestConvertTellsOfAFullDisk(t *testing.T) {
	t.Parallel()
	require.ErrorIs(t, convert(strings.NewReader(madeOf("a").json(t)), &brokenWriter{10}), errFull)
}

var largeNumber = regexp.MustCompile(`[0-9]{5}|[0-9.][eE]`)

func FuzzConvert(f *testing.F) {
	f.Add(`{"size":1,"dimensions":1,"l2NormIndex":1,"wordIndex":2,"words":["a"],"vectors":{"a":[0.5,0.5,0]},"unkVector":[0]}`)
	f.Add(`{"size":2,"dimensions":1,"l2NormIndex":1,"wordIndex":2, "vectors" : {"a":[1,1,1],"\u00e9":[-2e-1,1,0]}}`)
	f.Fuzz(func(t *testing.T, file string) {
		if largeNumber.MatchString(file) {
			return // a large size only makes a large table
		}
		var out bytes.Buffer
		if convert(strings.NewReader(file), &out) == nil {
			_, err := readTable(out.Bytes())
			require.NoError(t, err)
		}
	})
}
