package engine

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/hearing"
)

// Audibles has what people say to a run while it goes on.
type Audibles = hearing.Audibles

// listen has a visit hear what people say.
func (c *conversation) listen() {
	c.hearing = &hearing.Hearing{
		Place: c.Place, Settings: c.run.spec.Cascade.AudiblesOf(c.Def), From: c.run.Audibles, Limit: func() int64 { return c.views.Settings.Limit },
		Say: func(key echo.Key, m *echo.Message) error { return sayAt(c.visit, key, m) },
	}
}

// hear takes what people have said since the place before. What it takes back leads nowhere.
func (c *conversation) hear(ctx context.Context, place echo.Key) (hearing.Heard, error) {
	h, err := c.hearing.Hear(ctx, place)
	c.spoken = c.spoken || h.Said
	if h.Retract {
		c.tools.chosen = c.tools.before
		if err == nil {
			err = c.stands.takeBack()
		}
	}
	return h, err
}
