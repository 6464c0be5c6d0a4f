// Package contextcards makes and keeps cards: a summary, keywords and an embedding of each message
// that is worth one, by which messages are chosen for a later phase.
//
// [Extract] makes a card from the message alone. A [Pipeline] makes them in the background and
// delivers each to a [Store] at least once. Nothing here blocks or fails a turn: an extracted card
// stands in for a late one, and says so.
package contextcards

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// Pipeline makes cards in the background and keeps them in memory and in a store. All methods are
// safe for concurrent use.
//
// No summarizer, embedder or store, be it slow, failing, panicking or hanging, blocks or fails a
// caller. A message's card is made once per session and hash; what a failed component left out is
// completed when the card is asked for again. The store is given each card at least once, until it
// takes it or the pipeline is closed.
//
// Messages come in bursts. Cards are made in the pauses between, while the run waits for a model.
// One goroutine forms batches, workers make them, and one delivers; the lock guards what they share
// and is never held during a call of a component.
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

// Add queues a message for a card and never blocks. One that needs no card is ignored; one that
// finds no room gets its card when [Pipeline.Wait] asks for it. A new callout is taken over.
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

// Wait returns the card of each source, with its place and callout, once all are made or ctx ends:
// then unfinished cards are extracted and marked as late, and finished afterwards.
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

// Load takes over a session's cards from the store, so that none is made again. Call it before Add.
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

// Rank ranks a session's cards by the pipeline's embedder, see [Store]: in the store once it has
// them all, as long as ctx allows, else in memory, with the same result. stored says where.
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

// delivered waits until the store has every card of a session; false when it cannot get them.
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

// Close finishes what waits while ctx allows. With a deadline, models get half of the time; the
// rest is extracted, so that the store gets its cards. The error counts undelivered cards. Calling
// it again returns the same.
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

// UndeliveredError says that cards did not reach the store. Their messages are in the journal.
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

// ledger is what a pipeline knows of messages and their cards.
type ledger struct {
	memory Memory

	mu      sync.Mutex
	items   map[key]*item
	queue   []*item
	newest  time.Time // when the last of the queue came
	crowded bool      // the queue was full and is not half empty since
	urgent  int       // callers who wait
	closed  bool
	changed chan struct{} // closed, and rebuilt, when a card is made or delivered
	saves   saves
}

type key struct {
	session string
	hash    echo.Hash
}

func (s Source) key() key { return key{s.SessionID, s.Message.Hash()} }

// item is what the pipeline knows of a message. Its card, once there is one, is in memory.
type item struct {
	source Source
	carded bool // there is a card
	queued bool // waiting, or being made
	anchor bool
	tries  int // the summarizer was asked
}

// pending reports whether a card of some sources is under way. The lock is held.
func (s *ledger) pending(sources []Source) bool {
	return slices.ContainsFunc(sources, func(source Source) bool {
		it := s.items[source.key()]
		return it != nil && it.queued
	})
}

// announce tells all who wait that something has changed. The lock is held.
func (s *ledger) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}
