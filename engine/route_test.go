package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// routes returns where a run went, as "from>to: reason".
func (b *testBundle) routes(t *testing.T) (out []string) {
	t.Helper()
	for _, e := range b.entries.of(echo.NodeRoute) {
		var r echo.Route
		require.NoError(t, json.Unmarshal(e.Data, &r))
		out = append(out, r.From+">"+r.To+": "+r.Reason)
	}
	return out
}

// A result without _route and status routes as success, and a failed tool as error, since rules 4.
func TestResultsWithoutLabels(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[
		{"name":"a","tool":"set_state","inputs":{"key":"k","value":1},"routing":{"success":"b","error":"d"}},
		{"name":"b","tool":"get_state","inputs":{"key":"none"},"routing":{"success":"c","error":"d"}},
		{"name":"c","tool":"set_state","inputs":{"key":"k","value":2}},
		{"name":"d","tool":"set_state","inputs":{"key":"k","value":"{{ state.last_deterministic_error.tool }}"}}]}`
	b := setup(t)
	_, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`>a: first phase`, `a>b: routing: "success"`, `b>d: routing: "error"`, `d>: no hand-off`}, b.routes(t))

	before := setup(t)
	before.rules = 3
	_, err = before.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`>a: first phase`, `a>: no hand-off`}, before.routes(t))
}

// on_error comes before a route for errors, and "default" is for results only.
func TestFailuresWithoutRoute(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"a","tool":"get_state","inputs":{"key":"none"},"routing":{"error":"b"},"on_error":"c"},
		{"name":"b","tool":"set_state","inputs":{"key":"k","value":2}},
		{"name":"c","tool":"set_state","inputs":{"key":"k","value":2}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`>a: first phase`, `a>c: on_error`, `c>: no hand-off`}, b.routes(t))
	b = setup(t)
	_, err = b.run(`{"cascade_id":"c","phases":[
		{"name":"a","tool":"get_state","inputs":{"key":"none"},"routing":{"default":"b"}},
		{"name":"b","tool":"set_state","inputs":{"key":"k","value":2}}]}`, nil)
	require.ErrorContains(t, err, "none")
}

// A hand-off to a word that is no phase ends the run.
func TestHandoffThatEndsTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t, say("one"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"x","handoffs":["end"]},{"name":"b","instructions":"y"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`>a: first phase`, `a>: first handoff`}, b.routes(t))
}

// schema_error is what validation_error is, when output_schema has refused the answer.
func TestVariablesOfOlderFiles(t *testing.T) {
	t.Parallel()
	b := setup(t, say("none"), say("[1]"), say("[2, 3]"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","output_schema":{"type":"array"},
		"instructions":"{{ session_id }}/{{ session.id }} {{ is_sounding }} [{{ checkpoint_id }}{{ schema_error }}]",
		"rules":{"loop_until":"regex:,","max_attempts":3,"retry_instructions":"{{ schema_error == validation_error }} {{ schema_error | length > 0 }}"}}]}`, nil)
	require.NoError(t, err)
	require.JSONEq(t, `[2,3]`, echo.AsText(res.Output))
	require.Contains(t, b.model.requests[0].Messages[0].Text()+b.model.requests[0].Messages[len(b.model.requests[0].Messages)-1].Text(), "s1/s1 false []")
	last := func(i int) string { m := b.model.requests[i].Messages; return m[len(m)-1].Text() }
	require.Contains(t, last(1), "true true")
	require.Contains(t, last(2), "false false")
}
