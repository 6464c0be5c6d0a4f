package engine

import (
	"context"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/hearing"
	"github.com/windlass-run/windlass/engine/views"
)

// Audibles has what people say to a run while it goes on.
type Audibles = hearing.Audibles

// Changes has what people take out of the views of a session.
type Changes = hearing.Changes

// listen has a visit hear what people say, and take what they have changed.
func (c *conversation) listen(ctx context.Context) error {
	c.hearing = &hearing.Hearing{
		Place: c.Place, Settings: c.run.spec.Cascade.AudiblesOf(c.Def), From: c.run.Audibles, Limit: func() int64 { return c.views.Settings.Limit },
		Say: func(key echo.Key, m *echo.Message) error { return sayAt(c.visit, key, m) },
	}
	c.hearing.Changing = hearing.Changing{From: c.run.Changes, Then: c.changed}
	_, err := c.hearing.Change(ctx, c.Here())
	return err
}

// changed is called when persons have taken messages out of views, or back into them.
func (c *conversation) changed(ctx context.Context, taken *hearing.Taken) error {
	views.Changed(c.views, taken.Were, taken.Before)
	if taken.Rebuild > 0 {
		c.stands.Wanted = taken.Rebuild
	}
	err := c.stands.Follow(taken.Before)
	if err == nil && len(c.Record.History) > 0 { // else there is nothing yet from which it could be made
		err = c.stands.Rebuild(ctx, c.views)
	}
	return err
}

// hear takes what people have said since the place before. What it takes back leads nowhere.
func (c *conversation) hear(ctx context.Context, place echo.Key) (hearing.Heard, error) {
	h, err := c.hearing.Hear(ctx, place)
	c.spoken = c.spoken || h.Said
	if h.Retract {
		c.tools.chosen = c.tools.before
		if err == nil {
			err = c.stands.TakeBack()
		}
	}
	return h, err
}
