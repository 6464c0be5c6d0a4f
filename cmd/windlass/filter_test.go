package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// TestFiltersAndTags: cost and sessions list leave out what does not fit all of their filters, and sum
// up by tags, of which a session may have several.
func TestFiltersAndTags(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("windlass.json", `{"models": {"plain": {"price": {"input": 10, "cached_input": 10, "output": 10, "as_of": "2026-11-01", "source": "made up"}}}}`)
	for name, tags := range map[string]string{"one": `["nightly", "team=search"]`, "two": `["team=sales"]`, "three": `[]`} {
		l.file(name+".json", fmt.Sprintf(`{"cascade_id": %q, "tags": %s, "phases": [{"name": "ask", "instructions": "Say it."}]}`, name, tags))
		l.run(exitOK, "run", name+".json", "--model", "plain", "--quiet", "--session", "of-"+name)
	}
	l.run(exitOK, "run", "one.json", "--model", "plain", "--quiet", "--session", "only-here", "--no-clickhouse")

	ids := func(args ...string) string {
		var rows []struct {
			ID string `json:"session_id"`
		}
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, append(args, "--json")...).out.String()), &rows))
		list := make([]string, len(rows))
		for i, r := range rows {
			list[i] = r.ID
		}
		return strings.Join(list, " ")
	}
	cost := []string{"cost", "--by", "session"}
	require.Equal(t, "of-one", ids(append(cost, "--tag", "nightly", "--cascade", "one", "--since", "1h", "--session", "f-one")...))
	require.Equal(t, "of-two", ids(append(cost, "--tag", "team=sales")...))
	require.Equal(t, "of-three", ids(append(cost, "--session", "three")...), "the newest of a cascade")
	require.Empty(t, ids(append(cost, "--tag", "nightly", "--tag", "team=sales")...))
	require.Empty(t, ids(append(cost, "--tag", "' OR 1=1 --")...))
	require.Empty(t, ids(append(cost, "--since", time.Now().AddDate(0, 0, 2).UTC().Format(time.DateOnly))...))
	require.Equal(t, "only-here of-one", ids("sessions", "list", "--tag", "nightly"))
	require.Equal(t, "only-here", ids("sessions", "list", "--tag", "nightly", "--limit", "1"))
	require.Equal(t, "of-two", ids("sessions", "list", "--cascade", "two", "--since", "2026-01-01"))
	require.Equal(t, "No model calls in ClickHouse fit these filters. What ran with --no-clickhouse is there after windlass ship SESSION.\n", l.run(exitOK, "cost", "--tag", "x").err.String())
	require.Equal(t, "No sessions fit --since, --cascade and --tag.\n", l.run(exitOK, "sessions", "list", "--tag", "x").err.String())

	byTag := l.run(exitOK, "cost", "--by", "tag").out.String()
	for _, row := range []string{`nightly +1 `, `team=search +1 `, `team=sales +1 `, `\(no tag\) +1 `} {
		require.Regexp(t, `(?m)^`+row, byTag)
	}
	require.Contains(t, byTag, "\nTotal: $0.0372, 3 sessions. The rows add up to more: 1 session has several tags and counts for each.\n")
	byTag = l.run(exitOK, "sessions", "list", "--by", "tag").out.String()
	require.Regexp(t, `(?m)^nightly +2 +2 +0 `, byTag)
	require.Contains(t, byTag, "\nTotal: $0.0496, 4 sessions. The rows add up to more: 2 sessions have several tags and count for each.\n")
	require.Contains(t, l.run(exitOK, "cost", "--by", "tag", "--tag", "team=sales").out.String(), "\nTotal: $0.0124, 1 session.\n")
	requireShownCosts(t, l.run(exitOK, "cost", "--by", "tag", "--tag", "team").out.String())
	var sums []map[string]any
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "list", "--by", "tag", "--json").out.String()), &sums))
	require.Len(t, sums, 4)
	for _, s := range sums {
		require.InDelta(t, 0.0124*s["sessions"].(float64), s["cost_usd"], 0, "no noise")
	}
	require.Regexp(t, `(?m)^tags +Array\(String\) +the tags of the cascade when the run began`, l.run(exitOK, "sql", "DESCRIBE sessions").out.String())
	require.Contains(t, l.run(exitOK, "show", "of-one", "--json").out.String(), "\"tags\": [\n    \"nightly\",\n    \"team=search\"\n  ]")
}

// requireShownCosts demands that docs/cli.md shows a report as it is, but for the times.
func requireShownCosts(t *testing.T, got string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/cli.md")
	require.NoError(t, err)
	_, shown, _ := strings.Cut(string(page), "windlass cost --by tag --tag team\n\n")
	shown, _, _ = strings.Cut(shown, "```")
	withoutTimes := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			if fields := strings.Fields(line); !strings.HasPrefix(line, "Total") && len(fields) > 0 {
				line = strings.Join(fields[:len(fields)-1], " ")
			}
			lines = append(lines, strings.TrimSpace(line))
		}
		return lines
	}
	require.Equal(t, withoutTimes(shown), withoutTimes(got))
}

// TestFiltersThatAreWrong end with an example.
func TestFiltersThatAreWrong(t *testing.T) {
	t.Parallel()
	l := newLab(t, "clickhouse://127.0.0.1:1")
	for args, want := range map[string]string{
		"cost --since yesterday":              "Error: --since \"yesterday\" is no age and no date\nTry: --since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z\n",
		"cost --since ":                       "Error: --since \"\" is no age and no date\nTry: --since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z\n",
		"sessions list --since 2026-13-01":    "Error: --since \"2026-13-01\" is no age and no date\nTry: --since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z\n",
		"cost --cascade ":                     "Error: --cascade is empty\nTry: --cascade incident\n",
		"cost --session ":                     "Error: --session is empty\nTry: --session last\n",
		"cost --tag =x":                       "Error: --tag \"=x\" has no key\nTry: --tag nightly, or --tag team=search\n",
		"sessions list --tag ":                "Error: --tag \"\" has no key\nTry: --tag nightly, or --tag team=search\n",
		"sessions list --by cascade":          "Error: --by \"cascade\": expected tag\nTry: windlass sessions list --by tag\n",
		"cost --session last":                 "Error: no session \"last\": there is none on this machine\nTry: windlass sessions list\n",
		"cost --by month --tag nightly":       "Error: --by \"month\": expected one of cascade, phase, model, session, day, tag\nTry: windlass cost --by phase\n",
		"cost --since 99999999999w":           "Error: --since \"99999999999w\" is no age and no date\nTry: --since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z\n",
		"sessions list --tag a --since 7days": "Error: --since \"7days\" is no age and no date\nTry: --since 36h, 7d, 8w, 2026-11-01 or 2026-11-01T08:00:00Z\n",
	} {
		require.Equal(t, want, l.run(exitUsage, strings.Split(args, " ")...).err.String(), args)
	}
}
