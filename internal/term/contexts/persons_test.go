package contexts

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/chosen"
	"github.com/windlass-run/windlass/internal/inspect"
)

// A choice by a person is said as it is: who, how, when and why; before it, how it is made.
func TestChoicesOfPersonsInWords(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 24, 9, 30, 0, 0, time.UTC)
	said := func(word string) *echo.Chooser {
		return &echo.Chooser{Order: []int{2, 1}, Labels: []string{"A", "B"}, Said: word, Why: "It\x1b[31m is\nshort.", By: "ada", Via: echo.ViaHTTP, At: at}
	}
	late := &echo.Chooser{TimedOut: true, At: at}
	for want, c := range map[string]echo.Choice{
		"candidate 2, chosen by ada":                                             {Winner: 2, How: echo.ChoicePerson, Person: said("A")},
		"none, as ada has rejected all":                                          {Winner: -1, How: echo.ChoiceNone, Person: said("none")},
		"candidate 1, a tie in the words of ada, of which the cheapest is taken": {Winner: 1, How: echo.ChoiceCheapest, Tie: true, Person: said("tie")},
		"candidate 1, the first, as nobody has chosen in time":                   {Winner: 1, How: echo.ChoiceFirst, Person: late},
		"the best answer of the steps before, chosen by ada":                     {Step: 1, How: echo.ChoicePerson, Person: said("A")},
		"candidate 1, by the policy of the frontier of quality and cost":         {Winner: 1, How: echo.ChoicePareto, Person: late},
	} {
		require.Equal(t, want, chosen.Why(&c))
	}
	require.Equal(t, "a person is to choose: windlass answer 7k2mq00000", (&inspect.SoundingStep{Waits: "7k2mq00000"}).Why())

	for word, want := range map[string]string{
		"A":    "A of 2 answers, candidate 2",
		"none": "none of 2 answers",
		"":     "2 answers in order, or rated",
	} {
		text := personText(said(word))
		require.True(t, strings.HasPrefix(text, "ada by http at 2026-11-24 09:30:00 UTC: "+want+", "), text)
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
	}
	require.Equal(t, "nobody has chosen until 2026-11-24 09:30:00 UTC", personText(late))

	won := func(rank, rating int) *inspect.Candidate {
		return &inspect.Candidate{Standing: &echo.Standing{State: echo.CandidateWon, Rank: rank, Rating: rating}}
	}
	require.Equal(t, []string{"won, rank 1", "won, rated 4", "won"}, []string{won(1, 0).State(), won(0, 4).State(), won(0, 0).State()})
}
