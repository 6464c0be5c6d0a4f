package budget

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// taking is a request whose call is estimated at so many tokens.
func taking(tokens int) *effect.ModelRequest {
	return &effect.ModelRequest{Model: "m", MaxOutputTokens: tokens}
}

func (l *Ledger) reserve(ctx context.Context, tokens int) (*Reservation, error) {
	return l.Reserve(ctx, taking(tokens), Size{}, effect.ModelFacts{}, nil)
}

// refuses demands that no call begins, however small, and that the reason is the one that has closed the ledger.
func (l *Ledger) refuses(t *testing.T, above bool) {
	t.Helper()
	_, err := l.reserve(t.Context(), 1)
	_, held := l.Hold(taking(1))
	for _, err := range []error{err, held} {
		var over *Error
		require.ErrorAs(t, err, &over)
		require.Equal(t, above, over.Above)
		require.Equal(t, int64(200), over.Next.Tokens())
	}
}

func (l *Ledger) takes(t *testing.T) {
	t.Helper()
	r, err := l.reserve(t.Context(), 1)
	require.NoError(t, err)
	r.Settle(nil, nil)
}

// The first call that does not fit closes the ledger of whose limit it is: in no run of its tree begins
// another call, and what is reserved already goes on.
func TestLedgerCloses(t *testing.T) {
	t.Parallel()
	top := NewLedger(cascade.Budget{}, nil)
	limited := NewLedger(cascade.Budget{MaxTokens: 100}, top)
	one, two := NewLedger(cascade.Budget{}, limited), NewLedger(cascade.Budget{}, limited)
	flying, err := two.reserve(t.Context(), 10)
	require.NoError(t, err)
	_, err = one.reserve(t.Context(), 200)
	require.EqualError(t, err, "the next call would exceed the budget: max_tokens is 100 tokens, used 0 tokens; "+
		"the call is estimated at 200 tokens (0 in; 200 out, its max_output_tokens), at a cost that is not known")
	one.refuses(t, true)
	two.refuses(t, true)
	NewLedger(cascade.Budget{}, two).refuses(t, true)
	limited.refuses(t, false)
	top.takes(t)
	flying.Settle(&effect.ModelResponse{Usage: echo.Usage{Out: 10}}, nil)
	require.EqualValues(t, 10, top.used.Usage.Out)
	var over *Error
	require.ErrorAs(t, limited.Stop(&Error{Above: true}), &over)
	require.False(t, over.Above, "the limit is its own, whoever came to it first")
	require.ErrorAs(t, top.Stop(&Error{Above: true, Next: &Estimate{Out: 200}}), &over)
	top.refuses(t, true)
}

// A run that nobody waits for is stopped alone, with all below it.
func TestDetachedLedgerCloses(t *testing.T) {
	t.Parallel()
	top := NewLedger(cascade.Budget{MaxTokens: 100}, nil)
	detached := NewLedger(cascade.Budget{}, top)
	detached.Detach()
	below := NewLedger(cascade.Budget{}, detached)
	_, err := below.reserve(t.Context(), 200)
	var over *Error
	require.ErrorAs(t, err, &over)
	require.True(t, over.Above)
	below.refuses(t, true)
	detached.refuses(t, true)
	top.takes(t)
	_, err = top.reserve(t.Context(), 200)
	require.Error(t, err)
	top.refuses(t, false)
}

// A call that waits for others gets the error of a limit that was reached meanwhile.
func TestClosedLedgerWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLedger(cascade.Budget{MaxTokens: 100}, nil)
		_, err := l.reserve(t.Context(), 90)
		require.NoError(t, err)
		waited := make(chan error)
		go func() {
			_, err := l.reserve(t.Context(), 20)
			waited <- err
		}()
		synctest.Wait()
		_, err = l.reserve(t.Context(), 200)
		require.Error(t, err)
		require.EqualError(t, <-waited, err.Error())
	})
}
