package contextcards

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	maxSaved  = 500 // cards of one write
	saveDelay = 250 * time.Millisecond
	saveLimit = 10 * time.Second // for one write
)

// saves are the cards that the store does not have yet. They are guarded by the pipeline's lock.
type saves struct {
	wake    chan struct{} // holds one token when there is something to deliver
	waiting []key
	in      map[key]bool // waiting
	writing []key

	failing bool         // the last write failed,
	last    error        // for this reason
	works   int          // writes that did not
	alone   map[key]int  // cards that were refused when written alone, and works then
	refused map[key]bool // given up
}

func (s *saves) add(k key) {
	if s.in[k] {
		return
	}
	if s.in == nil {
		s.in, s.alone, s.refused = map[key]bool{}, map[key]int{}, map[key]bool{}
	}
	s.in[k] = true
	if s.waiting = append(s.waiting, k); len(s.waiting) == 1 || len(s.waiting) == maxSaved {
		signal(s.wake)
	}
}

// take begins a write of at most n cards.
func (s *saves) take(n int) []key {
	n = min(n, len(s.waiting))
	s.writing = slices.Clone(s.waiting[:n])
	s.waiting = s.waiting[n:]
	for _, k := range s.writing {
		delete(s.in, k)
	}
	return s.writing
}

// settle ends a write. Cards that were not taken wait again, behind the others. A card that is
// refused alone, while others are taken, is at fault itself and given up; settle returns it.
func (s *saves) settle(err error) (refused key, gaveUp bool) {
	keys := s.writing
	s.writing = nil
	s.failing, s.last = err != nil, err
	if err == nil {
		s.works++
		for _, k := range keys {
			delete(s.alone, k)
			delete(s.refused, k)
		}
		return key{}, false
	}
	if len(keys) == 1 {
		k := keys[0]
		if works, before := s.alone[k]; before && s.works > works {
			s.failing = false
			s.refused[k] = true
			delete(s.alone, k)
			return k, true
		}
		s.alone[k] = s.works
	}
	for _, k := range keys {
		s.add(k)
	}
	return key{}, false
}

// lacks reports whether the store does not have every card of a session.
func (s *saves) lacks(session string) bool {
	has := func(k key) bool { return k.session == session }
	return slices.ContainsFunc(s.waiting, has) || slices.ContainsFunc(s.writing, has) ||
		slices.ContainsFunc(slices.Collect(maps.Keys(s.refused)), has)
}

func (s *saves) lost() int { return len(s.waiting) + len(s.writing) + len(s.refused) }

type delivery struct {
	*ledger
	store   Store // nil: there is none
	notices *notices
	made    <-chan struct{} // closed when nothing more will be made
	done    chan<- struct{} // closed when all is written
}

// run delivers until nothing more is made and all is written, or the store fails at the end.
func (d *delivery) run(ctx context.Context) {
	defer close(d.done)
	if d.store == nil {
		<-d.made
		return
	}
	size, pause, last := maxSaved, firstPause, 0
	for d.awaitSaves(ctx) {
		ended := d.ended()
		n, err := d.save(ctx, size)
		if err == nil {
			size, pause = min(2*size, maxSaved), firstPause
			continue
		}
		if ended {
			last++
		}
		// A store that does not answer is not waited for at the end of a run.
		if last > 1 || !sleep(ctx, d.made, pause) {
			break
		}
		// Fewer at a time, so that one card which the store refuses does not keep back the others.
		size, pause = max(n/2, 1), min(2*pause, longPause)
	}
	<-d.made
}

// save writes one batch of n cards. The error says that it was not taken and will be tried again.
func (d *delivery) save(ctx context.Context, size int) (n int, err error) {
	d.mu.Lock()
	keys := d.saves.take(size)
	cards := make([]Card, 0, len(keys))
	for _, k := range keys {
		c, _ := d.memory.card(k)
		cards = append(cards, c)
	}
	d.mu.Unlock()
	_, err = attempt(ctx, saveLimit, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, d.store.Put(ctx, cards)
	})
	d.mu.Lock()
	refused, gaveUp := d.saves.settle(err)
	d.announce()
	d.mu.Unlock()
	switch {
	case err == nil:
		d.notices.worked(NoticeStore)
	case gaveUp:
		d.notices.tell(NoticeRefused, fmt.Sprintf("the card store does not take the card of message %s: %v", refused.hash, err))
		return len(keys), nil
	case ctx.Err() == nil:
		d.notices.tell(NoticeStore, fmt.Sprintf("the card store takes no cards now; they wait in memory: %v", err))
	}
	return len(keys), err
}

// awaitSaves waits until a write is due. It returns false when there is nothing more to come.
func (d *delivery) awaitSaves(ctx context.Context) bool {
	var ripe <-chan time.Time
	for {
		ended := d.ended() // looked at first: what was made before it is in the list
		d.mu.Lock()
		waiting, hurried := len(d.saves.waiting), d.urgent > 0
		d.mu.Unlock()
		switch {
		case ctx.Err() != nil:
			return false
		case waiting > 0 && (ended || hurried || waiting >= maxSaved):
			return true
		case ended:
			return false
		case waiting > 0 && ripe == nil:
			t := time.NewTimer(saveDelay)
			defer t.Stop() // once: ripe is set from now on
			ripe = t.C
		}
		select {
		case <-d.saves.wake:
		case <-d.made:
		case <-ripe:
			return true
		case <-ctx.Done():
		}
	}
}

func (d *delivery) ended() bool {
	select {
	case <-d.made:
		return true
	default:
		return false
	}
}
