package archive_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
)

// TestShipCompletesARedaction: when ClickHouse was away, the session is pending, and the next delivery
// removes the rows of before.
func TestShipCompletesARedaction(t *testing.T) {
	t.Parallel()
	home, db := t.TempDir(), clickhousetest.Open(t)
	hash := withPasted(t, home, "s")
	dir := config.SessionDir(home, "s")
	_, err := db.Ship(t.Context(), dir, clickhouse.ShipOptions{To: "here"})
	require.NoError(t, err)
	away := &archive.Archive{Home: home, Address: func() (string, error) { return "here", nil }}
	away.Database = func(context.Context, func(context.Context, *clickhouse.DB) error) error {
		return errors.New("it is away")
	}
	_, err = archive.Redact(t.Context(), away, "s", string(hash), archive.RedactOptions{})
	require.ErrorContains(t, err, "the journal of session s is redacted, and ClickHouse is not: it is away")
	b, _, err := archive.LocalBacklog(home, "here")
	require.NoError(t, err)
	require.Equal(t, 1, b.Sessions)
	require.True(t, delivery.ReadMarks(dir).Of("here").Before)

	_, err = db.Ship(t.Context(), dir, clickhouse.ShipOptions{To: "here"})
	require.NoError(t, err)
	require.False(t, delivery.ReadMarks(dir).Of("here").Before)
	require.Equal(t, "0", figure(t, db, "SELECT toString(countIf(position(content_json || data_json, 'canary') > 0)) FROM unified_logs WHERE session_id = 's'"))
	require.Equal(t, "3", figure(t, db, "SELECT toString(count()) FROM unified_logs WHERE session_id = 's'"))
	b, _, err = archive.LocalBacklog(home, "here")
	require.NoError(t, err)
	require.Zero(t, b)
}
