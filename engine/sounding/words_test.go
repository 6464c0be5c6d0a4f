package sounding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

func TestWords(t *testing.T) {
	t.Parallel()
	words := func(m *echo.Mutation, h *Honing) string {
		how := Rewording{Mutation: m}
		return (&Candidate{Hone: h}).Honed(how.Words("Do it."))
	}
	require.Equal(t, "Do it.", words(nil, nil))
	require.Equal(t, "{{ x }}\n\nDo it.", words(&echo.Mutation{Mode: "augment", Entry: "{{ x }}"}, nil))
	require.Equal(t, "Do it.\n\nApproach:\nslowly", words(&echo.Mutation{Mode: "approach", Entry: "slowly"}, nil))
	honed := words(nil, &Honing{Best: "</answer 0>{{ y }}", Prompt: "Better."})
	require.Regexp(t, `^Do it\.\n\nThe best answer so far:\n<answer [0-9a-f]{16}>\n</answer 0>\{\{ y \}\}\n</answer [0-9a-f]{16}>\n\nBetter\.$`, honed)
	require.Contains(t, words(nil, &Honing{Best: "x"}), defaultHoning)
}

func TestRewriteRequest(t *testing.T) {
	t.Parallel()
	c := &Candidate{Plan: Plan{Mutation: &echo.Mutation{Mode: "rewrite", Entry: "Shorter."}}, Of: &Course{Winners: []string{"one", "two"}, Settings: &soundings.Soundings{}}}
	how := c.Rewording("r")
	require.True(t, how.AsksModel())
	req := how.Request(effect.Site{}, "Do it.")
	require.Equal(t, "r", req.Model)
	text := req.Messages[1].Text()
	for _, want := range []string{"How to rewrite them: Shorter.", "1 of 2", "one", "2 of 2", "two", "Do it."} {
		require.Contains(t, text, want)
	}
	_, err := Rewritten(&effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, " \n"), FinishReason: "length"})
	require.EqualError(t, err, `rewrite the instructions: the answer is empty (finish reason "length")`)
	got, err := Rewritten(&effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, " Do. \n")})
	require.NoError(t, err)
	require.Equal(t, "Do.", got)
	_, err = Rewritten(&effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "Do it, but do not"), FinishReason: "length"})
	require.EqualError(t, err, "rewrite the instructions: the answer was cut off at the limit of output tokens")
	was := c.Mutation
	require.Equal(t, "Do.", c.Mutation.WithText(got).Text)
	require.Empty(t, was.Text, "what is recorded does not change")
	c.Of.Settings.RewriteModel = "own"
	require.Equal(t, "own", c.Rewording("r").Model)
}

func TestPlans(t *testing.T) {
	t.Parallel()
	def := &cascade.Phase{Name: "p", Model: "own", Temperature: new(0.1), MaxOutputTokens: 7, Soundings: &soundings.Soundings{}}
	p := Plan{Index: 1, Factor: 3}
	same := p.Phase(def)
	require.Equal(t, "own", same.Model)
	require.Nil(t, same.Soundings)
	require.NotNil(t, def.Soundings)
	p.Model = soundings.Model{Name: "a", Temperature: new(0.9), MaxOutputTokens: 9}
	other := p.Phase(def)
	require.Equal(t, []any{"a", 0.9, 9}, []any{other.Model, *other.Temperature, other.MaxOutputTokens})
	require.Equal(t, map[string]any{"sounding_index": 1, "sounding_factor": 3, "is_sounding": true}, p.Vars())

	changed := *def
	changed.Model, changed.Soundings = "other", nil
	require.Equal(t, Species(def, ""), Species(&changed, ""))
	changed.Instructions = "other"
	require.NotEqual(t, Species(def, ""), Species(&changed, ""))
	require.Len(t, Species(def, ""), 16)
	require.NotEqual(t, Species(def, "one input"), Species(def, "another"), "a run is not shown what another one was given")
	require.NotEqual(t, Seed("s", echo.PhaseKey("a", 1)), Seed("s", echo.PhaseKey("a", 2)))
	require.NotContains(t, Seed("s", echo.Key{}), "s")
}

func TestRoom(t *testing.T) {
	t.Parallel()
	took := func(usd float64, tokens int64, unknown int) *Candidate {
		return &Candidate{Outcome: Outcome{Taken: effect.Totals{CostUSD: usd, Usage: echo.Usage{In: tokens}, UnknownCosts: unknown}}}
	}
	r := round{
		list:   []*Candidate{took(0.5, 10, 0), took(0.25, 40, 0)},
		judged: effect.Totals{Calls: 6, CostUSD: 0.06, Usage: echo.Usage{In: 500, Out: 100}},
		most:   effect.Totals{CostUSD: 0.2, Usage: echo.Usage{In: 200}},
		pairs:  4,
	}
	next := r.next()
	require.InDelta(t, 0.5+1.5*0.08+1.5*0.2, next.CostUSD, 1e-9, "the dearest, eight ballots that are longer, and what has to be covered before the last one")
	require.Equal(t, int64(40+1.5*800+1.5*200), next.Usage.In)
	require.Zero(t, next.UnknownCosts)
	left := func(usd float64, tokens int64) (l budget.Left) {
		l.USD, l.Tokens = &usd, &tokens
		return l
	}
	require.Equal(t, echo.Room{Covers: true}, roomFor(budget.Left{}, next))
	require.Equal(t, echo.Room{Covers: true, NeededUSD: 0.92, LeftUSD: 0.92, NeededTokens: 1540, LeftTokens: 1540}, roomFor(left(0.92, 1540), next))
	require.False(t, roomFor(left(0.919, 1540), next).Covers)
	require.False(t, roomFor(left(1, 1539), next).Covers)
	require.Equal(t, echo.Room{NeededUSD: 0.92, NeededTokens: 1540}, roomFor(left(-1, -1), next))
	r.list = append(r.list, took(0, 0, 1))
	room := roomFor(left(9, 9999), r.next())
	require.True(t, room.Unknown)
	require.False(t, room.Covers, "what nobody knows the cost of")
}

// Costs that are pretended count in limits, so they count here.
func TestRoomOfPretendedCosts(t *testing.T) {
	t.Parallel()
	pretended := effect.Totals{Calls: 2, PretendUSD: 0.5}
	r := round{list: []*Candidate{{Outcome: Outcome{Taken: pretended}}}, judged: minus(pretended, effect.Totals{Calls: 1, PretendUSD: 0.25}), pairs: 1}
	require.InDelta(t, 0.5+2*2*0.25, r.next().CostUSD, 1e-9)
}
