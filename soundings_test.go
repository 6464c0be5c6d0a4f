package windlass_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass"
	"github.com/windlass-run/windlass/echo"
)

// writer answers with its task, and refuses to judge.
func writer(_ context.Context, req *windlass.ModelRequest) (*windlass.ModelResponse, error) {
	if strings.HasPrefix(req.Messages[0].Text(), "You judge") {
		return windlass.Reply(`{"why": "equal", "winner": "tie"}`), nil
	}
	return windlass.Reply(req.Messages[len(req.Messages)-1].Text()), nil
}

// recordOf runs a cascade and returns its record.
func recordOf(t *testing.T, w *windlass.Windlass, id, text string) *windlass.Record {
	t.Helper()
	c, err := windlass.Load(id+".json", []byte(text))
	require.NoError(t, err)
	run, err := w.Start(t.Context(), c, nil, windlass.WithProvider(windlass.ModelFunc(writer)), windlass.WithSessionID(id))
	require.NoError(t, err)
	_, err = run.Result(t.Context())
	require.NoError(t, err)
	record, err := w.Record(t.Context(), id)
	require.NoError(t, err)
	return record
}

// The library says what was tried several times: of a phase and of a whole cascade, and why there is nothing.
func TestSoundingsOfARecord(t *testing.T) {
	t.Parallel()
	w := open(t, windlass.InMemory())
	record := recordOf(t, w, "tried", `{"cascade_id": "tried", "phases": [
		{"name": "draft", "instructions": "Draft {{ sounding_index }}.", "soundings": {"factor": 2, "on_tie": "first", "ballots": {"min": 1, "max": 5}}},
		{"name": "plain", "instructions": "Plain."},
		{"name": "joined", "instructions": "Part {{ sounding_index }}.", "soundings": {"factor": 3, "mode": "aggregate"}}]}`)
	all, err := record.Soundings("")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, []string{"draft", "joined"}, []string{all[0].Phase, all[1].Phase})
	require.Equal(t, "draft/sounding1", all[0].Kept.String())
	step := all[0].Steps[0]
	require.Equal(t, echo.ChoiceFirst, step.Choice.How)
	require.True(t, step.Choice.Tie)
	require.Len(t, step.Candidates, 2)
	require.Equal(t, "Draft 1.", step.Candidates[1].Output)
	require.True(t, step.Candidates[0].Kept)
	require.NotEmpty(t, step.Pairs)
	require.Equal(t, 2*len(step.Pairs), step.Judges[0].Ties)
	require.Equal(t, echo.ChoiceAggregate, all[1].Steps[0].Choice.How)
	require.True(t, all[1].Kept.IsZero(), "one answer was written from all")

	one, err := record.Soundings("joined")
	require.NoError(t, err)
	require.Equal(t, all[1:], one)
	_, err = record.Soundings("plain")
	requireError(t, err, windlass.InvalidRequest, `session tried has no soundings of "plain"; it has some of draft, joined`, "")

	none := recordOf(t, w, "none", `{"cascade_id": "none", "phases": [{"name": "plain", "instructions": "Plain."}]}`)
	all, err = none.Soundings("")
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = none.Soundings("plain")
	requireError(t, err, windlass.InvalidRequest, "session none has no soundings: no phase of it was tried several times", "")

	whole := recordOf(t, w, "whole", `{"cascade_id": "whole", "soundings": {"factor": 2, "ballots": {"min": 1, "max": 5}, "on_tie": "first"},
		"phases": [{"name": "draft", "instructions": "Draft {{ sounding_index }}."}]}`)
	all, err = whole.Soundings("")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Empty(t, all[0].Phase)
	candidate, err := w.Record(t.Context(), all[0].Steps[0].Candidates[1].Session)
	require.NoError(t, err)
	require.Equal(t, all[0].Steps[0].Candidates[1].Session, candidate.ID())
}
