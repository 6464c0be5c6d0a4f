package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/lookup"
)

const searching = `{"cascade_id":"c","phases":[
	{"name":"research","instructions":"Look around.","tackle":["look"]},
	{"name":"write","instructions":"Write.","tackle":["search_context"]}]}`

func TestSearchContext(t *testing.T) {
	t.Parallel()
	crane := echo.NewToolResult(echo.ToolCall{ID: "x", Name: "look"}, echo.Text("A crane of steel stands in the harbour."), false)
	cows := echo.NewToolResult(echo.ToolCall{ID: "x", Name: "look"}, echo.Text("Cows eat grass."), false)
	meaning := fakeSimilarity{list: []contextcards.Ranked{{Hash: cows.Hash(), Similarity: 0.9}}}
	for _, tt := range []struct {
		name, args string
		meaning    lookup.Similarity
		want       string
		has        []string
		failed     bool
	}{
		{name: "by words", args: `{"query":"steel","limit":1}`, want: "1 of 7 messages, the best first:\n" + string(crane.Hash()) + " | tool | phase research, turn 1 | 23 tokens | look: A crane of steel stands in the harbour."},
		{name: "by meaning", args: `{"query":"animals","by":"meaning","limit":1}`, meaning: meaning, has: []string{"1 of 7 messages", string(cows.Hash())}},
		{name: "of a phase", args: `{"query":"steel","phase":"write"}`, want: "None of the 1 messages of this run fits. Try other words."},
		{name: "nothing", args: `{"query":"zebra"}`, want: "None of the 7 messages of this run fits. Try other words."},
		{name: "unknown phase", args: `{"query":"steel","phase":"later"}`, failed: true, want: `No phase "later" has begun. There are: research, write.`},
		{name: "no embedder", args: `{"query":"steel","by":"meaning"}`, failed: true, want: "The search by meaning is not possible (there is no embedder). Search by words."},
		{
			name: "embedder fails", args: `{"query":"steel","by":"meaning"}`, meaning: fakeSimilarity{err: errors.New("no answer")}, failed: true,
			want: "The search by meaning is not possible (no answer). Search by words.",
		},
		{name: "wrong way", args: `{"query":"steel","by":"smell"}`, failed: true, has: []string{"do not match its schema"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			answers := threeAnswers()[:3]
			b := setup(t, append(answers, call("search_context", tt.args), say("done"))...)
			b.tools = setupThree(t).tools
			b.runner.Tools, b.runner.Similarity = b.tools, tt.meaning
			_, err := b.run(searching, nil)
			require.NoError(t, err)
			calls := b.entries.of(echo.NodeToolCall)
			last := calls[len(calls)-1].Message
			require.Equal(t, tt.failed, last.Failed())
			if tt.want != "" {
				require.Equal(t, tt.want, last.Text())
			}
			for _, s := range tt.has {
				require.Contains(t, last.Text(), s)
			}
			readings := b.entries.of(echo.NodeValue)
			require.Equal(t, strings.Contains(tt.args, `"meaning"`), len(readings) == 1)
			require.Equal(t, []string{"search_context", "recall"}, toolNames(b.model.requests[len(b.model.requests)-1]))
		})
	}
}

// A query does not find the messages that asked for the same before.
func TestSearchDoesNotFindItself(t *testing.T) {
	t.Parallel()
	b := setup(t, append(threeAnswers()[:3], call("search_context", `{"query":"steel"}`), call("search_context", `{"query":"steel zebra"}`), say("done"))...)
	b.tools = setupThree(t).tools
	b.runner.Tools = b.tools
	_, err := b.run(searching, nil)
	require.NoError(t, err)
	calls := b.entries.of(echo.NodeToolCall)
	require.Equal(t, calls[len(calls)-2].Message.Text(), calls[len(calls)-1].Message.Text())
}
