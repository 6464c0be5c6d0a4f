package autocontext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

func clearing(trigger int64, keep int, atLeast int64, exclude ...string) autocontext.Settings {
	return policy(func(p *cascade.Intra) {
		p.MaskAfter, p.Window = 1000, 1000
		p.ClearToolUses = &cascade.IntraClear{TriggerTokens: trigger, Keep: keep, ClearAtLeastTokens: atLeast, ExcludeTools: exclude}
	})
}

// clearedIn counts the results that clear_tool_uses masked.
func clearedIn(v *autocontext.View) int {
	return strings.Count(strings.Join(formsOf(v), "\n"), "masked cleared")
}

func TestClearToolUses(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(6, 2000) // about 500 tokens each
	size := viewOf(t, policy(func(p *cascade.Intra) { p.MaskAfter = 1000 }), k).Report().ContextSize
	for name, c := range map[string]struct {
		s    autocontext.Settings
		want int
	}{
		"below the trigger":           {clearing(size+1, 2, 0), 0},
		"at the trigger":              {clearing(size, 2, 0), 4},
		"keep none":                   {clearing(1, 0, 0), 6},
		"keep one":                    {clearing(1, 1, 0), 5},
		"keep as many as there are":   {clearing(1, 6, 0), 0},
		"keep more":                   {clearing(1, 7, 0), 0},
		"too little would be freed":   {clearing(1, 4, 5000), 0},
		"just enough would be freed":  {clearing(1, 4, 800), 2},
		"no result of this tool":      {clearing(1, 2, 0, "bash"), 0},
		"another tool is not cleared": {clearing(1, 2, 0, "read"), 4},
	} {
		require.Equal(t, c.want, clearedIn(viewOf(t, c.s, k)), name)
	}
}

// Results that are cleared stay so, and more are cleared only when that frees enough again.
func TestClearToolUsesGoesOn(t *testing.T) {
	t.Parallel()
	s := clearing(1, 1, 1000) // two results and a bit
	b := autocontext.NewBuilder(s)
	var c echo.Carry
	k := newTalk()
	var got []int
	for range 9 {
		k.reads(1, 2000)
		step, err := b.Build(k.items, c)
		require.NoError(t, err)
		c = step.Carry
		got = append(got, clearedIn(step.View))
	}
	require.Equal(t, []int{0, 0, 0, 3, 3, 3, 6, 6, 6}, got)
}

// Pinned results are neither cleared nor counted as freed.
func TestClearToolUsesLeavesPinned(t *testing.T) {
	t.Parallel()
	k := newTalk().reads(4, 2000)
	for i := range k.items {
		k.items[i].Pinned = true
	}
	s := clearing(1, 0, 0)
	step, err := autocontext.NewBuilder(s).Build(k.items, echo.Carry{})
	require.NoError(t, err)
	require.Zero(t, step.Carry.Cleared)
	v := viewOf(t, s, k)
	require.Zero(t, clearedIn(v))
	require.Zero(t, v.Report().TokensSaved)
}
