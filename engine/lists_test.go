package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
)

// What a list is that follows from the input alone is known before anything is paid, and said in the
// words in which the run says it.
func TestCheckLists(t *testing.T) {
	t.Parallel()
	for items, want := range map[string]string{
		`"input.files"`:                   "",
		`"input.deep.1"`:                  "",
		`"{{ input.files | tojson }}"`:    "",
		`"{{ input.text }}"`:              "its template rendered no JSON: one",
		`"input.text"`:                    "it is a text, and no list",
		`"input.object"`:                  "it is an object, and no list",
		`"input.none"`:                    `input has no "none"`,
		`"input.many"`:                    "the list has 10001 elements, at most 10000 are run in one session: run the cascade once for each (windlass batch is not there yet), or make the list shorter",
		`"{{ input.many | tojson }}"`:     "the list has 10001 elements, at most 10000 are run in one session: run the cascade once for each (windlass batch is not there yet), or make the list shorter",
		`"{{ input.object | tojson }}"`:   "it is an object, and no list",
		`"files"`:                         "", // of the state, when a phase has set it
		`"state.files"`:                   "",
		`"{{ input.text }}{{ state.x }}"`: "",
		`"{{ env.LIST }}"`:                "",
		`["a"]`:                           "",
	} {
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal(fmt.Appendf(nil, `{"cascade_id":"c","phases":[{"name":"p","instructions":"x"},{"name":"each","for_each":{"items":%s},"instructions":"x"}]}`, items), c))
		many := make([]any, cascade.MaxItems+1)
		wrong := CheckLists(c, map[string]any{
			"files": []any{"a"}, "deep": []any{"a", []any{"b"}}, "text": "one", "object": map[string]any{}, "many": many,
		})
		if want == "" {
			require.Empty(t, wrong, items)
			continue
		}
		require.Len(t, wrong, 1, items)
		require.EqualError(t, wrong[0], "c/each: for_each.items: "+want)
		if strings.Contains(items, "many") {
			continue
		}
		b := setup(t, say("x"))
		_, err := b.run(string(mustEncode(t, c)), map[string]any{"files": []any{"a"}, "deep": []any{"a", []any{"b"}}, "text": "one", "object": map[string]any{}})
		require.EqualError(t, err, wrong[0].Error())
	}
}

func mustEncode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}
