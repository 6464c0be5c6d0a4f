package cards

import (
	"context"
	"sync"
	"time"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// later keeps the messages of a session that selects nothing, so that their cards take no time of
// the run: they are made after the answer. It implements [lookup.Cards] for concurrent use.
type later struct {
	options contextcards.Options

	mu      sync.Mutex
	sources []contextcards.Source
}

// Add implements [lookup.Cards].
func (l *later) Add(s contextcards.Source) {
	if !s.Worth() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources = append(l.sources, s)
}

// Wait implements [lookup.Cards].
func (l *later) Wait(_ context.Context, sources []contextcards.Source) (list []contextcards.Card, late int) {
	for _, s := range sources {
		list = append(list, contextcards.Extract(s, time.Time{}))
	}
	return list, 0
}

// Mark implements [lookup.Cards].
func (l *later) Mark(string, []echo.Hash) {}

// make makes the cards. The pipeline is to be closed.
func (l *later) make(ctx context.Context) *contextcards.Pipeline {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := contextcards.Start(l.options)
	if len(l.sources) > 0 {
		p.Wait(ctx, l.sources)
	}
	return p
}

func (l *later) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sources = nil
}
