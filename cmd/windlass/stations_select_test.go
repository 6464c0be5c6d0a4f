package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// TestStations runs five phases of twelve turns with each strategy, twice, and judges what the
// provider got.
func TestStations(t *testing.T) {
	t.Parallel()
	const budget = 1500
	for _, strategy := range []string{"heuristic", "semantic", "llm", "hybrid"} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			l, server := stationLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)), llmtest.Config{})
			l.file("stations.json", stationCascade(strategy, budget, ""))
			run := l.runStations("one")
			require.NotContains(t, run.err.String(), "Warning")
			first := stationRequests(server.Requests())
			require.Len(t, first, stations*stationTurns)
			requireAnchorsAndBudget(t, first, budget)
			selections := l.selectionsOf("one")
			require.Len(t, selections, stations-1)
			for _, s := range selections {
				require.EqualValues(t, strategy, s.Strategy)
				require.Empty(t, s.Degraded)
				require.NotEmpty(t, s.Chosen)
				require.Less(t, len(s.Chosen), s.Candidates)
			}

			before := len(server.Requests())
			l.runStations("two")
			second := stationRequests(server.Requests()[before:])
			require.Equal(t, bodies(first), bodies(second))
			require.Equal(t, selections, l.selectionsOf("two"))

			try := []string{"context", "select", "one", "--for", "What stands by the lighthouse?", "--strategy", strategy, "--budget", "900"}
			if strategy == "llm" || strategy == "hybrid" {
				try = append(try, "--model", "gpt-5-mini")
			}
			for _, form := range [][]string{nil, {"--json"}} {
				command := slices.Concat(try, form)
				require.Equal(t, tried(l, command), tried(l, command))
			}
		})
	}
}

// tried runs a trial and returns what it prints, without the time that it took.
func tried(l *lab, command []string) string {
	var lines []string
	for _, line := range strings.Split(l.run(exitOK, command...).out.String(), "\n") {
		if !strings.Contains(line, `"took_ms"`) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// stationRequests leaves out the requests for a choice and for cards.
func stationRequests(all []llmtest.Request) []llmtest.Request {
	var out []llmtest.Request
	for _, r := range all {
		if !asksForMenu(&r) && !asksForCards(&r) {
			out = append(out, r)
		}
	}
	return out
}

func bodies(requests []llmtest.Request) []string {
	var out []string
	for _, r := range requests {
		out = append(out, string(r.Raw))
	}
	return out
}

// requireAnchorsAndBudget judges every request of the stations that select. The requests are in the
// order of the turns.
func requireAnchorsAndBudget(t *testing.T, requests []llmtest.Request, budget int) {
	t.Helper()
	counter := llm.NewCounter("gpt-5-mini")
	require.True(t, llm.HasTokenizer("gpt-5-mini"))
	most := int64(0)
	for i := range requests {
		r := &requests[i]
		station, task, turn := stationOf(r)
		require.Equal(t, i/stationTurns, station)
		require.Equal(t, i%stationTurns+1, turn)
		require.Contains(t, string(r.Raw), "the harbour", "the input")
		if station == 0 {
			continue
		}
		anchors := map[string]bool{}
		for before := 1; before <= station; before++ {
			maps.Copy(anchors, anchorsOf(t, &requests[before*stationTurns-1], before == station))
		}
		raw := rawMessages(t, r.Raw)
		for anchor := range anchors {
			require.Contains(t, raw[:task], anchor, "request %d", i+1)
		}
		tokens, seen := int64(0), map[string]bool{}
		for _, at := range paidFor(r.Messages[:task], raw, anchors) {
			tokens += counter.Message(sealed(&r.Messages[at]))
		}
		require.LessOrEqual(t, tokens, int64(budget), "request %d", i+1)
		require.Positive(t, tokens, "request %d", i+1)
		most = max(most, tokens)
		for at := range raw[:task] {
			if !isMarker(&r.Messages[at]) {
				require.False(t, seen[raw[at]], "request %d has it twice: %s", i+1, raw[at])
				seen[raw[at]] = true
			}
		}
	}
	require.Greater(t, most, int64(budget)/2, "the budget is used")
}

// anchorsOf returns the messages that the stations after the one of a request must be sent: the
// answer, which is a callout, and what failed; the next one also the turn before the answer.
func anchorsOf(t *testing.T, last *llmtest.Request, next bool) map[string]bool {
	t.Helper()
	_, task, turn := stationOf(last)
	require.Equal(t, stationTurns, turn)
	raw := rawMessages(t, last.Raw)
	out := map[string]bool{}
	answer := answerStations(*last)
	out[string(echo.NewText(echo.RoleAssistant, echo.KindAnswer, answer.Text).JSON())] = true
	at := task + 1 + 2*(brokenTurn-1) // a turn is a call and its result
	for _, m := range []int{at, at + 1} {
		out[raw[m]] = true
	}
	if next {
		out[raw[len(raw)-2]], out[raw[len(raw)-1]] = true, true
	}
	require.Contains(t, raw[at+1], "there is no such file")
	return out
}

// paidFor returns the places of the messages that count against the budget: those that are no
// anchors, the marker before each stretch that has one of them, and the marker at the end.
func paidFor(messages []llmtest.Message, raw []string, anchors map[string]bool) []int {
	var out []int
	head, paid := -1, false
	for i := range messages {
		switch {
		case isMarker(&messages[i]):
			head, paid = i, false
			if strings.HasPrefix(messages[i].Text(), "Here ends") {
				out = append(out, i)
			}
		case head >= 0 && !anchors[raw[i]]:
			if !paid {
				out, paid = append(out, head), true
			}
			out = append(out, i)
		}
	}
	return out
}

func isMarker(m *llmtest.Message) bool {
	return m.Role == "user" && (strings.HasPrefix(m.Text(), `From phase "s`) || strings.HasPrefix(m.Text(), "Here ends what was brought in"))
}

// sealed is the message as the engine has it.
func sealed(m *llmtest.Message) *echo.Message {
	d := echo.Draft{Role: echo.Role(m.Role), ToolCallID: m.ToolCallID}
	if text := m.Text(); text != "" {
		d.Parts = echo.Text(text)
	}
	for _, c := range m.ToolCalls {
		d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	return echo.Seal(d)
}

// rawMessages returns the messages of a body as they stand there.
func rawMessages(t *testing.T, body []byte) []string {
	t.Helper()
	var request struct {
		Messages []json.RawMessage `json:"messages"`
	}
	require.NoError(t, json.Unmarshal(body, &request))
	out := make([]string, len(request.Messages))
	for i, m := range request.Messages {
		out[i] = string(m)
	}
	return out
}
