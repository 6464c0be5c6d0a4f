package archive_test

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
)

// writeBranched makes a session of a home which says all that one in a tree says, and has begun others.
func writeBranched(t *testing.T, home, id string, h journal.Header, children ...string) {
	t.Helper()
	h.SessionID, h.StartedAt, h.Rules, h.Input, h.Options = id, began, 1, []byte(`{}`), []byte(`{}`)
	h.Cascade = []byte(`{"cascade_id":"tree","phases":[{"name":"each"}]}`)
	h.Library = json.RawMessage(`{"refs":{"x":"0123456789abcdef"},"cascades":{}}`)
	j, err := journal.Create(config.SessionDir(home, id), h)
	require.NoError(t, err)
	header, err := json.Marshal(h)
	require.NoError(t, err)
	start := echo.NewEntry(echo.MustKey("run/start"), echo.RunStart{Input: map[string]any{}})
	require.NoError(t, start.SetHeader(header))
	usd, message := 0.5, echo.NewText(echo.RoleAssistant, echo.KindAnswer, "answer")
	entries := []*echo.Entry{
		start,
		{NodeType: echo.NodeBranchStart, Key: echo.MustKey("each/node1/start")},
		echo.NewEntry(echo.MustKey("each/node1/begin"), echo.PhaseStart{Visit: 1}),
		{NodeType: echo.NodeBranchStart, Key: echo.MustKey("each/node1/item1/start")},
		echo.NewEntry(echo.MustKey("each/node1/item1/ward1/verdict/fair"), echo.Verdict{Validator: "fair", Ward: "pre", Mode: "retry", CostUSD: &usd}),
		{NodeType: echo.NodeModelCall, Key: echo.MustKey("each/node1/item1/attempt1/turn1/model"), Message: message, CostUSD: &usd, Usage: &echo.Usage{In: 3, Cached: 2, Out: 1}},
		echo.NewEntry(echo.MustKey("each/node1/item1/finish"), echo.PhaseEnd{Status: echo.StatusCompleted, Output: map[string]any{"n": json.Number("1.50")}}),
		echo.NewEntry(echo.MustKey("each/node1/item2/stopped"), echo.Stopped{Item: 1}),
		echo.NewEntry(echo.MustKey("each/node1/attempt1/turn1/tool1/cascade"), echo.FoundCascade{Name: "y", Cascade: json.RawMessage(`{"cascade_id":"y"}`)}),
	}
	for _, c := range children {
		key := echo.MustKey("each/node1/item1").Named(echo.StepChild, c)
		end := echo.NewEntry(key, echo.ChildEnd{Session: c, Status: echo.StatusFailed, Reason: echo.StopError, Output: []any{"<&>"}, Calls: 2, Unknown: 1, Known: 0.25})
		end.Usage, end.Error, end.DurationMS = &echo.Usage{In: 5, Out: 1, Estimated: true}, &echo.Failure{Kind: "error", Message: "no"}, 12.5
		entries = append(entries, echo.NewEntry(key, echo.ChildStart{
			Session: c, Name: "of " + c, How: echo.ChildSub, Cascade: "tree", Hash: "0123456789abcdef", Input: map[string]any{"n": json.Number("1.50")},
		}), end)
	}
	for i, e := range entries {
		e.SessionID, e.CascadeID, e.Seq, e.At = id, "tree", uint64(i+1), h.StartedAt.Add(time.Duration(i)*time.Second)
		e.SetKeyFields()
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
		require.NoError(t, j.Write(e))
	}
	require.NoError(t, j.Close(t.Context()))
}

// TestATreeThereAndBack: with a session come those that it has begun, byte for byte, as far as there are any.
func TestATreeThereAndBack(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home, other := t.TempDir(), t.TempDir()
	child := func(of string, depth int) journal.Header {
		return journal.Header{ChildOf: of, ChildKey: echo.MustKey("each/node1/item1/child/x"), Root: "top", Depth: depth}
	}
	writeBranched(t, home, "top", journal.Header{}, "mid", "never-begun", "low")
	writeBranched(t, home, "mid", child("top", 1), "low", "top")
	writeBranched(t, home, "low", child("mid", 2))
	writeBranched(t, home, "else", journal.Header{})
	_, err := ship(t, with(home, db))
	require.NoError(t, err)
	there := with(other, db)
	children, err := clickhouse.ChildrenOf(t.Context(), db, "top")
	require.NoError(t, err)
	require.Equal(t, []string{"mid", "never-begun", "low"}, children)
	s, err := db.Session(t.Context(), "low")
	require.NoError(t, err)
	require.Equal(t, clickhouse.Kin{ChildOf: "mid", Root: "top"}, s.Kin)

	id, rebuilt, err := there.Bring(t.Context(), "top")
	require.NoError(t, err)
	require.True(t, rebuilt)
	require.Equal(t, "top", id)
	for _, id := range []string{"top", "mid", "low"} {
		want, err := os.ReadFile(archive.JournalPath(home, id))
		require.NoError(t, err)
		got, err := os.ReadFile(archive.JournalPath(other, id))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	require.NoFileExists(t, archive.JournalPath(other, "else"))
	require.NoFileExists(t, archive.JournalPath(other, "never-begun"))
}

// TestAForkThereAndBack: a fork has copied the start of a child of the session that it comes from, and its own
// child, which goes on with a copy, comes with it.
func TestAForkThereAndBack(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home, other := t.TempDir(), t.TempDir()
	below := func(of string) journal.Header {
		return journal.Header{ChildOf: of, ChildKey: echo.MustKey("each/node1/item1/child/mid"), Root: of, Depth: 1}
	}
	writeBranched(t, home, "top", journal.Header{}, "mid")
	writeBranched(t, home, "mid", below("top"))
	writeBranched(t, home, "fork", journal.Header{Parent: "top", ParentSeq: 10}, "mid")
	writeBranched(t, home, "own", below("fork"))
	_, err := ship(t, with(home, db))
	require.NoError(t, err)
	children, err := clickhouse.ChildrenOf(t.Context(), db, "fork")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"mid", "own"}, children)
	_, _, err = with(other, db).Bring(t.Context(), "fork")
	require.NoError(t, err)
	for _, id := range []string{"fork", "own", "mid"} {
		require.FileExists(t, archive.JournalPath(other, id))
	}
}

// TestATreeWithAHole: nothing is brought of a session when one that it has begun is not whole.
func TestATreeWithAHole(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	home, other := t.TempDir(), t.TempDir()
	writeBranched(t, home, "top", journal.Header{}, "mid")
	writeBranched(t, home, "mid", journal.Header{ChildOf: "top", ChildKey: echo.MustKey("each/node1/item1/child/mid"), Root: "top", Depth: 1})
	_, err := ship(t, with(home, db))
	require.NoError(t, err)
	rows, err := db.Query(t.Context(), "DELETE FROM unified_logs WHERE session_id = 'mid' AND seq = 3", clickhouse.QueryOptions{Write: true})
	require.NoError(t, err)
	require.NoError(t, rows.Close())
	_, _, err = with(other, db).Bring(t.Context(), "top")
	require.EqualError(t, err, "session mid was begun by session top: ClickHouse does not have all of session mid: missing is entry 3")
	require.Equal(t, failure.Damaged, failure.KindOf(err))
	require.NoFileExists(t, archive.JournalPath(other, "top"))
}
