package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// What runs have saved as memos, and what they were told of, are rows; what a fork has copied is none.
func TestMemoRows(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	one := echo.MemoVersion{Scope: "project", Memo: "m1", Version: "v1", Hash: "0123456789abcdef", Tags: []string{"gotcha", "api-design"}}
	gone := echo.MemoVersion{Scope: "global", Memo: "m2", Version: "v2", Gone: true}
	m1 := &relative{t: t, session: "m1"}
	m1.start(map[string]any{})
	m1.say("run/memos", echo.MemosStart{Project: "p", At: 1, Memos: 3})
	m1.say("work/attempt1/turn1/brought", echo.MemosBrought{Project: "p", Memos: []echo.BroughtMemo{{MemoVersion: one, Text: "...", Session: "m0"}}})
	m1.say("work/attempt1/turn1/tool1/memo", echo.MemoCall{Project: "p", Tool: "save_memo", Text: "...", Wrote: []echo.MemoVersion{one}})
	m2 := &relative{t: t, session: "m2"}
	m2.start(map[string]any{"parent": "m1", "parent_seq": 4})
	m2.say("run/memos", echo.MemosStart{Project: "p", At: 1, Memos: 3})
	m2.say("work/attempt1/turn1/brought", echo.MemosBrought{Project: "p", Memos: []echo.BroughtMemo{{MemoVersion: one, Text: "...", Session: "m0"}}})
	m2.say("work/attempt1/turn1/tool1/memo", echo.MemoCall{Project: "p", Tool: "save_memo", Text: "...", Wrote: []echo.MemoVersion{one}})
	m2.say("work/attempt1/turn2/tool1/memo", echo.MemoCall{Project: "p", Tool: "delete_memo", Text: "...", Wrote: []echo.MemoVersion{gone}})
	m2.say("work/attempt1/turn3/tool1/memo", echo.MemoCall{Project: "p", Tool: "retrieve_memos", Text: "...", Read: []echo.MemoVersion{one}})
	require.NoError(t, clickhousetest.Insert(t.Context(), db, append(m1.entries, m2.entries...)))
	require.Equal(t, strings.Join([]string{
		"session_id | phase_name | turn | memo | version | scope | project | action | tags | text_hash | gone",
		"m1 | work | 1 | m1 | v1 | project | p | save_memo | [\"gotcha\",\"api-design\"] | 0123456789abcdef | 0",
		"m2 | work | 2 | m2 | v2 | global | p | delete_memo | [] |  | 1", "",
	}, "\n"), result(t, db, "SELECT session_id, phase_name, turn, memo, version, scope, project, action, tags, text_hash, gone FROM memos ORDER BY session_id, seq"))
	require.Equal(t, strings.Join([]string{
		"session_id | turn | memo | version | action | tags",
		"m1 | 1 | m1 | v1 | brought | [\"gotcha\",\"api-design\"]",
		"m2 | 3 | m1 | v1 | retrieve_memos | [\"gotcha\",\"api-design\"]", "",
	}, "\n"), result(t, db, "SELECT session_id, turn, memo, version, action, tags FROM memo_reads ORDER BY session_id, seq"))
}
