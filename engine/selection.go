package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Selection is what came into a phase of earlier ones, as a context_inter entry has it. With the session's history it
// determines what is sent.
type Selection struct {
	*autocontext.Selected
	Anchors      []Anchor `json:"anchors"`           // in the order of their places in the session
	AnchorTokens int64    `json:"anchor_tokens"`     // of all of them; they do not count against the budget
	Everything   int64    `json:"everything_tokens"` // what sending all of the earlier phases would take
	CardsUsed
}

// Anchor is a turn group that came in whatever was selected.
type Anchor struct {
	ID       echo.Hash             `json:"id"`
	Phase    string                `json:"phase"`
	Why      cascade.AnchorInclude `json:"why"` // window, or one of what anchors include
	Messages int                   `json:"messages"`
	Tokens   int64                 `json:"tokens"`
}

// CardsUsed says on what a selection was made.
type CardsUsed struct {
	Digest   string   `json:"cards_digest"` // SHA-256 over the cards and similarities of all candidates
	Late     int      `json:"late_cards,omitempty"`
	Embedder string   `json:"embedder,omitempty"` // what similarities were had from
	Degraded []string `json:"degraded,omitempty"` // what was done in another way than asked for, and why
	Millis   float64  `json:"took_ms"`            // to wait for cards and to rank them
}

// NodeType says which entries hold selections.
func (*Selection) NodeType() echo.NodeType { return echo.NodeInter }

// Fit implements [effect.Fitting]. What is recorded of a selection names messages by their hashes: as long as there are as many,
// they are the same ones in other words.
func (s *Selection) Fit(recorded json.RawMessage) any {
	var was Selection
	if decode(recorded, &was) != nil || was.Selected == nil || s.Selected == nil || len(was.Scores) != len(s.Scores) {
		return s
	}
	for i := range was.Scores {
		was.Scores[i].ID = s.Scores[i].ID
	}
	was.Anchors = s.Anchors
	return &was
}

// findings are what was known of the candidates when a selection was made.
type findings struct {
	CardsUsed
	Found []found `json:"found"` // of each candidate
}

// Fit implements [effect.Fitting], as that of [Selection].
func (f *findings) Fit(recorded json.RawMessage) any {
	var was findings
	if decode(recorded, &was) != nil || len(was.Found) != len(f.Found) {
		return f
	}
	for i := range was.Found {
		if len(was.Found[i].Cards) != len(f.Found[i].Cards) {
			return f
		}
		for j := range was.Found[i].Cards {
			was.Found[i].Cards[j].Hash = f.Found[i].Cards[j].Hash
		}
	}
	return &was
}

type found struct {
	Cards   []foundCard `json:"cards"`
	Meaning *float64    `json:"meaning,omitempty"` // of the message that is most similar to the task
}

type foundCard struct {
	Hash     echo.Hash `json:"hash"`
	Summary  string    `json:"summary"`
	Keywords []string  `json:"keywords,omitempty"`
	Late     bool      `json:"late,omitempty"`
}

// look waits for the cards of the candidates, and has them compared with the task when the strategy goes by meaning.
func (s *selecting) look(ctx context.Context) *findings {
	start := s.now()
	f := &findings{Found: make([]found, len(s.candidates))}
	cards := s.cardsOf(ctx, f)
	at := 0
	for i, g := range s.candidates {
		for _, src := range g.sources {
			if c := cards[at]; src.Worth() {
				f.Found[i].Cards = append(f.Found[i].Cards, foundCard{c.Hash, c.Summary, c.Keywords, c.Late})
			}
			at++
		}
	}
	if strategy := s.inter.Selection.Strategy; strategy == cascade.StrategySemantic || strategy == cascade.StrategyHybrid {
		s.compare(ctx, f)
	}
	sum := sha256.Sum256(mustJSON(f.Found))
	f.Digest = hex.EncodeToString(sum[:])
	f.Millis = millis(s.now().Sub(start))
	return f
}

// cardsOf returns the card of every message of the candidates, as far as they are made in time.
func (s *selecting) cardsOf(ctx context.Context, f *findings) []contextcards.Card {
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
		f.degrade("%s of %d not ready after %s: judged by what could be extracted at once", plural(late, "card"), len(cards), wait)
	}
	extracted := 0
	for i := range cards {
		if !cards[i].Late && cards[i].Generator == contextcards.GeneratorExtraction {
			extracted++
		}
	}
	if s.CardModel != "" && extracted > 0 {
		f.degrade("%s of %d extracted, as %s gave no summary", plural(extracted, "card"), len(cards), s.CardModel)
	}
	return cards
}

// rankLimit bounds how long a selection waits for an embedder and the ranking by it; without them it goes by words.
const rankLimit = 15 * time.Second

// compare finds out how similar the candidates are to the task.
func (s *selecting) compare(ctx context.Context, f *findings) {
	if s.Meaning == nil {
		f.degrade("there is no embedder")
		return
	}
	if by := s.Meaning.Name(); !s.settings.Strategy.UsesMeaning(by) {
		f.degrade("%s goes by words alone: %s compares spelling, not meaning", s.settings.Strategy, by)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, rankLimit)
	defer cancel()
	list, degraded, err := s.Meaning.Similar(ctx, s.session.ID, s.task, len(s.entered))
	if err != nil {
		f.degrade("nothing could be compared by meaning with %s: %s", s.Meaning.Name(), firstLine(err.Error()))
		return
	}
	if degraded != "" {
		f.degrade("%s", degraded)
	}
	f.Embedder = s.Meaning.Name()
	similar := make(map[echo.Hash]float64, len(list))
	for _, r := range list {
		similar[r.Hash] = r.Similarity
	}
	without := 0
	for i, g := range s.candidates {
		for _, src := range g.sources {
			m, ok := similar[src.Message.Hash()]
			if had := f.Found[i].Meaning; ok && (had == nil || *had < m) {
				f.Found[i].Meaning = &m
			}
		}
		if f.Found[i].Meaning == nil && len(f.Found[i].Cards) > 0 {
			without++
		}
	}
	if without > 0 {
		f.degrade("%d of %d candidates have no embedding of %s", without, len(s.candidates), f.Embedder)
	}
}

func (c *CardsUsed) degrade(format string, args ...any) {
	c.Degraded = append(c.Degraded, fmt.Sprintf(format, args...))
}

// outcome is what is recorded of a selection.
func (s *selecting) outcome(f *findings, sel *autocontext.Selected) *Selection {
	out := &Selection{Selected: sel, CardsUsed: f.CardsUsed, Anchors: []Anchor{}}
	for _, g := range s.anchors {
		n := s.cost(g.items)
		out.AnchorTokens += n
		out.Anchors = append(out.Anchors, Anchor{ID: g.id(), Phase: g.rec.Name, Why: g.why, Messages: len(g.items), Tokens: n})
	}
	out.Everything = out.AnchorTokens + sel.CandidateTokens
	if sel.Budget = s.settings.MaxTokens; len(sel.Chosen) > 0 {
		sel.Used += s.cost([]echo.Item{marker(endOfSelected)})
	}
	return out
}

// brought returns the groups that come in, in the order of their places in the session. The error says that the outcome is
// of another history.
func (o *Selection) brought(anchors, candidates []*turnGroup) ([]*turnGroup, error) {
	if o.Selected == nil || len(o.Scores) != len(candidates) {
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
func (v *visit) warnDegraded(o *Selection) error {
	why := slices.Clone(o.Degraded)
	if o.Strategy != o.Asked {
		why = append(why, o.Notes...)
	}
	if len(why) == 0 {
		return nil
	}
	return v.warn(v.at(echo.StepSelect), v.place(), fmt.Sprintf("context was selected by %s with less than it asks for: %s", o.Asked, strings.Join(slices.Compact(why), "; ")))
}
