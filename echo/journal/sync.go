package journal

import (
	"context"
	"errors"
	"fmt"
)

// Commit flushes, and begins to make what was written durable.
func (j *Journal) Commit() {
	j.mu.Lock()
	j.want(j.written)
	j.mu.Unlock()
}

// want flushes and asks for n entries to be made durable. The caller holds the mutex.
func (j *Journal) want(n uint64) {
	j.flush()
	if j.wanted < n {
		j.wanted = n
		j.cond.Broadcast()
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

// run syncs until the journal is closed or the disk fails.
func (j *Journal) run() {
	defer close(j.done)
	j.mu.Lock()
	defer j.mu.Unlock()
	for {
		for j.wanted <= j.durable && !j.closing && j.err == nil {
			j.cond.Wait()
		}
		if j.err != nil || j.wanted <= j.durable {
			return // the disk has failed, or the journal is closing and nothing is left to do
		}
		upTo := j.flushed
		j.mu.Unlock()
		err := j.file.Sync()
		j.mu.Lock()
		if err != nil {
			j.fail(err)
			return
		}
		j.durable = upTo
		j.syncs++
		j.cond.Broadcast()
	}
}

// Close makes everything written durable and gives up the session. It is safe to call twice.
func (j *Journal) Close(ctx context.Context) error {
	err := j.Wait(ctx)
	j.mu.Lock()
	j.closing = true
	j.cond.Broadcast()
	released := j.released
	j.released = true
	j.mu.Unlock()
	if released {
		return nil
	}
	<-j.done
	if cerr := j.file.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("close journal: %w", cerr)
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return err
}
