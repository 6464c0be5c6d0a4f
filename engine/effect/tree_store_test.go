package effect_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/effect/effecttest"
)

// stops is a model that fails when it is asked something for the first time.
const stops = "stops"

var errStopped = errors.New("a model has stopped the run")

// stopping are the models of a world, with the one that stops.
type stopping struct{ *effecttest.World }

func (s stopping) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if req.Model == stops && s.Done(req.Messages[len(req.Messages)-1].Text()) == 0 {
		failing := *req
		failing.Model = effecttest.Failing
		req = &failing
	}
	return s.World.Complete(ctx, req)
}

// failedLast returns the numbers of the calls that stopped the run: each is the last entry of its
// branch that counts.
func failedLast(entries []*echo.Entry, aside map[uint64]bool) []uint64 {
	last := map[echo.Key]*echo.Entry{}
	for _, e := range entries {
		if e.NodeType != echo.NodeResume && !aside[e.Seq] {
			last[e.Key.Branch()] = e
		}
	}
	failed := []uint64{}
	for _, e := range last {
		if e.Model == stops && e.Error != nil {
			failed = append(failed, e.Seq)
		}
	}
	return failed
}

// treeStore keeps the record of a run through its lives.
type treeStore interface {
	// begin returns a sink for one life, which dies when so many entries are written.
	begin(t *testing.T, entries int) echo.DurableSink
	// end returns what is kept at the end of a life.
	end(t *testing.T, killed bool) []*echo.Entry
}

// inMemory is a store that loses nothing that was written.
type inMemory struct {
	kept []*echo.Entry
	disk *effecttest.Disk
}

func (s *inMemory) begin(_ *testing.T, entries int) echo.DurableSink {
	s.disk = &effecttest.Disk{Fail: func(*echo.Entry) error {
		if entries--; entries < 0 {
			return errKilled
		}
		return nil
	}}
	return s.disk
}

func (s *inMemory) end(*testing.T, bool) []*echo.Entry {
	s.kept = append(s.kept, s.disk.Entries()...)
	return s.kept
}

// inFile is a store with a journal. A death takes what was not synced, from any byte on.
type inFile struct {
	dir, session string
	r            *rand.Rand
	life         *mortal
	torn         int // how many deaths left a part of a line
}

func (s *inFile) begin(t *testing.T, entries int) echo.DurableSink {
	t.Helper()
	var j *journal.Journal
	var err error
	if s.life == nil {
		j, err = journal.Create(s.dir, journal.Header{Rules: 1, SessionID: s.session})
	} else {
		j, _, err = journal.Open(s.dir)
	}
	require.NoError(t, err)
	s.life = &mortal{Journal: j, left: entries}
	s.life.durable = s.life.size(t) // both have synced what is there
	t.Cleanup(func() { _ = j.Close(context.Background()) })
	return s.life
}

func (s *inFile) end(t *testing.T, killed bool) []*echo.Entry {
	t.Helper()
	require.NoError(t, s.life.Close(t.Context()))
	path := filepath.Join(s.dir, journal.File)
	if killed {
		lost := s.life.size(t) - s.life.durable
		require.NoError(t, os.Truncate(path, s.life.durable+s.r.Int64N(lost+1)))
	}
	rec, err := journal.Read(path)
	require.NoError(t, err)
	if rec.Torn {
		s.torn++
	}
	return rec.Entries
}

// mortal is a journal that takes so many entries, and knows how much of its file is synced for
// sure.
type mortal struct {
	*journal.Journal

	mu      sync.Mutex // guards what follows
	left    int
	durable int64
}

func (m *mortal) size(t *testing.T) int64 {
	t.Helper()
	info, err := os.Stat(m.Path())
	require.NoError(t, err)
	return info.Size()
}

// Write implements [echo.Sink].
func (m *mortal) Write(e *echo.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left--; m.left < 0 {
		return errKilled
	}
	return m.Journal.Write(e)
}

// Wait implements [echo.DurableSink].
func (m *mortal) Wait(ctx context.Context) error {
	m.Flush()
	info, err := os.Stat(m.Path())
	if err != nil {
		return err
	}
	if err := m.Journal.Wait(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.durable = max(m.durable, info.Size())
	return nil
}
