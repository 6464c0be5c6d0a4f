package autocontext_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
)

// The newest two results have 2,000 characters at most, the four before 500, all older ones 100.
func TestTiersByRecency(t *testing.T) {
	t.Parallel()
	tiers := func(p *cascade.Intra) {
		p.MaskAfter, p.Window = 1000, 1000
		p.Truncation = &cascade.IntraTruncation{RecentResults: 2, RecentLimit: 2000, OlderLimit: 500, InactiveLimit: 100}
	}
	k := newTalk().reads(8, 3000)
	v := viewOf(t, policy(tiers), k)
	for n, most := range []int{100, 100, 500, 500, 500, 500, 2000, 2000} {
		it := v.Items[3+2*n]
		require.Equal(t, "excerpt tier", form(v, 3+2*n), "result %d", n+1)
		require.InDelta(t, most, len(it.Sent.Text()), 80, "result %d", n+1)
		require.Contains(t, it.Sent.Text(), string(it.Message.Hash()))
		require.Equal(t, it.Message.Text()[:9], it.Sent.Text()[:9], "the head stays")
	}
}

func TestTiersLeave(t *testing.T) {
	t.Parallel()
	tiers := func(p *cascade.Intra) {
		p.Truncation = &cascade.IntraTruncation{RecentResults: 1, RecentLimit: 500, OlderLimit: 500, InactiveLimit: 500}
		p.ExcludeTools = []string{"keep"}
	}
	k := newTalk().calls("", result{text: filler(1, 3000), tool: "keep"}, result{text: filler(1, 500)}, result{text: filler(1, 501)}, result{text: filler(1, 700)})
	v := viewOf(t, policy(tiers), k)
	require.Equal(t, []string{"full recent", "full recent", "full small", "excerpt tier"}, formsOf(v)[3:7],
		"an excluded tool, the limit itself, one character more, which an excerpt would not make shorter, and more than that")
	require.Equal(t, []string{"full excluded", "masked aged"}, formsOf(viewOf(t, policy(tiers), k.reads(3, 10)))[3:5])
}

// Nothing becomes longer as it ages, whatever the settings.
func TestAgingNeverMakesLonger(t *testing.T) {
	t.Parallel()
	for seed := range uint64(80) {
		w := newWorld(seed, seed%2 == 0)
		s := w.settings()
		s.Policy.Enabled, s.Policy.MinMaskedSize = true, []int{0, 200, 5000}[w.IntN(3)]
		if t := s.Policy.Truncation; t != nil { // limits that fall, as they have to
			t.RecentLimit = 300 + w.IntN(3000)
			t.OlderLimit = 100 + w.IntN(t.RecentLimit-200)
			t.InactiveLimit = 50 + w.IntN(t.OlderLimit-50)
		}
		history, _ := w.conversation(14)
		ages := autocontext.NewAges(s, history)
		before := map[int]int64{}
		for at := range 20 {
			for i, it := range ages.At(at).Items {
				if at > 0 {
					require.LessOrEqual(t, it.Tokens, before[i], "seed %d: message %d (%s %s) at %d", seed, i, it.Form, it.Reason, at)
				}
				before[i] = it.Tokens
			}
		}
	}
}

// A result never becomes longer as it ages: one that min_masked_size spares is still cut by its
// tier.
func TestTiersCutWhatIsSpared(t *testing.T) {
	t.Parallel()
	tiers := func(p *cascade.Intra) {
		p.MinMaskedSize = 10_000
		p.Truncation = &cascade.IntraTruncation{RecentResults: 1, RecentLimit: 2000, OlderLimit: 500, InactiveLimit: 100}
	}
	size := int64(1 << 40)
	for age := 1; age < 8; age++ {
		v := viewOf(t, policy(tiers), newTalk().reads(age, 3000))
		require.Equal(t, "excerpt tier", form(v, 3), "age %d", age)
		require.LessOrEqual(t, v.Items[3].Tokens, size, "age %d", age)
		size = v.Items[3].Tokens
	}
}
