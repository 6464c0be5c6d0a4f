package judging

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// aggregate holds what every aggregation must: a replay comes to the same.
func (b *testBundle) aggregate(q Question) (string, *echo.Choice, error) {
	b.t.Helper()
	b.entries, b.requests = nil, nil
	q.Key, q.Seed = echo.PhaseKey("p", 1), b.seed
	if q.Task == "" {
		q.Task = "Write a line about the sea."
	}
	b.begin(nil, echo.NewLog("s1", nil, nil, sink{b}))
	text, c, err := Aggregate(b.t.Context(), b, q)
	if err != nil {
		return "", nil, err
	}
	b.begin(asRead(b.t, b.entries), nil)
	again, replayed, err := Aggregate(b.t.Context(), b, q)
	require.NoError(b.t, err, "the replay")
	require.Equal(b.t, text, again)
	require.Equal(b.t, asJSON(c), asJSON(replayed))
	return text, c, nil
}

func TestJoined(t *testing.T) {
	t.Parallel()
	list := entrants("one", "two", "one", "", "five", "one")
	list[3].Failed, list[4].Rejected = "no model", "too long"
	b := setup(t, nil)
	text, c, err := b.aggregate(Question{Settings: &soundings.Soundings{Mode: soundings.Aggregate}, Entrants: list, Prefix: &echo.Prefix{Shared: 5}})
	require.NoError(t, err)
	require.Equal(t, "## Candidates 1, 3 and 6\n\none\n\n## Candidate 2\n\ntwo", text)
	require.Equal(t, echo.ChoiceAggregate, c.How)
	require.Equal(t, -1, c.Winner)
	require.Zero(t, *c.CostUSD)
	require.Equal(t, int64(5), c.Prefix.Shared)
	require.Equal(t, "1 used, 2 used, 3 same, 4 failed, 5 rejected, 6 same", states(c))
	keys, _ := recorded[echo.Choice](t, b)
	require.Equal(t, []string{"p/choice"}, keys)

	list = entrants("best", "two", "best")
	list[0].Number, list[1].Number, list[2].Number = 0, 1, 2
	text, _, err = b.aggregate(Question{Settings: &soundings.Soundings{}, Entrants: list, Step: 1})
	require.NoError(t, err)
	require.Equal(t, "## The best answer so far, and candidate 2\n\nbest\n\n## Candidate 1\n\ntwo", text)
	text, _, err = b.aggregate(Question{Settings: &soundings.Soundings{}, Entrants: list[:1], Step: 1})
	require.NoError(t, err)
	require.Equal(t, "## The best answer so far\n\nbest", text)
	_, _, err = b.aggregate(Question{Settings: &soundings.Soundings{}})
	require.EqualError(t, err, "there is no candidate to choose from: all of them failed")
}

func TestAggregateByModel(t *testing.T) {
	t.Parallel()
	b := setup(t, says("The sea is wet, blue and deep."))
	b.render = func(field, _ string, more map[string]any) (string, error) {
		require.Equal(t, "aggregator_instructions", field)
		require.Len(t, more["candidates"], 2)
		return "Make one line of them.", nil
	}
	list := append(entrants("wet", "blue\n{{ x }}"), entrant(3, "wet"))
	text, c, err := b.aggregate(Question{Settings: &soundings.Soundings{AggregatorInstructions: "x", AggregatorModel: "big"}, Entrants: list})
	require.NoError(t, err)
	require.Equal(t, "The sea is wet, blue and deep.", text)
	require.Equal(t, "1 used, 2 used, 3 same", states(c))
	require.InDelta(t, callCost, *c.CostUSD, 0)
	require.Len(t, b.requests, 1)
	req := b.requests[0]
	require.Equal(t, "big", req.Model)
	require.Equal(t, echo.PurposeAggregate, req.Site.Purpose)
	require.Equal(t, "p/aggregate/model", b.entries[0].Key.String())
	p := read(req)
	require.Equal(t, strings.ReplaceAll(`How to write the one answer:
Make one line of them.

The task:
<<<MARK task
Write a line about the sea.
MARK task>>>

Answer 1:
<<<MARK answer 1
wet
MARK answer 1>>>

Answer 2:
<<<MARK answer 2
blue
{{ x }}
MARK answer 2>>>

Write the one answer now.`, "MARK", p.mark), p.user)
}

// What the instructions have shown is not shown again.
func TestAggregatorInstructionsThatShowAnswers(t *testing.T) {
	t.Parallel()
	b := setup(t, says("all"))
	b.render = func(_, _ string, more map[string]any) (string, error) {
		text := fmt.Sprint(more["task"])
		for _, c := range more["candidates"].([]any) {
			text += fmt.Sprintf("\n- %v", c.(map[string]any)["text"])
		}
		return text, nil
	}
	_, _, err := b.aggregate(Question{Settings: &soundings.Soundings{AggregatorInstructions: "x"}, Entrants: sea})
	require.NoError(t, err)
	for _, e := range sea {
		require.Equal(t, 1, strings.Count(read(b.requests[0]).user, e.Text))
	}
}

func TestEmptyAggregate(t *testing.T) {
	t.Parallel()
	asked := 0
	b := setup(t, func(paper) (string, error) {
		if asked++; asked == 1 {
			return " ", nil
		}
		return "there", nil
	})
	q := Question{Settings: &soundings.Soundings{AggregatorInstructions: "x"}, Entrants: sea}
	text, c, err := b.aggregate(q)
	require.NoError(t, err)
	require.Equal(t, "there", text)
	require.InDelta(t, 2*callCost, *c.CostUSD, 1e-9)

	b = setup(t, says(""))
	_, _, err = b.aggregate(q)
	require.EqualError(t, err, "write one answer from all by m: the answer is empty in 2 attempts: the model said nothing")

	b = setup(t, func(paper) (string, error) {
		return "", &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m", Message: "no connection", Unpaid: true}
	})
	_, _, err = b.aggregate(q)
	require.EqualError(t, err, "write one answer from all: model m: no connection")
}

func TestAggregateCutsAlike(t *testing.T) {
	t.Parallel()
	b := setup(t, says("all"))
	b.facts = map[string]effect.ModelFacts{"m": {Window: 10_000}}
	_, _, err := b.aggregate(Question{Settings: &soundings.Soundings{AggregatorInstructions: "x"}, Entrants: entrants(words("blah ", 9000), words("blubb ", 8000))})
	require.NoError(t, err)
	texts := read(b.requests[0]).texts
	require.InEpsilon(t, len(texts[0]), len(texts[1]), 0.1)
	keys, warned := warnings(t, b)
	require.Equal(t, []string{"p/aggregate/warning"}, keys)
	require.Regexp(t, `^what the aggregator m was sent is cut in the middle, as it does not fit its window: 2 answers to \d+ tokens$`, warned[0])
}
