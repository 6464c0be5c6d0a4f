package reports

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/audibles"
	"github.com/windlass-run/windlass/internal/mailbox"
	"github.com/windlass-run/windlass/internal/term"
)

func TestUnheard(t *testing.T) {
	t.Parallel()
	told, not := &audibles.Heard{Taken: "draft/attempt1/turn2/audible1"}, &audibles.Heard{}
	require.Empty(t, Unheard(nil, true))
	require.Empty(t, Unheard([]*audibles.Heard{told}, false))
	require.Equal(t, "1 audible was told to no model: the run has ended before.", Unheard([]*audibles.Heard{told, not}, false))
	require.Equal(t, "2 audibles were told to no model: the run has ended before.", Unheard([]*audibles.Heard{not, not}, false))
	require.Equal(t, "1 audible was told to no model yet: it is when the run is resumed.", Unheard([]*audibles.Heard{not}, true))
	require.Equal(t, "2 audibles were told to no model yet: they are when the run is resumed.", Unheard([]*audibles.Heard{not, not}, true))
}

// TestAudiblesHideNothing: what the model was told is seen, also what a terminal would not show.
func TestAudiblesHideNothing(t *testing.T) {
	t.Parallel()
	words := echo.Audible{Text: "not\u202e that\u200b\none \x1b[2J", By: "ada", Via: echo.ViaCommand}
	var b strings.Builder
	require.NoError(t, Audibles([]*audibles.Heard{{Audible: mailbox.Audible{Audible: words}}}).Render(&b, term.Room{Width: 200}))
	require.NoError(t, Audibles([]*audibles.Heard{{Ended: true}, {Taken: "draft/audible1", Audible: mailbox.Audible{Audible: echo.Audible{Unsaid: "with it, ..."}}}}).Render(&b, term.Room{Width: 200}))
	require.Contains(t, b.String(), "never")
	require.Contains(t, b.String(), "not: too long")
	require.Contains(t, b.String(), `not\u202e that\u200b one \u001b[2J`)
}
