package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/inspect"
)

func sounded(key string) inspect.Sounding {
	k := echo.MustKey(key)
	judging, cost := 0.01, 0.25
	first := inspect.Candidate{
		Key: k.Numbered(echo.StepSounding, 1), Number: 1, Model: "small", Status: echo.StatusFailed, Calls: 1, CostUSD: &cost,
		Standing: &echo.Standing{Number: 1, State: echo.CandidateFailed},
	}
	second := first
	second.Key, second.Number, second.CostUSD, second.Kept = k.Numbered(echo.StepSounding, 2), 2, nil, true
	second.Standing = &echo.Standing{Number: 2, State: echo.CandidateWon}
	refined := inspect.Candidate{Key: k.Numbered(echo.StepReforge, 1).Numbered(echo.StepSounding, 1), Number: 1, Session: "c9", Status: echo.StatusRunning, CostUSD: new(float64)}
	return inspect.Sounding{Key: k, Phase: k.Path().Phase, Kept: second.Key, Steps: []inspect.SoundingStep{
		{Candidates: []inspect.Candidate{first, second}, Choice: &echo.Choice{
			Winner: 2, How: echo.ChoiceCheapest, Tie: true, CostUSD: &judging, Standings: []echo.Standing{*first.Standing, *second.Standing},
		}},
		{Step: 1, Candidates: []inspect.Candidate{refined}},
	}}
}

// The end of a run says what became of candidates; of many phases and elements it tells of the first ones.
func TestSoundings(t *testing.T) {
	t.Parallel()
	run := Run{
		Session: "01a", Result: &engine.Result{Status: echo.StatusCompleted, Phases: []engine.PhaseResult{{Key: echo.MustKey("draft"), Phase: "draft"}}},
		Phases: make([]record.Totals, 1), Soundings: []inspect.Sounding{sounded("draft"), sounded("run")},
	}
	var out strings.Builder
	run.WriteText(&out)
	const line = "2 candidates (1 failed), 2 kept as the cheapest of a tie, judging $0.0100\n"
	require.Contains(t, out.String(), "\nSoundings of draft: "+line+"Soundings of the whole cascade: "+line+"session 01a\n")
	out.Reset()
	require.NoError(t, run.WriteJSON(&out, nil))
	got := strings.Join(strings.Fields(out.String()), "")
	require.Contains(t, got, `"soundings":[{"key":"draft","winner":2,"how":"cheapest","tie":true,"judging_usd":0.01,"candidates":[`+
		`{"key":"draft/sounding1","number":1,"model":"small","state":"failed","model_calls":1,"usage":{"in":0,"out":0},"cost_usd":0.25},`+
		`{"key":"draft/sounding2","number":2,"model":"small","state":"won","model_calls":1,"usage":{"in":0,"out":0},"cost_usd":null},`+
		`{"key":"draft/reforge1/sounding1","step":1,"number":1,"state":"running","model_calls":0,"usage":{"in":0,"out":0},"cost_usd":0,"session_id":"c9"}]}]`)
	require.Contains(t, got, `"soundings":[{"key":"run","winner":2,`)

	whole := Run{Session: "01a", Result: &engine.Result{Status: echo.StatusCompleted}, Soundings: []inspect.Sounding{sounded("run")}}
	out.Reset()
	whole.WriteText(&out)
	require.Contains(t, out.String(), "Completed in 0ms: 3 candidates of the whole cascade, 0 model calls  ")

	run.Soundings = nil
	for i := range 7 {
		run.Soundings = append(run.Soundings, sounded(fmt.Sprintf("each/item%d", i+1)))
	}
	run.Soundings = append(run.Soundings, inspect.Sounding{Key: echo.MustKey("each/item8")})
	out.Reset()
	run.WriteText(&out)
	require.Contains(t, out.String(), "Soundings of each/item5: "+line+"and those of 2 more\nsession")
}
