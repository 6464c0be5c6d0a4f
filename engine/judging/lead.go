package judging

import (
	"context"
	"sync"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// minShared is how many tokens a prefix must have before providers keep it in their caches.
const minShared = 1024

// lead has judgements that are asked for at the same time wait for the first of them that leaves, until its answer
// begins: the provider then has the task in its cache, which all of them begin with. It says when requests leave, and
// changes nothing that is recorded. Any goroutine may use it: the mutex guards first.
type lead struct {
	mu    sync.Mutex
	first chan struct{} // closed when the answer of the first one begins, or its call has ended; nil: none has left
}

// lead returns nil when waiting saves no money.
func (j *judge) lead(sheets []sheet) *lead {
	if price := j.facts.Price; !j.shares(sheets) || price == nil || price.Cached >= price.Input {
		return nil
	}
	return &lead{}
}

// shares reports whether judgements have a prefix in common that providers keep.
func (j *judge) shares(sheets []sheet) bool {
	f := newFitter("", &j.facts, j.room)
	return len(sheets) > 1 && f.tokens(j.task) > minShared
}

// taskAt is the place of the task among the messages of a judgement that shares it with others.
const taskAt = 1

// cacheMarks has a provider keep the task whose cache has to be asked for.
func (j *judge) cacheMarks(sheets []sheet, messages []*echo.Message) []int {
	if !j.facts.MarkCache || len(messages) <= taskAt+1 || !j.shares(sheets) {
		return nil
	}
	return []int{taskAt}
}

// enter returns when a judgement may leave, or ctx ends. Leave is called when its call has ended.
func (l *lead) enter(ctx context.Context, calls *core.Calls, key echo.Key, req *effect.ModelRequest) (leave func(), err error) {
	if l == nil || calls.Rec.IsReplay() || calls.Rec.Peek(echo.NodeModelCall, key) != nil {
		return func() {}, nil
	}
	l.mu.Lock()
	first, leads := l.first, l.first == nil
	if leads {
		first = make(chan struct{})
		l.first = first
	}
	l.mu.Unlock()
	if !leads {
		select {
		case <-first:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return func() {}, nil
	}
	open := sync.OnceFunc(func() { close(first) })
	tell := req.OnDelta
	req.OnDelta = func(d effect.Delta) {
		if d.Text != "" || d.ToolCall != "" {
			open()
		}
		if tell != nil {
			tell(d)
		}
	}
	return open, nil
}
