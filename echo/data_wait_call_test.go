package echo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// The arguments of a recorded call are read as they were shown: with the bytes that the hash has.
func TestAwaitedCallIsReadAsShown(t *testing.T) {
	t.Parallel()
	for _, args := range []string{
		`{}`, `{"a":"<b>&c"}`, `{"a":"\\u003c","n":1.50}`, `{"<":12345678901234567890123,"z":["\u2028","\u001b",null]}`, `{"a":"\u0000"}`, `"<"`,
	} {
		w := Wait{Kind: WaitApproval, Call: &AwaitedCall{Tool: "t", Arguments: json.RawMessage(args), Cascade: "c", Schema: json.RawMessage(`{}`)}}
		w.Shown = w.Call.Hash()
		got, err := Read[Wait](NewEntry(MustKey("a/wait"), w))
		require.NoError(t, err)
		require.Equal(t, args, string(got.Call.Arguments))
		require.Equal(t, w.Shown, got.Call.Hash())
	}
	require.Error(t, json.Unmarshal([]byte(`{"tool":1}`), &AwaitedCall{}))
	require.Equal(t, `{"\u00`, string(withoutEscapes(json.RawMessage(`{"\u00`))), "what is no JSON stays")
}
