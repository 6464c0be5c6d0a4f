package contextcards

import (
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Hashed embeds texts by spelling: signed feature hashing of each word's runs of three to five
// characters. It finds "migrations" by "migrate" in any language and forgives typing errors, but
// knows nothing of meaning. Use it where there is nothing better.
type Hashed struct{ dim int }

const (
	defaultDim = 256
	minGram    = 3 // characters
	maxGram    = 5
)

// NewHashed returns a hashing embedder with so many dimensions; 0: 256.
func NewHashed(dim int) Hashed {
	if dim <= 0 {
		dim = defaultDim
	}
	return Hashed{dim: dim}
}

const hashedName = "hashed-ngrams@"

// Name returns "hashed-ngrams@" and the number of dimensions.
func (h Hashed) Name() string { return fmt.Sprint(hashedName, h.dim) }

// BySpelling reports whether the embedder of this name compares spelling, and not meaning.
func BySpelling(embedder string) bool { return strings.HasPrefix(embedder, hashedName) }

// Embed returns a vector for each text, nil for one without words. It fails only when ctx ends.
func (h Hashed) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = h.vector(t)
	}
	return out, nil
}

func (h Hashed) vector(text string) []float32 {
	words, counts := distinct(text)
	sum := make([]float64, h.dim)
	for i, w := range words {
		// A word said often says little more, and a long one no more because it has more runs.
		weight := (1 + math.Log(float64(counts[i]))) / math.Sqrt(float64(utf8.RuneCountInString(w)))
		h.addWord(sum, w, weight)
	}
	vector := make([]float32, h.dim)
	for i, x := range sum {
		vector[i] = float32(x)
	}
	return Unit(vector)
}

// distinct returns the lower-case words of a text in order of first use, and their counts.
func distinct(text string) (words []string, counts []int) {
	index := map[string]int{}
	eachWord(text, func(w string, _ bool) {
		for part := range strings.FieldsFuncSeq(strings.ToLower(w), func(r rune) bool { return isJoint(r) || r == '_' }) {
			if stopWords[part] {
				continue
			}
			i, ok := index[part]
			if !ok {
				i = len(words)
				index[part] = i
				words, counts = append(words, part), append(counts, 0)
			}
			counts[i]++
		}
	})
	return words, counts
}

// addWord adds the runs of a word, whose beginning and end are marked.
func (h Hashed) addWord(sum []float64, word string, weight float64) {
	if len(word) > maxWord {
		word = head(word, maxWord)
	}
	marked := "<" + word + ">"
	for start := range marked {
		hash, n := uint64(fnvOffset), 0
		for i := start; i < len(marked) && n < maxGram; {
			_, size := utf8.DecodeRuneInString(marked[i:])
			for ; size > 0; size-- {
				hash = (hash ^ uint64(marked[i])) * fnvPrime
				i++
			}
			if n++; n >= minGram {
				place := mix(hash)
				sign := 1 - 2*float64(place>>63)
				sum[place%uint64(h.dim)] += sign * weight
			}
		}
	}
}

// FNV-1a, 64 bits.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mix spreads a hash over all its bits: those of FNV depend on few characters of a short run.
func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return h
}

// Unit scales a vector to length 1; nil for one without a direction: all zero, or not finite.
func Unit(v []float32) []float32 {
	length := math.Sqrt(dot(v, v))
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return nil
	}
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(float64(x) / length)
	}
	return out
}

// dot returns the product of two vectors of the same length.
func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
