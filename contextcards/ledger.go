package contextcards

import (
	"slices"
	"sync"
	"time"

	"github.com/windlass-run/windlass/echo"
)

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
	changed chan struct{} // closed, and made anew, when a card is made or delivered
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
