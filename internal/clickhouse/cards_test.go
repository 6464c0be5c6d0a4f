package clickhouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/contextcards/cardstest"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

func TestCardsKeepTheContractOfStores(t *testing.T) {
	t.Parallel()
	cardstest.Store(t, func(t *testing.T) contextcards.Store { return clickhousetest.Cards(clickhousetest.Open(t)) })
}

// bothStores returns a store in ClickHouse and one in memory.
func bothStores(t *testing.T) (*clickhouse.DB, *clickhouse.Cards, *contextcards.Memory) {
	t.Helper()
	db := clickhousetest.Open(t)
	return db, clickhousetest.Cards(db), &contextcards.Memory{}
}

func putBoth(t *testing.T, a, b contextcards.Store, cards ...contextcards.Card) {
	t.Helper()
	require.NoError(t, a.Put(t.Context(), cards))
	require.NoError(t, b.Put(t.Context(), cards))
}

// TestRankIsThatOfMemory ranks random sessions in both stores. Many of the vectors are the same, so
// many similarities are, and many orders: the lists must be the same message for message, as a
// choice must not depend on which store was there.
func TestRankIsThatOfMemory(t *testing.T) {
	t.Parallel()
	_, stored, memory := bothStores(t)
	random := rand.New(rand.NewPCG(7, 5))
	prototypes := make([][]float32, 40)
	for i := range prototypes {
		prototypes[i] = make([]float32, 64)
		for j := range prototypes[i] {
			prototypes[i][j] = float32(random.NormFloat64())
		}
	}
	sessions := []string{"a", "b", "c"}
	for batch := range 12 {
		var cards []contextcards.Card
		for range 100 {
			c := cardstest.Card(sessions[random.IntN(3)], random.IntN(150))
			c.Order = random.IntN(60)
			c.GeneratedAt = c.GeneratedAt.Add(time.Duration(batch*1000+len(cards)) * time.Microsecond)
			switch random.IntN(8) {
			case 0:
				c.Embedding, c.EmbeddingModel = nil, ""
			case 1:
				c.EmbeddingModel = "another"
				fallthrough
			default:
				c.Embedding = prototypes[random.IntN(len(prototypes))]
			}
			cards = append(cards, c)
		}
		putBoth(t, stored, memory, cards...)
	}
	for _, session := range sessions {
		want, err := memory.Cards(t.Context(), session)
		require.NoError(t, err)
		got, err := stored.Cards(t.Context(), session)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for i := range got {
			want[i].Embedding = nil
		}
		got, err = stored.Summaries(t.Context(), session)
		require.NoError(t, err)
		require.Equal(t, want, got)
		for range 8 {
			query := prototypes[random.IntN(len(prototypes))]
			limit := 1 + random.IntN(160)
			for _, embedder := range []string{cardstest.Embedder, "another"} {
				want, err := memory.Rank(t.Context(), session, embedder, query, limit)
				require.NoError(t, err)
				got, err := stored.Rank(t.Context(), session, embedder, query, limit)
				require.NoError(t, err)
				require.Len(t, got, len(want))
				for i := range want {
					require.Equal(t, want[i].Hash, got[i].Hash, "place %d of %d", i, len(want))
					require.InDelta(t, want[i].Similarity, got[i].Similarity, 1e-6)
				}
			}
		}
	}
}

// TestCardsOfOddValues holds what the columns cannot have as it is, and vectors that have no
// direction.
func TestCardsOfOddValues(t *testing.T) {
	t.Parallel()
	_, stored, memory := bothStores(t)
	unknown := cardstest.Card("s", 1)
	unknown.GeneratedAt, unknown.MessageAt = time.Time{}, time.Time{}
	zeros := cardstest.Card("s", 2)
	zeros.Embedding = make([]float32, cardstest.Dimensions)
	asked := cardstest.Card("s", 3)
	putBoth(t, stored, memory, unknown, zeros, asked)
	asked.GeneratedAt, asked.Embedding = asked.GeneratedAt.Add(time.Second), nil // asked again, and there was nothing to embed
	putBoth(t, stored, memory, asked)
	want, err := memory.Cards(t.Context(), "s")
	require.NoError(t, err)
	got, err := stored.Cards(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, want, got)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, query := range [][]float32{cardstest.Vector(1), nil, {}, make([]float32, 8), {nan, 1, 0, 0, 0, 0, 0, 0}, {inf, 1, 0, 0, 0, 0, 0, 0}} {
		want, err := memory.Rank(t.Context(), "s", cardstest.Embedder, query, 9)
		require.NoError(t, err)
		got, err := stored.Rank(t.Context(), "s", cardstest.Embedder, query, 9)
		require.NoError(t, err)
		require.Len(t, got, len(want), "%v", query)
	}
}

// TestTheViewOfCards asks the view as a person would, and with FINAL, which it does not need.
func TestTheViewOfCards(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	cards := clickhousetest.Cards(db)
	old, bare := cardstest.Card("s", 1), cardstest.Card("s", 2)
	bare.Embedding, bare.EmbeddingModel, bare.Callout = nil, "", ""
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{old, bare}))
	late := old
	late.Summary, late.EmbeddingModel, late.Embedding, late.GeneratedAt = "Better.", "other@2", []float32{0, 1}, old.GeneratedAt.Add(time.Hour)
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{late}))
	for _, final := range []string{"", " FINAL"} {
		require.Equal(t, "summary | embedding | embedding_model | is_callout\nBetter. | [0,1] | other@2 | true\nSummary 2. | [] |  | false\n",
			result(t, db, "SELECT summary, embedding, embedding_model, is_callout FROM context_cards"+final+" WHERE session_id = 's' ORDER BY message_order"))
	}
	require.Equal(t, "2", scalar(t, db, "SELECT count() FROM context_embeddings"), "both embedders' vectors are there")
}

func TestCardsOpenTheirDatabaseWhenTheyAreUsed(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	var mu sync.Mutex
	away, opened := true, 0
	cards := clickhouse.NewCards(func(ctx context.Context) (*clickhouse.DB, error) {
		mu.Lock()
		defer mu.Unlock()
		opened++
		if away {
			return nil, errors.New("no ClickHouse today")
		}
		return clickhouse.Open(ctx, o)
	})
	require.Zero(t, opened)
	require.EqualError(t, cards.Put(t.Context(), []contextcards.Card{cardstest.Card("s", 1)}), "write 1 cards: no ClickHouse today")
	_, err := cards.Cards(t.Context(), "s")
	require.EqualError(t, err, "read the cards of session s: no ClickHouse today")
	_, err = cards.Rank(t.Context(), "s", cardstest.Embedder, cardstest.Vector(1), 1)
	require.EqualError(t, err, "rank the cards of session s: no ClickHouse today")
	away = false
	opened = 0
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = cards.Put(t.Context(), []contextcards.Card{cardstest.Card("s", i)}) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, 1, opened)
	list, err := cards.Summaries(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, list, 4)
	require.NoError(t, cards.Close())
	require.NoError(t, cards.Close(), "closing twice is harmless")
	require.EqualError(t, cards.Put(t.Context(), []contextcards.Card{cardstest.Card("s", 1)}), "write 1 cards: the card store is closed")
	require.NoError(t, cards.Put(t.Context(), nil), "nothing to write needs no database")
}

// TestCardsWaitNoLongerThanTheyMay holds the opening of the database up.
// TestCardsOpenADatabaseThatWasLostAgain loses the connections under each method: the call says so,
// and the next one opens the database again. One that is only too late loses nothing.
func TestCardsOpenADatabaseThatWasLostAgain(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	var opened []*clickhouse.DB
	cards := clickhouse.NewCards(func(ctx context.Context) (*clickhouse.DB, error) {
		db, err := clickhouse.Open(ctx, o)
		opened = append(opened, db)
		return db, err
	})
	t.Cleanup(func() { require.NoError(t, cards.Close()) })
	card := cardstest.Card("s", 1)
	uses := []func(context.Context) error{
		func(ctx context.Context) error { return cards.Put(ctx, []contextcards.Card{card}) },
		func(ctx context.Context) error { _, err := cards.Cards(ctx, "s"); return err },
		func(ctx context.Context) error {
			_, err := cards.Rank(ctx, "s", card.EmbeddingModel, card.Embedding, 5)
			return err
		},
	}
	for n, use := range uses {
		require.NoError(t, use(t.Context()))
		require.Len(t, opened, n+1)
		require.NoError(t, opened[n].Close())
		require.Error(t, use(t.Context()))
		require.Len(t, opened, n+1)
		require.NoError(t, use(t.Context()))
		require.Len(t, opened, n+2)
	}
	late, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, uses[0](late))
	require.NoError(t, uses[0](t.Context()))
	require.Len(t, opened, len(uses)+1)
}

func TestCardsWaitNoLongerThanTheyMay(t *testing.T) {
	t.Parallel()
	opening, release := make(chan struct{}), make(chan struct{})
	cards := clickhouse.NewCards(func(context.Context) (*clickhouse.DB, error) {
		close(opening)
		<-release
		return nil, errors.New("it never came")
	})
	first := make(chan error, 1)
	go func() { first <- cards.Put(context.Background(), []contextcards.Card{cardstest.Card("s", 1)}) }()
	<-opening
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the run ended"))
	_, err := cards.Rank(ctx, "s", cardstest.Embedder, cardstest.Vector(1), 1)
	require.EqualError(t, err, "rank the cards of session s: wait for ClickHouse to open: the run ended")
	close(release)
	require.EqualError(t, <-first, "write 1 cards: it never came")
	require.NoError(t, cards.Close())
}

// TestCardsSayWhatWentWrong takes the tables away.
func TestCardsSayWhatWentWrong(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	cards := clickhousetest.Cards(db)
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{cardstest.Card("s", 1)}))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the run ended"))
	_, err := cards.Cards(ctx, "s")
	require.EqualError(t, err, "read the cards of session s: the run ended")
	conn := clickhouse.Conn(db)
	require.NoError(t, conn.Exec(t.Context(), "DROP TABLE unified_embeddings SYNC"))
	_, err = cards.Cards(t.Context(), "s")
	require.ErrorContains(t, err, "read the embeddings of session s: ClickHouse error 60: ")
	_, err = cards.Rank(t.Context(), "s", cardstest.Embedder, slices.Repeat([]float32{0.123456}, 512), 1)
	require.ErrorContains(t, err, "rank the cards of session s: ClickHouse error 60: ")
	require.Less(t, len(err.Error()), 400, "the server repeats the query, with the whole vector in it")
	require.ErrorContains(t, cards.Put(t.Context(), []contextcards.Card{cardstest.Card("s", 1)}), "write 1 cards: ClickHouse error 60: ")
	require.NoError(t, conn.Exec(t.Context(), "DROP TABLE unified_cards SYNC"))
	_, err = cards.Summaries(t.Context(), "s")
	require.ErrorContains(t, err, "read the cards of session s: ClickHouse error 60: ")
}

// TestHalfAWriteIsCompletedByTheNext has the second of the two tables refuse: the cards stay what
// they were, and writing again mends it.
func TestHalfAWriteIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	cards, conn := clickhousetest.Cards(db), clickhouse.Conn(db)
	require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE unified_cards ADD CONSTRAINT none CHECK summary = ''"))
	list := []contextcards.Card{cardstest.Card("s", 1), cardstest.Card("s", 2)}
	require.ErrorContains(t, cards.Put(t.Context(), list), "write 2 cards: ClickHouse error 469: Constraint `none`")
	require.Equal(t, "2", scalar(t, db, "SELECT count() FROM unified_embeddings"))
	got, err := cards.Cards(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, got)
	require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE unified_cards DROP CONSTRAINT none"))
	require.NoError(t, cards.Put(t.Context(), list))
	got, err = cards.Cards(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, list, got)
}

func TestReaderSeesTheCardsOfItsOwnSession(t *testing.T) {
	t.Parallel()
	db, r := newReader(t)
	cards := clickhousetest.Cards(db)
	card := cardstest.Card("mine", 1)
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{card, cardstest.Card("other", 2)}))
	ask := func(query string) string {
		_, rows, err := r.Query(t.Context(), query)
		require.NoError(t, err)
		b, err := json.Marshal(rows)
		require.NoError(t, err)
		return string(b)
	}
	const all = "SELECT session_id, summary, length(embedding) FROM context_cards"
	require.Equal(t, `[["mine","Summary 1.",8]]`, ask(all))
	for _, table := range []string{"unified_cards", "unified_embeddings", "context_embeddings"} {
		require.Equal(t, `[["mine"]]`, ask("SELECT DISTINCT session_id FROM "+table))
	}
	card.Summary, card.GeneratedAt = "Better.", card.GeneratedAt.Add(time.Hour)
	card.EmbeddingModel, card.Embedding = "other@2", []float32{0, 1}
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{card}))
	require.Equal(t, `[["mine","Better.",2]]`, ask(all), "a card that was rebuilt is seen")
	require.Equal(t, `[[2]]`, ask("SELECT count() FROM context_embeddings"))
	_, _, err := r.Query(t.Context(), "SELECT * FROM "+db.Database()+".context_cards")
	require.ErrorContains(t, err, "Not enough privileges")
}

func TestCardsByHashJoinTheLog(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := texts("s", "the original", 2)
	card := cardstest.Card("s", 1)
	card.Hash = entries[0].Message.Hash()
	for _, e := range entries {
		e.ContentHash = card.Hash
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, clickhousetest.Cards(db).Put(t.Context(), []contextcards.Card{card}))
	require.Equal(t, "summary | content_text | n\nSummary 1. | the original | 2\n", result(t, db,
		`SELECT c.summary AS summary, l.content_text AS content_text, count() AS n
		 FROM context_cards AS c INNER JOIN unified_logs AS l ON c.session_id = l.session_id AND c.content_hash = l.content_hash
		 GROUP BY ALL`))
}
