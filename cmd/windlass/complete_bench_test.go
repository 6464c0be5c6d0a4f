package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/completion"
	"github.com/windlass-run/windlass/internal/names"
)

// manySessions makes sessions in a home, with ids that windlass makes or such as people choose.
func manySessions(tb testing.TB, home string, n int, chosen bool) {
	tb.Helper()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(time.Minute)
		id := strings.ToLower(ulid.MustNew(ulid.Timestamp(at), ulid.DefaultEntropy()).String())
		if chosen {
			id = fmt.Sprintf("chosen-%05d", i)
		}
		writeSession(tb, home, id, at, fmt.Sprintf(`{"cascade_id":"c%d","phases":[{"name":"read"},{"name":"write"}]}`, i%7))
	}
}

// writeSession makes a session that completed.
func writeSession(tb testing.TB, home, id string, at time.Time, cascade string) {
	tb.Helper()
	h := journal.Header{Rules: engine.Rules, SessionID: id, StartedAt: at, Cascade: json.RawMessage(cascade), Input: json.RawMessage(`{}`)}
	j, err := journal.Create(filepath.Join(home, "sessions", id), h)
	require.NoError(tb, err)
	e := echo.NewEntry(echo.MustKey("run/end"), echo.RunEnd{Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade})
	e.SessionID, e.Seq, e.At = id, 1, at.Add(time.Second)
	e.SetKeyFields()
	require.NoError(tb, j.Write(e))
	require.NoError(tb, j.Close(context.Background()))
}

// BenchmarkNames is what a command and a shell wait for among 10,000 sessions.
func BenchmarkNames(b *testing.B) {
	for _, chosen := range []bool{false, true} {
		home := b.TempDir()
		manySessions(b, home, 10_000, chosen)
		arc := &archive.Archive{Home: home, Scope: names.Everything}
		for name, do := range map[string]func(){
			"complete nothing": func() { completion.Sessions(home, nil, "", names.Everything) },
			"complete prefix":  func() { completion.Sessions(home, nil, "chosen-09", names.Everything) },
			"last":             func() { _, _ = arc.Here("last") },
			"suffix":           func() { _, _ = arc.Here("09999") },
			"cascade":          func() { _, _ = arc.Here("c3") },
			"no cascade":       func() { _, _ = arc.Here("none") },
		} {
			b.Run(fmt.Sprintf("chosen=%v/%s", chosen, name), func(b *testing.B) {
				for b.Loop() {
					do()
				}
			})
		}
	}
}
