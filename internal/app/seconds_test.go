package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
)

// lasts has a model take its time over an answer, on the clock of a bubble.
func lasts(d time.Duration) func(context.Context) error {
	return func(context.Context) error { time.Sleep(d); return nil }
}

// The seconds of a run hold for it and its children over all their lives, however a life ended: what a
// child has run counts once.
func TestSecondsOverLives(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"top.json":  `{"cascade_id": "top", "budget": {"max_seconds": 10}, "phases": [{"name": "plan", "instructions": "plan", "sub_cascades": [{"ref": "leaf.json"}]}]}`,
		"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "one", "instructions": "one"}, {"name": "two", "instructions": "two"}, {"name": "three", "instructions": "three"}]}`,
	}
	for name, tt := range map[string]struct {
		stop   string
		second time.Duration
		over   bool // in the second life
	}{
		"interrupted, and there is time": {"interrupt", 3 * time.Second, false},
		"interrupted":                    {"interrupt", 4 * time.Second, true},
		"killed, and there is time":      {"kill", 3 * time.Second, false},
		"killed":                         {"kill", 4 * time.Second, true},
		"failed, and there is time":      {"fail", 3 * time.Second, false},
		"failed":                         {"fail", 4 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a, m := newApp(t), &speaker{}
				home := a.home
				ctx, cancel := context.WithCancel(t.Context())
				m.says("one", lasts(6500*time.Millisecond))
				m.says("two", func(context.Context) error {
					switch tt.stop {
					case "kill":
						home = filepath.Join(t.TempDir(), "home") // as a process that is killed now leaves it
						require.NoError(t, os.CopyFS(home, os.DirFS(a.home)))
					case "interrupt":
						cancel()
						return context.Canceled
					case "fail":
						return errors.New("away")
					}
					return nil
				})
				r := startTree(t, a, m, treeJob(t, files, "top.json"))
				_, err := r.Do(ctx)
				require.Equal(t, tt.stop == "kill", err == nil, "%v", err)
				require.NoError(t, r.Close().Err)
				cancel()

				time.Sleep(time.Hour) // in which nobody runs it
				b, err := Open(Options{Home: home, Dir: a.dir, Version: "test"})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, b.Close()) })
				m.says("two", lasts(tt.second))
				m.says("three", lasts(time.Second/10))
				r = resumeParent(t, b, m, "top")
				_, err = r.Do(t.Context())
				require.NoError(t, r.Close().Err)
				var over *budget.Error
				require.Equal(t, tt.over, errors.As(err, &over), "%v", err)
			})
		})
	}
}

// What a child ran after the last entry of its parent, or while nobody ran that, is on no clock of the
// parent.
func TestRanWhile(t *testing.T) {
	t.Parallel()
	entries := func(seconds ...int) (list []*echo.Entry) { // a negative one is that of a resume
		for _, s := range seconds {
			e := &echo.Entry{NodeType: echo.NodeMessage, At: time.Unix(int64(max(s, -s)), 0)}
			if s < 0 {
				e.NodeType = echo.NodeResume
			}
			list = append(list, e)
		}
		return list
	}
	parent := entries(10, 20, -50, 60)
	for name, tt := range map[string]struct {
		child []*echo.Entry
		want  time.Duration
	}{
		"none":              {nil, 0},
		"within a life":     {entries(12, 15, 18), 6 * time.Second},
		"longer than both":  {entries(18, 22, -52, 57, 80), (2 + 8) * time.Second},
		"stopped meanwhile": {entries(12, -18, 19), 1 * time.Second},
		"alone":             {entries(30, 40), 0},
	} {
		require.Equal(t, tt.want, ranWhile(parent, tt.child), name)
	}
	require.Zero(t, ranWhile(nil, entries(1, 2)))
}
