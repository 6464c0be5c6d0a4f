package contextcards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Pipeline makes cards in the background and keeps them in memory and in a store.
//
// What it promises: Add costs a look into a table, and nothing that a summarizer, embedder or store
// does, be it slow, failing, panicking or never returning, blocks or fails a caller. A message's
// card is made once for each session and hash. A card that lacks something because a component
// failed is kept without it, and completed when it is asked for again. A store is given every card
// at least once, and again until it takes it or the pipeline is closed.
//
// Messages come in bursts: an answer, and the results of its calls. Between them the run waits for
// a model, and that is when cards are made: after a pause, so that making them takes nothing from a
// turn.
//
// Three kinds of goroutines do the work: one forms batches, workers make the cards of a batch, one
// delivers cards to the store. The lock guards what they share and is never held during a call of a
// component. All methods are safe for concurrent use.
type Pipeline struct {
	options Options
	maker   *maker
	notices *notices
	ledger

	wake chan struct{} // holds one token when there is something to make
	made chan struct{} // closed when nothing more will be made
	done chan struct{} // closed when all goroutines have ended

	hurry  context.CancelFunc // ends the calls of summarizer and embedder
	cancel context.CancelFunc // ends everything
	once   sync.Once
}

// Start starts a pipeline. It must be closed.
func Start(o Options) *Pipeline {
	o = o.withDefaults()
	p := &Pipeline{
		options: o, notices: newNotices(o.Notice),
		wake: make(chan struct{}, 1), made: make(chan struct{}), done: make(chan struct{}),
	}
	p.items, p.changed = map[key]*item{}, make(chan struct{})
	p.saves.wake = make(chan struct{}, 1)
	p.maker = &maker{
		options: o, notices: p.notices,
		summarizer: component{kind: NoticeSummarizer}, embedder: component{kind: NoticeEmbedder},
	}
	var hard, soft context.Context
	hard, p.cancel = context.WithCancel(context.Background())
	soft, p.hurry = context.WithCancel(hard)
	go p.work(hard, soft)
	go (&delivery{ledger: &p.ledger, store: o.Store, notices: p.notices, made: p.made, done: p.done}).run(hard)
	return p
}

// Add takes a message for which a card is to be made. It never blocks. A message that needs no card
// is ignored; so is one that finds no room, which is told once and gets its card when
// [Pipeline.Wait] asks for it. The callout of a message that was added before is taken over.
func (p *Pipeline) Add(s Source) {
	if !s.Worth() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if len(p.queue) >= p.options.Queue {
		if !p.crowded {
			p.notices.tell(NoticeQueue, fmt.Sprintf(
				"%d messages wait for their cards; newer ones get theirs when a selection asks for them", len(p.queue)))
		}
		p.crowded = true
		return
	}
	p.want(s)
}

// want queues a message unless its card is complete or under way. The lock is held.
func (p *Pipeline) want(s Source) {
	k := s.key()
	it := p.items[k]
	switch {
	case it == nil:
		it = &item{source: s}
		p.items[k] = it
	case it.source.Message == nil: // known from the store
		callout := it.source.Callout
		it.source = s
		it.source.Callout = callout
	}
	if s.Callout != "" && s.Callout != it.source.Callout {
		it.source.Callout = s.Callout
		p.revise(k, it)
	}
	if it.queued || it.carded && !p.incomplete(k, it) {
		return
	}
	it.queued = true
	p.newest = time.Now()
	if p.queue = append(p.queue, it); len(p.queue) == 1 || len(p.queue) == p.many() {
		signal(p.wake)
	}
}

// many is how many messages are not left waiting for a pause: less than the queue has room for.
func (p *Pipeline) many() int { return min(manyWait, max(p.options.Queue/2, 1)) }

// incomplete reports whether a card lacks something that may be had now. The lock is held.
func (p *Pipeline) incomplete(k key, it *item) bool {
	c, _ := p.memory.card(k)
	return p.maker.needsSummary(it, &c) || p.maker.needsEmbedding(&c)
}

// Wait returns the card of each source, in their order, as soon as all are made, or what there is
// when ctx ends: then a card that is not finished is extracted at once and marked as late. late is
// how many those are; they are finished afterwards. Each card has the place and the callout of its
// source.
func (p *Pipeline) Wait(ctx context.Context, sources []Source) (cards []Card, late int) {
	p.mu.Lock()
	if !p.closed {
		for _, s := range sources {
			if s.Worth() {
				p.want(s)
			}
		}
	}
	p.mu.Unlock()
	p.waitFor(ctx, p.made, func() bool { return !p.pending(sources) }, p.wake)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.collect(sources)
}

// waitFor wakes goroutines and has them hurry until a condition, which is evaluated under the lock,
// is met. It returns false when ctx or the work has ended before.
func (p *Pipeline) waitFor(ctx context.Context, ended <-chan struct{}, met func() bool, wake ...chan struct{}) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.urgent++
	defer func() { p.urgent-- }()
	for _, c := range wake {
		signal(c)
	}
	for !met() {
		changed := p.changed
		p.mu.Unlock()
		var over bool
		select {
		case <-changed:
		case <-ctx.Done():
			over = true
		case <-ended:
			over = true
		}
		p.mu.Lock()
		if over {
			return false
		}
	}
	return true
}

// collect returns the cards of sources as they are now. The lock is held.
func (p *Pipeline) collect(sources []Source) (cards []Card, late int) {
	cards = make([]Card, len(sources))
	for i, s := range sources {
		k := s.key()
		it := p.items[k]
		c, made := p.memory.card(k)
		if !made {
			c = p.maker.extract(s)
		}
		c = c.placed(p.options.source(s))
		c.Late = s.Worth() && (!made || it != nil && it.queued)
		if c.Late {
			late++
		}
		cards[i] = c
	}
	return cards, late
}

// Mark records that messages of a session were brought into another phase as anchors.
func (p *Pipeline) Mark(sessionID string, anchors []echo.Hash) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range anchors {
		k := key{sessionID, h}
		if it := p.items[k]; it != nil && !it.anchor {
			it.anchor = true
			p.revise(k, it)
		}
	}
}

// revise writes a card anew after its callout or its being an anchor has changed. The lock is held.
func (p *Pipeline) revise(k key, it *item) {
	if !it.carded || p.closed {
		return // what is made later has it
	}
	c, _ := p.memory.card(k)
	p.keep(k, it, c)
}

// keep puts a card into memory and has it delivered, as the newest version. The lock is held.
func (p *Pipeline) keep(k key, it *item, c Card) {
	now := stamp(p.options.Now())
	if old, ok := p.memory.card(k); ok && !now.After(old.GeneratedAt) {
		now = old.GeneratedAt.Add(time.Microsecond)
	}
	c.GeneratedAt = now
	c.Callout, c.Anchor = p.options.Mask(it.source.Callout), it.anchor
	it.carded = true
	p.memory.put(c)
	if p.options.Store != nil {
		p.saves.add(k)
	}
}

// Load takes over the cards that the store has of a session, so that a session which goes on makes
// none of them again. It is called before the first Add. Without a store it does nothing.
func (p *Pipeline) Load(ctx context.Context, sessionID string) error {
	if p.options.Store == nil {
		return nil
	}
	cards, err := guarded(ctx, func(ctx context.Context) ([]Card, error) { return p.options.Store.Cards(ctx, sessionID) })
	if err != nil {
		return fmt.Errorf("load the cards of session %s: %w", sessionID, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range cards {
		k := key{sessionID, c.Hash}
		if c.SessionID != sessionID || p.items[k] != nil {
			continue
		}
		p.items[k] = &item{source: Source{SessionID: sessionID, Callout: c.Callout}, carded: true, anchor: c.Anchor}
		p.memory.put(c)
	}
	return nil
}

// Rank returns the similarity of a session's cards to a vector of the pipeline's embedder, as
// [Store] says. The store is asked when it has every card of the session, for which Rank waits as
// long as ctx allows; otherwise, or when it fails, the cards in memory are ranked, which gives the
// same. stored says which it was.
func (p *Pipeline) Rank(ctx context.Context, sessionID string, vector []float32, limit int) (ranked []Ranked, stored bool) {
	if p.options.Embedder == nil {
		return nil, false
	}
	name := p.options.Embedder.Name()
	if p.delivered(ctx, sessionID) {
		ranked, err := guarded(ctx, func(ctx context.Context) ([]Ranked, error) {
			return p.options.Store.Rank(ctx, sessionID, name, vector, limit)
		})
		if err == nil {
			return ranked, true
		}
		p.notices.tell(NoticeStore, fmt.Sprintf("the card store cannot rank; cards are ranked in memory: %v", err))
	}
	ranked, _ = p.memory.Rank(ctx, sessionID, name, vector, limit) // it never fails
	return ranked, false
}

// delivered waits until the store has every card of a session. It returns false when that cannot be
// waited for.
func (p *Pipeline) delivered(ctx context.Context, sessionID string) bool {
	if p.options.Store == nil {
		return false
	}
	failing := false
	met := p.waitFor(ctx, p.done, func() bool {
		failing = p.saves.failing
		return failing || !p.saves.lacks(sessionID)
	}, p.saves.wake, p.wake)
	return met && !failing
}

// Close finishes what waits, for as long as ctx allows, and ends the pipeline. When ctx has a
// deadline, summarizer and embedder get half of the time; after it the rest is extracted, so that
// the store still gets its cards. The error says how many cards the store does not have. Close may
// be called again, and then returns the same.
func (p *Pipeline) Close(ctx context.Context) error {
	p.once.Do(func() {
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		signal(p.wake)
		signal(p.saves.wake)
		if deadline, ok := ctx.Deadline(); ok {
			t := time.AfterFunc(time.Until(deadline)/2, p.hurry)
			defer t.Stop()
		}
		p.finish(ctx)
	})
	p.finish(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if lost := len(p.queue) + p.saves.lost(); lost > 0 {
		return &UndeliveredError{Cards: lost, Err: p.saves.last}
	}
	return nil
}

// finish waits for the goroutines, which end soon after ctx.
func (p *Pipeline) finish(ctx context.Context) {
	select {
	case <-p.done:
	case <-ctx.Done():
		p.cancel()
		<-p.done
	}
	p.cancel()
	p.notices.close(ctx)
}

// UndeliveredError says that cards were not made, or did not reach the store. The messages
// themselves are in the journal.
type UndeliveredError struct {
	Cards int
	Err   error // the last reason; nil when there was no time
}

var errNoTime = errors.New("there was no time left")

func (e *UndeliveredError) Error() string {
	return fmt.Sprintf("%d context cards did not reach the card store: %v", e.Cards, cmp.Or(e.Err, errNoTime))
}

// Unwrap returns the reason.
func (e *UndeliveredError) Unwrap() error { return e.Err }

// signal leaves a token for a goroutine that waits for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // one is there already
	}
}
