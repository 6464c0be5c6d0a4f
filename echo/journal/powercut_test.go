package journal

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// powerRun is what is recorded for a power failure.
type powerRun struct {
	sessions int
	entries  int   // of each, in each of its two processes
	limit    int64 // of a commit log
	plain    int   // see committer
	seed     uint64
}

func tapedStore(t *tape, r powerRun) *Store {
	s := NewStore(filepath.Join(t.root, "sessions"), filepath.Join(t.root, "commit"))
	s.on, s.limit, s.plain = t, r.limit, r.plain
	return s
}

// record runs the sessions, half of each in a process that is killed, and returns the tape and the
// whole journals.
func (r powerRun) record(t *testing.T) (*tape, map[string]string) {
	t.Helper()
	on := newTape(t.TempDir())
	killed := tapedStore(on, r)
	r.each(func(n int) { r.begin(t, killed, on, n) })
	kill(t, killed)
	s := tapedStore(on, r)
	require.NoError(t, s.Recover(context.Background()))
	r.each(func(n int) { r.resume(t, s, on, n) })
	require.NoError(t, s.Close())
	requireNoLogs(t, s)
	journals := map[string]string{}
	for n := range r.sessions {
		id := fmt.Sprintf("s%d", n)
		text, err := os.ReadFile(filepath.Join(on.root, "sessions", id, File))
		require.NoError(t, err)
		journals[id] = string(text)
	}
	return on, journals
}

// each does something for each session at once.
func (r powerRun) each(do func(n int)) {
	var wg sync.WaitGroup
	for n := range r.sessions {
		wg.Go(func() { do(n) })
	}
	wg.Wait()
}

// kill gives up what the death of a process gives up.
func kill(t *testing.T, s *Store) {
	t.Helper()
	for _, j := range s.commits.open() {
		require.NoError(t, j.lock.Close())
	}
	s.commits.close()
	s.commits.log.retiring.Wait() // is not killed: its operations would come at any time
	if lock := s.commits.log.lock; lock != nil {
		require.NoError(t, lock.Close())
	}
}

func (r powerRun) begin(t *testing.T, s *Store, on *tape, n int) {
	t.Helper()
	h := testHeader
	h.SessionID = fmt.Sprintf("s%d", n)
	j, err := s.Create(t.Context(), h)
	require.NoError(t, err)
	on.promise(h.SessionID, 0)
	r.append(t, s, on, echo.NewLog(h.SessionID, nil, j)).Flush()
}

func (r powerRun) resume(t *testing.T, s *Store, on *tape, n int) {
	t.Helper()
	id := fmt.Sprintf("s%d", n)
	j, rec, err := s.Open(t.Context(), id)
	require.NoError(t, err)
	require.Len(t, rec.Entries, r.entries)
	on.promise(id, r.entries)
	log := r.append(t, s, on, echo.ContinueLog(id, uint64(r.entries), nil, j))
	require.NoError(t, log.Close(context.Background()))
	on.promise(id, 2*r.entries)
}

// append appends entries, and waits for the disk now and then, or closes the journal and opens it
// again. The log that it returns is the one that is open now.
func (r powerRun) append(t *testing.T, s *Store, on *tape, log *echo.Log) *echo.Log {
	t.Helper()
	id := log.SessionID()
	random := rand.New(rand.NewPCG(r.seed, uint64(id[1])+log.Len())) //nolint:gosec // it is to be the same again
	for i := range r.entries {
		e := entryOf(strings.Repeat(fmt.Sprintf("%s %d ", id, i), random.IntN(300)))
		require.NoError(t, log.Append(e))
		switch random.IntN(5) {
		case 0:
		case 1:
			log.Flush()
		case 2:
			log.Commit()
		default:
			require.NoError(t, log.Wait(context.Background()))
			on.promise(id, int(log.Len()))
		}
		if random.IntN(8) == 0 {
			n := log.Len()
			require.NoError(t, log.Close(context.Background()))
			on.promise(id, int(n))
			j, rec, err := s.Open(t.Context(), id)
			require.NoError(t, err)
			require.Len(t, rec.Entries, int(n))
			log = echo.ContinueLog(id, n, nil, j)
		}
	}
	return log
}

func requireNoLogs(t *testing.T, s *Store) {
	t.Helper()
	logs, err := findLogs(s.folder)
	require.NoError(t, err)
	require.Empty(t, logs)
}

// promised returns how many entries sessions were promised to have.
func promised(ops []operation) map[string]int {
	p := map[string]int{}
	for _, op := range ops {
		if op.kind == "promise" {
			p[op.session] = max(p[op.session], op.entries)
		}
	}
	return p
}

// requireKept restores sessions after a power failure, and demands that they have what was promised,
// and nothing that was not written.
func requireKept(t *testing.T, r powerRun, on *tape, promises map[string]int, journals map[string]string) {
	t.Helper()
	s := tapedStore(on, r)
	require.NoError(t, s.Recover(context.Background()))
	requireNoLogs(t, s)
	for id, n := range promises {
		j, rec, err := s.Open(t.Context(), id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(rec.Entries), n, "session %s", id)
		require.NoError(t, j.Close(context.Background()))
		text, err := os.ReadFile(j.Path())
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(journals[id], string(text)), "session %s has what was not written", id)
		require.True(t, bytes.HasSuffix(text, []byte("\n")))
	}
	require.NoError(t, s.Close())
}

// Whenever the power fails, and whatever of what was not synced is lost, torn or written in another
// order: every session has what was promised, and recovering them can fail in the same way.
func TestPowerFailure(t *testing.T) {
	t.Parallel()
	for _, r := range []powerRun{
		{sessions: 1, entries: 8, limit: 1 << 20, plain: 1 << 20, seed: 1},
		{sessions: 1, entries: 8, limit: 1 << 20, plain: 4, seed: 2},
		{sessions: 1, entries: 8, limit: 3000, plain: 0, seed: 3},
		{sessions: 2, entries: 5, limit: 1 << 20, plain: 16, seed: 4},
		{sessions: 2, entries: 5, limit: 2000, plain: 0, seed: 5},
		{sessions: 8, entries: 3, limit: 1 << 20, plain: 16, seed: 6},
		{sessions: 8, entries: 3, limit: 8000, plain: 0, seed: 7},
	} {
		t.Run(fmt.Sprintf("%d sessions, seed %d", r.sessions, r.seed), func(t *testing.T) {
			t.Parallel()
			on, journals := r.record(t)
			dir := t.TempDir()
			for at := range len(on.ops) + 1 {
				if at < len(on.ops) && (on.ops[at].kind == "begin" || on.ops[at].kind == "promise") {
					continue // the disk is the same after the next operation, and as much is promised
				}
				r.cut(t, dir, on.ops[:at], journals, at%64 == 0)
			}
		})
	}
}

// cut has the power fail after operations, in every way, and, when again is true, at every point of
// the recovery, too.
func (r powerRun) cut(t *testing.T, dir string, ops []operation, journals map[string]string, again bool) {
	t.Helper()
	promises := promised(ops)
	for way := range ways {
		random := rand.New(rand.NewPCG(r.seed, uint64(len(ops)))) //nolint:gosec // it is to be the same again
		first := replay(ops).powerOff(t, dir, way, random)
		start := len(first.ops)
		requireKept(t, r, first, promises, journals)
		for at := start; again && at < len(first.ops); at++ {
			second := replay(first.ops[:at]).powerOff(t, dir, anyOf, random)
			requireKept(t, r, second, promises, journals)
			second.discard()
		}
		first.discard()
	}
}
