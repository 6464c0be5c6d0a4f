package effect_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// shuffled are seams that run tasks one after the other, in an order that r decides. The first
// error ends the context of the others.
func shuffled(r *rand.Rand) effect.Seams {
	return effect.Seams{Parallel: func(ctx context.Context, _ int, tasks []func(context.Context) error) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var first error
		for _, i := range r.Perm(len(tasks)) {
			if err := tasks[i](ctx); err != nil && first == nil {
				first = err
				cancel()
			}
		}
		return first
	}}
}

// replayOf runs another record of the tree, and returns the times of its branches.
func (l *treeLab) replayOf(t *testing.T, r *rand.Rand, entries []*echo.Entry) (map[echo.Key][]time.Time, error) {
	t.Helper()
	run := newTreeRun(effect.Options{Recording: entries, SetAside: record.SetAside(entries), Seams: shuffled(r)})
	err := run.run(t.Context(), treeRoot, l.tree)
	if err == nil {
		err = run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd))
	}
	return run.times, run.rec.Missing(err)
}

// provesItself holds that a record is followed whatever the order of its branches, that one that
// was cut off ends where it was cut off, and that no other record is followed.
func (l *treeLab) provesItself(t *testing.T, r *rand.Rand) {
	t.Helper()
	times, err := l.replayOf(t, r, l.record)
	require.NoError(t, err)
	again, err := l.replayOf(t, r, l.record)
	require.NoError(t, err)
	require.Equal(t, times, again, "the time in a branch does not depend on others")
	for range 3 {
		cut := r.IntN(len(l.record))
		_, err := l.replayOf(t, r, l.record[:cut])
		if !errors.Is(err, errStopped) || len(failedLast(l.record[:cut], record.SetAside(l.record[:cut]))) == 0 {
			require.ErrorIs(t, err, effect.ErrEndOfRecord, "%d of %d entries", cut, len(l.record))
		}
	}
	aside := record.SetAside(l.record)
	for range 3 {
		i := r.IntN(len(l.record))
		if aside[l.record[i].Seq] {
			continue // a replay does not miss it
		}
		for name, change := range map[string]func([]*echo.Entry, int) []*echo.Entry{
			"left out": leftOut, "twice": twice, "later": later,
		} {
			changed := change(l.record, i)
			if changed == nil {
				continue
			}
			_, err := l.replayOf(t, r, numbered(t, changed))
			require.Error(t, err, "entry %d, %s at %s, %s", l.record[i].Seq, l.record[i].NodeType, l.record[i].Key, name)
		}
	}
}

// leftOut returns a record without an entry; nil where a replay does not miss it.
func leftOut(record []*echo.Entry, i int) []*echo.Entry {
	if n := record[i].NodeType; n == echo.NodeResume || n == echo.NodeToolStart {
		return nil
	}
	return slices.Delete(slices.Clone(record), i, i+1)
}

// twice returns a record with an entry twice; nil where it may be: a clock's reading is skipped
// when it is not taken.
func twice(record []*echo.Entry, i int) []*echo.Entry {
	if n := record[i].NodeType; n == echo.NodeResume || n == echo.NodeValue {
		return nil
	}
	return slices.Insert(slices.Clone(record), i, record[i])
}

// later returns a record with an entry behind the next one that it has an order with: of its
// branch, one below, or one above; nil when there is none.
func later(entries []*echo.Entry, i int) []*echo.Entry {
	aside := record.SetAside(entries)
	if entries[i].NodeType == echo.NodeResume {
		return nil
	}
	branch := entries[i].Key.Branch()
	for j := i + 1; j < len(entries); j++ {
		other := entries[j].Key.Branch()
		if entries[j].NodeType != echo.NodeResume && !aside[entries[j].Seq] && (grows(other, branch) || grows(branch, other)) {
			moved := slices.Insert(slices.Clone(entries), j+1, entries[i])
			return slices.Delete(moved, i, i+1)
		}
	}
	return nil
}

// grows reports whether a branch is another one or grows from it.
func grows(branch, from echo.Key) bool {
	for branch != from {
		if branch.IsZero() {
			return false
		}
		branch = branch.ParentBranch()
	}
	return true
}

// numbered gives entries new numbers, also where one that says that the run was resumed names
// others.
func numbered(t *testing.T, entries []*echo.Entry) []*echo.Entry {
	t.Helper()
	now := map[uint64]uint64{}
	for i, e := range entries {
		now[e.Seq] = uint64(i + 1)
	}
	out := make([]*echo.Entry, len(entries))
	for i, e := range entries {
		e := *e
		e.Seq = uint64(i + 1)
		if e.NodeType == echo.NodeResume {
			said, err := echo.Read[echo.Resume](&e)
			require.NoError(t, err)
			for j, seq := range said.SetAside {
				said.SetAside[j] = now[seq]
			}
			e.Set(said)
		}
		out[i] = &e
	}
	return out
}
