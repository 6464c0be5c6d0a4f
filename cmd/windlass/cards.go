package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

// cardsLimit is how long cards that are under way may take after a run. The messages themselves are in the journal.
const cardsLimit = 10 * time.Second

// cards are what a run's messages are selected by. The run depends on nothing of it.
type cards struct {
	pipeline *contextcards.Pipeline
	embedder contextcards.Embedder
	instead  string             // why the embedder is another one than was asked for; "": it is not
	store    contextcards.Store // nil: in memory only
	close    func() error       // of the store
	costs    *cardCosts         // nil: nothing is asked that costs anything
}

// makeCards starts to make cards when some phase has a use for them. It comes when the log is there, which is told what
// goes wrong and what it cost.
func (s *session) makeCards(o cardOptions) {
	if !s.cascade.UsesCards() {
		return
	}
	s.cards = &cards{embedder: o.Embedder, instead: o.instead, costs: newCardCosts(s.cascade.CascadeID, s.log)}
	if s.database != nil {
		store := clickhouse.NewCards(s.database.another)
		s.cards.store, s.cards.close, o.Store = store, store.Close, store
	}
	if sum, ok := o.Summarizer.(*llm.Summarizer); ok {
		sum.Watch = s.cards.costs.watch
	}
	s.runner.CardModel = o.model
	if e, ok := o.Embedder.(*llm.Embedder); ok {
		e.Watch(s.cards.costs.watch)
	}
	o.Mask = s.secrets.Text
	o.Notice = func(_ contextcards.NoticeKind, detail string) { s.warn(detail) }
	s.cards.pipeline = contextcards.Start(o.Options)
	s.runner.Cards = s.cards.pipeline
	if o.Embedder != nil {
		s.runner.Similarity = s.cards
	}
}

// cardOptions are what cards are made with, and what they should be made with.
type cardOptions struct {
	contextcards.Options
	model   string // that should sum up; "": none should
	instead string // why messages are not compared by meaning although they should be; "": they are
}

// chooseCards chooses what cards are made with. It says what is not there, but fails for none of it.
func (s *session) chooseCards(ctx context.Context, cfg *config.Config, cacheDir string) cardOptions {
	var o cardOptions
	if !s.cascade.UsesCards() {
		return o
	}
	if model := s.cascade.EffectiveCards().Model; model != "" && !s.options.offline {
		o.model = model
		if err := s.router.Check(model); err != nil {
			s.notices.tell(fmt.Sprintf("Cards are made without %s: %v", model, err))
		} else {
			o.Summarizer = &llm.Summarizer{Model: s.router, Use: model}
		}
	}
	e := s.chooseEmbedder(ctx, embeddingModel(cfg), vectors.ConfigFromEnv(cacheDir))
	if o.Embedder = e.Embedder; e.instead != nil {
		o.instead = "compared by spelling and not by meaning: " + oneLine(e.instead.Error())
		s.notices.tell(fmt.Sprintf("Messages are compared by their spelling and not by meaning: %v", e.instead))
	}
	return o
}

// need is how much a command needs to compare by meaning.
type need int

const (
	needNone need = iota // cards have vectors when that costs nothing
	needSome             // a model may ask for it
	needMuch             // messages are selected by it
)

func (s *session) needsEmbeddings() need {
	n := needNone
	for i := range s.cascade.Phases {
		for p := &s.cascade.Phases[i]; p != nil; p = inlinePhase(p) {
			if in := s.cascade.EffectiveInter(p); in.Enabled &&
				(in.Selection.Strategy == cascade.StrategySemantic || in.Selection.Strategy == cascade.StrategyHybrid) {
				return needMuch
			}
			for _, t := range p.Tackle {
				if t == engine.ToolSearchContext {
					n = needSome
				}
			}
		}
	}
	return n
}

// errWordsOffline is why messages are compared by spelling under --offline.
var errWordsOffline = errors.New("the word vectors are not on this machine, and --offline fetches none. Try: windlass fetch")

// chooseEmbedder returns what embeds messages, none when nothing needs to. An endpoint is only asked, and word vectors are
// only fetched, for a run that compares by meaning; and neither under --offline.
func (s *session) chooseEmbedder(ctx context.Context, name string, local vectors.Config) embedderInUse {
	n := s.needsEmbeddings()
	if s.options.offline && name != embedderHashed {
		name = embedderWords
	}
	switch {
	case name == embedderWords && local.Here(), name == embedderHashed:
	case n == needNone:
		return embedderInUse{}
	case name == embedderWords && n == needSome:
		name = embedderHashed
	case name == embedderWords && s.options.offline:
		return embedderInUse{Embedder: contextcards.NewHashed(0), instead: errWordsOffline}
	}
	progress := newFetchProgress(s.app.err)
	e, err := openEmbedder(ctx, name, local, s.router, progress.show)
	progress.mute()
	switch {
	case ctx.Err() != nil:
		return embedderInUse{}
	case err != nil:
		return embedderInUse{Embedder: contextcards.NewHashed(0), instead: err}
	}
	return e
}

// Name implements [engine.Similarity].
func (c *cards) Name() string { return c.embedder.Name() }

// Similar implements [engine.Similarity].
func (c *cards) Similar(ctx context.Context, sessionID, text string, limit int) ([]contextcards.Ranked, string, error) {
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

// finish waits for the cards that are under way, shortly, and says what did not get done.
func (c *cards) finish() error {
	if c == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), cardsLimit)
	defer cancel()
	err := c.pipeline.Close(ctx)
	c.costs.settle(settleLimit)
	if c.close != nil {
		err = errors.Join(err, c.close())
	}
	return err
}

// warn records something that a person should know of what is done in the background.
func (s *session) warn(text string) {
	e := echo.NewEntry(echo.CardsKey().Step(echo.StepWarning), echo.Warning{Message: text})
	e.CascadeID = s.cascade.CascadeID
	_ = s.log.Append(e)
}
