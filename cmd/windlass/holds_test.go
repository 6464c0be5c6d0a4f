package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
)

// requireAllHold verifies every session that is in a home. Those whose record a test has damaged,
// or made by hand, are no runs of windlass.
func requireAllHold(t *testing.T, home string) {
	t.Helper()
	if info, err := os.Stat(filepath.Join(home, "sessions")); err != nil || !info.IsDir() {
		return
	}
	ids, err := archive.Local(home)
	require.NoError(t, err)
	for _, id := range ids {
		require.NoError(t, holds(home, id), "session %s", id)
	}
}

// appAt returns an app that only verifies.
func appAt(home string) *app.App {
	a, err := app.Open(app.Options{Home: home})
	if err != nil {
		panic(err)
	}
	return a
}

func holds(home, id string) error {
	rec, err := journal.Read(archive.JournalPath(home, id))
	switch {
	case journal.IsUnreadable(err), err == nil && len(rec.Header.Options) == 0:
		return nil
	case err != nil:
		return err
	}
	var begun app.Started
	if err := json.Unmarshal(rec.Header.Options, &begun); err != nil {
		return err
	}
	if len(begun.AllowEnv) > 0 { // their values are part of what the run is a function of, and another process had them
		return nil
	}
	v, err := appAt(home).Verify(context.Background(), rec, app.Extensions{})
	var rules *engine.RulesError
	if errors.As(err, &rules) { // no engine of today has them
		return nil
	}
	if err == nil && !v.Holds {
		err = errors.New(v.Difference)
	}
	return err
}

// Whoever changes a journal and computes its checksums anew is found out where what follows does
// not follow any more. The same finds a change of the code that decides what is sent.
func TestVerifyFindsChangedRecords(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.env = append(l.env, "REPO=x")
	repo, err := filepath.Abs("../..")
	require.NoError(t, err)
	require.NoError(t, os.CopyFS(filepath.Join(l.dir, "examples"), os.DirFS(filepath.Join(repo, "examples"))))
	l.run(exitOK, "run", "examples/cascades/log_triage.json", "--offline", "--no-clickhouse", "--session", "whole")
	rec, err := journal.Read(archive.JournalPath(l.home, "whole"))
	require.NoError(t, err)
	tried := 0
	for i, e := range rec.Entries {
		for what, edit := range map[string]func(*echo.Entry) bool{
			"answer": func(e *echo.Entry) bool {
				if e.NodeType != echo.NodeModelCall || e.Message.Text() == "" || strings.Contains(e.Key.String(), "/validate/") {
					return false
				}
				e.Message = echo.Seal(echo.Draft{
					Role: e.Message.Role(), Kind: e.Message.Kind(), Parts: echo.Text(strings.Replace(e.Message.Text(), "e", "a", 1)), ToolCalls: e.Message.ToolCalls(),
				})
				return true
			},
			"form": func(e *echo.Entry) bool {
				if e.Selection == nil {
					return false
				}
				e.Selection.Spans[0].Form = "masked"
				return true
			},
			"size": func(e *echo.Entry) bool {
				if e.Selection == nil {
					return false
				}
				e.Selection.ContextSize++
				return true
			},
			"request": func(e *echo.Entry) bool {
				if e.RequestHash == "" {
					return false
				}
				e.RequestHash = strings.Repeat("0", len(e.RequestHash))
				return true
			},
		} {
			changed := *e
			if e.Selection != nil {
				sel := *e.Selection
				sel.Spans = append([]echo.Span(nil), sel.Spans...)
				changed.Selection = &sel
			}
			if !edit(&changed) {
				continue
			}
			tried++
			writeJournal(t, l.home, rec.Header.SessionID, rec, i, &changed)
			p := l.run(exitFailed, "verify", rec.Header.SessionID)
			require.Contains(t, p.err.String(), "does not hold: the run does not follow its record: entry ", "entry %d, %s", i+1, what)
		}
	}
	require.Greater(t, tried, 15)
	require.NoError(t, os.RemoveAll(filepath.Dir(archive.JournalPath(l.home, rec.Header.SessionID))), "it does not hold any more")
}

// writeJournal writes a recording as the journal of a session, in place of the one that it has,
// with one entry in another's place.
func writeJournal(t *testing.T, home, id string, rec *journal.Recording, at int, instead *echo.Entry) {
	t.Helper()
	dir, header := filepath.Dir(archive.JournalPath(home, id)), rec.Header
	require.NoError(t, os.RemoveAll(dir))
	header.SessionID = id
	j, err := journal.Create(dir, header)
	require.NoError(t, err)
	for i, e := range rec.Entries {
		if i == at {
			e = instead
			if e.Message != nil {
				e.ContentHash = e.Message.Hash()
			}
		}
		mine := *e
		mine.SessionID = id
		require.NoError(t, j.Write(&mine))
	}
	require.NoError(t, j.Close(context.Background()))
}
