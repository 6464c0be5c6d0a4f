package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app"
)

// frozenJournals are the journals below testdata/frozen: of sessions of the examples, by the rules
// that they were begun under. A change of the engine that comes to other entries fails here: it
// raises engine.Rules, and adds journals of its own.
func frozenJournals(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/frozen/rules*/*.jsonl")
	require.NoError(t, err)
	return paths
}

// eachFrozenJournal runs a test for each of them.
func eachFrozenJournal(t *testing.T, test func(t *testing.T, path string, rec *journal.Recording)) {
	t.Helper()
	for _, path := range frozenJournals(t) {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			rec, err := journal.Read(path)
			require.NoError(t, err)
			test(t, path, rec)
		})
	}
}

// There are frozen journals of all rules that this engine replays.
func TestEveryRulesHasFrozenJournals(t *testing.T) {
	t.Parallel()
	found := map[int]int{}
	for _, path := range frozenJournals(t) {
		n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "rules"))
		require.NoError(t, err)
		rec, err := journal.Read(path)
		require.NoError(t, err)
		require.Equal(t, n, rec.Header.Rules, path)
		found[n]++
	}
	for n := engine.OldestRules; n <= engine.Rules; n++ {
		require.GreaterOrEqual(t, found[n], 3, "journals of rules %d", n)
	}
}

// The command verifies them.
func TestVerifyFrozenJournals(t *testing.T) {
	t.Parallel()
	eachFrozenJournal(t, func(t *testing.T, path string, _ *journal.Recording) { verifyFrozen(t, path) })
}

func verifyFrozen(t *testing.T, path string) {
	t.Helper()
	rec, err := journal.Read(path)
	require.NoError(t, err)
	l := newLab(t, "")
	dir := filepath.Join(l.home, "sessions", rec.Header.SessionID)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), text, 0o600))
	p := l.run(exitOK, "verify", rec.Header.SessionID)
	require.Contains(t, p.out.String(), fmt.Sprintf("Session %s holds: %d entries", rec.Header.SessionID, len(rec.Entries)))
}

// A session that was begun under these rules and is resumed by this engine, after any of its
// entries, comes to the same end by the same entries, when the world answers as it did.
func TestResumeFrozenJournals(t *testing.T) {
	t.Parallel()
	eachFrozenJournal(t, func(t *testing.T, _ string, rec *journal.Recording) {
		from := 1
		if rec.Header.Parent != "" {
			from += int(rec.Header.ParentSeq) // what is copied has its end in the entry that resumes
		}
		for cut := from; cut < len(rec.Entries); cut++ {
			if openTools(rec.Entries[:cut]) {
				continue // its model is told that nobody knows what it did
			}
			resumed := resumeFrozen(t, rec, cut)
			require.Equal(t, linesOf(rec.Entries[cut:]), linesOf(resumed), "after entry %d", cut)
		}
	})
}

// resumeFrozen runs a session from a cut in its recording on, and returns the entries that it
// recorded after the one that says so.
func resumeFrozen(t *testing.T, rec *journal.Recording, cut int) []*echo.Entry {
	t.Helper()
	replay, err := appAt(t.TempDir()).Replay(rec.Header, app.Extensions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, replay.Close()) }()
	runner, spec := replay.Runner, replay.Spec
	header, err := json.Marshal(rec.Header)
	require.NoError(t, err)
	kept := &keptEntries{}
	spec.Log = echo.ContinueLog(rec.Header.SessionID, uint64(cut), nil, nil, kept)
	spec.Recording, spec.Effects, spec.Header = rec.Entries[:cut], effect.NewAnswered(effect.Writer{Log: spec.Log}, rec.Entries[cut:]), header
	// No time has passed since: how long a provider's cache was idle is a reading.
	runner.Seams.Now = func() time.Time { return rec.Entries[cut-1].At }
	runner.Seams.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	_, err = runner.Run(t.Context(), spec)
	require.False(t, effect.IsRecordError(err), "after entry %d: %v", cut, err)
	require.Equal(t, echo.NodeResume, kept.list[0].NodeType)
	return kept.list[1:]
}

// linesOf is what the entries of each branch say, without times: what a recording is compared by.
// That a tool begins is said by who runs it.
func linesOf(entries []*echo.Entry) map[echo.Key][]string {
	out := map[echo.Key][]string{}
	for _, e := range entries {
		if e.NodeType == echo.NodeToolStart || e.NodeType == echo.NodeHandoff || e.Background() {
			continue
		}
		line := map[string]any{"node": e.NodeType, "key": e.Key, "hash": e.ContentHash, "request": e.RequestHash, "selection": e.Selection, "error": e.Error}
		text, err := json.Marshal(line)
		if err != nil {
			panic(errors.Join(errors.New("entries can be written"), err))
		}
		branch := e.Key.Branch()
		out[branch] = append(out[branch], string(text))
	}
	return out
}

type keptEntries struct{ list []*echo.Entry }

func (k *keptEntries) Write(e *echo.Entry) error {
	k.list = append(k.list, e)
	return nil
}

func (*keptEntries) Close(context.Context) error { return nil }
