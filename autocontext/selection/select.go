// Package selection chooses messages of earlier phases by words, by similarity of embeddings, or
// by a model shown a menu. It asks nobody: a model's answer is given to it.
package selection

import (
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// UsesSimilarity reports whether a strategy uses an embedder. For hybrid, one that compares
// spelling finds less when joined with words (docs/selection.md); semantic has nothing else.
func UsesSimilarity(s echo.Strategy, embedder string) bool {
	return s == echo.StrategySemantic || s == echo.StrategyHybrid && !contextcards.BySpelling(embedder)
}

// Settings are what a selection is made with.
type Settings struct {
	Strategy      echo.Strategy
	MaxTokens     int64 // of the messages chosen
	MaxMessages   int   // 0: any number
	KeywordWeight float64
	RecencyWeight float64
	CalloutWeight float64
	// Threshold leaves out, by similarity, what is below this share of the most similar candidate
	// and not next to such a one. Embedders differ in their scales.
	Threshold float64
	// Prefilter makes hybrid stop before the model is asked.
	Prefilter bool
	// Why has the model say in a sentence why it chose.
	Why bool
}

// SettingsOf returns the settings of a phase.
func SettingsOf(in cascade.InterSelection) Settings {
	return Settings{
		Strategy: echo.Strategy(in.Strategy), MaxTokens: in.MaxTokens, MaxMessages: in.MaxMessages,
		KeywordWeight: in.KeywordWeight, RecencyWeight: in.RecencyWeight, CalloutWeight: in.CalloutWeight,
		Threshold: in.SimilarityThreshold,
	}
}

// Group is the unit of selection, taken whole or not at all: an assistant message with its calls
// and results, or any other message.
type Group struct {
	ID         echo.Hash // of its first message
	Items      []echo.Item
	Cards      []contextcards.Card // of those messages that are worth one, in order
	Segment    int                 // neighbours count within the same one: a visit to a phase
	Phase      string
	Tokens     int64 // in the count of the model that will be sent them
	Callout    bool
	Similarity float64 // similarity to the task, -1 to 1
	Embedded   bool    // Similarity is known
}

// Select chooses groups, given in session order, for a task; of several with the same ID at most
// one. When a model has to be asked it returns only the menu; call it again with the answer. The
// outcome depends on the arguments only.
func (x *Index) Select(task string, groups []Group, s Settings, answer *MenuAnswer) (*echo.Selected, *Menu) {
	sel := newSelected(groups, s)
	words := sel.byWords(x.relevance(task, groups))
	switch s.Strategy {
	case echo.StrategySemantic:
		return sel.bySemantic(words), nil
	case echo.StrategyHybrid, echo.StrategyLLM:
		return sel.byModel(task, words, answer)
	}
	return sel.take(sel.scored(words)), nil
}

type selected struct {
	echo.Selected
	groups   []Group
	settings Settings
}

func newSelected(groups []Group, s Settings) *selected {
	sel := &selected{groups: groups, settings: s, Selected: echo.Selected{
		Asked: s.Strategy, Strategy: s.Strategy, Candidates: len(groups), Budget: s.MaxTokens,
		Chosen: []echo.Hash{}, Scores: make([]echo.Score, len(groups)),
	}}
	for i := range groups {
		g := &groups[i]
		sel.CandidateTokens += g.Tokens
		sel.Scores[i] = echo.Score{
			ID: g.ID, Phase: g.Phase, Tokens: g.Tokens, Messages: len(g.Items), Callout: g.Callout,
			Late: slices.ContainsFunc(g.Cards, func(c contextcards.Card) bool { return c.Late }),
		}
	}
	return sel
}

func (sel *selected) note(format string, args ...any) {
	sel.Notes = append(sel.Notes, fmt.Sprintf(format, args...))
}

func (sel *selected) fits() bool {
	messages := 0
	for i := range sel.groups {
		messages += len(sel.groups[i].Items)
	}
	s := &sel.settings
	return sel.CandidateTokens <= s.MaxTokens && (s.MaxMessages <= 0 || messages <= s.MaxMessages)
}

// bySemantic takes the most similar, or falls back to words when nothing has an embedding.
func (sel *selected) bySemantic(words []place) *echo.Selected {
	similar := sel.bySimilarity(sel.settings.Threshold)
	if similar == nil && len(sel.groups) > 0 {
		sel.Strategy = echo.StrategyHeuristic
		sel.note("no embeddings: chosen by words")
		similar = words
	}
	return sel.take(sel.scored(similar))
}

// byModel has a model choose from a menu, and falls back to words and similarity.
func (sel *selected) byModel(task string, words []place, answer *MenuAnswer) (*echo.Selected, *Menu) {
	order, without := sel.prefilter(words)
	switch fits := sel.fits(); {
	case fits && sel.settings.Prefilter:
		sel.Strategy = without
		sel.note("everything fits")
		return sel.take(sel.withRest(order)), nil
	case fits:
		sel.note("everything fits: no model was asked")
		return sel.take(sel.withRest(order)), nil
	case sel.settings.Prefilter:
		sel.Strategy = without
		return sel.take(order), nil
	}
	var chosen []int
	var problem string
	offered := sel.offer(order)
	switch {
	case len(offered) == 0:
		problem = "there is nothing to choose from"
	case answer == nil:
		return nil, newMenu(task, sel.groups, offered, sel.settings)
	case answer.Failed != "":
		problem = answer.Failed
	default:
		chosen, sel.Ignored, problem = readMenu(answer.Text, offered)
		if sel.settings.Why && problem == "" {
			sel.Why = menuWhy(answer.Text)
		}
	}
	if problem != "" {
		sel.Strategy = without
		sel.note("no model chose: %s", problem)
		chosen = order
	}
	return sel.take(chosen), nil
}

func (sel *selected) prefilter(words []place) ([]int, echo.Strategy) {
	if sel.settings.Strategy != echo.StrategyHybrid {
		return sel.scored(words), echo.StrategyHeuristic
	}
	similar := sel.bySimilarity(0)
	if similar == nil {
		sel.note("no embeddings: prefiltered by words")
		return sel.scored(words), echo.StrategyHeuristic
	}
	return sel.scored(fuse(len(sel.groups), words, similar)), echo.StrategyPrefilter
}

// hybridFactor is how many times the budget hybrid shows to the model; menuMost bounds a menu.
const (
	hybridFactor = 2
	menuMost     = 200
)

// offer returns what a menu lists, in order of place: for hybrid the best within twice the budget,
// else the best that a menu holds. What is larger than the budget is not offered.
func (sel *selected) offer(order []int) []int {
	s := &sel.settings
	room := budget{
		hybridFactor * min(s.MaxTokens, math.MaxInt64/hybridFactor), hybridFactor * min(s.MaxMessages, math.MaxInt/hybridFactor), s.MaxMessages > 0,
	}
	if s.Strategy == echo.StrategyLLM {
		order, room = sel.withRest(order), budget{tokens: sel.CandidateTokens}
	}
	var out []int
	for _, i := range order {
		whole := sel.budget()
		if len(out) < menuMost && whole.fit(&sel.groups[i]) && room.fit(&sel.groups[i]) {
			out = append(out, i)
		}
	}
	if len(out) < len(sel.groups) {
		sel.note("the menu has %d of %d candidates", len(out), len(sel.groups))
	}
	slices.Sort(out)
	return out
}

// scored writes the scores of a ranking down and returns its groups, the best first.
func (sel *selected) scored(ranking []place) []int {
	order := make([]int, len(ranking))
	for k, p := range ranking {
		sel.Scores[p.group].Total = p.score
		order[k] = p.group
	}
	return order
}

// withRest appends the groups that an order leaves out, the newest first.
func (sel *selected) withRest(order []int) []int {
	in := make([]bool, len(sel.Scores))
	for _, i := range order {
		in[i] = true
	}
	for i := range slices.Backward(in) {
		if !in[i] {
			order = append(order, i)
		}
	}
	return order
}

// budget is what there is still room for.
type budget struct {
	tokens   int64
	messages int
	bounded  bool // messages counts
}

func (sel *selected) budget() budget {
	return budget{sel.settings.MaxTokens, sel.settings.MaxMessages, sel.settings.MaxMessages > 0}
}

// fit takes the room of a group when there is enough.
func (b *budget) fit(g *Group) bool {
	if g.Tokens > b.tokens || b.bounded && len(g.Items) > b.messages {
		return false
	}
	b.tokens -= g.Tokens
	b.messages -= len(g.Items)
	return true
}

// take fills the budget with the first groups of an order. What does not fit is passed over;
// smaller ones behind it may fit.
func (sel *selected) take(order []int) *echo.Selected {
	left := sel.budget()
	taken := map[echo.Hash]bool{}
	for rank, i := range order {
		g := &sel.groups[i]
		sel.Scores[i].Rank = rank + 1
		if taken[g.ID] || !left.fit(g) {
			continue
		}
		taken[g.ID], sel.Scores[i].Chosen = true, true
		sel.Used += g.Tokens
		sel.Messages += len(g.Items)
	}
	for _, s := range sel.Scores {
		if s.Chosen {
			sel.Chosen = append(sel.Chosen, s.ID)
		}
	}
	return &sel.Selected
}
