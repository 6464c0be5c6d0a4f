package journal

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// plainSyncs is how often the only journal of a process is synced by itself before a commit log is
// begun: less than that costs less than to make a file.
const plainSyncs = 16

// committer makes journals durable. Its goroutine takes all that have asked since it was last at
// work, and makes them durable together: by one write to the commit log, or, without one and after it
// failed, by syncing each. The mutex guards what is below it; what is above it is the goroutine's own.
type committer struct {
	log   *commitLog    // nil: every journal is synced by itself
	plain int           // how often the only journal is synced by itself before there is a log
	done  chan struct{} // closed when the goroutine has ended

	syncs int    // of journals by themselves
	batch []byte // of the write before

	mu      sync.Mutex
	cond    *sync.Cond // signalled when there is work, or closing
	queue   []*Journal // that ask
	members map[*Journal]struct{}
	behind  bool // a journal was closed that could not be synced: the commit log has its end
	closing bool
}

// newCommitter starts a committer. It must be closed.
func newCommitter(log *commitLog, plain int) *committer {
	c := &committer{log: log, plain: plain, done: make(chan struct{}), members: map[*Journal]struct{}{}}
	c.cond = sync.NewCond(&c.mu)
	go c.run()
	return c
}

func (c *committer) join(j *Journal) {
	c.mu.Lock()
	c.members[j] = struct{}{}
	c.mu.Unlock()
}

// leave forgets a journal that is closed, and is behind when its file could not be synced: then the
// commit log is what has its entries. The committer of a journal alone ends with it.
func (c *committer) leave(j *Journal, behind bool) {
	c.mu.Lock()
	delete(c.members, j)
	c.behind = c.behind || behind
	c.mu.Unlock()
	if c.log == nil {
		c.close()
	}
}

// ask queues a journal, unless the committer is closed: then nobody would answer.
func (c *committer) ask(j *Journal) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.queue = append(c.queue, j)
	c.cond.Signal()
	return true
}

// close ends the goroutine when the queue is empty, and returns when it has.
func (c *committer) close() {
	c.mu.Lock()
	c.closing = true
	c.cond.Signal()
	c.mu.Unlock()
	<-c.done
}

func (c *committer) run() {
	defer close(c.done)
	var asking []*Journal
	for {
		var alone bool
		asking, alone = c.next(asking[:0])
		if len(asking) == 0 {
			return
		}
		if c.log != nil && c.log.err == nil && (!alone || c.log.begun() || c.syncs >= c.plain) {
			c.commit(asking)
			continue
		}
		for _, j := range asking {
			c.syncs++
			_ = j.syncFile() // the journal keeps its error
		}
	}
}

// next waits for journals that ask, and returns them in place of list. There are none when the
// committer is closed. alone says that the process has no other journal.
func (c *committer) next(list []*Journal) (asking []*Journal, alone bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closing {
		c.cond.Wait()
	}
	asking, c.queue = c.queue, list
	return asking, len(c.members) <= 1
}

// commit makes journals durable by one write to the commit log.
func (c *committer) commit(asking []*Journal) {
	batch := c.batch[:0]
	taken := make([]uint64, len(asking))
	for i, j := range asking {
		var ok bool
		if batch, taken[i], ok = j.take(batch); !ok {
			_ = j.syncFile() // the journal keeps its error
		}
	}
	err := c.log.write(batch)
	if err != nil && !c.log.begun() { // nobody relies on a file that could not be made
		for _, j := range asking {
			_ = j.syncFile() // the journal keeps its error
		}
		return
	}
	if err != nil {
		for _, j := range c.open() { // whoever relies on the log
			j.settle(0, err)
		}
		return
	}
	for i, j := range asking {
		j.settle(taken[i], nil)
	}
	if c.batch = batch; cap(batch) > maxKept {
		c.batch = nil
	}
	if c.log.full() {
		c.log.rotate(c.rely())
	}
}

// open returns the journals that are open.
func (c *committer) open() []*Journal {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.members))
}

// rely returns the journals that rely on the file of the log until they are synced, and whether a
// closed one relies on it for good. The next file begins without such a one.
func (c *committer) rely() (open []*Journal, behind bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	behind, c.behind = c.behind, false
	return slices.Collect(maps.Keys(c.members)), behind
}

// end closes the committer, and then its commit log. That is removed when every journal is closed
// and synced.
func (c *committer) end() error {
	c.close()
	open, behind := c.rely()
	err := c.log.end(len(open) == 0 && !behind)
	if len(open) > 0 {
		err = errors.Join(err, fmt.Errorf("close the commit log: %d journals are open", len(open)))
	}
	return err
}
