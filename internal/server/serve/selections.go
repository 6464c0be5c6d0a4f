package serve

import (
	"context"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/server/inspector"
	"github.com/windlass-run/windlass/internal/vectors"
)

// selections makes trial selections with the configuration of an app. It implements inspector.Selections.
type selections struct {
	app   *core.App
	words vectors.Kept
}

func (*selections) Strategies() []cascade.SelectionStrategy { return cards.Strategies() }

func (s *selections) Try(ctx context.Context, session string, entries []*echo.Entry, t inspector.Trial) (*phasecontext.Tried, error) {
	return s.app.TrySelection(ctx, session, entries, cards.Trial{Task: t.Task, Strategy: t.Strategy, Budget: t.Budget, NoFetch: true, Here: &s.words}, false)
}
