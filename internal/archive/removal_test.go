package archive_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

const day = 24 * time.Hour

// withCard gives a session of a database a card with an embedding.
func withCard(t *testing.T, db *clickhouse.DB, session string) {
	t.Helper()
	cards := clickhouse.NewCards(func(context.Context) (*clickhouse.DB, error) { return db, nil })
	require.NoError(t, cards.Put(t.Context(), []contextcards.Card{{
		SessionID: session, Hash: "0123456789abcdef", Summary: "s", EmbeddingModel: "hashed", Embedding: []float32{1, 0},
		GeneratedAt: began, MessageAt: began,
	}}))
}

// requireStored demands which sessions a database has rows and cards of.
func requireStored(t *testing.T, db *clickhouse.DB, rows, cards []string) {
	t.Helper()
	for part, want := range map[clickhouse.Part][]string{clickhouse.PartRows: rows, clickhouse.PartCards: cards} {
		having, err := db.Having(t.Context(), part)
		require.NoError(t, err)
		var ids []string
		for id := range having {
			ids = append(ids, id)
		}
		require.ElementsMatch(t, want, ids, part)
	}
}

// TestRemoval: a session that is named is removed here and in ClickHouse, and no other.
func TestRemoval(t *testing.T) {
	t.Parallel()
	db, home := clickhousetest.Open(t), t.TempDir()
	a := with(home, db)
	for i, id := range []string{"alpha", "albert", "beta"} {
		write(t, home, id, time.Duration(i)*day, id != "albert")
		withCard(t, db, id)
	}
	_, err := ship(t, a, "alpha", "albert")
	require.NoError(t, err)
	work := filepath.Join(config.SessionDir(home, "alpha"), "work", "deep")
	require.NoError(t, os.MkdirAll(work, 0o700))
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(work, "link")))

	for given, text := range map[string]string{
		"beta": "session beta is not deleted: ClickHouse does not have 5 rows of it",
		"bob":  `no session "bob" on this machine or in ClickHouse`,
		"al":   `"al" is the beginning of several sessions: albert, alpha`,
		"":     `no session "" on this machine or in ClickHouse`,
	} {
		_, err := a.RemovalOf(t.Context(), []string{"alpha", given})
		require.ErrorContains(t, err, text)
	}
	plan, err := a.RemovalOf(t.Context(), []string{"alp", "alpha"})
	require.NoError(t, err)
	require.Len(t, plan.Sessions, 1)
	requireStored(t, db, []string{"alpha", "albert"}, []string{"alpha", "albert", "beta"})
	done, err := plan.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, []archive.Removed{{
		ID: "alpha", CascadeID: "incident", Status: "completed", LastAt: began.Add(4 * time.Second), Journal: true, Rows: true, Cards: true,
	}}, done)
	requireStored(t, db, []string{"albert"}, []string{"albert", "beta"})
	require.NoDirExists(t, config.SessionDir(home, "alpha"))
	require.DirExists(t, config.SessionDir(home, "albert"))
	require.FileExists(t, outside)
	_, err = a.RemovalOf(t.Context(), []string{"alpha"})
	require.EqualError(t, err, `no session "alpha" on this machine or in ClickHouse`)

	_, err = away(home).RemovalOf(t.Context(), []string{"albert"})
	require.EqualError(t, err, "ClickHouse at HOST: no answer", "its rows would stay")
	require.DirExists(t, config.SessionDir(home, "albert"))
}

// TestRemovalLeavesWhatRuns: neither one that runs when it is named nor one that runs since.
func TestRemovalLeavesWhatRuns(t *testing.T) {
	t.Parallel()
	db, home := clickhousetest.Open(t), t.TempDir()
	a := with(home, db)
	write(t, home, "alpha", 0, false)
	_, err := ship(t, a)
	require.NoError(t, err)
	plan, err := a.RemovalOf(t.Context(), []string{"alpha"})
	require.NoError(t, err)
	j, _, err := journal.Open(config.SessionDir(home, "alpha"))
	require.NoError(t, err)
	defer func() { require.NoError(t, j.Close(context.Background())) }()

	done, err := plan.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, "a process runs it", done[0].Kept)
	_, err = a.RemovalOf(t.Context(), []string{"alpha"})
	require.EqualError(t, err, "session alpha is not deleted: a process runs it")
	require.Equal(t, failure.SessionBusy, failure.KindOf(err))
	before, err := a.RemovalBefore(t.Context(), archive.Ages{Rows: time.Now(), Journals: time.Now()})
	require.NoError(t, err)
	require.Empty(t, before.Sessions)
	require.Equal(t, "a process runs it", before.Kept[0].Kept)
	requireStored(t, db, []string{"alpha"}, nil)
}

// TestRemovalByAge: each part has its own age, and what may be in use or is not delivered is kept.
func TestRemovalByAge(t *testing.T) {
	t.Parallel()
	db, home, other := clickhousetest.Open(t), t.TempDir(), t.TempDir()
	a := with(home, db)
	for i, id := range []string{"one", "two", "three", "four"} {
		write(t, home, id, time.Duration(i)*10*day, true)
		withCard(t, db, id)
	}
	write(t, other, "elsewhere", 0, false)
	write(t, other, "ended", 0, true)
	for _, h := range []string{home, other} {
		_, err := ship(t, with(h, db))
		require.NoError(t, err)
	}
	write(t, home, "undelivered", 0, true)

	ages := archive.Ages{Cards: began.Add(25 * day), Rows: began.Add(5 * day), Journals: began.Add(15 * day)}
	plan, err := a.RemovalBefore(t.Context(), ages)
	require.NoError(t, err)
	kept := map[string]string{}
	for _, k := range plan.Kept {
		kept[k.ID] = k.Kept
	}
	require.Equal(t, map[string]string{
		"undelivered": "ClickHouse does not have 5 rows of it",
		"elsewhere":   "it has no end in ClickHouse, and may run on another machine",
	}, kept)
	_, err = plan.Do(t.Context())
	require.NoError(t, err)
	requireStored(t, db, []string{"two", "three", "four", "elsewhere"}, []string{"four"})
	left, err := archive.Local(home)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"three", "four", "undelivered"}, left)

	again, err := a.RemovalBefore(t.Context(), ages)
	require.NoError(t, err)
	require.Empty(t, again.Sessions)
}
