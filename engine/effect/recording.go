package effect

import (
	"math"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

// recording is what is recorded of a run and was not used yet: a replay cursor for each branch.
// Entries have an order within a branch only. While branches run, their parent is idle: when that
// continues in the recording, nothing of them may be left or come anew. The mutex guards the
// cursors and item.used, as branches run on goroutines of their own; the rest does not change.
type recording struct {
	mu       sync.Mutex
	branches map[echo.Key]*cursor
	items    []item

	end  time.Time     // when the newest entry of all was recorded
	away time.Duration // how long nobody had run the session before that
}

type item struct {
	entry *echo.Entry
	away  time.Duration // how long nobody had run the session before it was recorded
	used  bool
}

// cursor is how far a branch has come in the record.
type cursor struct {
	own    []int // its entries, as indexes of items
	next   int   // the first of own that is not used
	last   int   // the item that was used last, -1 when none was
	all    []int // its entries and those of the branches below it
	oldest int   // the first of all that is not used
	queues map[slot][]int
}

// newRecording leaves out entries that are set aside or of the background.
func newRecording(entries []*echo.Entry, aside map[uint64]bool) *recording {
	p := &recording{branches: map[echo.Key]*cursor{}}
	var away time.Duration
	for i, e := range entries {
		p.end = e.At
		if e.NodeType == echo.NodeResume {
			if i > 0 {
				away += max(e.At.Sub(entries[i-1].At), 0)
			}
			continue
		}
		if aside[e.Seq] || e.Background() {
			continue
		}
		p.add(item{entry: e, away: away})
	}
	p.away = away
	return p
}

func (p *recording) add(it item) {
	n := len(p.items)
	p.items = append(p.items, it)
	branch := it.entry.Key.Branch()
	c := p.branch(branch)
	c.own = append(c.own, n)
	s := slot{it.entry.NodeType, it.entry.Key}
	c.queues[s] = append(c.queues[s], n)
	for {
		c.all = append(c.all, n)
		if branch.IsZero() {
			return
		}
		branch = branch.ParentBranch()
		c = p.branch(branch)
	}
}

func (p *recording) branch(key echo.Key) *cursor {
	c := p.branches[key]
	if c == nil {
		c = &cursor{last: -1, queues: map[slot][]int{}}
		p.branches[key] = c
	}
	return c
}

// noCursor is that of branches without a recording. It is only read.
var noCursor = &cursor{last: -1}

func (p *recording) find(branch echo.Key) *cursor {
	if c := p.branches[branch]; c != nil {
		return c
	}
	return noCursor
}

// follow uses the next entry of a key's branch if it has that type and key, else returns what is
// recorded instead, nil at the end. Readings for the budget are skipped when the run takes none.
func (p *recording) follow(node echo.NodeType, key echo.Key) (used, instead *echo.Entry) {
	if len(p.items) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	branch := key.Branch()
	c := p.find(branch)
	want := slot{node, key}
	for c.next < len(c.own) {
		n := c.own[c.next]
		e := p.items[n].entry
		if e.NodeType == node && e.Key == key {
			if before := p.unused(branch, e.Seq); before != nil {
				return nil, before
			}
			p.use(c, n)
			return e, nil
		}
		if e.NodeType != echo.NodeValue || !e.Key.IsBudgetReading() || len(c.queues[want]) == 0 {
			return nil, e
		}
		p.use(c, n)
	}
	return nil, p.unused(branch, math.MaxUint64)
}

// unused returns an unused entry before a number, of a branch, those below, or its ancestors.
func (p *recording) unused(branch echo.Key, before uint64) *echo.Entry {
	if left := p.left(p.find(branch)); left != nil && left.Seq < before {
		return left
	}
	for !branch.IsZero() {
		branch = branch.ParentBranch()
		if c := p.find(branch); c.next < len(c.own) {
			if e := p.items[c.own[c.next]].entry; e.Seq < before {
				return e
			}
		}
	}
	return nil
}

func (p *recording) left(c *cursor) *echo.Entry {
	for c.oldest < len(c.all) && p.items[c.all[c.oldest]].used {
		c.oldest++
	}
	if c.oldest == len(c.all) {
		return nil
	}
	return p.items[c.all[c.oldest]].entry
}

func (p *recording) use(c *cursor, n int) {
	it := &p.items[n]
	it.used, c.last = true, n
	s := slot{it.entry.NodeType, it.entry.Key}
	c.queues[s] = c.queues[s][1:]
	for c.next < len(c.own) && p.items[c.own[c.next]].used {
		c.next++
	}
}

// pending returns the first unused entry of a branch and those below and above it, or nil.
func (p *recording) pending(branch echo.Key) *echo.Entry {
	if len(p.items) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unused(branch, math.MaxUint64)
}

func (p *recording) peek(node echo.NodeType, key echo.Key) *echo.Entry {
	if len(p.items) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	q := p.find(key.Branch()).queues[slot{node, key}]
	if len(q) == 0 {
		return nil
	}
	return p.items[q[0]].entry
}

// clock returns when the entry was recorded that a branch, or else its parent, used last, and for
// how long nobody had run the session before that.
func (p *recording) clock(branch echo.Key) (at time.Time, away time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.items) == 0 {
		return time.Time{}, 0
	}
	c := p.find(branch)
	for c.last < 0 && !branch.IsZero() {
		branch = branch.ParentBranch()
		c = p.find(branch)
	}
	it := p.items[max(c.last, 0)]
	return it.entry.At, it.away
}
