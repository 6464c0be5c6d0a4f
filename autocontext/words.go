package autocontext

import (
	"math"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// The parameters of BM25 are the usual ones (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009).
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// terms returns the words of a text as they are compared: in lower case, stemmed, without the words that every text has.
// Paths and identifiers are one term as a whole and one for each of their parts, so that "Cause" finds "root_cause.go".
func terms(text string) []string { return stems{}.terms(text) }

// stems remembers the stems of words: a conversation uses the same ones over and over.
type stems map[string]string

func (m stems) of(word string) string {
	s, ok := m[word]
	if !ok {
		s = english.Stem(word, false)
		m[word] = s
	}
	return s
}

func (m stems) terms(text string) []string {
	var out []string
	for _, field := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./-", r)
	}) {
		field = strings.Trim(strings.ToLower(field), "_./-")
		parts := strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune("_./-", r) })
		if len(parts) > 1 && len(field) <= maxName {
			out = append(out, field)
		}
		for _, p := range parts {
			if _, stop := stopWords[p]; stop || len(p) > maxName {
				continue
			}
			out = append(out, m.of(p))
		}
	}
	return out
}

// stopWords are words without a meaning of their own. Measured on questions about long conversations, leaving them out
// finds as much more as stemming does.
var stopWords = set(`a about again all am an and any are as at be been being both but by can could d did do does doing don down each
few for from had has have having he her him his how i if in into is it its just ll m may me might more most must my no nor not of
on or other our out over own re s same shall she should so some such t than that the their them these they this those to too
under up us ve very was we were what when where which who whom why will with would you your`)

func set(words string) map[string]struct{} {
	m := map[string]struct{}{}
	for _, w := range strings.Fields(words) {
		m[w] = struct{}{}
	}
	return m
}

// wordIndex ranks texts by the words of a query, by BM25 with the collection itself as its statistics.
type wordIndex struct {
	postings map[string][]posting
	n        int
}

type posting struct {
	text   int
	weight float64
}

func newWordIndex(texts []string) *wordIndex {
	x := &wordIndex{postings: map[string][]posting{}, n: len(texts)}
	lengths := make([]float64, len(texts))
	total := 0.0
	known := stems{}
	for i, t := range texts {
		counts := map[string]int{}
		var order []string
		for _, w := range known.terms(t) {
			if counts[w] == 0 {
				order = append(order, w)
			}
			counts[w]++
			lengths[i]++
		}
		total += lengths[i]
		for _, w := range order {
			x.postings[w] = append(x.postings[w], posting{text: i, weight: float64(counts[w])})
		}
	}
	mean := max(total/float64(max(len(texts), 1)), 1)
	for _, list := range x.postings {
		df := float64(len(list))
		idf := math.Log(1 + (float64(x.n)-df+0.5)/(df+0.5))
		for i := range list {
			tf := list[i].weight
			list[i].weight = idf * tf * (bm25K1 + 1) / (tf + bm25K1*(1-bm25B+bm25B*lengths[list[i].text]/mean))
		}
	}
	return x
}

// scores returns the relevance of every text to the query; 0: no word in common.
func (x *wordIndex) scores(query string) []float64 {
	out := make([]float64, x.n)
	seen := map[string]bool{}
	for _, w := range terms(query) {
		if seen[w] {
			continue
		}
		seen[w] = true
		for _, p := range x.postings[w] {
			out[p.text] += p.weight
		}
	}
	return out
}
