package archive_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/failure"
)

const pasted = "canary-5f2c9e7a11d04b6f and what is said of it"

// withPasted makes a session of a home with a message that has a secret, and returns its hash.
func withPasted(t *testing.T, home, id string) echo.Hash {
	t.Helper()
	h := journal.Header{Rules: 1, SessionID: id, StartedAt: began, Cascade: []byte(`{"cascade_id":"incident"}`), Input: []byte(`{"a":"` + pasted + `"}`), Options: []byte(`{}`)}
	j, err := journal.Create(config.SessionDir(home, id), h)
	require.NoError(t, err)
	header, err := json.Marshal(h)
	require.NoError(t, err)
	m := echo.NewText(echo.RoleUser, echo.KindTask, pasted)
	for i, e := range []*echo.Entry{
		echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{Input: map[string]any{"a": pasted}, Header: header}),
		{NodeType: echo.NodeMessage, Key: echo.MustKey("one/task"), Message: m, ContentHash: m.Hash()},
		echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "of " + pasted}),
	} {
		e.SessionID, e.CascadeID, e.Seq, e.At = id, "incident", uint64(i+1), began.Add(time.Duration(i)*time.Second)
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
	return m.Hash()
}

// figure returns the only value of a query.
func figure(t *testing.T, db *clickhouse.DB, sql string) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()
	require.True(t, rows.Next())
	row, err := rows.Row()
	require.NoError(t, err)
	return row[0].String()
}

// places counts the rows of a database, whether they count or not, that have the secret.
func places(t *testing.T, db *clickhouse.DB) string {
	t.Helper()
	return figure(t, db, `SELECT (SELECT count() FROM unified_logs WHERE position(content_json || data_json, 'canary') > 0) +
		(SELECT count() FROM unified_cards WHERE position(summary || arrayStringConcat(keywords), 'canary') > 0)`)
}

// TestRedactionIsCompleted: wherever the command dies between journal and ClickHouse, the next one
// completes it, and every row is there once.
func TestRedactionIsCompleted(t *testing.T) {
	t.Parallel()
	db, home := clickhousetest.Open(t), t.TempDir()
	a := with(home, db)
	for name, dies := range map[string]func(t *testing.T, id string, hash echo.Hash){
		"nowhere": func(*testing.T, string, echo.Hash) {},
		"after the journal": func(t *testing.T, id string, hash echo.Hash) {
			_, err := archive.Redact(t.Context(), away(home), id, string(hash), archive.RedactOptions{})
			require.EqualError(t, err, "the journal of session "+id+" is redacted, and ClickHouse is not: ClickHouse at HOST: no answer")
			require.Equal(t, failure.StorageFailed, failure.KindOf(err))
		},
		"after the rows were removed": func(t *testing.T, id string, hash echo.Hash) {
			_, err := archive.Redact(t.Context(), away(home), id, string(hash), archive.RedactOptions{})
			require.Error(t, err)
			require.NoError(t, db.Remove(t.Context(), clickhouse.PartRows, []string{id}))
		},
		"after another delivery": func(t *testing.T, id string, hash echo.Hash) {
			_, err := archive.Redact(t.Context(), away(home), id, string(hash), archive.RedactOptions{})
			require.Error(t, err)
			_, err = ship(t, a, id)
			require.NoError(t, err)
		},
		"before the journal": func(t *testing.T, id string, hash echo.Hash) {
			dir := config.SessionDir(home, id)
			m := delivery.ReadMarks(dir).Of("there")
			m.Seq, m.EntryAt = 0, time.Time{}
			require.NoError(t, delivery.SetMark(dir, m))
			require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File+".rewritten"), []byte(`{"half`), 0o600))
		},
	} {
		id := filepath.Base(t.TempDir()) + "-" + name[:3]
		hash := withPasted(t, home, id)
		_, err := ship(t, a, id)
		require.NoError(t, err)
		cards := clickhouse.NewCards(func(context.Context) (*clickhouse.DB, error) { return db, nil })
		require.NoError(t, cards.Put(t.Context(), []contextcards.Card{
			{SessionID: id, Hash: hash, Summary: pasted, Keywords: []string{"canary"}, Tokens: 12, EmbeddingModel: "hashed", Embedding: []float32{1, 0}, GeneratedAt: began, MessageAt: began},
			{SessionID: id, Hash: "0123456789abcdef", Summary: "other", GeneratedAt: began, MessageAt: began},
		}))
		require.NotEqual(t, "0", places(t, db), name)
		dies(t, id, hash)
		_, err = archive.Redact(t.Context(), a, id, string(hash), archive.RedactOptions{})
		require.NoError(t, err, name)
		require.Equal(t, "0", places(t, db), name)

		require.Equal(t, "3 of 3", figure(t, db, "SELECT count() || ' of ' || uniqExact(seq) FROM unified_logs FINAL WHERE session_id = '"+id+"'"), name)
		kept, err := cards.Cards(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, kept, 2, name)
		for _, c := range kept {
			require.Nil(t, c.Embedding)
			if c.Hash == hash {
				require.Equal(t, "[redacted "+string(hash)+"]", c.Summary)
				require.EqualValues(t, 12, c.Tokens)
			}
		}
		again, err := archive.Redact(t.Context(), a, id, string(hash[:12]), archive.RedactOptions{})
		require.NoError(t, err, name)
		require.True(t, again.Already)
		require.Equal(t, archive.StoredCurrent, again.Stored, name)
		local, err := journal.Read(archive.JournalPath(home, id))
		require.NoError(t, err)
		remote, err := db.Record(t.Context(), id)
		require.NoError(t, err, "the content does not have its hash, and the row says why")
		require.Len(t, remote, len(local.Entries))
		for i, e := range local.Entries {
			was, err := e.AppendJSON(nil)
			require.NoError(t, err)
			is, err := remote[i].AppendJSON(nil)
			require.NoError(t, err)
			require.Equal(t, string(was), string(is))
		}
	}
}

// TestRedactionRefuses: what runs, what is not here, what is no session's own file; then nothing has
// changed. What else has the message is named.
func TestRedactionRefuses(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := &archive.Archive{Home: home}
	hash := withPasted(t, home, "alpha")
	withPasted(t, home, "forked")
	redact := func(id, hash string, o archive.RedactOptions) (*archive.Redacted, error) {
		return archive.Redact(t.Context(), a, id, hash, o)
	}
	for given, text := range map[string]string{
		"":           `no session "" has a journal on this machine: it is redacted where it was run`,
		"../../x":    `no session "../../x" has a journal on this machine: it is redacted where it was run`,
		"al\x1b[2J*": `no session "al\x1b[2J*" has a journal on this machine: it is redacted where it was run`,
	} {
		_, err := redact(given, string(hash), archive.RedactOptions{})
		require.EqualError(t, err, text)
	}
	_, err := redact("alpha", "0123456789abcdef", archive.RedactOptions{})
	require.EqualError(t, err, "session alpha has no message with the content hash 0123456789abcdef: it has 1 message")
	require.Equal(t, failure.UnknownMessage, failure.KindOf(err))
	_, err = redact("alpha", "'; DROP", archive.RedactOptions{})
	require.ErrorContains(t, err, `"'; DROP" is no content hash`)

	j, _, err := journal.Open(config.SessionDir(home, "alpha"))
	require.NoError(t, err)
	_, err = redact("alpha", string(hash), archive.RedactOptions{})
	require.EqualError(t, err, "session alpha is not redacted: a process runs it, or redacts it")
	require.Equal(t, failure.SessionBusy, failure.KindOf(err))
	require.NoError(t, j.Close(context.Background()))

	dir := config.SessionDir(home, "alpha")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "work"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "work", "copy.txt"), []byte("x "+pasted), 0o600))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "work", "pipe"), 0o600))
	require.NoError(t, delivery.SetMark(dir, delivery.Mark{To: "elsewhere", Seq: 3, EntryAt: began}))
	path := filepath.Join(dir, journal.File)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, dry := range []bool{true, false} {
		done, err := redact("alpha", string(hash), archive.RedactOptions{DryRun: dry, Reason: "pasted"})
		require.NoError(t, err)
		require.Equal(t, []uint64{1, 2, 3}, done.Entries)
		require.Equal(t, []string{filepath.Join(dir, "work", "copy.txt")}, done.Files)
		require.Equal(t, []string{"forked"}, done.Sessions)
		require.Equal(t, []string{"elsewhere"}, done.Others)
		require.Empty(t, done.Left)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, dry, string(before) == string(after))
		require.Equal(t, dry, delivery.ReadMarks(dir).Of("elsewhere").Seq == 3)
	}

	require.NoError(t, os.Rename(path, filepath.Join(home, "real")))
	require.NoError(t, os.Symlink(filepath.Join(home, "real"), path))
	_, err = redact("alpha", string(hash), archive.RedactOptions{})
	require.ErrorContains(t, err, "it is a link")
	require.NoError(t, os.Remove(path))
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err = redact("alpha", string(hash), archive.RedactOptions{})
	require.ErrorContains(t, err, "it is not a file")
}
