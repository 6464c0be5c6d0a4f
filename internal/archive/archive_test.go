package archive_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/clickhouse/embedded"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/sessions"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// write makes a session of a home, of one call, and leaves it without an end unless it completed.
func write(t testing.TB, home, id string, after time.Duration, completed bool) {
	t.Helper()
	writeHeader(t, home, journal.Header{SessionID: id, StartedAt: began.Add(after), Cascade: []byte(`{"cascade_id":"incident"}`)}, completed)
}

// writeCascade is write of a completed session of another cascade.
func writeCascade(t testing.TB, home, id string, after time.Duration, cascade string) {
	t.Helper()
	writeHeader(t, home, journal.Header{SessionID: id, StartedAt: began.Add(after), Cascade: []byte(cascade)}, true)
}

func writeHeader(t testing.TB, home string, h journal.Header, completed bool) {
	t.Helper()
	h.Rules, h.Input, h.Options = 1, []byte(`{}`), []byte(`{}`)
	id := h.SessionID
	j, err := journal.Create(config.SessionDir(home, id), h)
	require.NoError(t, err)
	header, err := json.Marshal(h)
	require.NoError(t, err)
	start := echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{})
	require.NoError(t, start.SetHeader(header))
	cost := 0.5
	entries := []*echo.Entry{
		start,
		echo.NewEntry(echo.MustKey("one/start"), echo.PhaseStart{Visit: 1}),
		{NodeType: echo.NodeModelCall, Key: echo.MustKey("one/attempt1/turn1/model"), Model: "m", CostUSD: &cost, Usage: &echo.Usage{In: 3, Cached: 2, Out: 1}},
	}
	if completed {
		entries = append(entries,
			echo.NewEntry(echo.MustKey("one/end"), echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered}),
			echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade}))
	}
	for i, e := range entries {
		e.SessionID, e.CascadeID, e.Seq, e.At = id, sessions.CascadeID(h.Cascade), uint64(i+1), h.StartedAt.Add(time.Duration(i)*time.Second)
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
}

// with returns the sessions of a home and of a database.
func with(home string, db *clickhouse.DB) *archive.Archive {
	return &archive.Archive{
		Home:    home,
		Address: func() (string, error) { return "there", nil },
		Database: func(ctx context.Context, do func(context.Context, *clickhouse.DB) error) error {
			return archive.DatabaseError(ctx, do(ctx, db))
		},
	}
}

// away returns the sessions of a home whose database cannot be opened.
func away(home string) *archive.Archive {
	a := with(home, nil)
	a.Database = func(ctx context.Context, _ func(context.Context, *clickhouse.DB) error) error {
		return archive.DatabaseError(ctx, &clickhouse.UnavailableError{Where: "HOST", Err: errors.New("no answer")})
	}
	return a
}

type noProgress struct{}

func (noProgress) Show(uint64, uint64) {}
func (noProgress) End()                {}

func ship(t *testing.T, a *archive.Archive, given ...string) ([]archive.Shipped, error) {
	t.Helper()
	p, err := a.Shipment(given, false)
	require.NoError(t, err)
	return p.Deliver(t.Context(), func(int, *sessions.Session) archive.Progress { return noProgress{} })
}

// TestThereAndBack delivers sessions of one machine and reads them on another, which has nothing of
// them: found by the beginnings of their ids, listed, summed up, followed, and rebuilt.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home, other := t.TempDir(), t.TempDir()
	write(t, home, "alpha", 0, true)
	write(t, home, "albert", time.Hour, false)
	here, there := with(home, db), with(other, db)
	undelivered, err := here.Report(t.Context(), "alpha")
	require.NoError(t, err)

	results, err := ship(t, here)
	require.NoError(t, err)
	require.Equal(t, []archive.Shipped{{ID: "albert", Outcome: archive.Delivered, Delivered: 3}, {ID: "alpha", Outcome: archive.Delivered, Delivered: 5}}, results)
	backlog, unreadable, err := archive.LocalBacklog(home, "there")
	require.NoError(t, err)
	require.Empty(t, unreadable)
	require.Equal(t, archive.Backlog{}, backlog)

	id, err := there.Find(t.Context(), "alp")
	require.NoError(t, err)
	require.Equal(t, "alpha", id)
	for given, text := range map[string]string{
		"al":  `"al" is the beginning of several sessions: albert, alpha`,
		"bob": `no session "bob" on this machine or in ClickHouse`,
	} {
		_, err = there.Find(t.Context(), given)
		require.EqualError(t, err, text)
		require.Equal(t, failure.UnknownSession, failure.KindOf(err))
	}
	const nearest = `no session "alpah" on this machine or in ClickHouse; the nearest is alpha`
	_, _, err = there.Entries(t.Context(), "alpah")
	require.EqualError(t, err, nearest)
	_, _, err = there.Bring(t.Context(), "alpah")
	require.EqualError(t, err, nearest)

	local, err := here.Detail(t.Context(), "alpha")
	require.NoError(t, err)
	remote, err := there.Detail(t.Context(), "alpha")
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, []bool{local.Here, remote.Here})
	local.Here = false
	require.Equal(t, local, remote)
	require.Equal(t, []uint64{5, 1, 1}, []uint64{local.Entries, local.Calls, local.Phases})
	stored, err := there.Report(t.Context(), "alpha")
	require.NoError(t, err)
	require.Equal(t, []bool{true, false}, []bool{undelivered.Here, stored.Here})
	stored.Here = true
	require.Equal(t, undelivered, stored)
	require.Equal(t, local.SessionFigures, stored.SessionFigures)
	require.Len(t, stored.CallList, 1)
	killed, err := here.Detail(t.Context(), "albert")
	require.NoError(t, err)
	unfinished, err := there.Detail(t.Context(), "albert")
	require.NoError(t, err)
	require.Equal(t, []string{archive.Killed, archive.Unfinished}, []string{killed.Status, unfinished.Status})
	require.True(t, killed.Resumable)

	events, err := there.Events(t.Context(), "alpha", 4)
	require.NoError(t, err)
	entries, ended, err := events.Next()
	require.NoError(t, err)
	require.True(t, ended)
	require.Equal(t, uint64(4), entries[0].Seq)
	require.NoError(t, events.Close())

	id, rebuilt, err := there.Bring(t.Context(), "alp")
	require.NoError(t, err)
	require.True(t, rebuilt)
	require.Equal(t, "alpha", id)
	_, rebuilt, err = there.Bring(t.Context(), "alpha")
	require.NoError(t, err)
	require.False(t, rebuilt)
	want, err := os.ReadFile(archive.JournalPath(home, "alpha"))
	require.NoError(t, err)
	got, err := os.ReadFile(archive.JournalPath(other, "alpha"))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	requireLists(t, there)
}

// requireLists demands that both lists have the session that is here and the one that is not.
func requireLists(t *testing.T, a *archive.Archive) {
	t.Helper()
	list, problem, err := a.List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.NoError(t, problem)
	require.Len(t, list, 2)
	require.Equal(t, []string{"albert", "alpha"}, []string{list[0].ID, list[1].ID}, "the newest first")
	require.Equal(t, []bool{false, true}, []bool{list[0].Here, list[1].Here})
	require.Zero(t, archive.BacklogOf(list))
	for range 2 { // the second time from what was kept
		newest, err := a.Newest(t.Context(), 10)
		require.NoError(t, err)
		require.Empty(t, newest.Notes)
		require.Equal(t, []string{archive.Unfinished, "completed"}, []string{newest.Sessions[0].Status, newest.Sessions[1].Status})
		require.Equal(t, list[1].SessionFigures, newest.Sessions[1].SessionFigures)
	}
}

// TestDatabaseAway: what is on this machine can be read without a database, and the rest says why
// not.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	_, _, err := away(home).List(t.Context(), 0, clickhouse.Filter{})
	require.EqualError(t, err, "ClickHouse at HOST: no answer", "there is nothing here to list")
	write(t, home, "alpha", 0, true)
	list, problem, err := away(home).List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.EqualError(t, problem, "ClickHouse at HOST: no answer")
	require.Equal(t, archive.Backlog{Rows: 5, Sessions: 1}, archive.BacklogOf(list))
	_, entries, err := away(home).Entries(t.Context(), "alp")
	require.NoError(t, err)
	require.Len(t, entries, 5)
	newest, err := away(home).Newest(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []string{"sessions of other machines are left out: ClickHouse at HOST: no answer"}, newest.Notes)

	const text = `session "beta" has no journal on this machine, and ClickHouse could not be asked for it: ClickHouse at HOST: no answer`
	for name, do := range map[string]func(*archive.Archive) error{
		"Find":    func(a *archive.Archive) error { _, err := a.Find(t.Context(), "beta"); return err },
		"Entries": func(a *archive.Archive) error { _, _, err := a.Entries(t.Context(), "beta"); return err },
		"Bring":   func(a *archive.Archive) error { _, _, err := a.Bring(t.Context(), "beta"); return err },
		"Report":  func(a *archive.Archive) error { _, err := a.Report(t.Context(), "beta"); return err },
		"Detail":  func(a *archive.Archive) error { _, err := a.Detail(t.Context(), "beta"); return err },
		"Events":  func(a *archive.Archive) error { _, err := a.Events(t.Context(), "beta", 1); return err },
	} {
		err := do(away(home))
		require.EqualError(t, err, text, name)
		require.Equal(t, failure.StorageFailed, failure.KindOf(err), name)
		err = do(&archive.Archive{Home: home})
		require.EqualError(t, err, `no session "beta" on this machine`, name)
		require.Equal(t, failure.UnknownSession, failure.KindOf(err), name)
	}
	results, err := ship(t, away(home), "alpha")
	require.EqualError(t, err, "ClickHouse at HOST: no answer")
	require.Empty(t, results)
	_, err = away(home).Shipment([]string{"beta"}, false)
	require.EqualError(t, err, `no session "beta" on this machine`)
}

// TestUnreadable: a journal that cannot be read has its kind, and is named in lists.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &archive.Archive{Home: home}
	for id, text := range map[string]string{"damaged": "{\n", "old": `{"windlass_journal":2}` + "\n"} {
		require.NoError(t, os.MkdirAll(config.SessionDir(home, id), 0o700))
		require.NoError(t, os.WriteFile(archive.JournalPath(home, id), []byte(text), 0o600))
	}
	for id, kind := range map[string]failure.Kind{"damaged": failure.Damaged, "old": failure.OtherVersion} {
		_, _, err := a.Entries(t.Context(), id)
		require.Equal(t, kind, failure.KindOf(err))
		_, err = a.Detail(t.Context(), id)
		require.Equal(t, kind, failure.KindOf(err))
	}
	list, _, err := a.List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"damaged", "other_version"}, []string{list[0].Status, list[1].Status})
	newest, err := a.Newest(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, newest.Notes, 1)
	require.Contains(t, newest.Notes[0], "session damaged is left out: journal ")
	require.NoError(t, os.RemoveAll(config.SessionsDir(home)))
	require.NoError(t, os.WriteFile(config.SessionsDir(home), nil, 0o600))
	_, _, err = a.List(t.Context(), 0, clickhouse.Filter{})
	require.ErrorContains(t, err, "list the sessions on this machine: ")
	require.Equal(t, failure.StorageFailed, failure.KindOf(err))
	_, err = a.Find(t.Context(), "x")
	require.Equal(t, failure.StorageFailed, failure.KindOf(err))
}

func TestDatabaseError(t *testing.T) {
	t.Parallel()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for kind, err := range map[failure.Kind]error{
		"":                     nil,
		failure.Failed:         &clickhouse.SQLError{Code: 62},
		failure.EngineMissing:  &embedded.NotFoundError{},
		failure.OtherVersion:   &clickhouse.NewerSchemaError{},
		failure.StorageFailed:  errors.New("anything else"),
		failure.InvalidRequest: failure.Newf(failure.InvalidRequest, "has its kind"),
	} {
		require.Equal(t, kind, failure.KindOf(archive.DatabaseError(t.Context(), err)))
	}
	require.Equal(t, failure.EngineMissing, failure.KindOf(archive.DatabaseError(t.Context(), &clickhouse.UnconfinedError{})))
	refused := &clickhouse.UnavailableError{Where: "HOST", Err: &clickhouse.SQLError{Code: 516}}
	require.Equal(t, failure.StorageFailed, failure.KindOf(archive.DatabaseError(t.Context(), refused)), "a wrong password")
	require.Equal(t, failure.Interrupted, failure.KindOf(archive.DatabaseError(ended, errors.New("cut off"))))
}
