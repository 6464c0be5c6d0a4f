package journal

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

func TestHeaderOf(t *testing.T) {
	t.Parallel()
	h := Header{Version: Version, Rules: 1, SessionID: "s", Cascade: json.RawMessage(`{"cascade_id":"c"}`), Input: json.RawMessage(`{"n":1.50}`)}
	text, err := json.Marshal(h)
	require.NoError(t, err)
	start := echo.NewEntry(echo.RunKey().Step(echo.StepStart), echo.RunStart{Header: text})
	got, err := HeaderOf(start)
	require.NoError(t, err)
	require.Equal(t, h, got)

	for header, want := range map[string]string{
		``:    `read the header in entry 7 (run/start): unexpected end of JSON input`,
		`1`:   `read the header in entry 7 (run/start): json: cannot unmarshal number into Go value of type journal.Header`,
		`{}`:  `read the header in entry 7 (run/start): the header has no "rules" from 1 on`,
		`nul`: `encode run_start`,
	} {
		e := echo.NewEntry(start.Key, echo.RunStart{Header: json.RawMessage(header)})
		e.Seq = 7
		_, err := HeaderOf(e)
		if header == "nul" { // it is no JSON, and cannot be recorded
			require.ErrorContains(t, err, "it has no data")
			require.ErrorContains(t, echo.NewLog("s", nil, nil).Append(e), want)
			continue
		}
		require.EqualError(t, err, want)
	}
	_, err = HeaderOf(echo.NewEntry(echo.RunKey().Step(echo.StepEnd), echo.RunEnd{Status: echo.StatusFailed}))
	require.EqualError(t, err, "read entry 0 (run/end) as run_start: it is run_end")
}
