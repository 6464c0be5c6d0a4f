package clickhouse_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/sessions"
)

// begun makes a session that begins as runs do: with an entry that has all that the header has.
func begun(t *testing.T, session string) *kept {
	t.Helper()
	k := keep(t, session)
	head, err := journal.Read(filepath.Join(k.dir, journal.File))
	require.NoError(t, err)
	data, err := json.Marshal(map[string]any{"input": map[string]any{}, "header": head.Header})
	require.NoError(t, err)
	k.add(echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start"), Data: data})
	return k
}

// TestRebuild makes a journal from ClickHouse again: it is the same file, byte for byte.
func TestRebuild(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	k := begun(t, "elsewhere")
	k.tell(30)
	k.add(echo.Entry{
		NodeType: echo.NodeToolStart, Key: echo.MustKey("p/attempt1/turn1/tool1"),
		Tool: &echo.ToolUse{Name: "note", CallID: "c1", Arguments: `{"x": 1}`},
	})
	k.add(echo.Entry{NodeType: echo.NodeValue, Key: echo.MustKey("p/value"), Data: json.RawMessage(`{"b":1.50,"a":"<&>"}`)})
	k.write(nil)
	_, err := db.Ship(t.Context(), k.dir, clickhouse.ShipOptions{To: "here"})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, db.Rebuild(t.Context(), "elsewhere", dir, "here"))
	want, err := os.ReadFile(filepath.Join(k.dir, journal.File))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, journal.File))
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	look, err := sessions.Look(dir)
	require.NoError(t, err)
	require.Zero(t, look.Waiting("here"))
	j, rec, err := journal.Open(dir)
	require.NoError(t, err)
	require.Len(t, rec.Entries, len(k.entries))
	require.NoError(t, j.Close(t.Context()))
	require.ErrorIs(t, db.Rebuild(t.Context(), "elsewhere", dir, "here"), journal.ErrExists)
	require.EqualError(t, db.Rebuild(t.Context(), "nowhere", dir, "here"), `no session "nowhere" in ClickHouse`)
}

// TestRebuildWithoutEverything says what is missing, and makes nothing.
func TestRebuildWithoutEverything(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lose []string
		want string
	}{
		"entries": {
			[]string{"DELETE FROM unified_logs WHERE seq IN (3, 5, 6, 7)"}, "missing is entries 3, 5 to 7",
		},
		"the beginning": {[]string{"DELETE FROM unified_logs WHERE seq = 1"}, "missing is entry 1"},
		"a header": {
			[]string{"ALTER TABLE unified_logs UPDATE data_json = '{\"input\":{}}' WHERE seq = 1 SETTINGS mutations_sync = 1"},
			"missing is what the run was begun with (its cascade, input and options)",
		},
		"the header of a fork": {
			[]string{"ALTER TABLE unified_logs UPDATE data_json = replaceAll(data_json, '\"lost\"', '\"parent\"') WHERE seq = 1 SETTINGS mutations_sync = 1"},
			"missing is what the run was begun with",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := clickhousetest.Open(t)
			k := begun(t, "lost")
			k.tell(3)
			require.NoError(t, clickhousetest.Insert(t.Context(), db, k.entries))
			for _, sql := range tt.lose {
				require.NoError(t, clickhouse.Conn(db).Exec(t.Context(), sql))
			}
			dir := filepath.Join(t.TempDir(), "lost")
			err := db.Rebuild(t.Context(), "lost", dir, "here")
			var incomplete *clickhouse.IncompleteError
			require.ErrorAs(t, err, &incomplete)
			require.ErrorContains(t, err, "ClickHouse does not have all of session lost: "+tt.want)
			require.NoDirExists(t, dir)
		})
	}
}

// TestResumedSession: the newest end of a run counts, and a call that was made again counts with its
// newest outcome.
func TestResumedSession(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	st := &story{session: "twice"}
	end := func(node echo.NodeType, key, status string) {
		st.add(echo.Entry{
			NodeType: node, Key: echo.MustKey(key),
			Data: json.RawMessage(`{"status":"` + status + `","reason":"of ` + status + `"}`), Error: &echo.Failure{Kind: "k", Message: "error of " + status},
		})
	}
	stands := func(run string) {
		t.Helper()
		require.NoError(t, clickhousetest.Insert(t.Context(), db, st.entries))
		s, err := db.Session(t.Context(), "twice")
		require.NoError(t, err)
		require.Equal(t, run, s.Status)
		reasons := map[bool]string{true: "", false: "of " + run}
		require.Equal(t, reasons[run == "unfinished"], s.Reason)
		require.Equal(t, map[bool]string{true: "", false: "error of " + run}[s.Reason == ""], s.Error)
	}
	again := func() echo.Entry { // the call of the newest selection
		last := *st.entries[len(st.entries)-1]
		return last
	}
	st.add(echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start")})
	st.mark(echo.NodePhaseStart, "p", nil)
	st.say("p", 0, echo.RoleUser, echo.KindTask, "begin")
	st.call("p", 1, 1, 10, 0, 1, nil, &echo.Failure{Kind: "interrupted", Message: "cut off"})
	call := again()
	stands("unfinished")
	end(echo.NodePhaseEnd, "p/end", "interrupted")
	end(echo.NodeRunEnd, "run/end", "interrupted")
	stands("interrupted")
	st.add(echo.Entry{NodeType: echo.NodeResume, Key: echo.MustKey("run/resume")})
	stands("unfinished")
	cost := 0.5
	call.Error, call.CostUSD, call.Usage = nil, &cost, &echo.Usage{In: 10, Out: 2}
	st.add(call)
	stands("unfinished")
	require.Equal(t, "1 1 0.5", scalar(t, db, "SELECT concat(toString(count()), ' ', toString(any(answered)), ' ', toString(any(cost_usd))) FROM context_calls"))
	end(echo.NodePhaseEnd, "p/end", "completed")
	end(echo.NodeRunEnd, "run/end", "completed")
	stands("completed")
}
