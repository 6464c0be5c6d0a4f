package cards

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
)

func plain(t *testing.T, cards string) *cascade.Cascade {
	t.Helper()
	c, found, err := cascade.Parse("c.json", []byte(`{"cascade_id": "c", "auto_context": {"inter_phase": {`+cards+`}}, "phases": [{"name": "a", "instructions": "x"}]}`), cascade.Known{})
	require.NoError(t, err, found)
	return c
}

// Cards are made of every session that ClickHouse keeps, unless they are switched off.
func TestPlanOfASessionThatSelectsNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	require.True(t, (&Choice{Cascade: plain(t, ""), Config: &config.Config{}, Stored: true}).Plan(ctx).later)
	require.Nil(t, (&Choice{Cascade: plain(t, ""), Config: &config.Config{}}).Plan(ctx), "nobody could ask for them")
	require.Nil(t, (&Choice{Cascade: plain(t, `"cards": {"enabled": false}`), Config: &config.Config{}, Stored: true}).Plan(ctx))
	require.Nil(t, (&Choice{Cascade: plain(t, ""), Config: &config.Config{}, Stored: true, Off: cascade.SwitchedOff{Cards: true}}).Plan(ctx))
	require.True(t, (&Choice{Cascade: plain(t, `"card_model": "m"`), Config: &config.Config{}, Stored: true, Offline: true}).Plan(ctx).later, "no endpoint is asked")
}

// The cards of a session that selects nothing are made when it is closed, without a model.
func TestLater(t *testing.T) {
	t.Parallel()
	var store contextcards.Memory
	c := &Cards{later: &later{options: contextcards.Options{Store: &store}}}
	r := &engine.Runner{}
	c.Equip(r, &Plan{later: true})
	c.Load(t.Context(), "s")
	source := contextcards.Source{SessionID: "s", Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "The orders service holds the connection to the database.")}
	r.Cards.Add(source)
	r.Cards.Mark("s", nil)
	marked := source
	marked.Callout = "cause"
	r.Cards.Add(marked)
	r.Cards.Add(contextcards.Source{SessionID: "s", Message: echo.NewText(echo.RoleUser, echo.KindNotice, "")})
	cards, late := r.Cards.Wait(context.Background(), []contextcards.Source{source})
	require.Len(t, cards, 1)
	require.Zero(t, late)
	none, err := store.Cards(t.Context(), "s")
	require.NoError(t, err)
	require.Empty(t, none, "nothing is made during the run")
	require.NoError(t, c.Close())
	kept, err := store.Cards(t.Context(), "s")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Equal(t, contextcards.GeneratorMessage, kept[0].Generator)
	require.Equal(t, "cause", kept[0].Callout)
	require.Nil(t, r.Similarity)
	dropped := &Cards{later: &later{options: contextcards.Options{Store: &contextcards.Memory{}}}}
	dropped.later.Add(source)
	dropped.Drop()
	require.NoError(t, dropped.Close())
}
