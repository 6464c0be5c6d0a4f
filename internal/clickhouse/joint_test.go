package clickhouse_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// sinkOf returns a sink of a database that others share, with an entry of a session.
func sinkOf(t *testing.T, db *clickhouse.DB, session string) *clickhouse.Sink {
	t.Helper()
	s := clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) { return clickhouse.Share(db), nil }, clickhouse.SinkOptions{})
	require.NoError(t, s.Write(entriesOf(1, session, 1)[0]))
	return s
}

// held begins a write of one batch, has the batches of further sessions wait, and then ends it.
func held(t *testing.T, refuse string, sessions ...string) (errs map[string]error, taken *clickhouse.Discarded) {
	t.Helper()
	db, taken := clickhouse.Discarding(t, clickhousetest.Open(t))
	taken.Refuse = refuse
	begun, end := make(chan struct{}), make(chan struct{})
	taken.Sent = func(context.Context) {
		taken.Sent = nil
		close(begun)
		<-end
	}
	closed := map[string]chan error{}
	closing := func(session string) {
		s := sinkOf(t, db, session)
		result := make(chan error, 1)
		closed[session] = result
		go func() { result <- s.Close(t.Context()) }()
	}
	closing("first")
	<-begun
	for _, session := range sessions {
		closing(session)
	}
	require.Eventually(t, func() bool { return clickhouse.Waiting(db) == len(sessions) }, time.Minute, time.Millisecond)
	close(end)
	errs = map[string]error{}
	for session, result := range closed {
		errs[session] = <-result
	}
	require.NoError(t, db.Close())
	return errs, taken
}

func TestBatchesThatWaitAreWrittenTogether(t *testing.T) {
	t.Parallel()
	errs, taken := held(t, "", "a", "b", "c")
	for session, err := range errs {
		require.NoError(t, err, session)
	}
	require.Equal(t, 4, taken.Rows)
	require.Equal(t, map[string]int{"unified_logs": 2}, taken.Writes)
}

// A batch that is refused is written by itself, and so are those that waited with it.
func TestABatchThatIsRefusedHoldsUpNoOthers(t *testing.T) {
	t.Parallel()
	errs, taken := held(t, "b", "a", "b", "c")
	require.NoError(t, errs["a"])
	require.NoError(t, errs["c"])
	require.EqualError(t, errs["b"], "1 row of the session waits for ClickHouse: write 1 log rows: code: 241, message: too much")
	require.Equal(t, 3, taken.Rows)
}

// A sink that may not wait longer leaves its batch, and closing the database ends the write.
func TestClosingEndsAWriteThatHangs(t *testing.T) {
	t.Parallel()
	db, taken := clickhouse.Discarding(t, clickhousetest.Open(t))
	begun := make(chan struct{})
	over := false
	taken.Sent = func(ctx context.Context) {
		close(begun)
		<-ctx.Done()
		over = true
	}
	s := sinkOf(t, db, "slow")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	require.EqualError(t, s.Close(ctx), "1 row of the session waits for ClickHouse: it did not answer in time")
	require.NoError(t, db.Close())
	require.True(t, over)
}
