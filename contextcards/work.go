package contextcards

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// work forms batches and hands them to workers, until the pipeline is closed and the queue is
// empty. soft ends before hard does: then cards are made without summarizer and embedder.
func (p *Pipeline) work(hard, soft context.Context) {
	defer close(p.made)
	var workers errgroup.Group
	workers.SetLimit(p.options.Workers)
	for p.await(hard) {
		for hard.Err() == nil {
			batch := p.take()
			if batch == nil {
				break
			}
			workers.Go(func() error {
				p.make(soft, batch)
				return nil // nothing that a batch meets ends the others
			})
		}
	}
	_ = workers.Wait()
}

// await waits until a batch is due: many messages wait, somebody waits for them, or no message came
// for a while. It returns false when there is nothing more to come.
func (p *Pipeline) await(ctx context.Context) bool {
	var look <-chan time.Time // when to see whether there is a pause
	var latest time.Time      // when there need be none any more
	for {
		p.mu.Lock()
		waiting, closed, pause := len(p.queue), p.closed, p.options.Delay-time.Since(p.newest)
		due := waiting > 0 && (closed || p.urgent > 0 || waiting >= p.many())
		p.mu.Unlock()
		now := time.Now()
		if waiting > 0 && latest.IsZero() {
			latest = now.Add(longWait)
		}
		switch {
		case ctx.Err() != nil:
			return false
		case due, waiting > 0 && (pause <= 0 || !now.Before(latest)):
			return true
		case closed:
			return false
		case waiting > 0 && look == nil:
			look = time.After(min(pause, latest.Sub(now)))
		}
		select {
		case <-p.wake:
		case <-look:
			look = nil
		case <-ctx.Done():
			return false
		}
	}
}

// take returns the next batch: the oldest message and those that like it need the summarizer or
// not, so that none waits for a summary of another. nil: none waits.
func (p *Pipeline) take() []*draft {
	p.mu.Lock()
	defer p.mu.Unlock()
	var batch []*draft
	var others []*item
	limit, n := maxBatch, 0
	for ; n < len(p.queue) && len(batch) < limit; n++ {
		d := p.draft(p.queue[n])
		switch {
		case len(batch) > 0 && d.summary != batch[0].summary:
			others = append(others, d.item)
			continue
		case d.summary:
			limit = MaxSummaries
			d.item.tries++
		}
		batch = append(batch, d)
	}
	clear(p.queue[:n]) // what was taken need not be kept
	if p.queue = p.queue[n:]; len(others) > 0 {
		p.queue = append(others, p.queue...)
	}
	if p.crowded && len(p.queue) <= p.options.Queue/2 {
		p.crowded = false
		p.notices.worked(NoticeQueue)
	}
	return batch
}

// draft begins the card of an item. The lock is held.
func (p *Pipeline) draft(it *item) *draft {
	d := &draft{key: it.source.key(), item: it, source: p.options.source(it.source)}
	d.card, _ = p.memory.card(d.key)
	d.summary, d.embedding = p.maker.needsSummary(it, &d.card), p.maker.needsEmbedding(&d.card)
	return d
}

func (p *Pipeline) make(ctx context.Context, batch []*draft) {
	p.maker.make(ctx, batch)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range batch {
		d.item.queued = false
		p.keep(d.key, d.item, d.card)
	}
	p.announce()
}
