package autocontext_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

// run sends every call of a talk that grows by grow, and returns the carries after each.
func run(t *testing.T, s autocontext.Settings, calls int, grow func(k *talk), before func(call int, c *echo.Carry)) []echo.Carry {
	t.Helper()
	b := autocontext.NewBuilder(s)
	k := newTalk()
	var c echo.Carry
	var out []echo.Carry
	for call := 1; call <= calls; call++ {
		if before != nil {
			before(call, &c)
		}
		step, err := b.Build(k.items, c)
		require.NoError(t, err)
		require.Nil(t, step.Ask)
		checkRules(t, s, k.items, step.View, step.Carry)
		c = step.Carry
		out = append(out, c)
		grow(k)
	}
	return out
}

func read1500(k *talk) { k.reads(1, 1500) }

// moves are the calls at which the frontier moved.
func moves(cs []echo.Carry) []int {
	var out []int
	for i := range cs {
		if cs[i].AsOf > 0 && (i == 0 || cs[i].AsOf != cs[i-1].AsOf) {
			out = append(out, i+1)
		}
	}
	return out
}

func TestFrontierEveryTurn(t *testing.T) {
	t.Parallel()
	cs := run(t, policy(nil), 8, read1500, nil)
	for i, c := range cs {
		require.Equal(t, i+1, c.AsOf)
		require.Zero(t, c.Debt)
	}
}

func TestFrontierStep(t *testing.T) {
	t.Parallel()
	for steps, want := range map[int][]int{1: {1, 2, 3, 4, 5, 6, 7, 8}, 3: {3, 6}, 5: {5}, 9: nil, 0: {1, 2, 3, 4, 5, 6, 7, 8}} {
		s := policy(func(p *cascade.Intra) { p.Advance, p.StepTurns = cascade.AdvanceStep, steps })
		require.Equal(t, want, moves(run(t, s, 8, read1500, nil)), "step_turns %d", steps)
	}
}

func atPrice(cached float64, change func(*cascade.Intra)) autocontext.Settings {
	s := policy(change)
	s.Policy.Advance = cascade.AdvanceCost
	s.Price = &echo.Price{Input: 2, Cached: 2 * cached}
	return s
}

// Without caching the frontier moves as soon as there is something to mask; when cached tokens cost
// nothing, never; and the dearer they are, the earlier.
func TestFrontierByCost(t *testing.T) {
	t.Parallel()
	for cached, want := range map[float64][]int{
		1:   {5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
		0.5: {6, 8, 10, 12, 14},
		0.1: {13},
		0:   nil,
	} {
		require.Equal(t, want, moves(run(t, atPrice(cached, nil), 14, read1500, nil)), "cached tokens at %v", cached)
	}
	unknown := atPrice(0, nil)
	unknown.Price = nil
	require.Equal(t, []int{13}, moves(run(t, unknown, 14, read1500, nil)), "an unknown price is taken for a tenth")
}

// Leaving the frontier owes R*c at each call. It moves at the first call at which twice the debt
// reaches (1-c)*(S-R) and moving keeps what was paid within 1.12 of full history. Here every
// decision is rebuilt from what would be sent.
func TestFrontierOwes(t *testing.T) {
	t.Parallel()
	waited, held, moved := 0, 0, 0
	for seed := range uint64(40) {
		w := newWorld(seed, false)
		ratio := int64([]int{20_000, 100_000, 250_000, 500_000}[w.IntN(4)])
		s := atPrice(float64(ratio)/1e6, nil)
		b, k := autocontext.NewBuilder(s), newTalk()
		step, err := b.Build(k.items, echo.Carry{})
		require.NoError(t, err)
		c, debt := step.Carry, int64(0)
		for call := 2; call < 40; call++ {
			sent := len(k.items)
			k.reads(1, []int{100, 400, 1500, 6000}[w.IntN(4)])
			o := weigh(s, k.items, sent, c.AsOf, call)
			before := c
			step, err := b.Build(k.items, c)
			require.NoError(t, err)
			c = step.Carry
			if o.gain == 0 {
				require.Equal(t, before.AsOf, c.AsOf, "seed %d call %d", seed, call)
				continue
			}
			debt += o.gain * ratio
			ripe := 2*debt >= (1_000_000-ratio)*o.resent
			cheap := 100*(before.Paid+(o.size-o.shared)*1_000_000+o.shared*ratio) <= 112*c.Full
			require.Equal(t, ripe && cheap, c.AsOf == call, "seed %d call %d", seed, call)
			switch {
			case c.AsOf == call:
				moved++
				debt = 0
			case ripe:
				held++
			case cheap:
				waited++
			}
			require.Equal(t, debt, c.Debt, "seed %d call %d", seed, call)
		}
	}
	require.Positive(t, min(waited, held, moved), "each of the two rules decides: %d, %d, %d", waited, held, moved)
}

// weight is what moving the frontier to the coming call would do.
type weight struct{ size, gain, shared, resent int64 }

// weigh compares what is sent with the frontier at two places, of which sent messages were in the
// call before.
func weigh(s autocontext.Settings, items []echo.Item, sent, at, to int) weight {
	ages := autocontext.NewAges(s, items)
	now := slices.Clone(ages.At(at).Items)
	var o weight
	changed := false
	for i, it := range ages.At(to).Items {
		o.size, o.gain = o.size+it.Tokens, o.gain+now[i].Tokens-it.Tokens
		changed = changed || string(it.Sent.JSON()) != string(now[i].Sent.JSON())
		switch {
		case !changed && i < sent:
			o.shared += it.Tokens
		case changed && i < sent:
			o.resent += it.Tokens
		}
	}
	return o
}

// When the cache has expired nothing is lost by moving.
func TestFrontierMovesForFreeWhenCold(t *testing.T) {
	t.Parallel()
	cs := run(t, atPrice(0.1, nil), 9, read1500, func(call int, c *echo.Carry) { c.Cold = call == 7 })
	require.Equal(t, []int{7}, moves(cs))
	require.False(t, cs[6].Cold, "it is said for one call")
	require.LessOrEqual(t, cs[6].Paid, cs[6].Full)
	require.Empty(t, moves(run(t, atPrice(0.1, nil), 4, read1500, func(_ int, c *echo.Carry) { c.Cold = true })),
		"there is nothing to mask yet")
}

// What costs less than staying is done even by a phase that has already paid more than the cap
// allows.
func TestFrontierMovesForFreeAboveTheCap(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(8, 1500)
	for cold, want := range map[bool]int{true: 9, false: 0} {
		c := echo.Carry{Sent: len(k.items) - 2, Paid: 2_000_000_000, Full: 1_000_000_000, Debt: 1 << 50, Cold: cold}
		step, err := autocontext.NewBuilder(atPrice(0.1, nil)).Build(k.items, c)
		require.NoError(t, err)
		require.Equal(t, want, step.Carry.AsOf, "cold: %v", cold)
	}
}

// Whatever the conversation and the prices, the rule never makes a phase cost more than maxRegret
// of what full history would have cost, at any time. It holds for what the frontier decides: what
// compresses retries, clears or makes room does so whatever it costs.
func TestFrontierNeverCostsMuchMoreThanFullHistory(t *testing.T) {
	t.Parallel()
	const most = 1.121 // of full history: 1.12, and what is rounded
	worst := 0.0
	for seed := range uint64(120) {
		w := newWorld(seed, false)
		s := w.settings()
		s.Limit, s.Policy.ClearToolUses, s.Policy.CompressLoops = 0, nil, false
		s.Policy.Advance, s.Policy.Enabled = cascade.AdvanceCost, true
		s.Price = &echo.Price{Input: 1, Cached: []float64{0, 0.02, 0.1, 0.25, 0.5, 0.9, 1}[w.IntN(7)]}
		history, calls := w.conversation(5 + w.IntN(30))
		all := s
		all.Policy.Enabled = false
		b, whole := autocontext.NewBuilder(s), autocontext.NewBuilder(all)
		var c, full echo.Carry
		for _, n := range calls {
			c.Cold = w.IntN(15) == 0
			full.Cold = c.Cold
			step, err := b.Build(history[:n], c)
			require.NoError(t, err)
			other, err := whole.Build(history[:n], full)
			require.NoError(t, err)
			c, full = step.Carry, other.Carry
			require.LessOrEqual(t, float64(c.Paid), most*float64(full.Paid), "seed %d, message %d", seed, n)
			worst = max(worst, float64(c.Paid)/float64(full.Paid))
		}
	}
	require.Greater(t, worst, 1.0, "the conversations are such that the rule loses sometimes, or this test shows nothing")
}

// Paid and Full are what the calls cost, in millionths of a token, the same as the reports say in
// money.
func TestFrontierSumsAreThoseOfTheReports(t *testing.T) {
	t.Parallel()
	s := atPrice(0.25, nil)
	b := autocontext.NewBuilder(s)
	k := newTalk()
	var c echo.Carry
	paid, whole := 0.0, 0.0
	for range 25 {
		step, err := b.Build(k.items, c)
		require.NoError(t, err)
		c = step.Carry
		r := step.View.Report()
		paid, whole = paid+*r.SentUSD, whole+*r.FullUSD
		read1500(k)
	}
	require.InDelta(t, paid, float64(c.Paid)*2/1e12, 1e-9)
	require.InDelta(t, whole, float64(c.Full)*2/1e12, 1e-9)
	require.Less(t, paid, whole)
}

// Ages.At is the view of a builder whose frontier is there.
func TestAgesAtIsBuild(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		w := newWorld(seed, seed%2 == 0)
		s := w.settings()
		s.Limit, s.Policy.ClearToolUses, s.Policy.Enabled = 0, nil, true
		s.Policy.Advance, s.Policy.StepTurns = cascade.AdvanceStep, 1000
		history, _ := w.conversation(12)
		ages := autocontext.NewAges(s, history)
		for _, at := range []int{0, 1, 3, 4, 9, 12, 6} {
			step, err := autocontext.NewBuilder(s).Build(history, echo.Carry{AsOf: at})
			require.NoError(t, err)
			v := ages.At(at)
			require.Equal(t, formsOf(step.View), formsOf(v), "seed %d at %d", seed, at)
			require.Equal(t, string(bytesOf(s, step.View)), string(bytesOf(s, v)))
		}
	}
}

// What a prefix cache can share is what is sent for the messages before the first one for which
// something else is sent, told from the bytes of two calls in a row.
func TestSharedIsTheCommonPrefix(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		w := newWorld(seed, seed%2 == 0)
		s := w.settings()
		s.Limit = 0
		history, calls := w.conversation(15)
		b := autocontext.NewBuilder(s)
		var c echo.Carry
		var before []string
		for _, n := range calls {
			step, err := b.Build(history[:n], c)
			require.NoError(t, err)
			c = step.Carry
			var sent []string
			var shared int64
			for i, it := range step.View.Items {
				sent = append(sent, string(bytesOf(s, &autocontext.View{Items: []autocontext.Item{it}})))
				if i < len(before) && slices.Equal(before[:i+1], sent) {
					shared += it.Tokens
				}
			}
			require.Equal(t, shared, step.View.Report().SharedSize, "seed %d, message %d", seed, n)
			before = sent
		}
	}
}
