// Package phasecontext brings into a phase what it needs of earlier ones. It neither records nor
// calls a model.
//
// include.go is context.from: what a phase names. The rest chooses: groups.go splits histories into
// turn groups, separates anchors from candidates and puts markers around what comes in, selection.go
// has the candidates ranked. trial.go makes a selection on a recorded session.
package phasecontext

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/lookup"
	"github.com/windlass-run/windlass/internal/excerpt"
	"github.com/windlass-run/windlass/internal/quantity"
)

// Selection chooses what a phase gets of earlier ones: anchors, and candidates that fit.
type Selection struct {
	SelectionOptions
	anchors    []*turnGroup
	candidates []*turnGroup
	settings   selection.Settings
	tokens     []int64 // of the candidates, in the count of the phase's model
}

// SelectionOptions are what a selection depends on.
type SelectionOptions struct {
	Earlier   *Earlier
	Task      string
	Inter     cascade.Inter
	TakenOver map[string]bool           // phases whose words context.from brings in already
	Cost      func(*echo.Message) int64 // the most tokens that a message may take in a request of the phase
	CardModel string                    // what sums up messages for cards; "": nothing does
	Now       func() time.Time
}

// NewSelection finds the anchors and the candidates.
func NewSelection(o SelectionOptions) *Selection {
	s := &Selection{SelectionOptions: o}
	s.anchors, s.candidates = o.Earlier.gather(o.Inter.Anchors, o.TakenOver)
	s.settings = selection.SettingsOf(o.Inter.Selection)
	s.settings.Why = o.Earlier.Rules.Why
	s.tokens = make([]int64, len(s.candidates))
	for i, g := range s.candidates {
		// Each may come in alone, with a marker of its own. Neighbours share one and take less.
		s.tokens[i] = s.cost(g.items...) + s.cost(marker(stretchName(g, g)))
	}
	return s
}

// Empty reports whether there is neither an anchor nor a candidate.
func (s *Selection) Empty() bool { return len(s.anchors)+len(s.candidates) == 0 }

// Anchors returns the hashes of the anchors' messages.
func (s *Selection) Anchors() (out []echo.Hash) {
	for _, g := range s.anchors {
		for _, src := range g.sources {
			out = append(out, src.Message.Hash())
		}
	}
	return out
}

func (s *Selection) cost(items ...echo.Item) (n int64) {
	for i := range items {
		n += s.Cost(items[i].Message)
	}
	return n
}

// Choose makes the selection, or returns the menu by which a model has to choose first.
func (s *Selection) Choose(f *echo.Findings, answer *selection.MenuAnswer) (*echo.InterSelection, *selection.Menu) {
	selected, menu := s.Earlier.Messages.Index.Select(s.Task, s.groups(f), s.withinBudget(), answer)
	if menu != nil {
		return nil, menu
	}
	return s.outcome(f, selected), nil
}

// withinBudget returns the settings with room for the line behind what comes in.
func (s *Selection) withinBudget() selection.Settings {
	settings := s.settings
	settings.MaxTokens = max(settings.MaxTokens-s.cost(marker(endOfSelected)), 0)
	return settings
}

func (s *Selection) groups(f *echo.Findings) []selection.Group {
	out := make([]selection.Group, len(s.candidates))
	for i, g := range s.candidates {
		out[i] = selection.Group{
			ID: g.id(), Items: g.items, Segment: g.segment, Phase: g.rec.Name, Tokens: s.tokens[i], Callout: g.callout,
		}
		if i >= len(f.Found) { // a record that does not fit the run: what it has no cards of is found by nothing
			continue
		}
		for _, c := range f.Found[i].Cards {
			out[i].Cards = append(out[i].Cards, contextcards.Card{Hash: c.Hash, Summary: c.Summary, Keywords: c.Keywords, Late: c.Late})
		}
		if m := f.Found[i].Similarity; m != nil {
			out[i].Similarity, out[i].Embedded = *m, true
		}
	}
	return out
}

// Look waits for the cards of the candidates, and compares them with the task if the strategy does.
func (s *Selection) Look(ctx context.Context) *echo.Findings {
	start := s.Now()
	f := &echo.Findings{Found: make([]echo.Found, len(s.candidates))}
	cards := s.cardsOf(ctx, f)
	for i, g := range s.candidates {
		for n, src := range g.sources {
			if c := cards[n]; src.Worth() {
				f.Found[i].Cards = append(f.Found[i].Cards, echo.FoundCard{Hash: c.Hash, Summary: c.Summary, Keywords: c.Keywords, Late: c.Late})
			}
		}
		cards = cards[len(g.sources):]
	}
	if strategy := s.Inter.Selection.Strategy; strategy == cascade.StrategySemantic || strategy == cascade.StrategyHybrid {
		s.compare(ctx, f)
	}
	sum := sha256.Sum256(effect.MustJSON(f.Found))
	f.Digest = hex.EncodeToString(sum[:])
	f.Millis = effect.Millis(s.Now().Sub(start))
	return f
}

// cardsOf returns the card of every message of the candidates, as far as they are made in time.
func (s *Selection) cardsOf(ctx context.Context, f *echo.Findings) []contextcards.Card {
	messages := s.Earlier.Messages
	var sources []contextcards.Source
	for _, g := range s.candidates {
		sources = append(sources, g.sources...)
	}
	if messages.Cards == nil {
		cards := make([]contextcards.Card, len(sources))
		for i, src := range sources {
			cards[i] = contextcards.Extract(src, time.Time{})
		}
		return cards
	}
	wait := s.Inter.Cards.Wait
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cards, late := messages.Cards.Wait(ctx, sources)
	if f.Late = late; late > 0 {
		degrade(&f.CardsUsed, "%s of %d not ready after %s: judged by what could be extracted at once", quantity.Of(late, "card"), len(cards), wait)
	}
	extracted := 0
	for i := range cards {
		if !cards[i].Late && cards[i].Generator == contextcards.GeneratorExtraction {
			extracted++
		}
	}
	if s.CardModel != "" && extracted > 0 {
		degrade(&f.CardsUsed, "%s of %d extracted, as %s gave no summary", quantity.Of(extracted, "card"), len(cards), s.CardModel)
	}
	return cards
}

// compare finds out how similar the candidates are to the task.
func (s *Selection) compare(ctx context.Context, f *echo.Findings) {
	messages := s.Earlier.Messages
	if messages.Similarity == nil {
		degrade(&f.CardsUsed, "there is no embedder")
		return
	}
	if by := messages.Similarity.Name(); !selection.UsesSimilarity(s.settings.Strategy, by) {
		degrade(&f.CardsUsed, "%s goes by words alone: %s compares spelling, not meaning", s.settings.Strategy, by)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, lookup.CompareLimit)
	defer cancel()
	similar, degraded, err := messages.Similar(ctx, s.Task)
	if err != nil {
		degrade(&f.CardsUsed, "nothing could be compared by meaning with %s: %s", messages.Similarity.Name(), excerpt.FirstLine(err.Error()))
		return
	}
	if degraded != "" {
		degrade(&f.CardsUsed, "%s", degraded)
	}
	f.Embedder = messages.Similarity.Name()
	without := 0
	for i, g := range s.candidates {
		for _, src := range g.sources {
			m, ok := similar[src.Message.Hash()]
			if had := f.Found[i].Similarity; ok && (had == nil || *had < m) {
				f.Found[i].Similarity = &m
			}
		}
		if f.Found[i].Similarity == nil && len(f.Found[i].Cards) > 0 {
			without++
		}
	}
	if without > 0 {
		degrade(&f.CardsUsed, "%d of %d candidates have no embedding of %s", without, len(s.candidates), f.Embedder)
	}
}

func degrade(c *echo.CardsUsed, format string, args ...any) {
	c.Degraded = append(c.Degraded, fmt.Sprintf(format, args...))
}

// outcome is what is recorded of a selection.
func (s *Selection) outcome(f *echo.Findings, sel *echo.Selected) *echo.InterSelection {
	out := &echo.InterSelection{Selected: *sel, CardsUsed: f.CardsUsed, Anchors: []echo.Anchor{}}
	for _, g := range s.anchors {
		n := s.cost(g.items...)
		out.AnchorTokens += n
		out.Anchors = append(out.Anchors, echo.Anchor{ID: g.id(), Phase: g.rec.Name, Why: string(g.why), Messages: len(g.items), Tokens: n})
	}
	out.Everything = out.AnchorTokens + sel.CandidateTokens
	ending := s.cost(marker(endOfSelected))
	if s.Earlier.Rules.Framing {
		out.Ending = ending
	}
	if out.Budget = s.settings.MaxTokens; len(out.Chosen) > 0 {
		out.Used += ending
	}
	return out
}

// Brought returns the messages that come in, unless the outcome is of another history.
func (s *Selection) Brought(o *echo.InterSelection) ([]echo.Item, error) {
	if len(o.Scores) != len(s.candidates) {
		return nil, fmt.Errorf("the recorded selection is not of the %d candidates that there are", len(s.candidates))
	}
	out := slices.Clone(s.anchors)
	for i, g := range s.candidates {
		if o.Scores[i].ID != g.id() {
			return nil, fmt.Errorf("candidate %d of the recorded selection is %s, here it is %s", i+1, o.Scores[i].ID, g.id())
		}
		if o.Scores[i].Chosen {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *turnGroup) int { return cmp.Or(a.segment-b.segment, a.index-b.index) })
	return injected(out), nil
}

// Degraded says what a selection had to do without; "": nothing.
func Degraded(o *echo.InterSelection) string {
	why := slices.Clone(o.Degraded)
	if o.Strategy != o.Asked {
		why = append(why, o.Notes...)
	}
	if len(why) == 0 {
		return ""
	}
	return fmt.Sprintf("context was selected by %s with less than it asks for: %s", o.Asked, strings.Join(slices.Compact(why), "; "))
}

// MenuOf is what is recorded of a request to choose.
func MenuOf(req *effect.ModelRequest) echo.Menu {
	menu := echo.Menu{Model: req.Model, Messages: make([]echo.MenuMessage, len(req.Messages))}
	for i, m := range req.Messages {
		menu.Messages[i] = echo.MenuMessage{Role: m.Role(), Text: m.Text()}
	}
	return menu
}
