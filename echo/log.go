package echo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Sink takes the entries of a session. Write is called in the order of their numbers, by one
// goroutine at a time; it must be quick and must not change the entry. An error from Write ends the
// run. Close delivers what is queued, as far as ctx lets it, and is called once.
type Sink interface {
	Write(e *Entry) error
	Close(ctx context.Context) error
}

// DurableSink is a sink that can promise that what was written will outlive the machine's power.
type DurableSink interface {
	Sink
	// Flush hands what was written to the operating system: it survives the death of the process.
	Flush()
	// Commit begins to make everything written so far durable and does not wait.
	Commit()
	// Wait returns when everything written before the call is durable, or why it cannot be.
	Wait(ctx context.Context) error
}

// Log numbers a session's entries and hands them to every sink. It is safe for concurrent use.
type Log struct {
	session string
	now     func() time.Time
	durable DurableSink // nil: nothing is kept on disk
	sinks   []Sink      // the durable one first
	follow  func(*Entry)

	mu     sync.Mutex // guards seq, closed and failed, and keeps the sinks' order
	seq    uint64
	closed bool
	failed error // of a sink: every later append fails with it
}

// ErrLogClosed is returned for an append after Close, unless a sink failed before.
var ErrLogClosed = errors.New("append to a closed log")

// NewLog returns the log of a session whose next entry is number 1. durable may be nil (nothing is
// kept); now is the clock of the entries, nil for the system's.
func NewLog(sessionID string, now func() time.Time, durable DurableSink, sinks ...Sink) *Log {
	if now == nil {
		now = time.Now
	}
	l := &Log{session: sessionID, now: now, durable: durable}
	if durable != nil {
		l.sinks = append(l.sinks, durable)
	}
	l.sinks = append(l.sinks, sinks...)
	return l
}

// ContinueLog is [NewLog] for a session that has seq entries already.
func ContinueLog(sessionID string, seq uint64, now func() time.Time, durable DurableSink, sinks ...Sink) *Log {
	l := NewLog(sessionID, now, durable, sinks...)
	l.seq = seq
	return l
}

// SessionID returns the session that the log belongs to.
func (l *Log) SessionID() string { return l.session }

// Append completes e with session, number, time, content hash and what its key says, and gives it
// to every sink. The entry belongs to the log afterwards. An entry without a key, or whose payload
// cannot be encoded, is refused. After an error of a sink the log takes no more entries, and
// returns that error for each.
func (l *Log) Append(e *Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return cmp.Or(l.failed, ErrLogClosed)
	}
	if e.invalid != nil {
		return e.invalid
	}
	if e.Key.IsZero() {
		return fmt.Errorf("append a %s entry: %w", e.NodeType, errNoKey)
	}
	e.SessionID = l.session
	e.Seq = l.seq + 1
	e.At = l.now().UTC().Truncate(time.Microsecond)
	e.SetKeyFields()
	if e.Message != nil {
		e.ContentHash = e.Message.Hash()
	}
	for _, s := range l.sinks {
		if err := s.Write(e); err != nil {
			l.closed, l.failed = true, err
			return err
		}
	}
	l.seq++
	if l.follow != nil {
		l.follow(e)
	}
	return nil
}

// Follow has see called with every entry that is appended from now on, in their order, by one
// goroutine at a time. It must be quick and must not append. Nil, or another function, replaces it.
func (l *Log) Follow(see func(*Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow = see
}

// Flush makes everything appended so far outlive the process.
func (l *Log) Flush() {
	if l.durable != nil {
		l.durable.Flush()
	}
}

// Commit begins to make everything appended so far durable, in the background.
func (l *Log) Commit() {
	if l.durable != nil {
		l.durable.Commit()
	}
}

// Wait returns when everything appended is durable, before anything outside depends on it.
func (l *Log) Wait(ctx context.Context) error {
	if l.durable == nil {
		return nil
	}
	return l.durable.Wait(ctx)
}

// Len returns the number of entries appended.
func (l *Log) Len() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seq
}

// Close closes every sink, each within ctx, and joins their errors. A second call does nothing.
func (l *Log) Close(ctx context.Context) error {
	l.mu.Lock()
	sinks := l.sinks
	l.sinks, l.closed = nil, true
	l.mu.Unlock()
	var errs []error
	for _, s := range sinks {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(errs...)
}
