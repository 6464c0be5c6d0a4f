package journal

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// faultRun is a run on a disk of which one operation fails, or all from one on.
type faultRun struct {
	powerRun
	at   int // the operation that fails, from 0
	last int // the last that does
	err  syscall.Errno

	mu   sync.Mutex
	done int // operations so far
}

func (r *faultRun) fails(operation, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.done
	r.done++
	if n < r.at || n > r.last {
		return nil
	}
	return fmt.Errorf("%s %s: %w", operation, path, r.err)
}

// session runs one session until its end or its first error, which names what failed. It opens its
// journal again in the middle.
func (r *faultRun) session(t *testing.T, s *Store, on *tape, n int) {
	t.Helper()
	id := fmt.Sprintf("s%d", n)
	j, err := s.Create(t.Context(), headerOf(id))
	if err != nil {
		requireNamed(t, on, err)
		return
	}
	on.promise(id, 0)
	log := echo.NewLog(id, nil, j)
	for half := range 2 {
		if err := r.half(t, on, log); err != nil {
			requireNamed(t, on, err)
			_ = log.Close(context.Background()) // says the same
			return
		}
		if err := log.Close(context.Background()); err != nil {
			requireNamed(t, on, err)
			return
		}
		on.promise(id, int(log.Len()))
		if half == 1 {
			return
		}
		j, rec, err := s.Open(t.Context(), id)
		if err != nil {
			requireNamed(t, on, err)
			return
		}
		r.promiseRead(on, id, rec)
		log = echo.ContinueLog(id, uint64(len(rec.Entries)), nil, j)
	}
}

// promiseRead promises what was read of a session that is opened: it is depended on. On a disk that
// fails again and again that is not so: that it could not be synced was said once.
func (r *faultRun) promiseRead(on *tape, id string, rec *Recording) {
	if r.last == r.at {
		on.promise(id, len(rec.Entries))
	}
}

// half appends entries, of which one is too large for the commit log, and waits for the disk.
func (r *faultRun) half(t *testing.T, on *tape, log *echo.Log) error {
	t.Helper()
	for i := range r.entries {
		size := 100
		if i == 1 && log.SessionID() == "s1" && r.sessions == 2 {
			size = maxKept
		}
		if err := log.Append(entryOf(strings.Repeat("x", size))); err != nil {
			return err
		}
		if err := log.Wait(context.Background()); err != nil {
			return err
		}
		on.promise(log.SessionID(), int(log.Len()))
	}
	return nil
}

// requireNamed demands that an error is the one of the disk, and says where.
func requireNamed(t *testing.T, on *tape, err error) {
	t.Helper()
	var errno syscall.Errno
	require.ErrorAs(t, err, &errno)
	require.ErrorContains(t, err, on.root)
}

// requireKeptAfter demands that what was promised is there after the disk is well again: for a
// windlass that starts before the power fails, and after it.
func (r *faultRun) requireKeptAfter(t *testing.T, dir string, on *tape) {
	t.Helper()
	promises := promised(on.ops)
	for _, way := range []int{lostData, anyOf} {
		left := replay(on.ops).powerOff(t, dir, way, rand.New(rand.NewPCG(r.seed, uint64(r.at)))) //nolint:gosec // it is to be the same again
		r.requirePromised(t, left, promises)
		left.discard()
	}
	r.requirePromised(t, on, promises)
	left := replay(on.ops).powerOff(t, dir, lostData, nil)
	r.requirePromised(t, left, promised(on.ops))
	left.discard()
}

func (r *faultRun) requirePromised(t *testing.T, on *tape, promises map[string]int) {
	t.Helper()
	s := tapedStore(on, r.powerRun)
	require.NoError(t, s.Recover(context.Background()))
	requireNoLogs(t, s)
	for id, n := range promises {
		j, rec, err := s.Open(t.Context(), id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(rec.Entries), n, "session %s", id)
		r.promiseRead(on, id, rec)
		require.NoError(t, j.Close(context.Background()))
	}
	require.NoError(t, s.Close())
}

// Whichever operation of a disk fails, once or from then on: a run that goes on has what it was
// promised, now and after a power failure, and one that does not has an error that names it. Nothing
// hangs.
func TestFailingDisk(t *testing.T) {
	t.Parallel()
	for _, r := range []powerRun{
		{sessions: 1, entries: 3, limit: 1 << 20, plain: 1 << 20, seed: 1},
		{sessions: 1, entries: 3, limit: 200, plain: 0, seed: 2},
		{sessions: 2, entries: 3, limit: 1 << 20, plain: 16, seed: 3},
		{sessions: 3, entries: 2, limit: 600, plain: 0, seed: 4},
	} {
		for name, fault := range map[string]*faultRun{
			"once": {err: syscall.EIO}, "twice": {last: 1, err: syscall.EIO}, "for good": {last: 1 << 30, err: syscall.ENOSPC},
		} {
			t.Run(fmt.Sprintf("%d sessions, seed %d, %s", r.sessions, r.seed, name), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				for at := 0; failAt(t, dir, &faultRun{powerRun: r, at: at, last: at + fault.last, err: fault.err}); at++ {
					require.Less(t, at, 1000)
				}
			})
		}
	}
}

// A recovery on a disk that fails says so, and the next one on a disk that is well restores what was
// promised, whether the power fails in between or afterwards.
func TestFailingRecovery(t *testing.T) {
	t.Parallel()
	for _, r := range []powerRun{
		{sessions: 1, entries: 4, limit: 300, plain: 0, seed: 1},
		{sessions: 3, entries: 3, limit: 1 << 20, plain: 0, seed: 2},
	} {
		for name, fault := range map[string]*faultRun{
			"once": {err: syscall.EIO}, "twice": {last: 1, err: syscall.EIO}, "for good": {last: 1 << 30, err: syscall.ENOSPC},
		} {
			t.Run(fmt.Sprintf("%d sessions, %s", r.sessions, name), func(t *testing.T) {
				t.Parallel()
				on := newTape(t.TempDir())
				s := tapedStore(on, r)
				r.each(func(n int) { r.begin(t, s, on, n) })
				kill(t, s)
				dir := t.TempDir()
				for at := 0; failRecovery(t, dir, on, &faultRun{powerRun: r, at: at, last: at + fault.last, err: fault.err}); at++ {
					require.Less(t, at, 1000)
				}
			})
		}
	}
}

// failRecovery recovers after a power failure, and reports whether the operation to fail was reached.
func failRecovery(t *testing.T, dir string, on *tape, r *faultRun) bool {
	t.Helper()
	promises := promised(on.ops)
	left := replay(on.ops).powerOff(t, dir, anyOf, rand.New(rand.NewPCG(r.seed, uint64(r.at)))) //nolint:gosec // it is to be the same again
	defer left.discard()
	s := tapedStore(left, r.powerRun)
	s.on = faulty{left, r.fails}
	if err := s.Recover(context.Background()); err != nil {
		requireNamed(t, left, err)
	}
	for _, way := range []int{lostData, anyOf} {
		again := replay(left.ops).powerOff(t, dir, way, rand.New(rand.NewPCG(r.seed, uint64(r.at)))) //nolint:gosec // it is to be the same again
		r.requirePromised(t, again, promises)
		again.discard()
	}
	r.requirePromised(t, left, promises)
	again := replay(left.ops).powerOff(t, dir, lostData, nil)
	r.requirePromised(t, again, promises)
	again.discard()
	return r.done > r.at
}

// failAt runs sessions, and reports whether the operation to fail was reached.
func failAt(t *testing.T, dir string, r *faultRun) bool {
	t.Helper()
	on := newTape(filepath.Join(dir, fmt.Sprint(r.at)))
	require.NoError(t, osFiles{}.Mkdir(on.root))
	defer on.discard()
	s := tapedStore(on, r.powerRun)
	s.on = faulty{on, r.fails}
	r.each(func(n int) { r.session(t, s, on, n) })
	if err := s.Close(); err != nil {
		requireNamed(t, on, err)
	}
	r.requireKeptAfter(t, dir, on)
	return r.done > r.at
}
