package echo

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A fork says in the header of its run_start where it comes from.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	start := func(header string) *Entry {
		return NewEntry(RunKey().Step(StepStart), RunStart{Header: json.RawMessage(header)})
	}
	fork := OriginOf(start(`{"session_id":"b","parent":"a","parent_seq":7}`))
	require.Equal(t, Origin{Session: "a", Upto: 7}, fork)
	require.True(t, fork.Has(&Entry{Seq: 7}))
	require.False(t, fork.Has(&Entry{Seq: 8}))
	for _, header := range []string{``, `{"session_id":"b"}`, `{"parent_seq":7}`, `{"cascade":{"cascade_id":"\"parent_seq\""}}`, `{"parent":5,"parent_seq":"x"}`} {
		none := OriginOf(start(header))
		require.Zero(t, none, header)
		require.False(t, none.Has(&Entry{}), "what has no number is no copy")
	}
	require.Zero(t, OriginOf(&Entry{NodeType: NodeRunStart, Data: json.RawMessage(`"parent_seq"`)}))
}
