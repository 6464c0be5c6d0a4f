package clickhouse

import (
	"context"
	"sync"
)

// A joint write takes batches up to these bounds, so that it is soon over and needs little memory.
const (
	jointRows = 500
	jointSize = 512 << 10 // bytes of entries, about
)

// joint writes the batches of all sinks of a database that wait at the same time together: an insert
// of a few rows takes ClickHouse and its driver about as long as one of some hundreds. Its goroutine
// runs while a batch waits, and owns the writer. The mutex guards what is below it.
type joint struct {
	writer *writer
	work   sync.WaitGroup

	mu      sync.Mutex
	waiting []portion
	cancel  context.CancelFunc // ends the goroutine's work at once; nil: it does not run
}

// portion is a batch that waits. Exactly one error, or nil, is sent to done, which has room for it.
type portion struct {
	*batch
	done chan error
}

// write writes a batch. When ctx ends it returns, and the batch may be written all the same.
func (j *joint) write(ctx context.Context, db *DB, b *batch) error {
	p := portion{batch: b, done: make(chan error, 1)}
	j.mu.Lock()
	j.waiting = append(j.waiting, p)
	if j.cancel == nil {
		var own context.Context
		own, j.cancel = context.WithCancel(context.Background())
		j.work.Go(func() { j.run(own, db) })
	}
	j.mu.Unlock()
	select {
	case err := <-p.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end ends what is being written, and returns when that is over.
func (j *joint) end() {
	j.mu.Lock()
	if j.cancel != nil {
		j.cancel()
	}
	j.mu.Unlock()
	j.work.Wait()
}

func (j *joint) run(ctx context.Context, db *DB) {
	if j.writer == nil {
		j.writer = newWriter(db)
	}
	for list := j.next(); len(list) > 0; list = j.next() {
		err := j.insert(ctx, list)
		if err == nil || len(list) == 1 || isGone(err) {
			for _, p := range list {
				p.done <- err
			}
			continue
		}
		for i := range list { // one that is refused holds up no others
			list[i].done <- j.insert(ctx, list[i:i+1])
		}
	}
}

// next takes the batches of the next write. There are none when the goroutine is to end.
func (j *joint) next() []portion {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.waiting) == 0 {
		j.cancel()
		j.cancel = nil
		return nil
	}
	n, rows, size := 1, len(j.waiting[0].rows), j.waiting[0].size
	for _, p := range j.waiting[1:] {
		rows, size = rows+len(p.rows), size+p.size
		if rows > jointRows || size > jointSize {
			break
		}
		n++
	}
	list := j.waiting[:n:n]
	j.waiting = j.waiting[n:]
	return list
}

func (j *joint) insert(ctx context.Context, list []portion) error {
	if len(list) == 1 {
		return j.writer.insert(ctx, list[0].rows)
	}
	var rows []*row
	for _, p := range list {
		rows = append(rows, p.rows...)
	}
	return j.writer.insert(ctx, rows)
}
