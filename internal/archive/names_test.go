package archive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/names"
)

const (
	old    = "01jz4k0000000000000000abcd"
	mid    = "01jz4k0000000000000001abcd"
	newest = "01jz4k0000000000000002wxyz"
)

// TestNames finds the sessions of a machine by every name, in the order of the ways.
func TestNames(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i, id := range []string{"nightly-1", old, mid, newest} {
		write(t, home, id, time.Duration(i)*time.Hour, true)
	}
	a := &archive.Archive{Home: home, Scope: names.Everything}
	for name, want := range map[string]string{
		"nightly-1": "nightly-1", "last": newest, "last~0": newest, "last~1": mid, "last~3": "nightly-1", "2wxyz": newest, "1abcd": mid,
		"ghtly-1": "nightly-1", "night": "nightly-1", "incident": newest,
	} {
		id, err := a.Find(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, want, id, name)
		whole, path, err := a.LocalJournal(name)
		require.NoError(t, err)
		require.Equal(t, want, whole)
		require.FileExists(t, path)
		p, err := (&archive.Archive{Home: home, Scope: names.Everything, Address: with(home, nil).Address}).Shipment([]string{name}, false)
		require.NoError(t, err)
		require.Equal(t, want, p.Sessions[0].ID, "ship")
	}
	for name, text := range map[string]string{
		"last~4":  `no session "last~4": there are only 4 sessions on this machine`,
		"abcd":    `no session "abcd" on this machine`,
		"01jz4k0": `"01jz4k0" is the beginning of several sessions: ` + old + ", " + mid + ", " + newest,
		"":        `no session "" on this machine`,
		"../x":    `no session "../x" on this machine`,
		"a\x1b]0": `no session "a\x1b]0" on this machine`,
	} {
		_, err := a.Find(t.Context(), name)
		require.EqualError(t, err, text)
		require.Equal(t, failure.UnknownSession, failure.KindOf(err))
	}
	for _, name := range []string{"last", "incident"} { // as over HTTP
		_, err := (&archive.Archive{Home: home}).Find(t.Context(), name)
		require.EqualError(t, err, fmt.Sprintf("no session %q on this machine", name))
	}
	_, err := (&archive.Archive{Home: t.TempDir(), Scope: names.Everything}).Find(t.Context(), "last")
	require.EqualError(t, err, `no session "last": there is none on this machine`)
}

// TestLastIsNoDamage: a session of which it is not known when it began is the oldest.
func TestLastIsNoDamage(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, old, 0, true)
	for _, id := range []string{"zz-damaged", "01zzzzzzzzzzzzzzzzzzzzzzzz"} {
		require.NoError(t, os.MkdirAll(config.SessionDir(home, id), 0o700))
		require.NoError(t, os.WriteFile(archive.JournalPath(home, id), []byte("{\n"), 0o600))
	}
	require.NoError(t, os.MkdirAll(config.SessionDir(home, "no-journal"), 0o700))
	a := &archive.Archive{Home: home, Scope: names.Everything}
	for name, want := range map[string]string{"last": old, "last~2": "zz-damaged"} {
		id, err := a.Find(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, id, name)
	}
	_, err := a.Find(t.Context(), "last~3")
	require.EqualError(t, err, `no session "last~3": there are only 3 sessions on this machine`)
}

// TestRecent gives the newest sessions, whoever chose their ids, and none without a journal.
func TestRecent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i, id := range []string{old, "chosen", newest} {
		write(t, home, id, time.Duration(i)*time.Hour, true)
	}
	require.NoError(t, os.MkdirAll(config.SessionDir(home, "no-journal"), 0o700))
	require.NoError(t, os.MkdirAll(config.SessionDir(home, "no id"), 0o700))
	ids, err := archive.Folders(home)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{old, "chosen", newest, "no-journal"}, ids)
	var found []string
	for _, s := range archive.Recent(home, ids, 9) {
		require.Equal(t, "completed", s.Status)
		found = append(found, s.ID)
	}
	require.ElementsMatch(t, []string{old, "chosen", newest}, found)
	require.Len(t, archive.Recent(home, ids, 2), 2)
	ids, err = archive.Folders(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, ids)
}

// TestAmbiguousNames lists ten of the sessions with what tells them apart, and counts the others.
func TestAmbiguousNames(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for i := range 13 {
		write(t, home, fmt.Sprintf("%02d-report", i), time.Duration(i)*time.Hour, i > 0)
	}
	require.NoError(t, os.MkdirAll(config.SessionDir(home, "13-report"), 0o700))
	require.NoError(t, os.WriteFile(archive.JournalPath(home, "13-report"), []byte("{\n"), 0o600))
	_, err := (&archive.Archive{Home: home}).Find(t.Context(), "-report")
	var several *archive.AmbiguousError
	require.ErrorAs(t, err, &several)
	require.Equal(t, 4, several.More)
	require.Len(t, several.Sessions, 10)
	require.Equal(t, archive.Candidate{ID: "00-report", CascadeID: "incident", Status: archive.Killed, StartedAt: began}, several.Sessions[0])
	require.Equal(t, "completed", several.Sessions[9].Status)
	require.ErrorContains(t, err, `"-report" is the end of several sessions: 00-report, 01-report, `)
	require.ErrorContains(t, err, "09-report and 4 more")
	_, err = (&archive.Archive{Home: home}).Find(t.Context(), "13")
	require.NoError(t, err, "whoever names it is told what is wrong with it")
	for i := range 9 {
		require.NoError(t, os.RemoveAll(config.SessionDir(home, fmt.Sprintf("%02d-report", i))))
	}
	_, err = (&archive.Archive{Home: home}).Find(t.Context(), "-report")
	require.ErrorAs(t, err, &several)
	require.Equal(t, archive.Candidate{ID: "13-report", Status: "damaged"}, several.Sessions[4])
}

// TestNamesElsewhere: what fits no session of this machine is looked for in ClickHouse, in the same
// order; "last" never is.
func TestNamesElsewhere(t *testing.T) {
	t.Parallel()
	db, home := clickhousetest.Open(t), t.TempDir()
	for i, id := range []string{"incident-1", old, mid, newest} {
		write(t, home, id, time.Duration(i)*time.Hour, true)
	}
	_, err := ship(t, with(home, db))
	require.NoError(t, err)
	there := with(t.TempDir(), db)
	there.Scope = names.Everything
	for name, want := range map[string]string{"2wxyz": newest, "1abcd": mid, old: old, "inc": "incident-1", "incident": "incident-1", "dent-1": "incident-1"} {
		id, err := there.Find(t.Context(), name)
		require.NoError(t, err, name)
		require.Equal(t, want, id, name)
	}
	_, err = there.Find(t.Context(), "01jz4")
	require.EqualError(t, err, `"01jz4" is the beginning of several sessions: `+old+", "+mid+", "+newest)
	var several *archive.AmbiguousError
	require.ErrorAs(t, err, &several)
	require.True(t, began.Add(time.Hour).Equal(several.Sessions[0].StartedAt))
	several.Sessions[0].StartedAt = time.Time{}
	require.Equal(t, archive.Candidate{ID: old, CascadeID: "incident", Status: "completed"}, several.Sessions[0])
	_, err = there.Find(t.Context(), "last")
	require.EqualError(t, err, `no session "last": there is none on this machine`)

	here := with(home, db)
	here.Scope = names.Everything
	id, err := here.Find(t.Context(), "incident-")
	require.NoError(t, err)
	require.Equal(t, "incident-1", id)
	require.NoError(t, os.RemoveAll(config.SessionDir(home, "incident-1")))
	id, err = here.Find(t.Context(), "incident")
	require.NoError(t, err)
	require.Equal(t, newest, id, "of this machine first: its newest session of the cascade")
	there.Database = func(context.Context, func(context.Context, *clickhouse.DB) error) error {
		t.Error("ClickHouse is asked for what only this machine can know")
		return nil
	}
	_, err = there.Find(t.Context(), "last~2")
	require.Error(t, err)
}

// TestRemovalTakesNoNewest: a session is not deleted by a name that means another one tomorrow.
func TestRemovalTakesNoNewest(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, old, 0, true)
	a := &archive.Archive{Home: home, Scope: names.Everything}
	for _, name := range []string{"last", "last~0", "incident"} {
		_, err := a.RemovalOf(t.Context(), []string{name})
		require.EqualError(t, err, fmt.Sprintf("%q is no session's id: a session is deleted by its id, or the end or the beginning of that", name))
		require.Equal(t, failure.InvalidRequest, failure.KindOf(err))
	}
	require.NoError(t, delivery.KeepHere(config.SessionDir(home, old), true))
	for _, name := range []string{old, "0abcd", "01jz"} {
		plan, err := a.RemovalOf(t.Context(), []string{name})
		require.NoError(t, err)
		require.Equal(t, old, plan.Sessions[0].ID)
	}
	require.FileExists(t, filepath.Join(config.SessionDir(home, old), "journal.jsonl"))
	_, err := a.RemovalOf(t.Context(), []string{strings.Repeat("x", 1<<16)})
	require.ErrorContains(t, err, "no session \"xxx")
}

// TestRedactionTakesNoNewest: as what is deleted, what is redacted is named by its id only.
func TestRedactionTakesNoNewest(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, old, 0, true)
	a := &archive.Archive{Home: home, Scope: names.Everything}
	hash := strings.Repeat("0", 16)
	for _, name := range []string{"last", "last~0", "incident"} {
		_, err := archive.Redact(t.Context(), a, name, hash, archive.RedactOptions{})
		require.EqualError(t, err, fmt.Sprintf("%q is no session's id: a session is redacted by its id, or the end or the beginning of that", name))
		require.Equal(t, failure.InvalidRequest, failure.KindOf(err))
	}
	for _, name := range []string{old, "0abcd", "01jz"} {
		_, err := archive.Redact(t.Context(), a, name, hash, archive.RedactOptions{})
		require.ErrorContains(t, err, old, "the session is found, the message is not")
		require.Equal(t, failure.UnknownMessage, failure.KindOf(err))
	}
	for _, name := range []string{"", "nothing"} {
		_, err := archive.Redact(t.Context(), a, name, hash, archive.RedactOptions{})
		require.EqualError(t, err, fmt.Sprintf("no session %q has a journal on this machine: it is redacted where it was run", name))
	}
}

// TestForkOfBefore: an earlier windlass gave a fork the time of its parent. Its id says when it was made.
func TestForkOfBefore(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "parent", 0, true)
	write(t, home, "later", time.Hour, true)
	fork := strings.ToLower(ulid.MustNew(ulid.Timestamp(began.Add(2*time.Hour)), nil).String())
	write(t, home, fork, 0, true)
	a := &archive.Archive{Home: home, Scope: names.Everything}
	for name, want := range map[string]string{"last": fork, "last~1": "later", "incident": fork} {
		id, err := a.Find(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want, id, name)
	}
	list, _, err := a.List(t.Context(), 1, clickhouse.Filter{})
	require.NoError(t, err)
	require.Equal(t, fork, list[0].ID)
	ids, err := archive.Folders(home)
	require.NoError(t, err)
	require.Equal(t, began.Add(2*time.Hour), archive.Recent(home, ids, 1)[0].StartedAt)
}
