package cards

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/oneline"
	"github.com/windlass-run/windlass/internal/source"
	"github.com/windlass-run/windlass/internal/vectors"
)

// Plan is what the cards of a run are made with. A nil *Plan makes none.
type Plan struct {
	options contextcards.Options
	model   string // that should sum up; "": none should
	later   bool   // nothing is selected by cards: they are made after the answer
	instead string // why messages are not compared by meaning although they should be; "": they are
}

// Choice is what is chosen from.
type Choice struct {
	Cascade  *cascade.Cascade
	Off      cascade.SwitchedOff
	Stored   bool // ClickHouse keeps the session, so that its cards can be asked for
	Config   *config.Config
	Router   *llm.Router
	CacheDir string
	Offline  bool        // nothing is fetched, and no endpoint is asked
	NoFetch  bool        // nothing is fetched
	Gate     *fetch.Gate // decides whether word vectors are downloaded

	Notice   func(text string)                               // is told what a person should know
	Fetching func() (show func(fetch.Progress), done func()) // shows what is fetched
}

// Plan chooses what cards are made with: nil when there are to be none. It says what is not there,
// but fails for none of it.
func (c *Choice) Plan(ctx context.Context) *Plan {
	settings := c.Cascade.EffectiveCards()
	uses := c.Cascade.UsesCards()
	if c.Off.Cards || !settings.Enabled || !uses && !c.Stored {
		return nil
	}
	p := &Plan{}
	if p.later = !uses && (settings.Model == "" || c.Offline); p.later {
		return p
	}
	if model := settings.Model; model != "" && !c.Offline {
		p.model = model
		if err := c.Router.Check(model); err != nil {
			c.Notice(fmt.Sprintf("Cards are made without %s: %v", model, err))
		} else {
			p.options.Summarizer = &llm.Summarizer{Model: c.Router, Use: model}
		}
	}
	e := c.embedder(ctx, EmbeddingModel(c.Config), c.local())
	if p.options.Embedder = e.Embedder; e.Instead != nil {
		p.instead = "compared by spelling and not by meaning: " + source.Printable(oneline.Of(e.Instead.Error()))
		c.Notice(fmt.Sprintf("Messages are compared by their spelling and not by meaning: %v%s", e.Instead, tryInstead(e.Instead)))
	}
	return p
}

// tryInstead says how what was refused is fetched.
func tryInstead(err error) string {
	if f, ok := errors.AsType[*failure.Error](err); ok && fetch.IsRefused(f) {
		return ". Try: " + f.Try
	}
	return ""
}

// Allow asks the gate at once about the download that [Choice.Plan] would need. That it is refused
// is no error: Plan does without.
func (c *Choice) Allow(ctx context.Context) {
	settings := c.Cascade.EffectiveCards()
	if c.Off.Cards || !settings.Enabled || c.Offline || c.NoFetch || EmbeddingModel(c.Config) != EmbedderWords || needOf(c.Cascade) != needMuch {
		return
	}
	_ = vectors.Allow(ctx, c.local())
}

func (c *Choice) local() vectors.Config {
	local := vectors.ConfigFromEnv(c.CacheDir)
	local.Gate = c.Gate
	return local
}

// need is how much a cascade needs to compare by meaning.
type need int

const (
	needNone need = iota // cards have vectors when that costs nothing
	needSome             // a model may ask for it
	needMuch             // messages are selected by it
)

func needOf(c *cascade.Cascade) need {
	n := needNone
	for p := range c.EachPhase() {
		if in := c.EffectiveInter(p); in.Enabled &&
			(in.Selection.Strategy == cascade.StrategySemantic || in.Selection.Strategy == cascade.StrategyHybrid) {
			return needMuch
		}
		for _, t := range p.Tackle {
			if t == lookup.ToolSearch {
				n = needSome
			}
		}
	}
	return n
}

// errWordsOffline is why messages are compared by spelling offline.
var errWordsOffline = errors.New("the word vectors are not on this machine, and nothing is fetched offline. Try: windlass fetch")

// errNoFetch is why they are by a program that fetches nothing.
var errNoFetch = errors.New("the word vectors are not on this machine, and nothing is fetched. Try: windlass fetch")

// embedder returns what embeds messages, none when nothing needs to. An endpoint is only asked, and
// word vectors are only fetched, for a run that compares by meaning; and neither offline.
func (c *Choice) embedder(ctx context.Context, name string, local vectors.Config) Embedder {
	n := needOf(c.Cascade)
	if c.Offline && name != EmbedderHashed {
		name = EmbedderWords
	}
	switch {
	case name == EmbedderWords && local.Here(), name == EmbedderHashed:
	case n == needNone:
		return Embedder{}
	case name == EmbedderWords && n == needSome:
		name = EmbedderHashed
	case name == EmbedderWords && c.Offline:
		return Embedder{Embedder: contextcards.NewHashed(0), Instead: errWordsOffline}
	case name == EmbedderWords && c.NoFetch:
		return Embedder{Embedder: contextcards.NewHashed(0), Instead: errNoFetch}
	}
	show, done := c.Fetching()
	e, err := OpenEmbedder(ctx, name, local, c.Router, show)
	done()
	switch {
	case ctx.Err() != nil:
		return Embedder{}
	case err != nil:
		return Embedder{Embedder: contextcards.NewHashed(0), Instead: err}
	}
	return e
}
