// Package cardstest holds implementations of contextcards.Store to their contract.
package cardstest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Embedder is the name of the embedder that the cards of these tests have vectors of, and
// Dimensions their length.
const (
	Embedder   = "test-model@8"
	Dimensions = 8
)

// tolerance is how much a similarity may be off: stores count in 32 bits.
const tolerance = 1e-5

// Store runs the contract's tests. open returns an empty store each time; it ends the test when it
// cannot.
func Store(t *testing.T, open func(t *testing.T) contextcards.Store) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(*testing.T, contextcards.Store)
	}{
		{"keeps every field", keepsEveryField},
		{"keeps hostile text", keepsHostileText},
		{"has nothing of a session that it does not know", unknownSession},
		{"takes an empty list", emptyList},
		{"returns cards by their order, then by hash", order},
		{"keeps sessions apart", sessionsApart},
		{"takes the same card again", sameAgain},
		{"takes a newer card in the place of an older one", newerWins},
		{"does not take an older card in the place of a newer one", olderLoses},
		{"keeps embeddings of several embedders side by side", embeddersApart},
		{"keeps an embedding when a card without one follows", embeddingStays},
		{"takes a newer embedding in the place of an older one", newerEmbedding},
		{"ranks by cosine", ranks},
		{"ranks equal cards by their order, then by hash", ranksTies},
		{"ranks at most limit", ranksLimit},
		{"leaves out vectors of another length", otherLength},
		{"ranks nothing by a vector without direction", noDirection},
		{"does not heed the length of a vector", scaled},
		{"is safe for concurrent use", concurrent},
		{"ranks random sessions as memory does", randomSessions},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
}

var born = time.Date(2026, 3, 14, 9, 26, 53, 589793000, time.UTC)

// Card returns a card of a session with everything set. Its hash and vector follow from n.
func Card(session string, n int) contextcards.Card {
	return contextcards.Card{
		SessionID: session, Hash: Hash(n), Summary: fmt.Sprintf("Summary %d.", n), Keywords: []string{"path/to.go", fmt.Sprintf("word%d", n)},
		Embedding: Vector(n), EmbeddingModel: Embedder, Tokens: int64(100 + n), Role: echo.RoleAssistant,
		Phase: "research", Visit: 1, Attempt: 2, Turn: 3, Order: n, Callout: "finding", Anchor: true,
		GeneratedAt: born, Generator: "small-model", MessageAt: born.Add(-time.Minute),
	}
}

// Hash returns the hash of the message with number n.
func Hash(n int) echo.Hash { return echo.Hash(fmt.Sprintf("%016x", n)) }

// Vector returns a vector of unit length.
func Vector(n int) []float32 {
	v := make([]float32, Dimensions)
	v[n%Dimensions], v[(n+1)%Dimensions] = 0.6, 0.8
	return v
}

func put(t *testing.T, s contextcards.Store, cards ...contextcards.Card) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), cards))
}

func cards(t *testing.T, s contextcards.Store, session string) []contextcards.Card {
	t.Helper()
	list, err := s.Cards(t.Context(), session)
	require.NoError(t, err)
	return list
}

func rank(t *testing.T, s contextcards.Store, embedder string, vector []float32, limit int) []contextcards.Ranked {
	t.Helper()
	list, err := s.Rank(t.Context(), "s", embedder, vector, limit)
	require.NoError(t, err)
	return list
}

func hashes(list []contextcards.Ranked) []echo.Hash {
	var out []echo.Hash
	for _, r := range list {
		out = append(out, r.Hash)
	}
	return out
}

func keepsEveryField(t *testing.T, s contextcards.Store) {
	full := Card("s", 1)
	bare := contextcards.Card{
		SessionID: "s", Hash: Hash(2), Summary: "x", Role: echo.RoleTool, Order: 2, GeneratedAt: born, Generator: "shape", MessageAt: born,
	}
	put(t, s, full, bare)
	list := cards(t, s, "s")
	require.Len(t, list, 2)
	require.Equal(t, full, list[0])
	require.Empty(t, list[1].Keywords)
	require.Empty(t, list[1].Embedding)
	list[1].Keywords, list[1].Embedding = nil, nil
	require.Equal(t, bare, list[1])
}

func keepsHostileText(t *testing.T, s contextcards.Store) {
	for i, text := range []string{"'; DROP TABLE context_cards; --", "a\\'b\"c`d", "{{ x }} ${y} %s \\N", "日本語 🦀", "tab\tnew\nline", ""} {
		c := Card("s", i)
		c.Summary, c.Keywords, c.Callout, c.Phase = text, []string{text, "end"}, text, text
		put(t, s, c)
		require.Equal(t, c, cards(t, s, "s")[i], "%q", text)
	}
	session := "it's; --\\"
	c := Card(session, 1)
	put(t, s, c)
	require.Equal(t, []contextcards.Card{c}, cards(t, s, session))
}

func unknownSession(t *testing.T, s contextcards.Store) {
	put(t, s, Card("other", 1))
	require.Empty(t, cards(t, s, "s"))
	require.Empty(t, rank(t, s, Embedder, Vector(1), 10))
}

func emptyList(t *testing.T, s contextcards.Store) {
	put(t, s)
	require.Empty(t, cards(t, s, "s"))
}

func order(t *testing.T, s contextcards.Store) {
	same := Card("s", 4)
	same.Order = 2
	put(t, s, Card("s", 3), same, Card("s", 1))
	put(t, s, Card("s", 2))
	var got []echo.Hash
	for _, c := range cards(t, s, "s") {
		got = append(got, c.Hash)
	}
	require.Equal(t, []echo.Hash{Hash(1), Hash(2), Hash(4), Hash(3)}, got)
}

func sessionsApart(t *testing.T, s contextcards.Store) {
	a, b := Card("s", 1), Card("t", 1)
	b.Summary, b.Embedding = "Of t.", Vector(5)
	put(t, s, a, b)
	require.Equal(t, []contextcards.Card{a}, cards(t, s, "s"))
	require.Equal(t, []contextcards.Card{b}, cards(t, s, "t"))
	require.InDelta(t, 1, rank(t, s, Embedder, Vector(1), 10)[0].Similarity, tolerance)
}

func sameAgain(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	put(t, s, c, c)
	put(t, s, c)
	require.Equal(t, []contextcards.Card{c}, cards(t, s, "s"))
	require.Len(t, rank(t, s, Embedder, Vector(1), 10), 1)
}

func newer(c contextcards.Card) contextcards.Card {
	c.Summary, c.GeneratedAt = c.Summary+" Newer.", c.GeneratedAt.Add(time.Microsecond)
	return c
}

func newerWins(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	put(t, s, c)
	put(t, s, newer(c))
	require.Equal(t, []contextcards.Card{newer(c)}, cards(t, s, "s"))
}

func olderLoses(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	put(t, s, newer(c))
	put(t, s, c)
	require.Equal(t, []contextcards.Card{newer(c)}, cards(t, s, "s"))
	d := Card("s", 2)
	put(t, s, newer(d), d) // in one write, too
	require.Equal(t, []contextcards.Card{newer(c), newer(d)}, cards(t, s, "s"))
}

func embeddersApart(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	other := newer(c)
	other.EmbeddingModel, other.Embedding = "longer-model@12", append(make([]float32, 11), 1)
	put(t, s, c)
	put(t, s, other)
	require.Equal(t, []contextcards.Card{other}, cards(t, s, "s"), "one card, as it was last written")
	require.Len(t, rank(t, s, Embedder, Vector(1), 10), 1)
	require.Len(t, rank(t, s, "longer-model@12", other.Embedding, 10), 1)
	require.Empty(t, rank(t, s, "no-such-model@8", Vector(1), 10))
}

func embeddingStays(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	put(t, s, c)
	bare := newer(c)
	bare.Embedding, bare.EmbeddingModel = nil, ""
	put(t, s, bare)
	require.Len(t, rank(t, s, Embedder, Vector(1), 10), 1)
	require.Empty(t, cards(t, s, "s")[0].Embedding)
}

func newerEmbedding(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	next := newer(c)
	next.Embedding = Vector(5)
	put(t, s, next)
	put(t, s, c)
	list := rank(t, s, Embedder, Vector(5), 10)
	require.Len(t, list, 1)
	require.InDelta(t, 1, list[0].Similarity, tolerance)
}

func ranks(t *testing.T, s contextcards.Store) {
	query := make([]float32, Dimensions)
	query[0] = 1
	want := []struct {
		x, y       float32
		similarity float64
	}{{1, 0, 1}, {0.8, 0.6, 0.8}, {0, 1, 0}, {-0.6, 0.8, -0.6}, {-1, 0, -1}}
	for i, w := range want {
		c := Card("s", 10-i)
		c.Embedding = make([]float32, Dimensions)
		c.Embedding[0], c.Embedding[1] = w.x, w.y
		put(t, s, c)
	}
	bare := Card("s", 1)
	bare.Embedding, bare.EmbeddingModel = nil, ""
	put(t, s, bare)
	list := rank(t, s, Embedder, query, 10)
	require.Len(t, list, len(want), "a card without a vector is left out")
	for i, w := range want {
		require.Equal(t, Hash(10-i), list[i].Hash)
		require.InDelta(t, w.similarity, list[i].Similarity, tolerance)
	}
}

func ranksTies(t *testing.T, s contextcards.Store) {
	for _, n := range []int{5, 3, 9} {
		c := Card("s", n)
		c.Embedding = Vector(1)
		put(t, s, c)
	}
	same := Card("s", 7)
	same.Embedding, same.Order = Vector(1), 5
	put(t, s, same)
	require.Equal(t, []echo.Hash{Hash(3), Hash(5), Hash(7), Hash(9)}, hashes(rank(t, s, Embedder, Vector(1), 10)))
	require.Equal(t, []echo.Hash{Hash(3), Hash(5)}, hashes(rank(t, s, Embedder, Vector(1), 2)))
}

func ranksLimit(t *testing.T, s contextcards.Store) {
	for n := range 5 {
		put(t, s, Card("s", n))
	}
	require.Len(t, rank(t, s, Embedder, Vector(1), 2), 2)
	require.Len(t, rank(t, s, Embedder, Vector(1), 5), 5)
	require.Empty(t, rank(t, s, Embedder, Vector(1), 0))
}

func otherLength(t *testing.T, s contextcards.Store) {
	c := Card("s", 1)
	c.Embedding = []float32{1, 0}
	put(t, s, c, Card("s", 2))
	require.Equal(t, []echo.Hash{Hash(2)}, hashes(rank(t, s, Embedder, Vector(1), 10)))
	require.Equal(t, []echo.Hash{Hash(1)}, hashes(rank(t, s, Embedder, []float32{0, 1}, 10)))
}

func noDirection(t *testing.T, s contextcards.Store) {
	put(t, s, Card("s", 1))
	require.Empty(t, rank(t, s, Embedder, make([]float32, Dimensions), 10))
	require.Empty(t, rank(t, s, Embedder, nil, 10))
}

func scaled(t *testing.T, s contextcards.Store) {
	put(t, s, Card("s", 1))
	long := Vector(1)
	for i := range long {
		long[i] *= 1000
	}
	require.InDelta(t, 1, rank(t, s, Embedder, long, 10)[0].Similarity, tolerance)
}

func concurrent(t *testing.T, s contextcards.Store) {
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() {
			for n := range 5 {
				if err := s.Put(t.Context(), []contextcards.Card{Card("s", n), Card("s", 100*i+n)}); err != nil {
					errs[i] = err
				}
				if _, err := s.Cards(t.Context(), "s"); err != nil {
					errs[i] = err
				}
				if _, err := s.Rank(t.Context(), "s", Embedder, Vector(n), 3); err != nil {
					errs[i] = err
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, cards(t, s, "s"), 8*5)
}

// randomSessions holds a store against the one in memory: a choice must not depend on which of them
// was there.
func randomSessions(t *testing.T, s contextcards.Store) {
	random := rand.New(rand.NewPCG(4, 2))
	memory := &contextcards.Memory{}
	var all []contextcards.Card
	for n := range 300 {
		c := Card("s", random.IntN(200)) // some again
		c.Order = random.IntN(150)
		c.GeneratedAt = born.Add(time.Duration(n) * time.Microsecond)
		c.Embedding = randomVector(random)
		if n%9 == 0 {
			c.Embedding, c.EmbeddingModel = nil, ""
		}
		all = append(all, c)
	}
	put(t, memory, all...)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for len(all) > 0 {
		n := min(1+random.IntN(60), len(all))
		put(t, s, all[:n]...)
		all = all[n:]
	}
	require.Equal(t, cards(t, memory, "s"), cards(t, s, "s"))
	vectors := map[echo.Hash][]float32{}
	places := map[echo.Hash]int{}
	for _, c := range cards(t, memory, "s") {
		vectors[c.Hash], places[c.Hash] = c.Embedding, c.Order
	}
	for range 20 {
		query, limit := randomVector(random), 1+random.IntN(250)
		want, got := rank(t, memory, Embedder, query, limit), rank(t, s, Embedder, query, limit)
		require.Len(t, got, len(want))
		for i := range want {
			require.InDelta(t, want[i].Similarity, got[i].Similarity, tolerance, "place %d", i)
			if i > 0 && slices.Equal(vectors[got[i-1].Hash], vectors[got[i].Hash]) {
				require.LessOrEqual(t, places[got[i-1].Hash], places[got[i].Hash], "equal vectors by their order")
			}
			// Only what differs by less than stores can tell may stand in another order.
			if i+1 < len(want) && apart(want, i) {
				require.Equal(t, want[i].Hash, got[i].Hash, "place %d", i)
			}
		}
	}
}

// apart reports whether a similarity differs from its neighbours, so that its place is certain.
func apart(list []contextcards.Ranked, i int) bool {
	near := func(j int) bool {
		return j >= 0 && j < len(list) && math.Abs(list[i].Similarity-list[j].Similarity) < 2*tolerance
	}
	return !near(i-1) && !near(i+1)
}

// randomVector returns a vector of small whole numbers, so that many cards have the same.
func randomVector(random *rand.Rand) []float32 {
	v := make([]float32, Dimensions)
	for i := range 5 {
		v[i] = float32(random.IntN(3) - 1)
	}
	v[Dimensions-1] = 2
	return v
}
