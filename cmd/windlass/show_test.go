//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// TestShowOnTerminal shows the page of sessions in terminals of two widths, with colours, and the
// list of sessions: ids are whole where there is room, and short, but never cut, where there is not.
func TestShowOnTerminal(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	for _, width := range []int{80, 200} {
		s := termtest.NewScreen(width, 200)
		for _, args := range [][]string{{"show", "01k0cc"}, {"sessions", "show", "last", "--calls"}} {
			shown := l.onTerminal(width, 200, exitOK, nil, args...)
			require.Contains(t, shown, string(term.Cyan))
			require.Contains(t, shown, string(term.Bold)+"session")
			requireHarmless(t, shown)
			s.Write(t, scrub(shown, l.dir)+"\n")
		}
		golden(t, fmt.Sprintf("show-%d.golden", width), s.Text())
		if width == 80 {
			requireDocumented(t, s.Text())
		}
	}
	l.env = append(l.env, "NO_COLOR=1")
	require.NotContains(t, l.onTerminal(80, 200, exitOK, nil, "show", "last"), "\x1b[")
	piped := l.run(exitOK, "show", "last").out.String()
	require.NotContains(t, piped, "\x1b[")
	require.Equal(t, piped, l.run(exitOK, "sessions", "show", "last").out.String(), "the same by its other name")
	require.Equal(t, l.run(exitOK, "sessions", "show", "last", "--json").out.String(), l.run(exitOK, "show", "last", "--json").out.String())
}

// requireDocumented demands that docs/cli.md shows the page as it is.
func requireDocumented(t *testing.T, shown string) {
	t.Helper()
	page, _, _ := strings.Cut(shown, "\nThe cost of ")
	data, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	doc := strings.ReplaceAll(string(data), "~/.windlass/sessions/01k0cc5555555555555555555e", "WORK/windlass/sessions/SESSION")
	require.Contains(t, strings.ReplaceAll(doc, ", took 39.0s", ", took TIME"), page)
}

// TestShortIDs: the list of sessions shows whole ids where there is room and to a pipe, else short
// ones, by which every command finds the session.
func TestShortIDs(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.file("ask.script.json", `{"default": [{"text": "Done."}]}`)
	var ids []string
	for range 3 {
		l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet")
	}
	l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet", "--session", "a-name-that-a-person-chose")
	for _, dir := range sessionsOf(l.home) {
		ids = append(ids, filepath.Base(dir))
	}
	require.Len(t, ids, 4)
	wide := l.onTerminal(200, 50, exitOK, nil, "sessions", "list")
	slim := l.onTerminal(80, 50, exitOK, nil, "sessions", "list")
	piped := l.run(exitOK, "sessions", "list").out.String()
	for _, id := range ids {
		require.Contains(t, wide, id)
		require.Contains(t, piped, id)
		if strings.HasPrefix(id, "a-name") {
			require.Contains(t, slim, id)
			continue
		}
		require.NotContains(t, slim, id)
		require.Contains(t, slim, "\n"+id[len(id)-5:]+" ")
		require.Contains(t, l.run(exitOK, "show", id[len(id)-5:]).out.String(), "session   "+id+"\n")
	}
	require.Contains(t, l.run(exitOK, "verify", "last").out.String(), "Session a-name-that-a-person-chose holds")
	require.Contains(t, l.run(exitOK, "verify", "last~3").out.String(), "Session "+ids[0]+" holds")
}

// TestEveryCommandTakesNames: every command about a session finds it by every name.
func TestEveryCommandTakesNames(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.file("ask.script.json", `{"default": [{"text": "Done."}]}`)
	l.run(exitOK, "run", "ask.json", "--offline", "--no-clickhouse", "--quiet", "--session", "first-one")
	for i, name := range []string{"last", "last~0", "first-one", "t-one", "first", "ask"} {
		for _, args := range [][]string{
			{"show"},
			{"sessions", "show"},
			{"sessions", "handoff"},
			{"verify"},
			{"replay"},
			{"context", "show"},
			{"context", "stats"},
			{"context", "diff", "", "1", "1"},
			{"simulate"},
			{"test", "freeze", "", "--name", fmt.Sprint("t", i)},
		} {
			if args = append([]string(nil), args...); len(args) > 2 {
				args[2] = name
			} else {
				args = append(args, name)
			}
			l.run(exitOK, args...)
		}
		p := l.run(exitUsage, "resume", name)
		require.Contains(t, p.err.String(), "session first-one: the run has completed", name)
	}
	p := l.run(exitUsage, "run", "ask.json", "--offline", "--session", "last")
	require.Equal(t, "Error: session id \"last\": commands use this name for the newest session\nTry: --session nightly-7, or none for a new id\n", p.err.String())
	p = l.run(exitUsage, "resume", "first-one", "--fork", "one", "--session", "last~1")
	require.Contains(t, p.err.String(), "Error: session id \"last~1\": commands use this name for the newest session\n")
	_, err := journal.Read(filepath.Join(l.home, "sessions", "first-one", journal.File))
	require.NoError(t, err)
}

// TestForkIsNewest: a fork began when it was made, whatever it has copied. So it is last, its list and
// its page say so, and the end of the run names it in that way; the end of another one names that by its id.
func TestForkIsNewest(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("ask.json", recorded["ask.json"])
	l.file("ask.script.json", `{"default": [{"text": "Done."}]}`)
	for _, id := range []string{"first", "second"} {
		l.run(exitOK, "run", "ask.json", "--offline", "--session", id)
	}
	p := l.run(exitOK, "resume", "first", "--fork", "one", "--session", "branch")
	require.Contains(t, p.err.String(), "Next: windlass show last ")
	require.Contains(t, l.run(exitOK, "show", "last").out.String(), "session   branch\n")
	require.Contains(t, l.run(exitOK, "show", "ask").out.String(), "session   branch\n")
	require.Contains(t, l.run(exitOK, "show", "last~2").out.String(), "session   first\n")
	var ids []string
	for _, line := range strings.Split(l.run(exitOK, "sessions", "list").out.String(), "\n")[2:5] {
		ids = append(ids, strings.Fields(line)[0])
	}
	require.Equal(t, []string{"branch", "second", "first"}, ids)
	require.Equal(t, "session_id\nbranch", strings.TrimSpace(l.run(exitOK, "sql", "SELECT session_id FROM sessions ORDER BY started_at DESC LIMIT 1", "--csv").out.String()))
	_, names, _ := strings.Cut(l.run(exitOK, "__complete", "show", "").out.String(), "\n")
	require.Regexp(t, `^branch\t`, names, "after last")
}
