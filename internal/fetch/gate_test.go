package fetch_test

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
)

// TestGate has the rule of downloads: who is asked, what is announced, what begins.
func TestGate(t *testing.T) {
	t.Parallel()
	const small, large, unknown = fetch.Large, fetch.Large + 1, 0
	yes := func(context.Context, fetch.Offer) (bool, error) { return true, nil }
	no := func(context.Context, fetch.Offer) (bool, error) { return false, nil }
	silent := func(context.Context, fetch.Offer) (bool, error) { return false, io.EOF }
	for name, tt := range map[string]struct {
		policy    fetch.Policy
		size      int64
		ask       func(context.Context, fetch.Offer) (bool, error)
		announced bool
		refused   string
	}{
		"small":              {fetch.PolicyAsk, small, no, false, ""},
		"small, none":        {fetch.PolicyNone, small, yes, false, "the engine: not on this machine, and no download is allowed (10 MB)"},
		"yes":                {fetch.PolicyAsk, large, yes, false, ""},
		"yes, to a run":      {fetch.PolicyBegin, large, yes, false, ""},
		"no":                 {fetch.PolicyAsk, large, no, false, "the engine: not on this machine, and the download of 10 MB was declined"},
		"no, to a run":       {fetch.PolicyBegin, large, no, false, "the engine: not on this machine, and the download of 10 MB was declined"},
		"no answer":          {fetch.PolicyBegin, large, silent, false, "the engine: not on this machine, and the question whether to download 10 MB was not answered"},
		"nobody":             {fetch.PolicyAsk, large, nil, false, "the engine: not on this machine, and without a terminal nobody can be asked whether to download 10 MB"},
		"nobody, unknown":    {fetch.PolicyAsk, unknown, nil, false, "the engine: not on this machine, and without a terminal nobody can be asked whether to download an unknown number of MB"},
		"nobody, a run":      {fetch.PolicyBegin, large, nil, true, ""},
		"unknown, a run":     {fetch.PolicyBegin, unknown, nil, true, ""},
		"was asked for":      {fetch.PolicyAnnounce, large, no, true, ""},
		"small, asked for":   {fetch.PolicyAnnounce, small, no, false, ""},
		"none, with a tty":   {fetch.PolicyNone, large, yes, false, "the engine: not on this machine, and no download is allowed (10 MB)"},
		"unknown, refused":   {fetch.PolicyAsk, unknown, no, false, "the engine: not on this machine, and the download of an unknown number of MB was declined"},
		"unknown, agreed to": {fetch.PolicyAsk, unknown, yes, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			announced := 0
			g := &fetch.Gate{Policy: tt.policy, Ask: tt.ask, Announce: func(fetch.Offer) { announced++ }}
			o := fetch.Offer{Name: "engine", What: "the engine", Size: tt.size, Kind: failure.EngineMissing}
			for range 2 { // what was decided holds
				err := g.Allow(t.Context(), o)
				if tt.refused == "" {
					require.NoError(t, err)
					continue
				}
				require.EqualError(t, err, tt.refused)
				require.True(t, failure.Is(err, failure.EngineMissing))
				require.True(t, fetch.IsRefused(err))
				var fe *failure.Error
				require.ErrorAs(t, err, &fe)
				require.Equal(t, "windlass fetch engine", fe.Try)
			}
			require.Equal(t, tt.announced, announced == 1)
		})
	}
}

func TestNoGateAllowsEverything(t *testing.T) {
	t.Parallel()
	var g *fetch.Gate
	require.NoError(t, g.Allow(t.Context(), fetch.Offer{}))
}

// An interrupted question decides nothing.
func TestGateIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	g := &fetch.Gate{Ask: func(context.Context, fetch.Offer) (bool, error) { cancel(stop); return false, stop }}
	require.ErrorIs(t, g.Allow(ctx, fetch.Offer{Name: "engine"}), stop)
	g.Ask = func(context.Context, fetch.Offer) (bool, error) { return true, nil }
	require.NoError(t, g.Allow(t.Context(), fetch.Offer{Name: "engine"}))
}

// A download that is refused writes nothing.
func TestRefusedFetchWritesNothing(t *testing.T) {
	t.Parallel()
	it := item(t)
	it.Gate, it.Offer = &fetch.Gate{Policy: fetch.PolicyNone}, fetch.Offer{Name: "thing", What: "the thing"}
	require.True(t, fetch.IsRefused(it.Fetch(t.Context(), nil)))
	require.NoDirExists(t, it.Dir)
}
