package waiting

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// A choice is given as JSON, or as a person types it; what is recorded is the same.
func TestCheckChoice(t *testing.T) {
	t.Parallel()
	two := []echo.Offered{{Label: "A", Text: "a"}, {Label: "B", Text: "b"}}
	one := &echo.Choose{Candidates: two, Mode: echo.ChooseOne}
	open := &echo.Choose{Candidates: two, Mode: echo.ChooseOne, Tie: true, Reject: true, Reason: true}
	rank := &echo.Choose{Candidates: two, Mode: echo.ChooseRank}
	rate := &echo.Choose{Candidates: two, Mode: echo.ChooseRate}
	const (
		wrongOne  = `!the answer is {"winner": "..."} with one of A, B`
		wrongRank = `!the answer is {"ranking": [...]} with each of A, B once, the best first`
		wrongRate = `!the answer is {"ratings": {...}} with 1 to 5 for each of A, B`
	)
	for _, c := range []struct {
		choose      *echo.Choose
		value, want string
	}{
		{one, `"b"`, `{"winner":"B"}`},
		{one, `{"winner": " A ", "why": "short"}`, `{"why":"short","winner":"A"}`},
		{one, `"C"`, wrongOne},
		{one, `"tie"`, wrongOne},
		{one, `"none"`, wrongOne},
		{one, `3`, wrongOne},
		{one, `{}`, wrongOne},
		{one, `{"ranking": ["A", "B"]}`, `!the answer has no "ranking": it is {"winner": "..."} with one of A, B`},
		{open, `{"winner": "tie", "why": "x"}`, `{"why":"x","winner":"tie"}`},
		{open, `{"winner": "none", "why": "x"}`, `{"why":"x","winner":"none"}`},
		{open, `"A"`, `!the answer needs a reason, "why"`},
		{open, `{"winner": "A", "why": " "}`, `!the answer is a text that is not empty`},
		{rank, `"b, a"`, `{"ranking":["B","A"]}`},
		{rank, `{"ranking": ["B", "A"], "why": "x"}`, `{"ranking":["B","A"],"why":"x"}`},
		{rank, `{"ranking": "A,B"}`, `{"ranking":["A","B"]}`},
		{rank, `"A"`, wrongRank},
		{rank, `"A,A"`, wrongRank},
		{rank, `"A,B,C"`, wrongRank},
		{rank, `["A", "B"]`, wrongRank},
		{rate, `"A=5,b = 1"`, `{"ratings":{"A":5,"B":1}}`},
		{rate, `{"ratings": {"A": 4, "B": "2"}}`, `{"ratings":{"A":4,"B":2}}`},
		{rate, `"A=5"`, wrongRate},
		{rate, `"A=5,B=6"`, wrongRate},
		{rate, `"A=5,B"`, wrongRate},
		{rate, `{"ratings": {"A": 4, "B": 2, "C": 1}}`, wrongRate},
	} {
		got, err := Check(&echo.Form{Kind: echo.FormCandidates, Choose: c.choose}, read(t, c.value))
		if c.want[0] == '!' {
			require.EqualError(t, err, c.want[1:], c.value)
			continue
		}
		require.NoError(t, err, c.value)
		require.JSONEq(t, c.want, asText(t, got))
	}
	require.Equal(t, map[string]any{"ratings": "A=1,B=2", "why": "x"}, Because(rate, "A=1,B=2", "x"))
}
