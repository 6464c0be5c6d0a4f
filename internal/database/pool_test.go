package database

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

func TestMain(m *testing.M) { os.Exit(clickhousetest.Main(m)) }

func newPool(t *testing.T) *Pool {
	t.Helper()
	p := NewPool(clickhousetest.Options(t))
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func get(t *testing.T, h *Handle) *clickhouse.DB {
	t.Helper()
	db, err := h.DB(t.Context())
	require.NoError(t, err)
	return db
}

func answers(t *testing.T, db *clickhouse.DB) {
	t.Helper()
	_, err := db.Size(t.Context())
	require.NoError(t, err)
}

// Users share one database, which ends when the last of them and the pool have closed it.
func TestPoolShares(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	first := get(t, p.Open())
	second := get(t, p.Open())
	require.Same(t, first, second)
	require.NoError(t, first.Close())
	p.closeUnused()
	answers(t, second)
	require.NoError(t, second.Close())
	answers(t, second) // the pool keeps it for a while,
	p.closeUnused()    // and not for ever
	_, err := second.Size(t.Context())
	require.Error(t, err)
	third := get(t, p.Open())
	require.NotSame(t, first, third)
	answers(t, third)
	require.NoError(t, third.Close())
}

// A handle that was made before the pool closed what nobody used gets a database all the same.
func TestPoolOpensWhatItClosed(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	before := p.Open()
	db := get(t, p.Open())
	require.NoError(t, db.Close())
	p.closeUnused()
	again := get(t, before)
	require.NotSame(t, db, again)
	answers(t, again)
	require.NoError(t, again.Close())
}

// The second call of a handle says that its database is lost. It is opened again once, for all who
// say so.
func TestPoolOpensWhatWasLost(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	one, other := p.Open(), p.Open()
	lost := get(t, one)
	require.Same(t, lost, get(t, other))
	again := get(t, one)
	require.NotSame(t, lost, again)
	require.Same(t, again, get(t, other))
	require.Same(t, again, get(t, p.Open()))
	answers(t, lost) // its users have not closed it
	for range 2 {
		require.NoError(t, lost.Close())
	}
	for range 3 {
		require.NoError(t, again.Close())
	}
}

func TestUseOnceMore(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	var used []*clickhouse.DB
	lose := func(_ context.Context, db *clickhouse.DB) error {
		used = append(used, db)
		return io.EOF
	}
	require.ErrorIs(t, p.Use(t.Context(), lose), io.EOF)
	require.Len(t, used, 2)
	require.NotSame(t, used[0], used[1])
	other := errors.New("other")
	calls := 0
	require.ErrorIs(t, p.Use(t.Context(), func(context.Context, *clickhouse.DB) error {
		calls++
		return other
	}), other)
	require.Equal(t, 1, calls)
}

// An attempt that failed counts for those who waited for it. The next user has a new one.
func TestPoolTriesAgain(t *testing.T) {
	t.Parallel()
	p := NewPool(clickhouse.Options{DSN: "clickhouse://127.0.0.1:1/d"})
	h := p.Open()
	h.Settle(t.Context(), func(clickhouse.Progress) {})
	_, err := h.DB(t.Context())
	var unavailable *clickhouse.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	next := p.Open()
	require.NotSame(t, h.first, next.first)
	require.Empty(t, next.Warning())
	_, err = next.DB(t.Context())
	require.ErrorAs(t, err, &unavailable)
	require.ErrorAs(t, p.Use(t.Context(), nil), &unavailable)
	require.NoError(t, p.Close())
	_, err = p.Open().DB(t.Context())
	require.EqualError(t, err, "open ClickHouse: the pool is closed")
}

// pending returns a handle of an attempt that never ends.
func pending() *Handle {
	a, _ := newAttempt()
	return &Handle{pool: NewPool(clickhouse.Options{}), first: a, next: a, left: make(chan struct{})}
}

// Who interrupts a fetch does not wait for it: neither when settling nor when the database is asked
// for.
func TestSettleIsInterrupted(t *testing.T) {
	t.Parallel()
	h := pending()
	ctx, cancel := context.WithCancel(t.Context())
	h.first.progress(clickhouse.Progress{Step: embedded.StepDownload, Done: 1, Total: 2})
	var shown []clickhouse.Progress
	h.Settle(ctx, func(p clickhouse.Progress) {
		shown = append(shown, p)
		cancel()
	})
	require.Equal(t, []clickhouse.Progress{{Step: embedded.StepDownload, Done: 1, Total: 2}}, shown)
	_, err := h.DB(t.Context())
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "wait for ClickHouse to open: context canceled")
	h.first.progress(clickhouse.Progress{Step: embedded.StepUnpack})
	require.Len(t, shown, 1, "nobody watches any more")
}

// An engine that only starts is opened in the background, and an interruption does not end that.
func TestSettleDoesNotWaitForAStart(t *testing.T) {
	t.Parallel()
	h := pending()
	h.first.progress(clickhouse.Progress{Step: embedded.StepStart})
	h.Settle(t.Context(), func(clickhouse.Progress) {})
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	h.Settle(ctx, func(clickhouse.Progress) {})
	_, err := h.DB(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	h.first.end(nil, io.ErrUnexpectedEOF)
	_, err = h.DB(t.Context())
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestQuerier(t *testing.T) {
	t.Parallel()
	q := NewQuerier(newPool(t))
	for range 2 {
		_, rows, err := q.QuerySession(t.Context(), "s", "SELECT 1")
		require.NoError(t, err)
		require.Len(t, rows, 1)
	}
	require.NoError(t, q.Close(t.Context()))
	require.NoError(t, q.Close(t.Context()))
	away := NewQuerier(NewPool(clickhouse.Options{DSN: "clickhouse://127.0.0.1:1/d"}))
	_, _, err := away.QuerySession(t.Context(), "s", "SELECT 1")
	require.ErrorContains(t, err, "open ClickHouse: ClickHouse at 127.0.0.1:1: no answer")
	require.NoError(t, away.Close(t.Context()))
}

func TestOptions(t *testing.T) {
	t.Setenv(EnvDSN, "")
	t.Setenv("WINDLASS_CACHE", t.TempDir())
	o, err := Options("home", "", &config.Config{ClickHouseDSN: "clickhouse://file", RequireSandbox: true})
	require.NoError(t, err)
	require.Equal(t, "clickhouse://file", o.DSN)
	require.True(t, o.RequireSandbox)
	t.Setenv(EnvDSN, "clickhouse://env")
	o, err = Options("home", "", &config.Config{ClickHouseDSN: "clickhouse://file"})
	require.NoError(t, err)
	require.Equal(t, "clickhouse://env", o.DSN)
	for _, name := range []string{"WINDLASS_CACHE", "XDG_CACHE_HOME", "HOME"} {
		t.Setenv(name, "")
	}
	_, err = Options("home", "", &config.Config{})
	require.True(t, failure.Is(err, failure.StorageFailed), "%v", err)
}

func TestDeliverNothing(t *testing.T) {
	t.Parallel()
	p := NewPool(clickhouse.Options{DSN: "clickhouse://127.0.0.1:1/d"})
	d := Deliver(t.Context(), p, filepath.Join(t.TempDir(), "sessions", "own"))
	require.Zero(t, d.Finish(true))
	require.Zero(t, (*Delivery)(nil).Finish(true))
	require.NoError(t, p.Close())
}
