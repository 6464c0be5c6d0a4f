package selection

import (
	"math"
	"slices"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/words"
)

// The usual parameters of BM25 (Robertson and Zaragoza, 2009).
const (
	bm25K1 = 1.2
	bm25B  = 0.75
)

// Index remembers the words of messages, which changes no choice. It belongs to one goroutine.
type Index struct {
	words *words.Lexicon
	bags  map[bagKey]bag
}

// bagKey says what was read: a card may change, and may be read without its message.
type bagKey struct {
	hash    echo.Hash
	message bool   // the words of the message itself
	summary string // "": not read
}

type bag struct {
	terms    []int32
	keywords []string // that were read, too
}

// NewIndex returns an index that has seen nothing yet.
func NewIndex() *Index { return &Index{words: words.New(), bags: map[bagKey]bag{}} }

// bagsOf returns the terms by which a group is found, for each of its cards: of the message and of
// the card, which alone finds less (docs/selection.md).
func (x *Index) bagsOf(g *Group) [][]int32 {
	out := make([][]int32, len(g.Cards))
	at := 0
	for i := range g.Cards {
		c := &g.Cards[i]
		for at < len(g.Items)-1 && g.Items[at].Message.Hash() != c.Hash {
			at++
		}
		key := bagKey{hash: c.Hash, message: at < len(g.Items) && g.Items[at].Message.Hash() == c.Hash, summary: c.Summary}
		if c.Generator == contextcards.GeneratorMessage && c.Role != echo.RoleTool {
			key.summary = "" // it is the message over again
		}
		b, known := x.bags[key]
		if !known || !slices.Equal(b.keywords, c.Keywords) {
			b = bag{keywords: c.Keywords}
			if key.message {
				b.terms = x.readMessage(g.Items[at].Message)
			}
			for _, text := range append([]string{key.summary}, c.Keywords...) {
				b.terms = x.words.Read(b.terms, text)
			}
			x.bags[key] = b
		}
		out[i] = b.terms
	}
	return out
}

func (x *Index) readMessage(m *echo.Message) []int32 {
	terms := x.words.Read(nil, m.Text())
	for _, call := range m.ToolCalls() {
		terms = x.words.Read(x.words.Read(terms, call.Name), call.Arguments)
	}
	return terms
}

// relevance returns the groups' BM25 relevance to a query; 0: no word in common.
func (x *Index) relevance(query string, groups []Group) []float64 {
	hits, lengths := x.hits(query, groups)
	having := map[int32]float64{} // groups, by term
	for _, h := range hits {
		having[h.term]++
	}
	n, total := float64(len(groups)), 0.0
	for _, l := range lengths {
		total += l
	}
	mean := max(total/max(n, 1), 1)
	out := make([]float64, len(groups))
	for _, h := range hits {
		idf := math.Log(1 + (n-having[h.term]+0.5)/(having[h.term]+0.5))
		out[h.group] += idf * h.count * (bm25K1 + 1) / (h.count + bm25K1*(1-bm25B+bm25B*lengths[h.group]/mean))
	}
	return out
}

// hit is a term of the query in a group that has it.
type hit struct {
	group int
	term  int32
	count float64
}

func (x *Index) hits(query string, groups []Group) (hits []hit, lengths []float64) {
	bags := make([][][]int32, len(groups))
	for i := range groups {
		bags[i] = x.bagsOf(&groups[i])
	}
	asked := x.words.Read(nil, query)
	isAsked := make([]bool, x.words.Len())
	for _, t := range asked {
		isAsked[t] = true
	}
	lengths = make([]float64, len(groups))
	counts := make([]float64, x.words.Len()) // of the group at hand
	for i := range groups {
		first := len(hits)
		for _, bag := range bags[i] {
			lengths[i] += float64(len(bag))
			for _, t := range bag {
				if !isAsked[t] {
					continue
				}
				if counts[t] == 0 {
					hits = append(hits, hit{group: i, term: t})
				}
				counts[t]++
			}
		}
		for k := first; k < len(hits); k++ {
			hits[k].count, counts[hits[k].term] = counts[hits[k].term], 0
		}
	}
	return hits, lengths
}
