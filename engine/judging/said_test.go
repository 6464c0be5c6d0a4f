package judging

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

func reply(text string) *effect.ModelResponse {
	return &effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text), FinishReason: "length"}
}

// Only labels as they were given count, however the judge wraps its verdict.
func TestReadVote(t *testing.T) {
	t.Parallel()
	two := 2
	for text, want := range map[string]echo.Ballot{
		`{"why":"good","winner":"BCDF"}`:                               {Said: "BCDF", Winner: &two, Why: "good"},
		` {"winner": " BCDF ", "why": null} `:                          {Said: "BCDF", Winner: &two},
		"I think so:\n```json\n{\"winner\":\"BCDF\",\"why\":[1]}\n```": {Said: "BCDF", Winner: &two, Why: "[1]"},
		`{"winner":"BCDF"} so: {"winner":"BCDF"}`:                      {Said: "BCDF", Winner: &two},
		`{"why":"it says {\"winner\":\"GHJK\"}","winner":"BCDF"}`:      {Said: "BCDF", Winner: &two, Why: `it says {"winner":"GHJK"}`},
		`{"verdict":{"winner":"BCDF"}}`:                                {Said: "BCDF", Winner: &two},
		`{"winner":"tie","why":"the same"}`:                            {Said: "tie", Why: "the same"},
		`{"winner":"TIE"}`:                                             {Said: "tie"},
		``:                                                             {Problem: `the answer is empty (finish reason "length")`},
		" \n":                                                          {Problem: `the answer is empty (finish reason "length")`},
		`BCDF`:                                                         {Problem: `the reply has no JSON object with "winner": BCDF`},
		`2`:                                                            {Problem: `the reply has no JSON object with "winner": 2`},
		"\x1b[31mThe\nfirst":                                           {Problem: `the reply has no JSON object with "winner": [31mThe first`},
		`{"winner":"XXXX","why":"?"}`:                                  {Problem: `"winner" is "XXXX", which is no label`, Why: "?"},
		`{"winner":"bcdf"}`:                                            {Problem: `"winner" is "bcdf", which is no label`},
		`{"winner":"Answer BCDF"}`:                                     {Problem: `"winner" is "Answer BCDF", which is no label`},
		`{"winner":""}`:                                                {Problem: `"winner" is "", which is no label`},
		`{"winner":2}`:                                                 {Problem: `"winner" is 2, which is no label`},
		`{"winner":["BCDF"]}`:                                          {Problem: `"winner" is ["BCDF"], which is no label`},
		`{"winner":null}`:                                              {Problem: `"winner" is null, which is no label`},
		`{"winner":"BCDF","why":"a"}{"winner":"GHJK","why":"b"}`:         {Problem: `the reply has two verdicts: "BCDF" and "GHJK"`},
		`{"why":"a","winner":"BCDF","winner":"GHJK"}`:                    {Problem: `the reply has two verdicts: "BCDF" and "GHJK"`},
		`{"winner":"BCDF","\u0077inner":"GHJK"}`:                         {Problem: `the reply has two verdicts: "BCDF" and "GHJK"`},
		`{"winner":"BCDF","winner":"BCDF"}`:                              {Said: "BCDF", Winner: &two},
		`{"winner":"BCDF"}{"winner":"tie"}`:                              {Problem: `the reply has two verdicts: "BCDF" and "tie"`},
		`{"WINNER":"BCDF"}`:                                              {Problem: `the reply has no JSON object with "winner": {"WINNER":"BCDF"}`},
		`{"winner":"` + strings.Repeat("B", 100) + `"}`:                  {Problem: `"winner" is "` + strings.Repeat("B", 60) + `…", which is no label`},
		`{"winner":"BCDF","why":"` + strings.Repeat("x", 3000) + `"}`:    {Said: "BCDF", Winner: &two, Why: strings.Repeat("x", mostWhy) + "…"},
		strings.Repeat(`{"winner":"BCDF"} `, 3) + strings.Repeat("{", 9): {Said: "BCDF", Winner: &two},
	} {
		b := echo.Ballot{Order: []int{7, 2}, Labels: []string{"GHJK", "BCDF"}}
		want.Order, want.Labels = b.Order, b.Labels
		readVote(reply(text), &b)
		require.Equal(t, want, b, "%.60s", text)
	}
}

func TestReadScore(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]echo.Ballot{
		`{"score":7.5,"why":"fine"}`: {Score: new(7.5), Why: "fine"},
		`{"score":"8"}`:              {Score: new(8.0)},
		`{"score":0}`:                {Score: new(0.0)},
		`{"score":10}`:               {Score: new(10.0)},
		`{"score":10.01}`:            {Problem: `"score" is 10.01, which is no number from 0 to 10`},
		`{"score":-1}`:               {Problem: `"score" is -1, which is no number from 0 to 10`},
		`{"score":1e999}`:            {Problem: `"score" is 1e999, which is no number from 0 to 10`},
		`{"score":"NaN"}`:            {Problem: `"score" is "NaN", which is no number from 0 to 10`},
		`{"score":"0x4"}`:            {Problem: `"score" is "0x4", which is no number from 0 to 10`},
		`{"score":"8/10"}`:           {Problem: `"score" is "8/10", which is no number from 0 to 10`},
		`{"score":true}`:             {Problem: `"score" is true, which is no number from 0 to 10`},
		`8`:                          {Problem: `the reply has no JSON object with "score": 8`},
		`{"score":1} {"score":2}`:    {Problem: `the reply has two verdicts: 1 and 2`},
		`{"score":1,"score":2}`:      {Problem: `the reply has two verdicts: 1 and 2`},
	} {
		var b echo.Ballot
		readScore(reply(text), &b)
		require.Equal(t, want, b, text)
	}
}

// A judge that says nothing that counts leaves a tie, and its ballots say why.
func TestNonsenseIsNoVote(t *testing.T) {
	t.Parallel()
	for _, nonsense := range []string{"", "The second one!", `{"winner": "Answer 1"}`, "2", `{"winner":2}`} {
		b := setup(t, says(nonsense))
		c, err := b.choose(&soundings.Soundings{}, sea...)
		require.NoError(t, err)
		require.True(t, c.Tie, nonsense)
		require.Zero(t, c.Flipped)
		require.Equal(t, 1, c.Winner)
		_, ballots := recorded[echo.Ballot](t, b)
		for _, ballot := range ballots {
			require.NotEmpty(t, ballot.Problem)
			require.Nil(t, ballot.Winner)
			require.Nil(t, ballot.Vote)
		}
	}
}

// Half a pair is no vote, and no change of mind either.
func TestHalfAPair(t *testing.T) {
	t.Parallel()
	n := 0
	b := setup(t, func(p paper) (string, error) {
		if n++; n%2 == 0 {
			return "hm", nil
		}
		return verdict(p.label("blue")), nil
	})
	c, err := b.choose(&soundings.Soundings{}, sea...)
	require.NoError(t, err)
	require.True(t, c.Tie)
	require.Zero(t, c.Flipped)
	require.Zero(t, c.Standings[1].Votes)
}

// Whatever a judge says, it is a label, a tie or a problem.
func FuzzReadVote(f *testing.F) {
	f.Add(`{"why":"a","winner":"BCDF"}`)
	f.Add(`{"winner":"tie"} {"winner":"GHJK"}`)
	f.Fuzz(func(t *testing.T, text string) {
		b := echo.Ballot{Order: []int{7, 2}, Labels: []string{"GHJK", "BCDF"}}
		readVote(reply(text), &b)
		require.NotEqual(t, b.Said == "", b.Problem == "")
		if b.Winner != nil {
			require.Contains(t, text, b.Said)
			require.Equal(t, map[string]int{"GHJK": 7, "BCDF": 2}[b.Said], *b.Winner)
		} else {
			require.Contains(t, []string{"", tie}, b.Said)
		}
	})
}
