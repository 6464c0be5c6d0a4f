package app

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

// crowd is a model that takes a second, and counts how many leaves ask it at once.
type crowd struct {
	speaker
	count     sync.Mutex
	now, peak int
}

func (m *crowd) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if req.Site.Cascade == "leaf" {
		m.add(1)
		defer m.add(-1)
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return m.speaker.Complete(ctx, req)
}

func (m *crowd) add(n int) {
	m.count.Lock()
	defer m.count.Unlock()
	m.now += n
	m.peak = max(m.peak, m.now)
}

func crowdFiles(async string) map[string]string {
	return map[string]string{
		"top.json": `{"cascade_id": "top", "phases": [{"name": "each", "tool": "set_state", "inputs": {"key": "k", "value": "{{ item }}"},
			"for_each": {"items": "{{ range(20) | list | tojson }}", "max_parallel": 1}, "async_cascades": [` + async + `]}]}`,
		"leaf.json": `{"cascade_id": "leaf", "phases": [{"name": "one", "instructions": "one"}]}`,
	}
}

// Cascades that run beside a run do not all run at once, and one that the run waits for waits for none.
func TestBesideAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, m := newApp(t), &crowd{}
		r := startTree(t, a, m, treeJob(t, crowdFiles(`{"ref": "leaf.json"}`), "top.json"))
		r.children.slots = make(chan struct{}, 3)
		res, err := r.Do(t.Context())
		require.NoError(t, err)
		require.NoError(t, r.Close().Err)
		require.Equal(t, 20, res.Children.Calls)
		require.LessOrEqual(t, m.peak, 4)
		require.GreaterOrEqual(t, m.peak, 3)
	})
}

// A run that waits for what it has begun beside it holds up none of them, however deep they are, also where
// one is detached and its own phases wait for another.
func TestBesideInOneSlot(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]string{
		"async":         `"async_cascades": [{"ref": "%s"}]`,
		"detached":      `"async_cascades": [{"ref": "%s", "detach": true}]`,
		"async and sub": `"async_cascades": [{"ref": "%[1]s"}], "sub_cascades": [{"ref": "%[1]s", "name": "sub"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				files, want := map[string]string{}, 1
				for n := range 6 {
					more := ""
					if n < 5 {
						more = ", " + fmt.Sprintf(of, fmt.Sprintf("c%d.json", n+1))
						want += 1 << (n + 1) * strings.Count(more, "sub_cascades")
						want += 1 - strings.Count(more, "sub_cascades")
					}
					files[fmt.Sprintf("c%d.json", n)] = fmt.Sprintf(`{"cascade_id": "c%d", "phases": [{"name": "p", "instructions": "%d"%s}]}`, n, n, more)
				}
				a, m := newApp(t), &crowd{}
				r := startTree(t, a, m, treeJob(t, files, "c0.json"))
				r.children.slots = make(chan struct{}, 1)
				_, err := r.Do(t.Context())
				require.NoError(t, err)
				require.NoError(t, r.Close().Err)
				require.Len(t, m.asked, want)
			})
		})
	}
}

// A detached cascade that has not begun when a person ends the program is a session that can be resumed, as
// its run has ended and begins it no more.
func TestDetachedHasNotBegun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, m := newApp(t), &crowd{}
		ctx, cancel := context.WithCancel(t.Context())
		r := startTree(t, a, m, treeJob(t, crowdFiles(`{"ref": "leaf.json", "detach": true}`), "top.json"))
		r.children.slots = make(chan struct{}, 3)
		_, err := r.Do(ctx)
		require.NoError(t, err)
		synctest.Wait()
		cancel()
		closing := r.Close()
		require.NoError(t, closing.Err)
		require.Len(t, closing.Interrupted, 20)
		for _, id := range closing.Interrupted {
			rec := a.recording(t, id)
			require.Equal(t, echo.StatusInterrupted, record.EndOf(rec.Entries).Status)
		}
		alone := resumeParent(t, a, m, closing.Interrupted[19])
		_, err = alone.Do(t.Context())
		require.NoError(t, err)
		require.NoError(t, alone.Close().Err)
	})
}
