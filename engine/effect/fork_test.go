package effect

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// oneByOne starts tasks in the order of a list. As [Seams] say, the first error ends the context of
// the others.
func oneByOne(order ...int) Seams {
	return Seams{Parallel: func(ctx context.Context, _ int, tasks []func(context.Context) error) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		var first error
		for _, i := range order {
			if err := tasks[i](ctx); err != nil && first == nil {
				first = err
				cancel(err)
			}
		}
		return first
	}}
}

// branches are two, each of which comes to the entries of a list that are its own, unless its
// context ends.
func branches(r *Recorder, keys ...string) []Branch {
	var list []Branch
	for _, name := range []string{"p/item1", "p/item2"} {
		key := echo.MustKey(name)
		list = append(list, Branch{Key: key, Run: func(ctx context.Context) error {
			for _, k := range keys {
				if err := ctx.Err(); err != nil {
					return err
				}
				if k := echo.MustKey(k); k.Under(key) {
					if err := r.Append(state(k.String())); err != nil {
						return err
					}
				}
			}
			return nil
		}})
	}
	return list
}

// A branch whose recording ends does not stop the others: theirs goes on. Where all come to the
// end, that is what a replay says, and not that it went another way.
func TestEndOfABranchDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		r := NewRecorder(Options{Recording: recorded("p/item1/start", "p/item2/start", itemTwo), Seams: oneByOne(order...)})
		err := r.Missing(r.Fork(t.Context(), "c", 2, branches(r, itemOne, itemTwo, itemTwo2)))
		require.EqualError(t, err, "the record ends here, before state at "+itemOne, "%v", order)
	}
}

// An error of a branch stops the others, and no end is recorded.
func TestErrorOfABranch(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	disk := &sink{}
	r := NewRecorder(Options{Log: echo.NewLog("s", nil, disk), Seams: oneByOne(0, 1)})
	list := branches(r, itemTwo)
	list[0].Run = func(context.Context) error { return boom }
	require.ErrorIs(t, r.Fork(t.Context(), "c", 2, list), boom)
	require.Len(t, disk.entries, 2)
	for _, e := range disk.entries {
		require.Equal(t, echo.NodeBranchStart, e.NodeType)
		require.Equal(t, "c", e.CascadeID)
	}
}

// Branches that cannot be recorded as begun do not run.
func TestForkThatDiverges(t *testing.T) {
	t.Parallel()
	r := NewRecorder(Options{Recording: recorded("p/item1/start", one)})
	ran := false
	list := branches(r)
	for i := range list {
		list[i].Run = func(context.Context) error { ran = true; return nil }
	}
	require.EqualError(t, r.Fork(t.Context(), "c", 2, list),
		"the run does not follow its record: entry 2 is state at "+one+", but now the run comes to branch_start at p/item2/start")
	require.False(t, ran)
}

// The request and the result of a tool say when its branch began and ended.
func TestForkOfTools(t *testing.T) {
	t.Parallel()
	disk := &sink{}
	r := NewRecorder(Options{Log: echo.NewLog("s", nil, disk), Effects: &toolWorld{}})
	err := r.Fork(t.Context(), "c", 2, []Branch{{Key: echo.MustKey(tool1), Run: func(ctx context.Context) error {
		_, err := r.Tool(ctx, echo.MustKey(tool1), ToolSpec{}, ToolRequest{Name: "t", Arguments: json.RawMessage("{}")})
		return err
	}}})
	require.NoError(t, err)
	require.Empty(t, disk.entries)
}
