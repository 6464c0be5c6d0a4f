package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// look waits for the cards of the candidates, and has them compared with the task when the strategy goes by meaning.
func (s *selecting) look(ctx context.Context) *echo.Findings {
	start := s.now()
	f := &echo.Findings{Found: make([]echo.Found, len(s.candidates))}
	cards := s.cardsOf(ctx, f)
	at := 0
	for i, g := range s.candidates {
		for _, src := range g.sources {
			if c := cards[at]; src.Worth() {
				f.Found[i].Cards = append(f.Found[i].Cards, echo.FoundCard{Hash: c.Hash, Summary: c.Summary, Keywords: c.Keywords, Late: c.Late})
			}
			at++
		}
	}
	if strategy := s.inter.Selection.Strategy; strategy == cascade.StrategySemantic || strategy == cascade.StrategyHybrid {
		s.compare(ctx, f)
	}
	sum := sha256.Sum256(effect.MustJSON(f.Found))
	f.Digest = hex.EncodeToString(sum[:])
	f.Millis = effect.Millis(s.now().Sub(start))
	return f
}

// cardsOf returns the card of every message of the candidates, as far as they are made in time.
func (s *selecting) cardsOf(ctx context.Context, f *echo.Findings) []contextcards.Card {
	var sources []contextcards.Source
	for _, g := range s.candidates {
		sources = append(sources, g.sources...)
	}
	if s.Cards == nil {
		cards := make([]contextcards.Card, len(sources))
		for i, src := range sources {
			cards[i] = contextcards.Extract(src, time.Time{})
		}
		return cards
	}
	wait := s.inter.Cards.Wait
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	cards, late := s.Cards.Wait(ctx, sources)
	if f.Late = late; late > 0 {
		degrade(&f.CardsUsed, "%s of %d not ready after %s: judged by what could be extracted at once", plural(late, "card"), len(cards), wait)
	}
	extracted := 0
	for i := range cards {
		if !cards[i].Late && cards[i].Generator == contextcards.GeneratorExtraction {
			extracted++
		}
	}
	if s.CardModel != "" && extracted > 0 {
		degrade(&f.CardsUsed, "%s of %d extracted, as %s gave no summary", plural(extracted, "card"), len(cards), s.CardModel)
	}
	return cards
}

// rankLimit bounds how long a selection waits for an embedder and the ranking by it; without them it goes by words.
const rankLimit = 15 * time.Second

// compare finds out how similar the candidates are to the task.
func (s *selecting) compare(ctx context.Context, f *echo.Findings) {
	if s.Similarity == nil {
		degrade(&f.CardsUsed, "there is no embedder")
		return
	}
	if by := s.Similarity.Name(); !autocontext.UsesSimilarity(s.settings.Strategy, by) {
		degrade(&f.CardsUsed, "%s goes by words alone: %s compares spelling, not meaning", s.settings.Strategy, by)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rankLimit)
	defer cancel()
	list, degraded, err := s.Similarity.Similar(ctx, s.session.ID, s.task, len(s.entered))
	if err != nil {
		degrade(&f.CardsUsed, "nothing could be compared by meaning with %s: %s", s.Similarity.Name(), firstLine(err.Error()))
		return
	}
	if degraded != "" {
		degrade(&f.CardsUsed, "%s", degraded)
	}
	f.Embedder = s.Similarity.Name()
	similar := make(map[echo.Hash]float64, len(list))
	for _, r := range list {
		similar[r.Hash] = r.Similarity
	}
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
func (s *selecting) outcome(f *echo.Findings, sel *echo.Selected) *echo.InterSelection {
	out := &echo.InterSelection{Selected: *sel, CardsUsed: f.CardsUsed, Anchors: []echo.Anchor{}}
	for _, g := range s.anchors {
		n := s.cost(g.items)
		out.AnchorTokens += n
		out.Anchors = append(out.Anchors, echo.Anchor{ID: g.id(), Phase: g.rec.Name, Why: string(g.why), Messages: len(g.items), Tokens: n})
	}
	out.Everything = out.AnchorTokens + sel.CandidateTokens
	if out.Budget = s.settings.MaxTokens; len(out.Chosen) > 0 {
		out.Used += s.cost([]echo.Item{marker(endOfSelected)})
	}
	return out
}

// brought returns the groups that come in, in the order of their places in the session. The error says that the outcome is
// of another history.
func brought(o *echo.InterSelection, anchors, candidates []*turnGroup) ([]*turnGroup, error) {
	if len(o.Scores) != len(candidates) {
		return nil, fmt.Errorf("the recorded selection is not of the %d candidates that there are", len(candidates))
	}
	out := slices.Clone(anchors)
	for i, g := range candidates {
		if o.Scores[i].ID != g.id() {
			return nil, fmt.Errorf("candidate %d of the recorded selection is %s, here it is %s", i+1, o.Scores[i].ID, g.id())
		}
		if o.Scores[i].Chosen {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b *turnGroup) int { return cmp.Or(a.segment-b.segment, a.index-b.index) })
	return out, nil
}

// warnDegraded says once what a selection had to do without.
func (v *visit) warnDegraded(o *echo.InterSelection) error {
	why := slices.Clone(o.Degraded)
	if o.Strategy != o.Asked {
		why = append(why, o.Notes...)
	}
	if len(why) == 0 {
		return nil
	}
	return v.warn(v.at(echo.StepSelect), v.place(), fmt.Sprintf("context was selected by %s with less than it asks for: %s", o.Asked, strings.Join(slices.Compact(why), "; ")))
}
