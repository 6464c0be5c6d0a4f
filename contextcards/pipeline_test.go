package contextcards_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// double stands for a summarizer, an embedder and a store. What it does in a call is what behave
// says; nil: it works.
type double struct {
	contextcards.Memory

	mu      sync.Mutex
	behave  func(ctx context.Context) error
	reject  func([]contextcards.Card) error // of Put
	name    string
	batches []int // sizes of the calls
	seen    map[echo.Hash]int
	ranks   int
}

func (d *double) set(behave func(context.Context) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.behave = behave
}

func (d *double) call(ctx context.Context, n int) error {
	d.mu.Lock()
	d.batches = append(d.batches, n)
	behave := d.behave
	d.mu.Unlock()
	if behave == nil {
		return nil
	}
	return behave(ctx)
}

func (d *double) calls() []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]int{}, d.batches...)
}

func (d *double) Name() string {
	if d.name != "" {
		return d.name
	}
	return "double"
}

func (d *double) Summarize(ctx context.Context, sources []contextcards.Source) ([]string, error) {
	if err := d.call(ctx, len(sources)); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, s := range sources {
		if d.seen == nil {
			d.seen = map[echo.Hash]int{}
		}
		d.seen[s.Message.Hash()]++
		out = append(out, "Model: "+s.Message.Text()[:20])
	}
	return out, nil
}

func (d *double) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if err := d.call(ctx, len(texts)); err != nil {
		return nil, err
	}
	return contextcards.NewHashed(16).Embed(ctx, texts)
}

func (d *double) Put(ctx context.Context, cards []contextcards.Card) error {
	if err := d.call(ctx, len(cards)); err != nil {
		return err
	}
	d.mu.Lock()
	reject := d.reject
	d.mu.Unlock()
	if reject != nil {
		if err := reject(cards); err != nil {
			return err
		}
	}
	return d.Memory.Put(ctx, cards)
}

func (d *double) Rank(ctx context.Context, session, embedder string, vector []float32, limit int) ([]contextcards.Ranked, error) {
	d.mu.Lock()
	d.ranks++
	d.mu.Unlock()
	if err := d.call(ctx, 0); err != nil {
		return nil, err
	}
	return d.Memory.Rank(ctx, session, embedder, vector, limit)
}

func (d *double) stored(t *testing.T, session string) []contextcards.Card {
	t.Helper()
	list, err := d.Cards(t.Context(), session)
	require.NoError(t, err)
	return list
}

// The ways in which a component can misbehave.
var (
	errAway = errors.New("connection refused")

	failing  = func(context.Context) error { return errAway }
	panicked = func(context.Context) error { panic("out of order") }
	slow     = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	// deaf does not heed its context, either.
	deaf = func(context.Context) error { time.Sleep(24 * time.Hour); return nil }
)

// heard collects notices.
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) notice(kind contextcards.NoticeKind, detail string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, string(kind)+": "+detail)
}

func (h *heard) all() []string {
	synctest.Wait() // they are told by a goroutine of their own
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.list...)
}

// long returns a message that a summarizer is asked about.
func long(n int) *echo.Message { return user(fmt.Sprintf("Message %d of many. ", n) + report) }

func source(n int, m *echo.Message) contextcards.Source {
	return contextcards.Source{SessionID: "s", Message: m, Phase: "research", Visit: 1, Attempt: 1, Turn: n, Order: n, At: noon}
}

func longs(n int) []contextcards.Source {
	var list []contextcards.Source
	for i := range n {
		list = append(list, source(i+1, long(i+1)))
	}
	return list
}

// start starts a pipeline that ends with the test, also with one that fails.
func start(t *testing.T, o contextcards.Options) *contextcards.Pipeline {
	t.Helper()
	p := contextcards.Start(o)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.Close(ctx) // most tests have closed it, and looked at what it says
	})
	return p
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestPipelineMakesAndDeliversCards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum, emb, store, told := &double{name: "small-model"}, &double{}, &double{}, &heard{}
		p := start(t, contextcards.Options{Summarizer: sum, Embedder: emb, Store: store, Notice: told.notice})
		list := append(longs(20), source(21, user("Short.")), source(22, result("bash", "ok", false)))
		for _, s := range list {
			p.Add(s)
			p.Add(s)
		}
		p.Add(source(23, echo.NewText(echo.RoleSystem, echo.KindSystem, "not worth one")))
		cards, late := p.Wait(within(t, 5*time.Second), list)
		require.Zero(t, late)
		require.Len(t, cards, 22)
		for i, c := range cards {
			require.Equal(t, list[i].Message.Hash(), c.Hash)
			require.Equal(t, i+1, c.Order)
			require.Len(t, c.Embedding, 16)
			require.Equal(t, "double", c.EmbeddingModel)
			require.False(t, c.Late)
		}
		require.Equal(t, "Model: Message 1 of many. S", cards[0].Summary)
		require.Equal(t, "small-model", cards[0].Generator)
		require.Equal(t, "Short.", cards[20].Summary)
		require.ElementsMatch(t, []int{8, 8, 4}, sum.calls(), "at most 8 in one request, each message once")
		require.NoError(t, p.Close(within(t, time.Second)))
		require.Equal(t, cards, store.stored(t, "s"))
		require.Empty(t, told.all())
	})
}

// Cards are made when messages pause, so that they take nothing from a turn; but no message waits
// for a pause that does not come, and not too many wait at once.
func TestCardsAreMadeInThePausesOfARun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		emb := &double{}
		p := start(t, contextcards.Options{Embedder: emb, Workers: 1})
		next := 0
		burst := func(n int, gap time.Duration) {
			for range n {
				next++
				p.Add(source(next, user(fmt.Sprintf("Message %d.", next))))
				time.Sleep(gap)
			}
			synctest.Wait()
		}
		burst(5, 9*time.Millisecond)
		require.Empty(t, emb.calls(), "the messages come one after the other")
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, []int{5}, emb.calls(), "10 ms without a message are a pause")
		burst(60, 7*time.Millisecond)
		require.Equal(t, []int{5, 36}, emb.calls(), "after 250 ms without a pause those that there are")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []int{5, 36, 24}, emb.calls())
		burst(511, 0)
		require.Len(t, emb.calls(), 3)
		burst(1, 0)
		require.Equal(t, []int{64, 64, 64, 64, 64, 64, 64, 64}, emb.calls()[3:], "512 do not wait at all")
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestCardsOfASessionAreMadeOncePerHash(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum := &double{}
		p := start(t, contextcards.Options{Summarizer: sum})
		first, again := source(1, long(1)), source(9, long(1))
		other := first
		other.SessionID = "t"
		again.Phase = "fix"
		p.Add(first)
		_, _ = p.Wait(within(t, time.Second), []contextcards.Source{first})
		p.Add(again)
		p.Add(other)
		cards, late := p.Wait(within(t, time.Second), []contextcards.Source{first, again, other})
		require.Zero(t, late)
		require.Equal(t, 2, sum.seen[first.Message.Hash()], "once for each session")
		require.Equal(t, []int{1, 9, 1}, []int{cards[0].Order, cards[1].Order, cards[2].Order}, "each has the place of its source")
		require.Equal(t, []string{"research", "fix"}, []string{cards[0].Phase, cards[1].Phase})
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestWaitWithoutAddMakesTheCards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := start(t, contextcards.Options{Embedder: contextcards.NewHashed(0)})
		cards, late := p.Wait(within(t, time.Second), longs(3))
		require.Zero(t, late)
		require.Len(t, cards[2].Embedding, 256)
		require.Equal(t, "extraction", cards[2].Generator)
		notWorth := source(4, echo.NewText(echo.RoleSystem, echo.KindSystem, "Be brief."))
		cards, late = p.Wait(within(t, time.Second), []contextcards.Source{notWorth})
		require.Zero(t, late)
		require.Equal(t, "Be brief.", cards[0].Summary, "every source has a card")
		require.NoError(t, p.Close(t.Context()))
	})
}

// Whatever a summarizer or an embedder does: Add returns at once, Wait with its context, and every
// source has a card.
func TestNoComponentBlocksOrFailsAnything(t *testing.T) {
	t.Parallel()
	for name, behave := range map[string]func(context.Context) error{"failing": failing, "panicked": panicked, "slow": slow, "deaf": deaf} {
		for _, part := range []string{"summarizer", "embedder", "store", "all"} {
			t.Run(part+" "+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					parts := map[string]*double{"summarizer": {}, "embedder": {}, "store": {}}
					for n, d := range parts {
						if n == part || part == "all" {
							d.behave = behave
						}
					}
					told := &heard{}
					p := start(t, contextcards.Options{
						Summarizer: parts["summarizer"], Embedder: parts["embedder"], Store: parts["store"], Notice: told.notice,
					})
					begin := time.Now()
					for _, s := range longs(30) {
						p.Add(s)
					}
					require.Zero(t, time.Since(begin), "Add does not wait")
					cards, late := p.Wait(within(t, 5*time.Second), longs(30))
					require.LessOrEqual(t, time.Since(begin), 5*time.Second)
					require.Len(t, cards, 30)
					n := 0
					for _, c := range cards {
						require.NotEmpty(t, c.Summary)
						require.NotEmpty(t, c.Keywords)
						if c.Late {
							n++
						}
					}
					require.Equal(t, n, late)
					require.Equal(t, part != "store" && (name == "slow" || name == "deaf"), late > 0)

					ranked, stored := p.Rank(within(t, 3*time.Second), "s", make16(), 5)
					require.False(t, stored && (part == "store" || part == "all"))
					if part == "store" {
						require.Len(t, ranked, 5, "ranked in memory")
					}
					closing := time.Now()
					err := p.Close(within(t, 10*time.Second))
					require.LessOrEqual(t, time.Since(closing), 10*time.Second)
					if part == "store" || part == "all" {
						require.Error(t, err)
					} else {
						require.NoError(t, err)
						require.Len(t, parts["store"].stored(t, "s"), 30, "degraded cards are kept")
					}
					if part != "all" && name == "failing" {
						require.Len(t, told.all(), 1)
						require.Contains(t, told.all()[0], part+": ")
						require.Contains(t, told.all()[0], "connection refused")
					}
					time.Sleep(48 * time.Hour) // the deaf wake up, and do no harm
				})
			})
		}
	}
}

func make16() []float32 {
	v := make([]float32, 16)
	v[3] = 1
	return v
}

func TestLateCardsArriveAfterwards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum := &double{behave: func(context.Context) error { time.Sleep(8 * time.Second); return nil }}
		store := &double{}
		p := start(t, contextcards.Options{Summarizer: sum, Store: store})
		cards, late := p.Wait(within(t, 5*time.Second), longs(2))
		require.Equal(t, 2, late)
		require.True(t, cards[0].Late)
		require.Equal(t, "extraction", cards[0].Generator)
		require.Empty(t, store.stored(t, "s"), "what is late is not kept")
		cards, late = p.Wait(within(t, 5*time.Second), longs(2))
		require.Zero(t, late)
		require.Equal(t, "double", cards[0].Generator)
		require.NoError(t, p.Close(within(t, time.Second)))
		require.Equal(t, cards, store.stored(t, "s"))
	})
}

func TestDegradedCardsAreCompletedOnceItWorksAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum, emb, store, told := &double{behave: failing}, &double{behave: failing}, &double{}, &heard{}
		p := start(t, contextcards.Options{Summarizer: sum, Embedder: emb, Store: store, Notice: told.notice})
		cards, late := p.Wait(within(t, 5*time.Second), longs(3))
		require.Zero(t, late, "without the components they are as ready as they will be")
		require.Equal(t, "extraction", cards[0].Generator)
		require.Empty(t, cards[0].EmbeddingModel)
		require.Len(t, told.all(), 2)

		sum.set(nil)
		emb.set(nil)
		before := len(sum.calls())
		_, _ = p.Wait(within(t, 5*time.Second), longs(3))
		require.Len(t, sum.calls(), before, "one that just failed is left alone")
		time.Sleep(2 * time.Second)
		cards, _ = p.Wait(within(t, 5*time.Second), longs(3))
		require.Equal(t, "double", cards[0].Generator)
		require.Len(t, cards[0].Embedding, 16)
		require.Len(t, told.all(), 2)

		sum.set(failing)
		_, _ = p.Wait(within(t, 5*time.Second), longs(9))
		require.Len(t, told.all(), 3, "it worked, so it is told again")
		require.NoError(t, p.Close(within(t, 5*time.Second)))
		require.Equal(t, "double", store.stored(t, "s")[0].Generator)
	})
}

func TestAMessageThatTheSummarizerFailsAtIsNotAskedForever(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sum := &double{behave: failing}
		p := start(t, contextcards.Options{Summarizer: sum, Attempts: 1})
		for range 10 {
			_, _ = p.Wait(within(t, 5*time.Second), longs(1))
			time.Sleep(time.Hour)
		}
		require.Len(t, sum.calls(), 3)
		require.NoError(t, p.Close(t.Context()))
	})
}

// wrong answers with the wrong number of things, or with things that are no use.
type wrong struct {
	texts   []string
	vectors [][]float32
}

func (w wrong) Name() string { return "wrong" }

func (w wrong) Summarize(context.Context, []contextcards.Source) ([]string, error) {
	return w.texts, nil
}

func (w wrong) Embed(context.Context, []string) ([][]float32, error) { return w.vectors, nil }

func TestUselessAnswersAreNotTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := &heard{}
		w := wrong{texts: []string{"a", "b"}, vectors: nil}
		p := start(t, contextcards.Options{Summarizer: w, Embedder: w, Notice: told.notice, Attempts: 1})
		cards, _ := p.Wait(within(t, time.Second), longs(1))
		require.Equal(t, "extraction", cards[0].Generator)
		require.NoError(t, p.Close(t.Context()))
		require.Equal(t, []string{
			"summarizer: summaries are extracted from the messages until wrong works again: it returned 2 summaries for 1 messages",
			"embedder: cards have no embedding until wrong works again: it returned 0 vectors for 1 texts",
		}, told.all())

		nan := float32(0)
		nan /= nan
		for _, v := range [][]float32{nil, {0, 0}, {nan, 1}} {
			w = wrong{texts: []string{" \n"}, vectors: [][]float32{v}}
			p = start(t, contextcards.Options{Summarizer: w, Embedder: w})
			cards, late := p.Wait(within(t, time.Second), longs(1))
			require.Zero(t, late)
			require.Nil(t, cards[0].Embedding)
			require.Equal(t, "wrong", cards[0].EmbeddingModel, "it was asked")
			require.Equal(t, "extraction", cards[0].Generator)
			require.NoError(t, p.Close(t.Context()))
		}

		w = wrong{texts: []string{strings.Repeat("x\n", 500)}, vectors: [][]float32{{3, 4}}} // a line each
		p = start(t, contextcards.Options{Summarizer: w, Embedder: w})
		cards, _ = p.Wait(within(t, time.Second), longs(1))
		require.Equal(t, []float32{0.6, 0.8}, cards[0].Embedding, "unit length, whatever comes")
		require.LessOrEqual(t, len(cards[0].Summary), 300)
		require.True(t, strings.HasSuffix(cards[0].Summary, "x x..."))
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestAFullQueueIsToldOnceAndWhatIsSetAsideGetsItsCardWhenAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		sum, told := &double{behave: func(context.Context) error { <-gate; return nil }}, &heard{}
		p := start(t, contextcards.Options{Summarizer: sum, Notice: told.notice, Queue: 10, Workers: 1})
		for _, s := range longs(60) {
			p.Add(s)
		}
		synctest.Wait()
		require.Equal(t, []string{"queue: 10 messages wait for their cards; newer ones get theirs when a selection asks for them"}, told.all())
		close(gate)
		time.Sleep(time.Second)
		n := 0
		for _, c := range sum.calls() {
			n += c
		}
		require.Equal(t, 10, n)
		cards, late := p.Wait(within(t, 5*time.Second), longs(60))
		require.Zero(t, late)
		require.Equal(t, "double", cards[59].Generator)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestStoreIsTriedUntilItTakesTheCards(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, told := &double{behave: failing}, &heard{}
		p := start(t, contextcards.Options{Store: store, Notice: told.notice})
		for _, s := range longs(100) {
			p.Add(s)
		}
		time.Sleep(time.Hour)
		require.Equal(t, []string{"store: the card store takes no cards now; they wait in memory: connection refused"}, told.all())
		require.Less(t, len(store.calls()), 1000, "it is not asked without pause")
		store.set(nil)
		time.Sleep(time.Minute)
		require.Len(t, store.stored(t, "s"), 100)
		store.set(failing)
		p.Add(source(101, user("Payments resumed.")))
		time.Sleep(time.Minute)
		require.Len(t, told.all(), 2, "told again, as it worked between")
		err := p.Close(t.Context())
		require.EqualError(t, err, "1 context cards did not reach the card store: connection refused")
		require.ErrorIs(t, err, errAway)
		require.Equal(t, err, p.Close(t.Context()), "the same again")
	})
}

func TestACardThatTheStoreRefusesDoesNotKeepBackTheOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		poison := long(7).Hash()
		store, told := &double{}, &heard{}
		store.reject = func(cards []contextcards.Card) error {
			for _, c := range cards {
				if c.Hash == poison {
					return errors.New("bad dimensions")
				}
			}
			return nil
		}
		p := start(t, contextcards.Options{Embedder: &double{}, Store: store, Notice: told.notice})
		for _, s := range longs(40) {
			p.Add(s)
		}
		time.Sleep(time.Minute)
		require.Len(t, store.stored(t, "s"), 39)
		p.Add(source(41, user("Payments resumed.")))
		time.Sleep(time.Minute)
		require.Len(t, store.stored(t, "s"), 40)
		require.Contains(t, told.all(), "refused: the card store does not take the card of message "+string(poison)+": bad dimensions")
		ranked, stored := p.Rank(within(t, time.Second), "s", make16(), 100)
		require.False(t, stored, "the store does not have every card")
		require.Len(t, ranked, 41)
		require.EqualError(t, p.Close(t.Context()), "1 context cards did not reach the card store: bad dimensions")
	})
}

func TestRankAsksTheStoreOnceItHasEverything(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, emb := &double{}, &double{}
		p := start(t, contextcards.Options{Embedder: emb, Store: store})
		list := longs(30)
		_, _ = p.Wait(within(t, time.Second), list)
		a, stored := p.Rank(within(t, time.Second), "s", make16(), 10)
		require.True(t, stored, "read your writes")
		store.set(failing)
		b, stored := p.Rank(within(t, time.Second), "s", make16(), 10)
		require.False(t, stored)
		require.Equal(t, a, b)
		require.Len(t, a, 10)
		require.Equal(t, 2, store.ranks)
		require.NoError(t, p.Close(t.Context()))
		_, stored = p.Rank(within(t, time.Second), "s", make16(), 10)
		require.False(t, stored)
	})
	synctest.Test(t, func(t *testing.T) {
		p := start(t, contextcards.Options{})
		list, stored := p.Rank(t.Context(), "s", make16(), 10)
		require.Empty(t, list, "there is no embedder")
		require.False(t, stored)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestCalloutsAndAnchorsReachTheCard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sum := &double{}, &double{}
		p := start(t, contextcards.Options{Store: store, Summarizer: sum})
		s := source(1, long(1))
		p.Add(s)
		time.Sleep(time.Minute)
		s.Callout = "finding"
		p.Add(s)
		p.Mark("s", []echo.Hash{s.Message.Hash(), "unknown"})
		time.Sleep(time.Minute)
		got := store.stored(t, "s")
		require.Len(t, got, 1)
		require.Equal(t, "finding", got[0].Callout)
		require.True(t, got[0].Anchor)
		require.Equal(t, "double", got[0].Generator)
		require.Len(t, sum.calls(), 1, "nothing is summed up again")

		early := source(2, long(2))
		p.Add(early)
		p.Mark("s", []echo.Hash{early.Message.Hash()}) // before its card is made
		cards, _ := p.Wait(within(t, time.Second), []contextcards.Source{early, source(1, long(1))})
		require.True(t, cards[0].Anchor)
		require.Equal(t, "finding", cards[1].Callout)
		require.NoError(t, p.Close(t.Context()))
	})
}

func TestLoadedCardsAreNotMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sum := &double{}, &double{}
		p := start(t, contextcards.Options{Summarizer: sum, Embedder: &double{name: "old@16"}, Store: store})
		list := longs(3)
		list[1].Callout = "finding"
		first, _ := p.Wait(within(t, time.Second), list)
		require.NoError(t, p.Close(t.Context()))
		require.Len(t, sum.calls(), 1)

		emb := &double{name: "new@16"}
		p = start(t, contextcards.Options{Summarizer: sum, Embedder: emb, Store: store})
		require.NoError(t, p.Load(t.Context(), "s"))
		again, late := p.Wait(within(t, time.Second), longs(3))
		require.Zero(t, late)
		require.Len(t, sum.calls(), 1, "no summary is paid for twice")
		require.Equal(t, []int{3}, emb.calls(), "another embedder: embedded anew")
		for i := range again {
			require.Equal(t, first[i].Summary, again[i].Summary)
			require.Equal(t, "new@16", again[i].EmbeddingModel)
		}
		require.Equal(t, "finding", again[1].Callout)
		require.NoError(t, p.Close(t.Context()))
		for _, name := range []string{"old@16", "new@16"} {
			ranked, err := store.Memory.Rank(t.Context(), "s", name, make16(), 10)
			require.NoError(t, err)
			require.Len(t, ranked, 3, "embeddings of both live side by side")
		}
	})
}

func TestLoadSaysWhatFailed(t *testing.T) {
	t.Parallel()
	p := start(t, contextcards.Options{Store: broken{}})
	require.EqualError(t, p.Load(t.Context(), "s"), "load the cards of session s: it panicked: no cards")
	require.NoError(t, p.Close(t.Context()))
	p = start(t, contextcards.Options{})
	require.NoError(t, p.Load(t.Context(), "s"), "nothing to load from")
	require.NoError(t, p.Close(t.Context()))
}

type broken struct{ contextcards.Store }

func (broken) Cards(context.Context, string) ([]contextcards.Card, error) { panic("no cards") }

func TestCloseGivesTheStoreItsShareOfTheTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store, sum := &double{}, &double{behave: slow}
		p := start(t, contextcards.Options{Summarizer: sum, Store: store})
		for _, s := range longs(100) {
			p.Add(s)
		}
		begin := time.Now()
		require.NoError(t, p.Close(within(t, 4*time.Second)))
		require.Equal(t, 2*time.Second, time.Since(begin))
		got := store.stored(t, "s")
		require.Len(t, got, 100)
		require.Equal(t, "extraction", got[99].Generator)
		p.Add(source(101, user("too late"))) // ignored
		cards, late := p.Wait(t.Context(), append(longs(1), source(101, user("too late"))))
		require.Equal(t, 1, late)
		require.True(t, cards[1].Late)
	})
}

func TestCloseWithoutTimeEndsAtOnce(t *testing.T) {
	t.Parallel()
	for _, store := range []contextcards.Store{nil, &double{}, &double{behave: deaf}} {
		synctest.Test(t, func(t *testing.T) {
			p := start(t, contextcards.Options{Summarizer: &double{behave: deaf}, Store: store})
			for _, s := range longs(100) {
				p.Add(s)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			begin := time.Now()
			err := p.Close(ctx)
			require.Zero(t, time.Since(begin))
			require.EqualError(t, err, "100 context cards did not reach the card store: there was no time left")
			time.Sleep(48 * time.Hour)
		})
	}
}

func TestANoticeThatPanicsOrBlocksDoesNoHarm(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(contextcards.NoticeKind, string){
		"panics": func(contextcards.NoticeKind, string) { panic("no") },
		"blocks": func(contextcards.NoticeKind, string) { time.Sleep(24 * time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := start(t, contextcards.Options{Summarizer: &double{behave: failing}, Embedder: &double{behave: failing}, Notice: notice})
				_, late := p.Wait(within(t, 5*time.Second), longs(20))
				require.Zero(t, late)
				begin := time.Now()
				require.NoError(t, p.Close(within(t, 5*time.Second)))
				require.LessOrEqual(t, time.Since(begin), 5*time.Second)
				time.Sleep(72 * time.Hour)
			})
		})
	}
}

// Many goroutines at once, without a clock of their own: for the race detector.
func TestPipelineIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	store := &double{}
	p := start(t, contextcards.Options{Summarizer: &double{}, Embedder: contextcards.NewHashed(16), Store: store, Queue: 50})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			list := longs(20 + g)
			for i, s := range list {
				s.Callout = []string{"", "a", "b"}[(i+g)%3]
				p.Add(s)
			}
			p.Mark("s", []echo.Hash{list[g].Message.Hash()})
			_, _ = p.Rank(t.Context(), "s", make16(), 3)
			if cards, late := p.Wait(t.Context(), list); late != 0 || len(cards) != len(list) {
				t.Errorf("%d cards, %d late", len(cards), late)
			}
		})
	}
	wg.Wait()
	require.NoError(t, p.Close(t.Context()))
	require.Len(t, store.stored(t, "s"), 27)
}

func BenchmarkAdd(b *testing.B) {
	p := contextcards.Start(contextcards.Options{Embedder: contextcards.NewHashed(0), Queue: 1 << 30})
	list := make([]contextcards.Source, b.N)
	for i := range list {
		list[i] = source(i, result("bash", fmt.Sprintf("%d %s", i, report), false))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range list {
		p.Add(list[i])
	}
	b.StopTimer()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Close(ctx) // the rest is of no interest
}

func BenchmarkExtract(b *testing.B) {
	for _, size := range []int{1, 20} {
		text := strings.Repeat(report+"\n", size)
		for name, m := range map[string]*echo.Message{"text": user(text), "result": result("bash", text, false)} {
			b.Run(fmt.Sprintf("%s of %d bytes", name, len(text)), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					_ = contextcards.Extract(source(1, m), noon)
				}
			})
		}
	}
}
