package app

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/waits"
)

// untilThere returns the open waits once they are as they should be.
func untilThere(ctx context.Context, a *App, are func(list []*waits.Wait) bool) ([]*waits.Wait, error) {
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for {
		if list, err := deskOf(a).List(ctx, ""); err != nil || are(list) {
			return list, err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// while does something in the call of a model, once so many waits are on the record.
func while(a *App, count int, do func(desk waits.Desk, list []*waits.Wait) error) func(context.Context) error {
	return func(ctx context.Context) error {
		list, err := untilThere(ctx, a, func(list []*waits.Wait) bool { return len(list) == count })
		if err != nil {
			return err
		}
		return do(deskOf(a), list)
	}
}

func answerAll(desk waits.Desk, list []*waits.Wait) (err error) {
	for _, w := range list {
		if w.IsAnswered() {
			err = errors.Join(err, desk.Answer(w, waits.Given{Value: "fine", By: "ada", Via: echo.ViaCommand}))
		}
		for _, name := range w.Signals() {
			err = errors.Join(err, desk.Signal("", name, echo.Answer{Letter: "l" + w.ID, Value: "up", By: "ada", Via: echo.ViaCommand, At: desk.Clock()}))
		}
	}
	return err
}

// nodes counts entries of a kind that a session has.
func nodes(t *testing.T, a *App, id string, node echo.NodeType) (count int) {
	t.Helper()
	for _, e := range a.recording(t, id).Entries {
		if e.NodeType == node {
			count++
		}
	}
	return count
}

var besideFiles = map[string]string{
	"graph.json": `{"cascade_id": "graph", "phases": [
		{"name": "slow", "instructions": "slow", "after": []},
		{"name": "hold", "tool": "await_signal", "inputs": {"signal_name": "live"}, "after": []},
		{"name": "ask", "instructions": "ask", "human_input": {"prompt": "ok?"}, "after": []},
		{"name": "end", "instructions": "end {{ outputs.hold.payload }} {{ state.human_ask }}", "after": ["slow", "hold", "ask"]}]}`,
	"child.json": `{"cascade_id": "child", "phases": [{"name": "p", "instructions": "p", "sub_cascades": [{"ref": "graph.json", "name": "graph"}]}]}`,
	"beside.json": `{"cascade_id": "beside", "phases": [
		{"name": "one", "instructions": "p", "async_cascades": [{"ref": "asks.json", "name": "asks"}]},
		{"name": "slow", "instructions": "slow"}]}`,
	"asks.json": `{"cascade_id": "asks", "phases": [{"name": "one", "instructions": "one", "human_input": {"prompt": "which?"}}]}`,
}

// What comes for a wait while other branches work is found before the run ends, which continues in the same process.
func TestAnswersWhileABranchWorks(t *testing.T) {
	t.Parallel()
	for name, count := range map[string]int{"graph": 2, "child": 2, "beside": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var looked atomic.Int64 // how many waits have looked for an answer in vain: those are told of
			told := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { looked.Add(1) }))
			t.Cleanup(told.Close)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, config.FileName), []byte(`{"notify": [{"webhook": "`+told.URL+`"}]}`), 0o600))
			a, err := Open(Options{Home: t.TempDir(), Dir: dir, Version: "test"})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, a.Close()) })
			m := &speaker{}
			m.says("slow", func(ctx context.Context) error {
				list, err := untilThere(ctx, a, func(list []*waits.Wait) bool { return len(list) == count && looked.Load() == int64(count) })
				if err != nil {
					return err
				}
				return answerAll(deskOf(a), list)
			})
			r := startTree(t, a, m, treeJob(t, besideFiles, name+".json"))
			res, err := r.Do(t.Context())
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
			require.Equal(t, echo.StatusCompleted, res.Status)
			require.Equal(t, 1, nodes(t, a, "top", echo.NodeRunEnd), "it has not ended in between")
			require.Equal(t, 1, nodes(t, a, "top", echo.NodeResume))
			asked := slices.Clone(m.asked)
			slices.Sort(asked)
			require.Len(t, slices.Compact(asked), len(m.asked), "nothing is asked twice")
			verifyTree(t, a, "top")
			if name == "graph" {
				require.Equal(t, "said end up fine", res.Output)
			}
		})
	}
}

// A deadline that has passed by then is found, too.
func TestDeadlineWhileABranchWorks(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	a, err := Open(Options{Home: t.TempDir(), Dir: t.TempDir(), Version: "test", Now: func() time.Time { return timedFrom.Add(time.Duration(passed.Load())) }})
	require.NoError(t, err)
	m := &speaker{}
	m.says("slow", while(a, 1, func(waits.Desk, []*waits.Wait) error {
		passed.Store(int64(time.Minute))
		return nil
	}))
	r := startTree(t, a, m, treeJob(t, map[string]string{"it.json": `{"cascade_id": "it", "phases": [
		{"name": "slow", "instructions": "slow", "after": []},
		{"name": "hold", "tool": "await_signal", "inputs": {"signal_name": "go", "timeout": 60}, "after": []},
		{"name": "end", "instructions": "end", "after": ["hold", "slow"]}]}`}, "it.json"))
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, Closing{}, r.Close())
	require.Equal(t, echo.StatusCompleted, res.Status, "%v", m.asked)
	require.NoError(t, a.Close())
}

// A run that gets past one wait of several ends once, with those that are open.
func TestSomeAnswersWhileABranchWorks(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	m.says("slow", while(a, 2, func(desk waits.Desk, list []*waits.Wait) error {
		return answerAll(desk, slices.DeleteFunc(list, func(w *waits.Wait) bool { return w.IsAnswered() }))
	}))
	r := startTree(t, a, m, treeJob(t, besideFiles, "graph.json"))
	res, err := r.Do(t.Context())
	require.True(t, failure.Is(err, failure.Waiting), "%v", err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, 1, nodes(t, a, "top", echo.NodeRunEnd))
	require.Equal(t, 1, nodes(t, a, "top", echo.NodeAnswer))
	list, err := deskOf(a).List(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.NoError(t, answerAll(deskOf(a), list))
	r = resumeParent(t, a, m, "top")
	res, err = r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, "said end up fine", res.Output)
	verifyTree(t, a, "top")
}

// A wait that stays open although something seems to be there for it holds no run in a loop.
func TestEachWaitIsFoundOnce(t *testing.T) {
	t.Parallel()
	x := newTimed(t)
	a, err := Open(Options{Home: x.home, Dir: x.dir, Version: "test", Now: func() time.Time { return x.now }})
	require.NoError(t, err)
	r := startTree(t, a, &speaker{}, treeJob(t, besideFiles, "asks.json"))
	_, err = r.Do(t.Context())
	require.True(t, failure.Is(err, failure.Waiting), "%v", err)
	list, err := deskOf(a).List(t.Context(), "")
	require.NoError(t, err)
	require.NoError(t, answerAll(deskOf(a), list))
	require.True(t, r.recheck.Ready(t.Context()))
	require.False(t, r.recheck.Ready(t.Context()))
	require.NoError(t, r.Close().Err)
	require.NoError(t, a.Close())
}
