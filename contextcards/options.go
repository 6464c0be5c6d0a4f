package contextcards

import (
	"cmp"
	"time"
)

// Options say what a [Pipeline] works with. The zero value makes cards in memory without models.
type Options struct {
	Summarizer Summarizer // nil: long messages are summed up by extraction
	Embedder   Embedder   // nil: cards have no embeddings
	Store      Store      // nil: cards are kept in memory only

	// Mask takes secrets out of texts before anything else sees them; nil: there are none.
	Mask func(text string) string

	// Notice is told what goes wrong, once until it works again, by one goroutine. May be nil.
	Notice func(kind NoticeKind, detail string)
	Now    func() time.Time // nil: the system's clock

	Queue    int           // messages that may wait; 0: 4096
	Workers  int           // batches that are made at the same time; 0: 4
	Delay    time.Duration // how long no message must have come before a batch is made; 0: 10 ms
	Timeout  time.Duration // of one call of the summarizer or the embedder; 0: 30 s
	Attempts int           // at such a call, before the cards do without; 0: 2
}

const (
	// maxBatch is the number of messages in a batch that needs no summarizer.
	maxBatch = 64
	// manyWait is how many messages are not left waiting for a pause,
	manyWait = 8 * maxBatch
	// longWait how long none is, when no pause comes.
	longWait = 250 * time.Millisecond
)

// source returns what a card is made of.
func (o Options) source(s Source) Source {
	if s.Message != nil {
		s.Message = s.Message.Rewritten(o.Mask)
	}
	s.Callout = o.Mask(s.Callout)
	return s
}

func (o Options) withDefaults() Options {
	if o.Mask == nil {
		o.Mask = func(text string) string { return text }
	}
	if o.Notice == nil {
		o.Notice = func(NoticeKind, string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Queue = cmp.Or(max(o.Queue, 0), 4096)
	o.Workers = cmp.Or(max(o.Workers, 0), 4)
	o.Delay = cmp.Or(max(o.Delay, 0), 10*time.Millisecond)
	o.Timeout = cmp.Or(max(o.Timeout, 0), 30*time.Second)
	o.Attempts = cmp.Or(max(o.Attempts, 0), 2)
	return o
}
