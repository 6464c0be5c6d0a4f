//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

const (
	longSession = "nightly-research-of-the-whole-repository"
	longPhase   = "research_of_everything_that_is_open_and_not_done"
)

// tablesLab has sessions with short names and one with long ones, here and in ClickHouse.
func tablesLab(t *testing.T) *lab {
	t.Helper()
	db := clickhousetest.Open(t)
	l := newLab(t, clickhousetest.DSN(t, db))
	data, err := os.ReadFile("testdata/reports/entries.jsonl")
	require.NoError(t, err)
	var all, long string
	for line := range strings.Lines(string(data)) {
		all += line
		if strings.Contains(line, "01k0aa1111111111111111111a") {
			long += strings.NewReplacer("01k0aa1111111111111111111a", longSession, `"cascade_id":"audit"`, `"cascade_id":"audit_of_every_folder"`,
				`"key":"read`, `"key":"`+longPhase, `"phase":"read"`, `"phase":"`+longPhase+`"`, `"to":"read"`, `"to":"`+longPhase+`"`, "2026-03-01", "2026-03-04").Replace(line)
		}
	}
	var entries []*echo.Entry
	for line := range strings.Lines(all + long + seedLines(t)) {
		e := &echo.Entry{}
		require.NoError(t, json.Unmarshal([]byte(line), e))
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
		entries = append(entries, e)
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, journalFromLines(l.home, seedLines(t)))
	return l
}

// wideRows has more columns than a terminal, two of them keys, and long texts.
const wideRows = `SELECT number AS n, concat('phase_', toString(number), '/attempt1/turn1/model') AS key, repeat('a long text ', 20) AS words,
	number * 1000 AS tokens, '01k0cc5555555555555555555e' AS session_id, 'completed' AS status, 1.5 AS a_long_name_of_a_column, 'more' AS more FROM numbers(3)`

var tableCommands = [][]string{
	{"sessions", "list"},
	{"show", longSession, "--calls"},
	{"show", "last", "--calls"},
	{"cost"},
	{"cost", "--by", "phase"},
	{"cost", "--by", "model"},
	{"cost", "--by", "session"},
	{"cost", "--by", "day"},
	{"context", "stats", "last"},
	{"context", "why", "last", "0b9d"},
	{"context", "diff", "last", "3", "5"},
	{"replay", "last", "--list"},
	{"simulate", "last"},
	{"models", "anthropic"},
	{"sql", wideRows},
}

// requireFits demands that no row of a table is longer than the terminal. A key that alone is longer
// stands in a line of its own.
func requireFits(t *testing.T, width int, shown string) {
	t.Helper()
	for line := range strings.Lines(shown) {
		line = strings.TrimRight(term.StripColour(line), "\r\n")
		if strings.Contains(strings.TrimSpace(line), " ") {
			require.LessOrEqual(t, runewidth.StringWidth(line), width, "%s\nin\n%s", line, shown)
		}
	}
}

// TestTablesOnTerminal shows every table in terminals of two widths. No row of one wraps, what is
// left out is named, keys are whole, and --wide shows what a pipe gets.
func TestTablesOnTerminal(t *testing.T) {
	t.Parallel()
	l := tablesLab(t)
	for _, width := range []int{80, 200} {
		s := termtest.NewScreen(width, 2000)
		for _, args := range tableCommands {
			shown := l.onTerminal(width, 1000, exitOK, nil, args...)
			requireFits(t, width, tablesOf(shown))
			s.Write(t, "$ windlass "+strings.Join(strings.Fields(strings.Join(args, " ")), " ")+"\n"+shown+"\n")
		}
		golden(t, fmt.Sprintf("tables-%d.golden", width), strings.ReplaceAll(s.Text(), l.dir, "WORK"))
		if width == 80 {
			_, byPhase, _ := strings.Cut(s.Text(), "$ windlass cost --by phase\n")
			table, _, _ := strings.Cut(byPhase, "The cost of ")
			doc, err := os.ReadFile("../../docs/cli.md")
			require.NoError(t, err)
			require.Contains(t, string(doc), table)
		}
	}
	for _, args := range tableCommands {
		if args[0] == "context" || args[0] == "show" { // a pipe has bars of another length, and no terminal's names
			continue
		}
		piped := l.run(exitOK, args...)
		wide := l.onTerminal(80, 1000, exitOK, nil, append(args, "--wide", "--no-pager")...)
		if args[0] == "models" {
			piped = l.run(exitOK, append(args, "--wide")...)
		}
		require.Contains(t, strings.ReplaceAll(wide, "\r\n", "\n"), piped.out.String(), args)
		require.NotContains(t, piped.out.String(), "not shown: ")
	}
	wide := l.onTerminal(80, 1000, exitOK, nil, "show", longSession, "--calls", "--wide")
	require.NotContains(t, wide, "not shown: ")
	require.Regexp(t, `seq +where +call +tokens in +cached +tokens out +cost +time +outcome`, wide)
}

// tablesOf leaves out of what is shown the lines that are no row: notes and places.
func tablesOf(shown string) string {
	var kept []string
	for line := range strings.Lines(shown) {
		plain := term.StripColour(line)
		prose := strings.HasPrefix(plain, "The ") || strings.HasPrefix(plain, "journal ") || strings.HasPrefix(plain, "next ") ||
			strings.HasPrefix(plain, "error ") || strings.HasPrefix(plain, "handoff ") || strings.HasPrefix(plain, "replayed") || strings.Contains(plain, " tokens with full") ||
			strings.HasSuffix(strings.TrimSpace(plain), ".")
		if !prose {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestDoctorOnTerminal: what doctor finds is never cut, and continues in the next line, but for the
// command below it, which is copied.
func TestDoctorOnTerminal(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	words := func(s string) string { return strings.Join(strings.Fields(strings.ReplaceAll(s, "-", "")), " ") }
	piped := l.run(exitOK, "doctor").out.String()
	for _, width := range []int{80, 200} {
		shown := l.onTerminal(width, 200, exitOK, nil, "doctor")
		table, _, found := strings.Cut(shown, "Other clients reach ClickHouse with:")
		require.True(t, found)
		requireFits(t, width, table)
		require.NotContains(t, shown, "…")
		require.Equal(t, words(piped), words(shown))
	}
}
