package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/withheld"
)

// everySent returns the texts of all requests of a phase from a number on, from 0.
func (b *testBundle) everySent(phase string, from int) string {
	var all []string
	for _, req := range b.model.requests {
		if req.Site.Phase == phase {
			if from--; from < 0 {
				all = append(all, roles(req)...)
			}
		}
	}
	return strings.Join(all, "\n")
}

// TestLookupOfTheSameText: a search that lists a message of its own phase stays, also where one with the same text was dropped elsewhere.
func TestLookupOfTheSameText(t *testing.T) {
	t.Parallel()
	set := call("set_state", `{"key":"k","value":"v"}`)
	says := map[string][]answerFunc{"a": {set, say("done")}, "b": {set, call("search_context", `{"query":"stored"}`), say("end")}}
	b := dropping(t, says, map[string]string{"b": "Stored."}, "")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","tackle":["set_state"],"rules":{"max_turns":2}},
		{"name":"b","instructions":"B.","tackle":["set_state","search_context"],"rules":{"max_turns":3}}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.everySent("b", 2), "| tool | phase b, turn 1 |")
}

// TestLookupOfWhatWasDropped: of parallel calls the results of lookups that show what was dropped are replaced, and the others stay.
func TestLookupOfWhatWasDropped(t *testing.T) {
	t.Parallel()
	hash := string(echo.NewText(echo.RoleAssistant, echo.KindAnswer, "the secret of the yew").Hash())
	says := map[string][]answerFunc{"a": {say("the secret of the yew")}, "b": {
		call("look", `{"n":1}`, "search_context", `{"query":"secret yew"}`, "recall", `{"hash":"`+hash+`"}`),
		call("look", `{"n":2}`), call("recall", `{"hash":"`+hash+`"}`), say("end"),
	}}
	b := setupDroppingAt(t, says, "b", 2, "the secret of the yew")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."},
		{"name":"b","instructions":"B.","tackle":["look","search_context","recall"],"rules":{"max_turns":5}}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.everySent("b", 1), "secret of the yew")
	after := b.everySent("b", 2)
	require.NotContains(t, after, "secret of the yew")
	require.Contains(t, after, `{"n":1}`)
	require.Equal(t, 4, strings.Count(after, withheld.Lookup), "both in both requests")
}

// setupDroppingAt is a bundle whose model answers by phase; a person takes the first message with a text out during a request of a phase.
func setupDroppingAt(t *testing.T, says map[string][]answerFunc, phase string, at int, text string) *testBundle {
	t.Helper()
	b, l := changing(t)
	asked := map[string]int{}
	for range 20 {
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			name := req.Site.Phase
			if asked[name]++; name == phase && asked[name] == at {
				l.add(echo.ViewDrop, b.spotOf(text))
			}
			return says[name][min(asked[name], len(says[name]))-1](req)
		})
	}
	return b
}

// TestWithheldStanding: scratchpad, state block and history of a dropped answer are not in prompts that have quoted them.
func TestWithheldStanding(t *testing.T) {
	t.Parallel()
	answer := "The first line of the yew,\nand a \"second\" line of it.\nSCRATCHPAD:\nThe pad has a yew plan.\n### STATE\nGoal: plant the yew in May.\nNext: dig the hole."
	says := map[string][]answerFunc{"a": {say(answer)}, "b": {call("look", `{}`), say("end")}, "c": {say("end")}}
	b := setupDroppingAt(t, says, "b", 1, answer)
	_, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[{"name":"a","instructions":"A."},
		{"name":"b","instructions":"P={{ state.scratchpad }} S={{ state.state_block }} J={{ state.state_block | tojson }}","tackle":["look"],"rules":{"max_turns":3}},
		{"name":"c","instructions":"C={{ state.scratchpad }} {{ state.state_block }}","continuity":{"scratchpad":false,"state_block":false}}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.everySent("b", 0), "P=The pad has a yew plan. S=Goal: plant")
	require.NotContains(t, b.everySent("b", 1)+b.everySent("c", 0), "yew")
	require.Contains(t, b.everySent("b", 1), `P=[dropped] S=[dropped] J="[dropped]"`)
}

// TestWithheldHistory: a prompt that has quoted the history has no text of a dropped answer, also written as JSON.
func TestWithheldHistory(t *testing.T) {
	t.Parallel()
	answer := "The first line of the yew,\nand a \"second\" line of it."
	wrote := func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
		return respond(echo.Seal(echo.Draft{
			Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(answer), ToolCalls: []echo.ToolCall{{ID: "x", Name: "look", Arguments: `{}`}},
		})), nil
	}
	b := setupDroppingAt(t, map[string][]answerFunc{"a": {wrote, call("look", `{"n":1}`), say("end")}}, "a", 2, answer)
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","tackle":["look"],"rules":{"max_turns":4,"turn_prompt":"T {{ history }} {{ history | tojson }}"}}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.everySent("a", 1), "of the yew")
	require.NotContains(t, b.everySent("a", 2), "of the yew")
}

// TestWithheldToldAgain: results of tools that tell again what is in the session have no text of what was dropped, also of a part of it;
// another tool's have what they had.
func TestWithheldToldAgain(t *testing.T) {
	t.Parallel()
	answer := "The first line of the yew, quite long,\nand a \"second\" line of the yew."
	says := map[string][]answerFunc{"a": {say(answer)}, "b": {
		call("get_state", `{"key":"output_a"}`, "look", `{"say":"The first line of the yew, quite long,"}`), say("done with b"), say("end"),
	}, "c": {say("end")}}
	b := setupDroppingAt(t, says, "b", 2, answer)
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."},
		{"name":"b","instructions":"B.","tackle":["look","get_state"],"rules":{"max_turns":3}},
		{"name":"c","instructions":"C.","context":{"from":[{"phase":"b","include":["messages"]}]}}]}`, nil)
	require.NoError(t, err)
	require.Contains(t, b.everySent("b", 1), answer)
	require.NotContains(t, b.everySent("c", 0), "yew")
	require.Contains(t, b.everySent("c", 0), "done with b")
}
