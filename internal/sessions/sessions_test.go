package sessions_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/delivery"
	"github.com/windlass-run/windlass/internal/sessions"
)

var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// write makes a session with these entries, and leaves it open when busy.
func write(t *testing.T, folder, id string, busy bool, entries ...echo.Entry) string {
	t.Helper()
	dir := filepath.Join(folder, id)
	j, err := journal.Create(dir, journal.Header{Rules: 1, SessionID: id, StartedAt: began, Cascade: []byte(`{"cascade_id":"incident"}`), Input: []byte(`{}`)})
	require.NoError(t, err)
	for i, e := range entries {
		e.SessionID, e.Seq, e.At = id, uint64(i+1), began.Add(time.Duration(i+1)*time.Second)
		e.SetKeyFields()
		require.NoError(t, j.Write(&e))
	}
	j.Flush()
	if busy {
		t.Cleanup(func() { require.NoError(t, j.Close(context.Background())) })
		return dir
	}
	require.NoError(t, j.Close(context.Background()))
	return dir
}

func runEnd(status, reason string) echo.Entry {
	return echo.Entry{
		NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: json.RawMessage(fmt.Sprintf(`{"status":%q,"reason":%q,"output":{"x":[1]}}`, status, reason)),
		Error: &echo.Failure{Kind: reason, Message: "why"},
	}
}

func TestLook(t *testing.T) {
	t.Parallel()
	start := echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start")}
	call := echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("one/attempt1/turn1/model")}
	long := echo.Entry{NodeType: echo.NodeToolCall, Key: echo.MustKey("one/attempt1/turn1/tool1"), Data: json.RawMessage(`"` + strings.Repeat("long ", 60_000) + `"`)}
	card := echo.Entry{NodeType: echo.NodeModelCall, Key: echo.MustKey("cards/call1")}
	warning := echo.Entry{NodeType: echo.NodeWarning, Key: echo.MustKey("cards/warning")}
	resumed := echo.Entry{NodeType: "run_resume", Key: echo.MustKey("run/resume")}
	handoff := echo.Entry{NodeType: echo.NodeHandoff, Key: echo.MustKey("one/handoff"), Data: json.RawMessage(`{"status":"over_budget","reason":"budget"}`)}
	handedOver := echo.Entry{NodeType: echo.NodeHandoff, Key: echo.MustKey("one/handoff"), Data: json.RawMessage(`{"status":"completed","reason":"answered"}`)}
	for name, tt := range map[string]struct {
		entries   []echo.Entry
		busy      bool
		status    string
		reason    string
		resumable bool
	}{
		"nothing yet":          {nil, true, sessions.Running, "", false},
		"nothing at all":       {nil, false, sessions.Killed, "", true},
		"running":              {[]echo.Entry{start, call}, true, sessions.Running, "", false},
		"killed":               {[]echo.Entry{start, call}, false, sessions.Killed, "", true},
		"killed after much":    {[]echo.Entry{start, call, long}, false, sessions.Killed, "", true},
		"completed":            {[]echo.Entry{start, long, runEnd("completed", "end_of_cascade")}, false, "completed", "end_of_cascade", false},
		"cards after the end":  {[]echo.Entry{start, runEnd("completed", "end_of_cascade"), card, warning}, false, "completed", "end_of_cascade", false},
		"cards, then killed":   {[]echo.Entry{start, call, card, warning, card}, false, sessions.Killed, "", true},
		"interrupted":          {[]echo.Entry{start, runEnd("interrupted", "interrupted")}, false, "interrupted", "interrupted", true},
		"over its budget":      {[]echo.Entry{start, runEnd("over_budget", "budget")}, false, "over_budget", "budget", true},
		"a call failed":        {[]echo.Entry{start, runEnd("failed", "error")}, false, "failed", "error", true},
		"no attempt passed":    {[]echo.Entry{start, runEnd("failed", "attempts_exhausted")}, false, "failed", "attempts_exhausted", false},
		"resumed":              {[]echo.Entry{start, runEnd("interrupted", "interrupted"), resumed}, true, sessions.Running, "", false},
		"resumed, then killed": {[]echo.Entry{start, runEnd("interrupted", "interrupted"), resumed, call}, false, sessions.Killed, "", true},
		"killed at a stop":     {[]echo.Entry{start, handoff, card}, false, "over_budget", "budget", true},
		"stopping":             {[]echo.Entry{start, handoff}, true, sessions.Running, "budget", false},
		"killed after a phase": {[]echo.Entry{start, handedOver}, false, sessions.Killed, "", true},
		"about to close":       {[]echo.Entry{start, runEnd("completed", "end_of_cascade")}, true, "completed", "end_of_cascade", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := sessions.Look(write(t, t.TempDir(), "s1", tt.busy, tt.entries...))
			require.NoError(t, err)
			require.Equal(t, "s1", s.ID)
			require.Equal(t, "incident", s.CascadeID)
			require.Equal(t, began, s.Header.StartedAt)
			require.Equal(t, tt.busy, s.Busy)
			require.Equal(t, uint64(len(tt.entries)), s.Last)
			require.Equal(t, tt.status, s.Status())
			require.Equal(t, tt.resumable, s.Resumable())
			require.False(t, s.Torn)
			require.Equal(t, tt.reason, string(s.End.Reason))
			if s.End.Whole {
				require.Equal(t, tt.status, s.End.Status.String())
				require.Equal(t, "why", s.End.Error)
			}
		})
	}
}

// TestLookAtEveryCut cuts a journal at every byte after its header: what is whole is seen, and what
// is torn is said.
func TestLookAtEveryCut(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), "s1", false, echo.Entry{NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start")}, runEnd("completed", ""))
	path := filepath.Join(dir, journal.File)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	header := strings.IndexByte(string(whole), '\n') + 1
	for cut := len(whole); cut >= header; cut-- {
		require.NoError(t, os.Truncate(path, int64(cut)))
		s, err := sessions.Look(dir)
		require.NoError(t, err, cut)
		text := string(whole[header:cut])
		require.Equal(t, uint64(strings.Count(text, "\n")), s.Last, cut)
		require.Equal(t, text != "" && !strings.HasSuffix(text, "\n"), s.Torn, cut)
		require.Equal(t, cut == len(whole), s.End.Whole, cut)
	}
}

func TestWhatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	_, err := sessions.Look(filepath.Join(folder, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
	header, err := os.ReadFile(filepath.Join(write(t, t.TempDir(), "garbled", false), journal.File))
	require.NoError(t, err)
	for name, tt := range map[string]struct{ text, want string }{
		"empty":    {"", "is damaged at line 1: no header"},
		"headless": {"{\n", "is damaged at line 1: the line is no header of a journal"},
		"another":  {string(header), `is damaged at line 1: its folder is named "another", and its header says session "garbled"`},
		"garbled":  {string(header) + "}{\n", "is damaged at line 1 from its end: the line does not match its checksum"},
		"old":      {`{"windlass_journal":2}` + "\n", "has format version 2, and this windlass reads version 3"},
	} {
		dir := filepath.Join(folder, name)
		require.NoError(t, os.Mkdir(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), []byte(tt.text), 0o600))
		s, err := sessions.Look(dir)
		require.ErrorContains(t, err, tt.want)
		require.Equal(t, err, s.Err)
		require.False(t, s.Resumable())
		require.Equal(t, name == "garbled", s.CascadeID == "incident", "the header is sound")
	}
	require.NoError(t, os.WriteFile(filepath.Join(folder, "file"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "empty folder"), 0o700))
	require.NoError(t, os.Symlink(write(t, t.TempDir(), "linked", false), filepath.Join(folder, "linked")))
	require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(folder, "linked to nothing")))
	require.NoError(t, os.Mkdir(filepath.Join(folder, "loop"), 0o700))
	require.NoError(t, os.Symlink(journal.File, filepath.Join(folder, "loop", journal.File)))
	write(t, folder, "sound", false)
	all, err := sessions.All(folder)
	require.NoError(t, err)
	var ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
		if s.ID == "linked" || s.ID == "loop" {
			require.ErrorContains(t, s.Err, ": it is a link, and a session is a folder of its own with a file as its journal: ")
		}
	}
	require.Equal(t, []string{"another", "empty", "garbled", "headless", "linked", "loop", "old", "sound"}, ids)
	all, err = sessions.All(filepath.Join(folder, "nowhere"))
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = sessions.All(filepath.Join(folder, "file"))
	require.ErrorContains(t, err, "list the sessions on this machine: ")
}

// TestMarks: a mark is of one address, lags and never leads.
func TestMarks(t *testing.T) {
	t.Parallel()
	dir := write(t, t.TempDir(), "s1", false, echo.Entry{}, echo.Entry{}, runEnd("completed", ""))
	waiting := func(to string) uint64 {
		s, err := sessions.Look(dir)
		require.NoError(t, err)
		return s.Waiting(to)
	}
	at := func(seq uint64) time.Time { return began.Add(time.Duration(seq) * time.Second) }
	require.Equal(t, uint64(3), waiting("here"))
	require.NoError(t, delivery.SetMark(dir, delivery.Mark{To: "here", Database: "id", Seq: 2, EntryAt: at(2)}))
	require.Equal(t, uint64(1), waiting("here"))
	require.Equal(t, uint64(3), waiting("there"))
	require.NoError(t, delivery.SetMark(dir, delivery.Mark{To: "there", Seq: 3, EntryAt: at(3)}))
	require.NoError(t, delivery.KeepHere(dir, true))
	require.NoError(t, delivery.KeepHere(dir, true))
	require.Equal(t, uint64(1), waiting("here"))
	require.Zero(t, waiting("there"))
	require.True(t, delivery.ReadMarks(dir).KeepHere)
	require.NoError(t, delivery.SetMark(dir, delivery.Mark{To: "there", Seq: 3, EntryAt: at(9)}))
	require.Equal(t, uint64(3), waiting("there"), "the mark is of another entry")
	require.NoError(t, delivery.SetMark(dir, delivery.Mark{To: "there", Seq: 4, EntryAt: at(4)}))
	require.Equal(t, uint64(3), waiting("there"), "the mark is above the end")
	path := filepath.Join(dir, delivery.MarksFile)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	require.Equal(t, uint64(3), waiting("here"), "nothing is known")
}
