// Package cards makes the cards of a run's messages in the background, chooses what they are made
// with, and records what that costs. A run never waits for cards longer than it says, and never
// fails by them.
package cards

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/oneline"
)

const (
	// closeLimit is how long cards that are under way may take after a run. The messages themselves
	// are in the journal.
	closeLimit = 10 * time.Second
	// loadLimit bounds how long a session that is resumed waits for its cards.
	loadLimit = 10 * time.Second
)

// Cards are what a run's messages are selected by. A nil *Cards has none: its methods do nothing.
// It implements [lookup.Similarity].
type Cards struct {
	pipeline *contextcards.Pipeline // nil: cards are made at the end, see later
	later    *later
	embedder contextcards.Embedder
	instead  string             // why the embedder is another one than was asked for; "": it is not
	store    contextcards.Store // nil: in memory only
	close    func() error       // of the store
	costs    *costs             // nil: nothing is asked that costs anything
	log      *echo.Log
	cascade  string
}

// Target is what the cards of a run are made for.
type Target struct {
	CascadeID string
	Log       *echo.Log                                         // is told what goes wrong and what was spent
	Database  func(ctx context.Context) (*clickhouse.DB, error) // nil: cards are kept in memory only
	Mask      func(text string) string                          // takes secrets out
}

// Start starts to make cards with what was chosen. It returns nil when there are to be none.
func (p *Plan) Start(t Target) *Cards {
	if p == nil {
		return nil
	}
	o := p.options
	c := &Cards{
		embedder: o.Embedder, instead: p.instead, costs: newCosts(t.CascadeID, t.Log), log: t.Log, cascade: t.CascadeID,
	}
	if t.Database != nil {
		store := clickhouse.NewCards(t.Database)
		c.store, c.close, o.Store = store, store.Close, store
	}
	if s, ok := o.Summarizer.(*llm.Summarizer); ok {
		s.Watch = c.costs.watch
	}
	if e, ok := o.Embedder.(*llm.Embedder); ok {
		e.Watch(c.costs.watch)
	}
	o.Mask = t.Mask
	o.Notice = func(_ contextcards.NoticeKind, detail string) { c.warn(detail) }
	if p.later {
		o.Notice = nil // nothing waits for these cards: a journal does not go on after its end for them
		c.later = &later{options: o}
		return c
	}
	c.pipeline = contextcards.Start(o)
	return c
}

// InMemory returns cards that cost nothing that is recorded and are kept in memory only.
func InMemory(e contextcards.Embedder, mask func(string) string) *Cards {
	return &Cards{embedder: e, pipeline: contextcards.Start(contextcards.Options{Embedder: e, Mask: mask})}
}

// Pipeline returns what makes the cards.
func (c *Cards) Pipeline() *contextcards.Pipeline { return c.pipeline }

// Equip has a runner select by the cards.
func (c *Cards) Equip(r *engine.Runner, p *Plan) {
	if c == nil {
		return
	}
	if c.later != nil {
		r.Cards = c.later
		return
	}
	r.Cards, r.CardModel = c.pipeline, p.model
	if c.embedder != nil {
		r.Similarity = c
	}
}

// Load reads the cards that are kept of a session that is resumed, so that they are not made again.
func (c *Cards) Load(ctx context.Context, sessionID string) {
	if c == nil || c.pipeline == nil { // what is made again at the end takes the place of what was
		return
	}
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	if err := c.pipeline.Load(ctx, sessionID); err != nil {
		c.warn(oneline.Of(err.Error()))
	}
}

// Name implements [lookup.Similarity].
func (c *Cards) Name() string { return c.embedder.Name() }

// Similar implements [lookup.Similarity].
func (c *Cards) Similar(ctx context.Context, sessionID, text string, limit int) ([]contextcards.Ranked, string, error) {
	list, err := c.embedder.Embed(ctx, []string{text})
	if err != nil {
		return nil, "", err
	}
	if len(list) != 1 || list[0] == nil {
		return nil, "", errors.New("the text has nothing that could be embedded")
	}
	ranked, stored := c.pipeline.Rank(ctx, sessionID, list[0], limit)
	var degraded []string
	if c.instead != "" {
		degraded = append(degraded, c.instead)
	}
	if c.store != nil && !stored {
		degraded = append(degraded, "ClickHouse could not rank: ranked in memory")
	}
	return ranked, strings.Join(degraded, "; "), nil
}

// Later reports whether the cards are made when the run is over, by [Cards.Close].
func (c *Cards) Later() bool { return c != nil && c.later != nil }

// Drop has no cards made that would be made when the run is over.
func (c *Cards) Drop() { c.later.drop() }

// Close waits for the cards that are under way, shortly. The error says what did not get done.
func (c *Cards) Close() error {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	pipeline := c.pipeline
	if c.later != nil {
		pipeline = c.later.make(ctx)
	}
	err := pipeline.Close(ctx)
	c.costs.settle(settleLimit)
	if c.close != nil {
		err = errors.Join(err, c.close())
	}
	return err
}

// SinceAsked returns what cards have cost since it was last asked, for [engine.Spec]; nil when
// there are none.
func (c *Cards) SinceAsked() func() effect.Totals {
	if c == nil {
		return nil
	}
	return c.costs.sinceAsked
}

// warn records something that a person should know of what is done in the background.
func (c *Cards) warn(text string) { Warn(Target{CascadeID: c.cascade, Log: c.log}, text) }

// Warn records something that a person should know of the cards of a run.
func Warn(t Target, text string) {
	e := echo.NewEntry(echo.CardsKey().Step(echo.StepWarning), echo.Warning{Message: text})
	e.CascadeID = t.CascadeID
	_ = t.Log.Append(e) // a log that fails ends the run by itself
}
