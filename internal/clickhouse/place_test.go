package clickhouse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestPlaces holds the columns with the parts of keys against the parts as a person would name
// them.
func TestPlaces(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	keys := []string{
		"run/start", "run/facts/a%2Fb", "cards/call7", "draft/start", "draft~2/attempt1/turn3/model", "draft/attempt2/turn1/compact1/model2",
		"draft/attempt1/turn1/validate/fair/model", "draft/attempt1/turn1/tool2", "draft/sounding2/attempt1/turn1/tool2",
		"draft/item17/sounding1/reforge3/sounding4/attempt1/turn2/model", "draft/child/review%2Fall/start", "cards~1/state/x",
		"fetch/node2/begin", "fetch/node2/item3/finish", "fetch/node2/end", "draft/async/log", "run/async/s2", "draft/ward1/verdict/fair",
		"draft/attempt1/turn2/ward3/validate/fair/model",
	}
	var entries []*echo.Entry
	for i, key := range keys {
		entries = append(entries, placed(&echo.Entry{
			SessionID: "places", Seq: uint64(i + 1), At: stories()[0].At, NodeType: echo.NodeState, Key: echo.MustKey(key),
		}))
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	requireGolden(t, "places", result(t, db, `SELECT key, phase_name, visit, branch, sounding, reforge, item, node, child, attempt, turn, ward, effect,
		effect_number, effect_name FROM logs ORDER BY seq`))
	back, err := db.Record(t.Context(), "places")
	require.NoError(t, err)
	require.Equal(t, entries, back)
}
