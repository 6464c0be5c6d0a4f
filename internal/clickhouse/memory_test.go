package clickhouse_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// remembers are sessions that write and read memories: m2 is a fork of m1, which has copied its first call.
func remembers(t *testing.T) []*echo.Entry {
	t.Helper()
	m1 := &relative{t: t, session: "m1"}
	m1.start(map[string]any{})
	m1.say("run/bank/notes", echo.MemoryStart{At: 1})
	m1.say("work/attempt1/turn1/tool1/memory", echo.MemoryCall{
		Bank: "notes", Project: "0123456789abcdef", Command: "rename", Path: "/memories/a.md", Text: "Successfully renamed /memories/a.md to /memories/b.md",
		Wrote: []echo.MemoryVersion{{Path: "/memories/a.md", Version: "v1", Gone: true}, {Path: "/memories/b.md", Version: "v2", From: "/memories/a.md"}},
	})
	m1.say("work/attempt1/turn2/tool1/memory", echo.MemoryCall{
		Bank: "shared:style", Command: "create", Path: "/memories/s.md", Text: "Error: ...", Failed: true, Conflict: true,
		Read: []echo.MemoryVersion{{Path: "/memories/s.md", Version: "v3"}},
	})
	m1.say("work/attempt1/turn3/tool1/memory", echo.MemoryCall{
		Bank: "notes", Command: "recall", Text: "1 of 2 texts", Read: []echo.MemoryVersion{{Version: "0011223344556677"}, {Path: "/memories/b.md", Version: "v2"}},
	})
	m1.say("work/memory", echo.MemoryCall{Bank: "notes", Command: "remember", Wrote: []echo.MemoryVersion{{Version: "8899aabbccddeeff"}}})
	m2 := &relative{t: t, session: "m2"}
	m2.start(map[string]any{"parent": "m1", "parent_seq": 3})
	m2.say("run/bank/notes", echo.MemoryStart{At: 1})
	m2.say("work/attempt1/turn1/tool1/memory", echo.MemoryCall{Bank: "notes", Command: "create", Path: "/memories/a.md", Text: "...", Wrote: []echo.MemoryVersion{{Path: "/memories/a.md", Version: "v1"}}})
	m2.say("work/attempt1/turn2/tool1/memory", echo.MemoryCall{Bank: "notes", Command: "view", Path: "/memories/b.md", Text: "...", Read: []echo.MemoryVersion{{Path: "/memories/b.md", Version: "v2"}}})
	return append(m1.entries, m2.entries...)
}

// What runs have written into banks and read there are rows; what a fork has copied is none.
func TestMemoryRows(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, remembers(t)))
	require.Equal(t, strings.Join([]string{
		"session_id | phase_name | turn | bank | project | command | path | version | gone | renamed_from",
		"m1 | work | 1 | notes | 0123456789abcdef | rename | /memories/a.md | v1 | 1 | ",
		"m1 | work | 1 | notes | 0123456789abcdef | rename | /memories/b.md | v2 | 0 | /memories/a.md",
		"m1 | work | 0 | notes |  | remember |  | 8899aabbccddeeff | 0 | ", "",
	}, "\n"), result(t, db, "SELECT session_id, phase_name, turn, bank, project, command, path, version, gone, renamed_from FROM memory_versions ORDER BY session_id, seq, path"))
	require.Equal(t, strings.Join([]string{
		"session_id | key | bank | command | path | version | conflict",
		"m1 | work/attempt1/turn2/tool1/memory | shared:style | create | /memories/s.md | v3 | 1",
		"m1 | work/attempt1/turn3/tool1/memory | notes | recall |  | 0011223344556677 | 0",
		"m1 | work/attempt1/turn3/tool1/memory | notes | recall | /memories/b.md | v2 | 0",
		"m2 | work/attempt1/turn2/tool1/memory | notes | view | /memories/b.md | v2 | 0", "",
	}, "\n"), result(t, db, "SELECT session_id, key, bank, command, path, version, conflict FROM memory_reads ORDER BY session_id, seq, path"))
}
