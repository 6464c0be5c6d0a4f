package effect_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// shuffled are seams that run tasks one after the other, in an order that r decides. The first error ends the context of the
// others.
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
func (l *treeLab) replayOf(t *testing.T, r *rand.Rand, record []*echo.Entry) (map[echo.Key][]time.Time, error) {
	t.Helper()
	run := newTreeRun(effect.Options{Recording: record, Seams: shuffled(r)})
	err := run.run(t.Context(), treeRoot, l.tree)
	if err == nil {
		err = run.rec.Complete(echo.NodeRunEnd, echo.RunKey().Step(echo.StepEnd))
	}
	return run.times, run.rec.Missing(err)
}

// provesItself holds that a record is followed whatever the order of its branches, that one that was cut off ends where it was
// cut off, and that no other record is followed.
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
		require.ErrorIs(t, err, effect.ErrEndOfRecord, "%d of %d entries", cut, len(l.record))
	}
	for range 3 {
		i := r.IntN(len(l.record))
		for name, change := range map[string]func([]*echo.Entry, int) []*echo.Entry{
			"left out": leftOut, "twice": twice, "later": later,
		} {
			record := change(l.record, i)
			if record == nil {
				continue
			}
			_, err := l.replayOf(t, r, numbered(record))
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

// twice returns a record with an entry twice; nil where it may be: a clock's reading is skipped when it is not taken.
func twice(record []*echo.Entry, i int) []*echo.Entry {
	if n := record[i].NodeType; n == echo.NodeResume || n == echo.NodeValue {
		return nil
	}
	return slices.Insert(slices.Clone(record), i, record[i])
}

// later returns a record with an entry behind the next one that it has an order with: of its branch, one below, or one above; nil
// when there is none.
func later(record []*echo.Entry, i int) []*echo.Entry {
	if record[i].NodeType == echo.NodeResume {
		return nil
	}
	branch := record[i].Key.Branch()
	for j := i + 1; j < len(record); j++ {
		other := record[j].Key.Branch()
		if record[j].NodeType != echo.NodeResume && (grows(other, branch) || grows(branch, other)) {
			moved := slices.Insert(slices.Clone(record), j+1, record[i])
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

func numbered(record []*echo.Entry) []*echo.Entry {
	out := make([]*echo.Entry, len(record))
	for i, e := range record {
		e := *e
		e.Seq = uint64(i + 1)
		out[i] = &e
	}
	return out
}
