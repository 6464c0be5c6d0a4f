package contextcards

import (
	"context"
	"sync"
)

// NoticeKind says what a notice of a [Pipeline] is about.
type NoticeKind string

// The kinds.
const (
	NoticeQueue      NoticeKind = "queue"      // too many messages wait
	NoticeSummarizer NoticeKind = "summarizer" // summaries are extracted
	NoticeEmbedder   NoticeKind = "embedder"   // cards have no embeddings
	NoticeStore      NoticeKind = "store"      // cards wait in memory
	NoticeRefused    NoticeKind = "refused"    // the store takes other cards, but not this one
)

// notices tells a caller what goes wrong, each kind once until it worked again.
type notices struct {
	told func(NoticeKind, string)
	done chan struct{}

	mu       sync.Mutex
	standing map[NoticeKind]bool
	waiting  chan func()
	closed   bool
}

// maxNotices is how many notices may wait for a slow callback; more are dropped.
const maxNotices = 32

func newNotices(told func(NoticeKind, string)) *notices {
	n := &notices{told: told, done: make(chan struct{}), standing: map[NoticeKind]bool{}, waiting: make(chan func(), maxNotices)}
	go n.run()
	return n
}

func (n *notices) run() {
	defer close(n.done)
	for call := range n.waiting {
		func() {
			defer func() { _ = recover() }() // the callback must not harm the pipeline
			call()
		}()
	}
}

func (n *notices) tell(kind NoticeKind, detail string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.standing[kind] {
		return
	}
	n.standing[kind] = true
	select {
	case n.waiting <- func() { n.told(kind, detail) }:
	default:
	}
}

func (n *notices) worked(kind NoticeKind) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.standing, kind)
}

// close waits for the pending callbacks, for as long as ctx allows. It may be called again.
func (n *notices) close(ctx context.Context) {
	n.mu.Lock()
	if !n.closed {
		n.closed = true
		close(n.waiting)
	}
	n.mu.Unlock()
	select {
	case <-n.done:
	case <-ctx.Done():
	}
}
