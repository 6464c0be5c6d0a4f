//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/term"
	"github.com/windlass-run/windlass/internal/term/termtest"
)

// reviewLab has the session "review" of an example whose phases select.
func reviewLab(t *testing.T) *lab {
	t.Helper()
	examples, err := filepath.Abs("../../examples")
	require.NoError(t, err)
	l := newLab(t, "")
	require.NoError(t, os.Symlink(examples, filepath.Join(l.dir, "examples")))
	l.run(exitOK, "run", "examples/cascades/incident_review.json", "--offline", "--no-clickhouse", "--session", "review")
	return l
}

var selectArgs = []string{"context", "select", "review", "--for", "Which component holds connections so long that orders fail?", "--budget", "600"}

// TestSelectOnTerminal shows trials in terminals of two widths: the first words of each candidate, the
// terms of its score, and where the budget ended. No row is longer than the terminal.
func TestSelectOnTerminal(t *testing.T) {
	t.Parallel()
	l := reviewLab(t)
	for _, width := range []int{80, 200} {
		s := termtest.NewScreen(width, 200)
		for _, strategy := range []string{"heuristic", "semantic"} {
			shown := l.onTerminal(width, 1000, exitOK, nil, append(selectArgs, "--strategy", strategy)...)
			for line := range strings.Lines(shown) {
				require.LessOrEqual(t, runewidth.StringWidth(term.StripColour(strings.TrimRight(line, "\r\n"))), width, line)
			}
			require.Contains(t, shown, "report-jo")
			s.Write(t, shown+"\n")
		}
		golden(t, fmt.Sprintf("select-%d.golden", width), s.Text())
	}
	piped := l.run(exitOK, append(selectArgs, "--strategy", "heuristic")...).out.String()
	require.Regexp(t, `\nbudget of 600 tokens ends here: \d+ left, next would need \d+\n`, piped)
	require.Equal(t, term.StripColour(piped), piped)
}

// --json has every term of every score: they add up to it, whatever the strategy.
func TestSelectTermsAddUp(t *testing.T) {
	t.Parallel()
	l := reviewLab(t)
	for _, strategy := range []string{"heuristic", "semantic", "prefilter"} {
		var found phasecontext.Tried
		shown := l.run(exitOK, append(selectArgs, "--strategy", strategy, "--json")...)
		require.NoError(t, json.Unmarshal([]byte(shown.out.String()), &found))
		require.Len(t, found.Explained, found.Candidates)
		ranked := 0
		for _, e := range found.Explained {
			sum := 0.0
			for _, term := range e.Terms {
				sum += term.Weight * term.Value
			}
			require.InDelta(t, e.Total, sum, 1e-12)
			require.NotEmpty(t, e.Text)
			require.LessOrEqual(t, utf8.RuneCountInString(e.Text), 101)
			require.NotContains(t, e.Text, "\n")
			if len(e.Terms) > 0 {
				ranked++
			}
		}
		require.Positive(t, ranked)
		if strategy == "heuristic" {
			require.NotNil(t, found.Cut)
			require.Greater(t, found.Cut.Needs, found.Cut.Left)
		}
	}
}

// What a model wrote is one line of few words, and cannot control the terminal.
func TestSelectShowsHostileWords(t *testing.T) {
	t.Parallel()
	l := newLab(t, "")
	l.file("c.json", `{"cascade_id": "c", "phases": [{"name": "look", "instructions": "Look."}, {"name": "tell", "instructions": "Tell.", "context": {"from": ["look"]}}]}`)
	l.file("c.script.json", `{"phases": {"look": [{"text": "an \u001b[31mapple\u0007\nand\u202e a pear `+strings.Repeat("of many words ", 30)+`"}], "tell": [{"text": "told"}]}}`)
	l.run(exitOK, "run", "c.json", "--offline", "--no-clickhouse", "--session", "h")
	shown := l.run(exitOK, "context", "select", "h", "--for", "an apple", "--strategy", "heuristic").out.String()
	require.Regexp(t, `  an \[31mapple and a pear of many [a-z ]+…\n`, shown)
	requireHarmless(t, shown)
}
