package sounding

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func text(s string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, s) }

// first is a first request of messages, at prices that make waiting worth it.
func first(messages ...string) *First {
	f := &First{Model: "m", Price: &echo.Price{Input: 2, Cached: 0.5}}
	for _, s := range messages {
		f.Messages = append(f.Messages, text(s))
	}
	return f
}

var long = strings.Repeat("word ", 1100)

func TestWhatIsShared(t *testing.T) {
	t.Parallel()
	a := first(long, "a")
	require.Greater(t, a.shared(first(long, "b")), int64(minShared))
	require.Equal(t, a.shared(first(long, "b")), first(long, "b").shared(a))
	require.Less(t, a.shared(first("x"+long, "a")), int64(10))
	part := first(long + "and the end of it")
	require.InDelta(t, float64(a.shared(first(long))), float64(part.shared(first(long+"or another end"))), 20, "a message counts as far as it is the same")
	other := first(long, "b")
	other.Model = "o"
	require.Zero(t, a.shared(other))
	tools := first(long, "b")
	tools.Tools[0] = 1
	require.Zero(t, a.shared(tools))
	a.Fixed = 500
	require.Equal(t, int64(500), a.shared(first("x"))-first("y").shared(first("x")))
}

// A request waits for another one's answer to begin when they share a prefix that is worth it.
func TestGate(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, open := range map[string]func(leave func(), req *effect.ModelRequest){
		"the answer begins":  func(_ func(), req *effect.ModelRequest) { req.OnDelta(effect.Delta{Text: "x"}) },
		"a tool call begins": func(_ func(), req *effect.ModelRequest) { req.OnDelta(effect.Delta{ToolCall: "x"}) },
		"the call ends":      func(leave func(), _ *effect.ModelRequest) { leave() },
		"both":               func(leave func(), req *effect.ModelRequest) { leave(); req.OnDelta(effect.Delta{Text: "x"}); leave() },
		"after it is sent again": func(_ func(), req *effect.ModelRequest) {
			req.OnDelta(effect.Delta{Retrying: "down"})
			req.OnDelta(effect.Delta{Text: "x"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g Gate
			told := 0
			req := &effect.ModelRequest{OnDelta: func(effect.Delta) { told++ }}
			leave, err := g.Enter(ctx, first(long, "a"), req)
			require.NoError(t, err)
			entered := make(chan error)
			go func() {
				_, err := g.Enter(ctx, first(long, "b"), &effect.ModelRequest{})
				entered <- err
			}()
			_, err = g.Enter(ctx, first("short", "b"), &effect.ModelRequest{})
			require.NoError(t, err, "another prefix waits for nobody")
			select {
			case err := <-entered:
				t.Fatal("it did not wait", err)
			default:
			}
			open(leave, req)
			require.NoError(t, <-entered)
			_, err = g.Enter(ctx, first(long, "c"), &effect.ModelRequest{})
			require.NoError(t, err)
		})
	}
}

func TestNobodyWaits(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*First){
		"the cache costs as much": func(f *First) { f.Price = &echo.Price{Input: 2, Cached: 2} },
		"no price is known":       func(f *First) { f.Price = nil },
		"another model":           func(f *First) { f.Model = "o" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var g Gate
			a, b := first(long), first(long)
			change(a)
			for _, f := range []*First{a, b} {
				_, err := g.Enter(t.Context(), f, &effect.ModelRequest{})
				require.NoError(t, err)
			}
		})
	}
	var g Gate
	_, err := g.Enter(t.Context(), first(long), &effect.ModelRequest{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.Enter(ctx, first(long), &effect.ModelRequest{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSaved(t *testing.T) {
	t.Parallel()
	require.Nil(t, Saved(nil))
	a, b, c := first(long, "a"), first(long, "b"), first(long, "c")
	a.Usage, b.Usage = &echo.Usage{In: 1200, Cached: 1100}, &echo.Usage{In: 1200}
	require.Nil(t, Saved([]*First{a, first("x")}))
	got := Saved([]*First{a, b, c, first("other")})
	require.Equal(t, a.shared(b), got.Shared)
	require.Equal(t, 2, got.Waited)
	require.Equal(t, int64(1100), got.Cached, "that of the one which the others waited for does not count")
	require.InDelta(t, 1100*1.5e-6, *got.SavedUSD, 1e-12)
	b.Usage.Estimated = true
	require.Nil(t, Saved([]*First{a, b}).SavedUSD)
}

// What a prefix costs that candidates share is shared among them, whichever of them paid it.
func TestEven(t *testing.T) {
	t.Parallel()
	a, b, c, alone := first(long, "a"), first(long, "b"), first(long, "c"), first("other")
	a.Usage, b.Usage, c.Usage = &echo.Usage{In: 1200}, &echo.Usage{In: 1200, Cached: 900}, &echo.Usage{In: 1200, Cached: 900}
	got := Even([]*First{a, b, alone, c})
	require.Len(t, got, 3)
	require.InDelta(t, -600*1.5e-6, got[a], 1e-12)
	require.InDelta(t, 300*1.5e-6, got[b], 1e-12)
	require.InDelta(t, 300*1.5e-6, got[c], 1e-12)
	c.Usage = nil
	got = Even([]*First{a, b, c})
	require.Len(t, got, 2, "a call that failed has paid nothing of it that is known")
	require.InDelta(t, 0, got[a]+got[b], 1e-12)
}
