package contextcards

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// draft is a card that is being made.
type draft struct {
	key    key
	item   *item
	source Source
	card   Card

	summary, embedding bool // what it is to get from a model
}

// maker makes cards with a summarizer and an embedder, as far as these work.
type maker struct {
	options    Options
	notices    *notices
	summarizer component
	embedder   component
}

// maxTries bounds the summarizer's attempts at a message, which may be what it fails at.
const maxTries = 3

// needsSummary reports whether the summarizer should be asked. The lock is held.
func (m *maker) needsSummary(it *item, c *Card) bool {
	return m.options.Summarizer != nil && (c.Generator == "" || c.Generator == GeneratorExtraction) &&
		it.tries < maxTries && needsModel(it.source.Message) && m.summarizer.ready(m.options.Now())
}

// needsEmbedding reports whether the embedder lacks its vector, whatever other embedders gave.
func (m *maker) needsEmbedding(c *Card) bool {
	return m.options.Embedder != nil && c.EmbeddingModel != m.options.Embedder.Name() && m.embedder.ready(m.options.Now())
}

// extract is [Extract] without secrets, under the hash of the message as it is in the session.
func (m *maker) extract(s Source) Card {
	c := Extract(m.options.source(s), m.options.Now())
	c.Hash = s.Message.Hash()
	return c
}

func (m *maker) make(ctx context.Context, batch []*draft) {
	for _, d := range batch {
		if d.card.Hash == "" {
			d.card = Extract(d.source, m.options.Now())
			d.card.Hash = d.key.hash
		}
	}
	m.summarize(ctx, batch)
	m.embed(ctx, batch)
}

func (m *maker) summarize(ctx context.Context, batch []*draft) {
	var asked []*draft
	var sources []Source
	for _, d := range batch {
		if d.summary {
			asked, sources = append(asked, d), append(sources, d.source)
		}
	}
	s := m.options.Summarizer
	texts := askAll(ctx, m, &m.summarizer, len(asked), func(ctx context.Context) ([]string, error) {
		return s.Summarize(ctx, sources)
	}, "it returned %d summaries for %d messages", "summaries are extracted from the messages until %s works again: %v", s)
	for i, text := range texts {
		if text = oneLine(text, maxSummary); text != "" {
			asked[i].card.Summary, asked[i].card.Generator = text, s.Name()
		}
	}
}

// embed has the embedder embed those of a batch that lack it.
func (m *maker) embed(ctx context.Context, batch []*draft) {
	var asked []*draft
	var texts []string
	for _, d := range batch {
		if d.embedding {
			asked, texts = append(asked, d), append(texts, EmbedText(d.source.Message, d.card.Summary))
		}
	}
	e := m.options.Embedder
	vectors := askAll(ctx, m, &m.embedder, len(asked), func(ctx context.Context) ([][]float32, error) {
		return e.Embed(ctx, texts)
	}, "it returned %d vectors for %d texts", "cards have no embedding until %s works again: %v", e)
	for i, v := range vectors {
		// The name stands even when there is nothing to embed: it was asked, and need not be again.
		asked[i].card.Embedding, asked[i].card.EmbeddingModel = Unit(v), e.Name()
	}
}

// askAll asks a component for n results. Without them it returns nil, and notes that the component
// did not do its part, unless the pipeline ends.
func askAll[T any](ctx context.Context, m *maker, c *component, n int, call func(context.Context) ([]T, error),
	miscounted, missing string, by interface{ Name() string },
) []T {
	if n == 0 {
		return nil
	}
	results, err := ask(ctx, m, c, func(ctx context.Context) ([]T, error) {
		results, err := call(ctx)
		if err == nil && len(results) != n {
			err = fmt.Errorf(miscounted, len(results), n)
		}
		return results, err
	})
	switch {
	case err == nil:
		return results
	case ctx.Err() == nil:
		c.failed(m.options.Now())
		m.notices.tell(c.kind, fmt.Sprintf(missing, by.Name(), err))
	}
	return nil
}

const (
	firstPause = 100 * time.Millisecond // between attempts, doubled
	longPause  = 5 * time.Second        // up to this

	firstRest = time.Second // of a component that failed, doubled
	longRest  = time.Minute // up to this
)

// component is a summarizer or an embedder as it has behaved. One that failed is left alone for a
// while, so that messages do not wait for it one after the other.
type component struct {
	kind NoticeKind

	mu    sync.Mutex
	until time.Time // it is left alone
	rest  time.Duration
}

func (c *component) ready(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !now.Before(c.until)
}

func (c *component) failed(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Before(c.until) {
		return // another batch met the same failure
	}
	c.rest = min(max(2*c.rest, firstRest), longRest)
	c.until = now.Add(c.rest)
}

func (c *component) worked() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rest, c.until = 0, time.Time{}
}

// ask calls a component, as often as the options say while it fails.
func ask[T any](ctx context.Context, m *maker, c *component, call func(context.Context) (T, error)) (result T, err error) {
	for try := range m.options.Attempts {
		if err := ctx.Err(); err != nil {
			return result, err
		}
		if try > 0 && !sleep(ctx, nil, firstPause<<(try-1)) {
			break
		}
		if result, err = attempt(ctx, m.options.Timeout, call); err == nil {
			c.worked()
			m.notices.worked(c.kind)
			return result, nil
		}
	}
	return result, err
}

func attempt[T any](ctx context.Context, limit time.Duration, call func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := guarded(limited, call)
	if err != nil && ctx.Err() == nil && errors.Is(limited.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %s", limit)
	}
	return result, err
}

// guarded calls a component in a goroutine of its own, so that one that panics or does not heed its
// context does no harm here. What it returns after ctx has ended is dropped.
func guarded[T any](ctx context.Context, call func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	out := make(chan outcome, 1)
	go func() {
		var o outcome
		returned := false
		defer func() {
			if !returned {
				o.err = fmt.Errorf("it panicked: %v", recover())
			}
			out <- o
		}()
		o.result, o.err = call(ctx)
		returned = true
	}()
	select {
	case o := <-out:
		return o.result, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// sleep waits, less long when urge is closed. It returns false when ctx has ended.
func sleep(ctx context.Context, urge <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-urge:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
