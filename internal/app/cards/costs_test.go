package cards

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm"
)

func TestCostsSettle(t *testing.T) {
	t.Parallel()
	log := echo.NewLog("s", nil, nil)
	c := newCosts("c", log)
	c.settle(time.Hour) // nothing is under way
	first, second := c.watch(), c.watch()
	c.settle(time.Nanosecond)
	call := llm.Call{Request: &effect.ModelRequest{Site: effect.Site{Purpose: echo.PurposeEmbed}}, Response: &effect.ModelResponse{Usage: echo.Usage{In: 7}}}
	first(call)
	done := make(chan bool)
	go func() {
		c.settle(time.Hour)
		close(done)
	}()
	second(call)
	<-done
	require.Equal(t, uint64(2), log.Len())
	want := effect.Totals{Calls: 2, Usage: echo.Usage{In: 14}, UnknownCosts: 2}
	require.Equal(t, want, c.sinceAsked())
	require.Zero(t, c.sinceAsked())
	c.watch()(call)
	c.settle(time.Hour)
	require.Equal(t, 1, c.sinceAsked().Calls)
	(*costs)(nil).settle(time.Hour)
}
