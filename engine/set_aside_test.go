package engine

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// What a run_resume entry says that the run went on without follows from what is recorded before
// it, and is held against that: a record that was changed there does not verify, and is not
// resumed.
func TestWhatWasSetAsideFollowsFromTheRecord(t *testing.T) {
	t.Parallel()
	before := []*echo.Entry{
		{Seq: 1, NodeType: echo.NodeRunStart, Key: echo.MustKey("run/start"), Data: json.RawMessage(`{"input":{}}`)},
		{Seq: 2, NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start"), Data: json.RawMessage(`{"visit":1}`)},
		{Seq: 3, NodeType: echo.NodePhaseEnd, Key: echo.MustKey("p/end"), Data: json.RawMessage(`{"status":"interrupted","reason":"interrupted"}`)},
		{Seq: 4, NodeType: echo.NodeRunEnd, Key: echo.MustKey("run/end"), Data: json.RawMessage(`{"status":"interrupted","reason":"interrupted"}`)},
	}
	check := func(aside string) error {
		resume := &echo.Entry{Seq: 5, NodeType: echo.NodeResume, Key: echo.MustKey("run/resume"), Data: json.RawMessage(aside)}
		return checkResumes(append(before[:4:4], resume))
	}
	require.NoError(t, check(`{"set_aside":[4,3]}`))
	require.NoError(t, check(`{"set_aside":[3,4]}`))
	for name, aside := range map[string]string{
		"less": `{"set_aside":[4]}`, "more": `{"set_aside":[4,3,2]}`, "later": `{"set_aside":[4,3,6]}`, "none": `{"set_aside":[]}`,
		"twice": `{"set_aside":[4,3,3]}`, "no number": `{"set_aside":["4"]}`, "negative": `{"set_aside":[-1]}`, "nothing": ``, "of another shape": `7`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var differs *effect.DivergenceError
			require.ErrorAs(t, check(aside), &differs)
			require.Equal(t, "set_aside", differs.Field)
			require.Equal(t, uint64(5), differs.Seq)
		})
	}
	require.EqualError(t, check(`{"set_aside":[4,3,6]}`),
		"the run does not follow its record: entry 5 (run_resume at run/resume) has another set_aside: recorded [3 4 6], now [3 4]")
}
