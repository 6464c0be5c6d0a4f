package inspect_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/inspect"
)

func TestForkPoint(t *testing.T) {
	t.Parallel()
	var entries []*echo.Entry
	for i, key := range []string{
		"run/start", "run/route", "draft/start", "draft/attempt1/turn1/model", "cards/call1", "draft/attempt1/turn2/model", "draft/end",
		"fix/start", "fix/attempt1/turn1/model", "draft~2/start", "draft~2/attempt1/turn1/model", "draft~2/attempt2/turn1/model", "run~1/start",
		"draft~2/attempt2/turn2/model", "run/resume", "draft~2/attempt2/turn2/model",
	} {
		e := &echo.Entry{Seq: uint64(i + 1), Key: echo.MustKey(key)}
		if key == "run/resume" {
			e = echo.NewEntry(e.Key, echo.Resume{SetAside: []uint64{14}})
			e.Seq = uint64(i + 1)
		}
		entries = append(entries, e)
	}
	for place, want := range map[string]uint64{
		"1": 1, "27": 27, "0": 0, "draft": 9, "draft~2": 9, "fix": 7, "draft~2/attempt2": 11, "draft/attempt1/turn2": 5, "draft/attempt1/turn1/model": 4,
		"draft~2/attempt2/turn2/model": 16, "run/start": 1, "run": 12, "run~1": 12,
	} {
		seq, err := inspect.ForkPoint("s", entries, place)
		require.NoError(t, err, place)
		require.Equal(t, want, seq, place)
	}
	for place, text := range map[string]string{
		"drafts":                   `session s has no phase and no key "drafts"; the nearest are draft, draft/end, draft/start`,
		"cards":                    `session s has no phase and no key "cards"; the nearest are `,
		"fix/attempt2/turn1":       `session s has no phase and no key "fix/attempt2/turn1"; the nearest are fix/attempt1/turn1/model, `,
		"-1":                       `session s has no phase and no key "-1"; the nearest are `,
		"draft/\x1b[2J":            `session s has no phase and no key "draft/\x1b[2J"; the nearest are `,
		strings.Repeat("x", 1<<20): `session s has no phase and no key "` + strings.Repeat("x", 200) + `"`,
	} {
		_, err := inspect.ForkPoint("s", entries, place)
		require.ErrorContains(t, err, text)
		require.Equal(t, failure.InvalidRequest, failure.KindOf(err))
	}
}
