package autocontext

import (
	"fmt"
	"math"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// UsesSimilarity reports whether a strategy makes use of what an embedder of this name says of
// groups. Words find what is spelled alike by themselves, and more of it: joined with a ranking by
// spelling they find less (docs/selection.md). So hybrid does without it, while semantic has
// nothing else.
func UsesSimilarity(s echo.Strategy, embedder string) bool {
	return s == echo.StrategySemantic || s == echo.StrategyHybrid && !contextcards.BySpelling(embedder)
}

// SelectSettings are what a selection is made with.
type SelectSettings struct {
	Strategy      echo.Strategy
	MaxTokens     int64 // of the messages chosen
	MaxMessages   int   // 0: any number
	KeywordWeight float64
	RecencyWeight float64
	CalloutWeight float64
	// Threshold leaves out, in a selection by similarity, what is less similar to the task than
	// this share of the most similar candidate and not next to such a one: embedders differ in what
	// they call similar, so only the proportion means something.
	Threshold float64
	// Prefilter makes hybrid stop before the model is asked.
	Prefilter bool
}

// SelectSettingsOf returns the settings of a phase.
func SelectSettingsOf(in cascade.InterSelection) SelectSettings {
	return SelectSettings{
		Strategy: echo.Strategy(in.Strategy), MaxTokens: in.MaxTokens, MaxMessages: in.MaxMessages,
		KeywordWeight: in.KeywordWeight, RecencyWeight: in.RecencyWeight, CalloutWeight: in.CalloutWeight,
		Threshold: in.SimilarityThreshold,
	}
}

// Group is the unit of selection: an assistant message with its tool calls and their results, or
// any other message by itself. It is taken whole or not at all.
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

// Select is [Index.Select] with an index that has seen nothing yet.
func Select(task string, groups []Group, s SelectSettings, answer *MenuAnswer) (*echo.Selected, *Menu) {
	return NewIndex().Select(task, groups, s, answer)
}

// Select chooses groups for a task. Groups come in the order of their places in the session; of
// several with the same ID at most one is chosen. With a strategy that asks a model, and no answer
// yet, it returns the menu to ask with and nothing else; call it again with the answer. What it
// chooses depends on nothing but its arguments.
func (x *Index) Select(task string, groups []Group, s SelectSettings, answer *MenuAnswer) (*echo.Selected, *Menu) {
	sel := newSelected(groups, s)
	words := sel.byWords(x.relevance(task, groups), groups, s)
	switch s.Strategy {
	case echo.StrategySemantic:
		return sel.bySemantic(groups, words, s), nil
	case echo.StrategyHybrid, echo.StrategyLLM:
		return sel.byModel(task, groups, words, s, answer)
	}
	return sel.take(groups, sel.scored(words), s), nil
}

// selected is the outcome of a selection while it is made.
type selected struct{ echo.Selected }

// newSelected describes the candidates.
func newSelected(groups []Group, s SelectSettings) *selected {
	sel := &selected{echo.Selected{
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

// fits reports whether all candidates together are within the budget.
func (sel *selected) fits(groups []Group, s SelectSettings) bool {
	messages := 0
	for i := range groups {
		messages += len(groups[i].Items)
	}
	return sel.CandidateTokens <= s.MaxTokens && (s.MaxMessages <= 0 || messages <= s.MaxMessages)
}

// bySemantic takes what is nearest in meaning, or falls back to words when nothing has an
// embedding.
func (sel *selected) bySemantic(groups []Group, words []place, s SelectSettings) *echo.Selected {
	meant := sel.bySimilarity(groups, s.Threshold)
	if meant == nil && len(groups) > 0 {
		sel.Strategy = echo.StrategyHeuristic
		sel.note("no embeddings: chosen by words")
		meant = words
	}
	return sel.take(groups, sel.scored(meant), s)
}

// byModel has a model choose from a menu, and falls back to what words and meaning choose.
func (sel *selected) byModel(task string, groups []Group, words []place, s SelectSettings, answer *MenuAnswer) (*echo.Selected, *Menu) {
	order, without := sel.prefilter(groups, words, s)
	if sel.fits(groups, s) {
		sel.note("everything fits: no model was asked")
		return sel.take(groups, sel.withRest(order), s), nil
	}
	if s.Prefilter {
		sel.Strategy = without
		return sel.take(groups, order, s), nil
	}
	var chosen []int
	var problem string
	offered := sel.offer(groups, order, s)
	switch {
	case len(offered) == 0:
		problem = "there is nothing to choose from"
	case answer == nil:
		return nil, newMenu(task, groups, offered, s)
	case answer.Failed != "":
		problem = answer.Failed
	default:
		chosen, sel.Ignored, problem = readMenu(answer.Text, offered)
	}
	if problem != "" {
		sel.Strategy = without
		sel.note("no model chose: %s", problem)
		chosen = order
	}
	return sel.take(groups, chosen, s), nil
}

// prefilter ranks groups without a model, and says which strategy that is.
func (sel *selected) prefilter(groups []Group, words []place, s SelectSettings) ([]int, echo.Strategy) {
	if s.Strategy != echo.StrategyHybrid {
		return sel.scored(words), echo.StrategyHeuristic
	}
	meant := sel.bySimilarity(groups, 0)
	if meant == nil {
		sel.note("no embeddings: prefiltered by words")
		return sel.scored(words), echo.StrategyHeuristic
	}
	return sel.scored(fuse(len(groups), words, meant)), echo.StrategyPrefilter
}

// hybridFactor is how many times the budget hybrid shows to the model; menuMost bounds a menu.
const (
	hybridFactor = 2
	menuMost     = 200
)

// offer returns what a menu lists, in the order of places: for hybrid the best within twice the
// budget, else everything, the best of them when that is too much. What is larger than the budget
// cannot be chosen and is not offered.
func (sel *selected) offer(groups []Group, order []int, s SelectSettings) []int {
	room := newBudget(hybridFactor*min(s.MaxTokens, math.MaxInt64/hybridFactor), hybridFactor*min(s.MaxMessages, math.MaxInt/hybridFactor))
	if s.Strategy == echo.StrategyLLM {
		order, room = sel.withRest(order), newBudget(sel.CandidateTokens, 0)
	}
	var out []int
	for _, i := range order {
		whole := newBudget(s.MaxTokens, s.MaxMessages)
		if len(out) < menuMost && whole.fit(&groups[i]) && room.fit(&groups[i]) {
			out = append(out, i)
		}
	}
	if len(out) < len(groups) {
		sel.note("the menu has %d of %d candidates", len(out), len(groups))
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
	for i := len(in) - 1; i >= 0; i-- {
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

// newBudget returns a budget; 0 messages: any number.
func newBudget(tokens int64, messages int) budget {
	return budget{tokens: tokens, messages: messages, bounded: messages > 0}
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

// take fills the budget with the first groups of an order. What does not fit is passed over,
// smaller ones behind it may fit.
func (sel *selected) take(groups []Group, order []int, s SelectSettings) *echo.Selected {
	left := newBudget(s.MaxTokens, s.MaxMessages)
	taken := map[echo.Hash]bool{}
	for rank, i := range order {
		g := &groups[i]
		sel.Scores[i].Rank = rank + 1
		if taken[g.ID] || !left.fit(g) {
			continue
		}
		taken[g.ID], sel.Scores[i].Chosen = true, true
		sel.Used += g.Tokens
		sel.Messages += len(g.Items)
	}
	for i := range sel.Scores {
		if sel.Scores[i].Chosen {
			sel.Chosen = append(sel.Chosen, sel.Scores[i].ID)
		}
	}
	return &sel.Selected
}
