package archive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/names"
)

// writeChild is write of a session that another one has begun.
func writeChild(t *testing.T, home, id, of string, after time.Duration) {
	t.Helper()
	writeHeader(t, home, journal.Header{
		SessionID: id, StartedAt: began.Add(after), Cascade: []byte(`{"cascade_id":"helper"}`), ChildOf: of, ChildKey: echo.MustKey("p/child/x"), Root: "top", Depth: 1,
	}, true)
}

// family writes two runs, one with a child and a child of that, and a child whose parent is away.
func family(t *testing.T) (home string) {
	t.Helper()
	home = t.TempDir()
	write(t, home, "other", 0, true)
	write(t, home, "top", time.Minute, true)
	writeChild(t, home, "mid", "top", 2*time.Minute)
	writeChild(t, home, "leaf", "mid", 30*day)
	writeChild(t, home, "orphan", "away", time.Hour)
	for _, id := range []string{"other", "top", "mid", "leaf", "orphan"} {
		require.NoError(t, delivery.KeepHere(config.SessionDir(home, id), true))
	}
	return home
}

func idsOf[T any](list []T, id func(T) string) []string {
	ids := []string{}
	for _, s := range list {
		ids = append(ids, id(s))
	}
	return ids
}

// Lists have runs that people and programs have begun, with the numbers of those below them.
func TestListRuns(t *testing.T) {
	t.Parallel()
	a := &archive.Archive{Home: family(t)}
	list, away, err := archive.ListRuns(t.Context(), a, 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.NoError(t, away)
	require.Equal(t, []string{"top", "other"}, idsOf(list, func(l archive.Listed) string { return l.ID }))
	require.Equal(t, 2, list[0].Children)
	require.Zero(t, list[1].Children)
	list, _, err = a.List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"leaf", "orphan", "mid", "top", "other"}, idsOf(list, func(l archive.Listed) string { return l.ID }))
	require.Equal(t, []string{"mid", "away", "top", "", ""}, idsOf(list, func(l archive.Listed) string { return l.ChildOf }))
	newest, err := a.Newest(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []string{"top", "other"}, idsOf(newest.Sessions, func(s archive.Session) string { return s.ID }))
}

// The newest session is one that somebody has begun; a cascade that only ever ran as a child has a
// newest session all the same.
func TestNewestIsNoChild(t *testing.T) {
	t.Parallel()
	home := family(t)
	a := &archive.Archive{Home: home, Scope: names.Everything}
	for name, want := range map[string]string{"last": "top", "last~1": "other", "helper": "leaf", "mid": "mid"} {
		id, err := a.Here(name)
		require.NoError(t, err)
		require.Equal(t, want, id, name)
	}
	_, err := a.Here("last~2")
	require.EqualError(t, err, `no session "last~2": there are only 2 sessions on this machine`)
	write(t, home, "again", -day, true)
	id, err := a.Here("incident")
	require.NoError(t, err)
	require.Equal(t, "top", id)
}

// A session is removed with those that it has begun, which are as old as it.
func TestRemovalOfAFamily(t *testing.T) {
	t.Parallel()
	home := family(t)
	a := &archive.Archive{Home: home}
	ids := func(list []archive.Removed) []string {
		return idsOf(list, func(r archive.Removed) string { return r.ID })
	}
	plan, err := a.RemovalBefore(t.Context(), archive.Ages{Journals: began.Add(day)})
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"other", "orphan"}, ids(plan.Sessions))
	plan, err = a.RemovalBefore(t.Context(), archive.Ages{Journals: began.Add(31 * day)})
	require.NoError(t, err)
	require.Len(t, plan.Sessions, 5)

	plan, err = a.RemovalOf(t.Context(), []string{"mid"})
	require.NoError(t, err)
	require.Equal(t, []string{"mid", "leaf"}, ids(plan.Sessions))
	held, err := journal.Own(config.SessionDir(home, "leaf"))
	require.NoError(t, err)
	_, err = a.RemovalOf(t.Context(), []string{"top"})
	require.EqualError(t, err, "session leaf is not deleted: a process runs it")
	require.NoError(t, held.Close())
	plan, err = a.RemovalOf(t.Context(), []string{"top", "leaf"})
	require.NoError(t, err)
	require.Equal(t, []string{"top", "mid", "leaf"}, ids(plan.Sessions))
	require.Equal(t, "mid", plan.Sessions[2].ChildOf)
	done, err := plan.Do(t.Context())
	require.NoError(t, err)
	require.Len(t, done, 3)
	require.NoDirExists(t, config.SessionDir(home, "leaf"))
	require.DirExists(t, config.SessionDir(home, "orphan"))
}

// Lists ask ClickHouse for runs alone, and know whose children those are that only it has.
func TestStoredChildren(t *testing.T) {
	t.Parallel()
	db, home := clickhousetest.Open(t), t.TempDir()
	a := with(home, db)
	write(t, home, "top", 0, true)
	writeChild(t, home, "mid", "top", time.Minute)
	_, err := ship(t, a, "top", "mid")
	require.NoError(t, err)
	a = with(t.TempDir(), db)
	list, _, err := archive.ListRuns(t.Context(), a, 1, clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"top"}, idsOf(list, func(l archive.Listed) string { return l.ID }))
	list, _, err = a.List(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, []string{"top", ""}, idsOf(list, func(l archive.Listed) string { return l.ChildOf }))
	plan, err := a.RemovalOf(t.Context(), []string{"top"})
	require.NoError(t, err)
	require.Equal(t, []string{"top", "mid"}, idsOf(plan.Sessions, func(r archive.Removed) string { return r.ID }))
}
