package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// maxKept is how many bytes of lines wait for the commit log. More are synced where they are: to
// write them a second time costs more than another sync.
const maxKept = 256 << 10

// unsynced is what is in a journal's file and perhaps not on its disk.
type unsynced struct {
	lines  []byte // those in the file for the commit log to take
	queued bool   // the committer was asked, and has not begun yet
	large  bool   // there were too many to keep: the file is to be synced
	logged bool   // the commit log has taken some since the file was synced

	unsyncable error      // why the file could not be synced: a system says it once, so what another sync says is worth nothing
	syncing    sync.Mutex // held while the file is synced, without that of the journal
}

// keep keeps whole lines for the commit log.
func (u *unsynced) keep(lines []byte) {
	if u.large || len(u.lines)+len(lines) > maxKept {
		u.lines, u.large = u.lines[:0], true
		return
	}
	u.lines = append(u.lines, lines...)
}

// Commit flushes, and begins to make what was written durable.
func (j *Journal) Commit() {
	j.mu.Lock()
	j.want(j.written)
	j.mu.Unlock()
}

// want flushes and asks for n entries to be made durable. The caller holds the mutex.
func (j *Journal) want(n uint64) {
	j.flush()
	if max(j.wanted, j.durable) >= n || j.err != nil {
		return
	}
	j.wanted = n
	if !j.queued {
		if j.queued = j.commits.ask(j); !j.queued {
			j.fail(errStoreClosed)
		}
	}
}

// Wait returns when everything written before the call is durable. ctx ends only the waiting.
func (j *Journal) Wait(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() {
		j.mu.Lock()
		j.cond.Broadcast()
		j.mu.Unlock()
	})
	defer stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	target := j.written
	j.want(target)
	for j.durable < target && j.err == nil {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		j.cond.Wait()
	}
	if j.durable < target {
		return j.err
	}
	return nil
}

// take appends the lines that are in the file and not durable to a batch for the commit log, and
// returns how many entries are durable once the batch is. ok is false when the file itself is to be
// synced instead, or nothing is to be done any more.
func (j *Journal) take(batch []byte) (_ []byte, upTo uint64, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.large || j.closing || j.err != nil {
		return batch, 0, false
	}
	j.queued = false
	batch = append(batch, j.lines...)
	j.lines, j.logged = j.lines[:0], true
	return batch, j.flushed, true
}

// syncFile makes what is in the file durable, in place of the commit log. Only the committer calls
// it, and Close.
func (j *Journal) syncFile() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	upTo, err := j.flushed, j.unsyncable
	j.lines, j.queued, j.large, j.logged = j.lines[:0], false, false, false
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.sync(upTo)
}

// checkpoint makes durable in the file what the commit log has of it so far. A journal that is
// closed has done so.
func (j *Journal) checkpoint() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	upTo, err := j.flushed, j.unsyncable
	j.mu.Unlock()
	if err != nil {
		return err
	}
	return j.sync(upTo)
}

// sync syncs the file, which has so many entries. The caller holds syncing.
func (j *Journal) sync(upTo uint64) error {
	err := j.file.Sync()
	if errors.Is(err, os.ErrClosed) {
		return nil // it was synced before it was closed
	}
	if err != nil {
		j.mu.Lock()
		j.unsyncable = err
		j.mu.Unlock()
	}
	j.settle(upTo, err)
	return err
}

// settle says that so many entries are durable, or why they are not.
func (j *Journal) settle(upTo uint64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		j.fail(err)
	case upTo > j.durable:
		j.durable = upTo
		j.syncs++
		j.cond.Broadcast()
	}
}

// Close makes everything written durable in the journal's own file, and gives up the session. It is
// safe to call twice.
func (j *Journal) Close(context.Context) error {
	j.mu.Lock()
	j.flush()
	released := j.released
	j.closing, j.released = true, true
	behind := j.logged || j.durable < j.flushed
	j.mu.Unlock()
	if released {
		return nil
	}
	if behind {
		_ = j.syncFile() // the journal keeps its error
	}
	j.mu.Lock()
	err, unsyncable := j.err, j.unsyncable != nil // err has that of syncing, and what failed before
	j.cond.Broadcast()
	j.mu.Unlock()
	j.commits.leave(j, unsyncable)
	if cerr := j.file.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close journal: %w", cerr)
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return err
}
