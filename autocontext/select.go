package autocontext

import (
	"cmp"
	"slices"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Strategy is a way to choose what a phase gets from earlier ones.
type Strategy string

// The strategies, the cheaper first: a strategy that fails falls back to the one before it.
const (
	StrategyHeuristic Strategy = "heuristic" // by words, with recency and callouts
	StrategySemantic  Strategy = "semantic"  // by meaning: similarity of embeddings
	StrategyLLM       Strategy = "llm"       // a model chooses from a menu of summaries
	StrategyHybrid    Strategy = "hybrid"    // words and meaning choose twice the budget, then a model
)

// SelectSettings are what a selection is made with.
type SelectSettings struct {
	Strategy      Strategy
	MaxTokens     int64 // of the messages chosen
	MaxMessages   int
	KeywordWeight float64
	RecencyWeight float64
	CalloutWeight float64
	// Threshold leaves out, in a selection by meaning, what is less similar to the task than this share of the most similar
	// candidate: embedders differ in what they call similar, so only the proportion means something.
	Threshold float64
	// Prefilter makes hybrid stop before the model is asked.
	Prefilter bool
}

// Group is the unit of selection: an assistant message with its tool calls and their results, or any other message by
// itself. It is taken whole or not at all.
type Group struct {
	ID       echo.Hash // of its first message
	Items    []echo.Item
	Cards    []contextcards.Card // of those messages that are worth one, in order
	Segment  int                 // neighbours count within the same one: a visit to a phase
	Phase    string
	Tokens   int64 // in the count of the model that will be sent them
	Callout  bool
	Meaning  float64 // similarity to the task, -1 to 1
	Embedded bool    // Meaning is known
}

// text is what a group is found by.
func (g *Group) text() string {
	var b []byte
	for _, c := range g.Cards {
		b = append(b, c.Summary...)
		for _, k := range c.Keywords {
			b = append(append(b, ' '), k...)
		}
		b = append(b, '\n')
	}
	return string(b)
}

// Score says how a group came to its place.
type Score struct {
	ID       echo.Hash `json:"id"`
	Phase    string    `json:"phase"`
	Tokens   int64     `json:"tokens"`
	Messages int       `json:"messages"`
	Keyword  float64   `json:"keyword"` // relevance by words, 0 to 1, neighbours included
	Recency  float64   `json:"recency"` // 0 to 1
	Callout  bool      `json:"callout,omitempty"`
	Meaning  *float64  `json:"meaning,omitempty"` // similarity, neighbours included, as a share of the best
	Total    float64   `json:"total"`
	Rank     int       `json:"rank"` // from 1; 0: not a candidate for the budget at all
	Chosen   bool      `json:"chosen"`
	Late     bool      `json:"late,omitempty"` // its card was not ready: extracted
}

// Selected is the outcome of a selection. It is plain data: journaled as it is, and with the session's history it
// determines what is injected.
type Selected struct {
	Asked    Strategy `json:"asked"`
	Strategy Strategy `json:"strategy"` // that was used
	Notes    []string `json:"notes,omitempty"`
	Ignored  []string `json:"ignored,omitempty"` // ids that the model gave and that mean nothing

	Candidates      int   `json:"candidates"`
	CandidateTokens int64 `json:"candidate_tokens"` // what sending all of them would take
	Budget          int64 `json:"budget"`
	Used            int64 `json:"used"`
	Messages        int   `json:"messages"`

	Chosen []echo.Hash `json:"chosen"` // groups, in the order of their places in the session
	Scores []Score     `json:"scores"` // of every candidate, in that order
}

// Select chooses groups for a task. Groups come in the order of their places in the session. With a strategy that asks a
// model it returns the menu to ask with; call it again with the answer. It is a pure function.
func Select(task string, groups []Group, s SelectSettings, answer *MenuAnswer) (*Selected, *Menu) {
	sel := &Selected{Asked: s.Strategy, Strategy: s.Strategy, Candidates: len(groups), Budget: s.MaxTokens}
	sel.Scores = make([]Score, len(groups))
	fits := true
	for i := range groups {
		g := &groups[i]
		sel.CandidateTokens += g.Tokens
		sel.Messages += len(g.Items)
		sel.Scores[i] = Score{ID: g.ID, Phase: g.Phase, Tokens: g.Tokens, Messages: len(g.Items), Callout: g.Callout}
		for _, c := range g.Cards {
			sel.Scores[i].Late = sel.Scores[i].Late || c.Late
		}
	}
	fits = sel.CandidateTokens <= s.MaxTokens && sel.Messages <= s.MaxMessages
	sel.Messages = 0
	words := byWords(task, groups, s, sel.Scores)
	if (s.Strategy == StrategyHybrid || s.Strategy == StrategyLLM) && fits {
		sel.note("everything fits: no model was asked")
		return sel.take(groups, all(len(groups)), s), nil
	}
	switch s.Strategy {
	case StrategySemantic:
		return sel.bySemantic(groups, words, s), nil
	case StrategyHybrid, StrategyLLM:
		return sel.byModel(task, groups, words, s, answer)
	}
	return sel.take(groups, words, s), nil
}

func (sel *Selected) note(text string) { sel.Notes = append(sel.Notes, text) }

func all(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// bySemantic takes what is nearest in meaning, or falls back to words when nothing has an embedding.
func (sel *Selected) bySemantic(groups []Group, words []int, s SelectSettings) *Selected {
	ranked := byMeaning(groups, s.Threshold, sel.Scores)
	if ranked == nil && len(groups) > 0 {
		sel.Strategy = StrategyHeuristic
		sel.note("no embeddings: chosen by words")
		return sel.take(groups, words, s)
	}
	return sel.take(groups, ranked, s)
}

// byModel has a model choose from a menu, and falls back to what words and meaning choose.
func (sel *Selected) byModel(task string, groups []Group, words []int, s SelectSettings, answer *MenuAnswer) (*Selected, *Menu) {
	ranked := words
	if s.Strategy == StrategyHybrid {
		if meant := byMeaning(groups, 0, sel.Scores); meant != nil {
			ranked = fuse(words, meant)
		} else {
			sel.note("no embeddings: prefiltered by words")
		}
	}
	if s.Prefilter {
		return sel.take(groups, ranked, s), nil
	}
	offered := within(groups, ranked, hybridFactor*s.MaxTokens, menuMost)
	if s.Strategy == StrategyLLM {
		offered = within(groups, rest(ranked, len(groups)), 0, menuMost)
	}
	switch {
	case answer == nil:
		return nil, newMenu(task, groups, offered, s)
	case answer.Failed != "":
		sel.fall(ranked, s.Strategy, "the model could not choose: "+answer.Failed)
		return sel.take(groups, ranked, s), nil
	}
	chosen, ignored, problem := readMenu(answer.Text, groups, offered)
	sel.Ignored = ignored
	if problem != "" {
		sel.fall(ranked, s.Strategy, "the model's choice could not be used: "+problem)
		return sel.take(groups, ranked, s), nil
	}
	return sel.take(groups, chosen, s), nil
}

// hybridFactor is how many times the budget hybrid shows to the model; menuMost bounds a menu.
const (
	hybridFactor = 2
	menuMost     = 200
)

func (sel *Selected) fall(_ []int, from Strategy, why string) {
	sel.Strategy = StrategyHeuristic
	if from == StrategyHybrid {
		sel.Strategy = StrategySemantic
	}
	sel.note(why)
}

// rest appends what a ranking leaves out, in order.
func rest(ranked []int, n int) []int {
	in := make([]bool, n)
	for _, i := range ranked {
		in[i] = true
	}
	out := slices.Clone(ranked)
	for i := range n {
		if !in[i] {
			out = append(out, i)
		}
	}
	return out
}

// within takes the best of a ranking up to a number of tokens (0: any) and of groups, in the order of their places.
func within(groups []Group, ranked []int, tokens int64, most int) []int {
	var out []int
	var used int64
	for _, i := range ranked {
		if tokens > 0 && used+groups[i].Tokens > tokens || len(out) == most {
			continue
		}
		used += groups[i].Tokens
		out = append(out, i)
	}
	slices.Sort(out)
	return out
}

// take fills the budget with the best of a ranking. What does not fit is passed over, smaller ones behind it may fit.
func (sel *Selected) take(groups []Group, ranked []int, s SelectSettings) *Selected {
	var picked []int
	for rank, i := range ranked {
		sel.Scores[i].Rank = rank + 1
		g := &groups[i]
		if sel.Used+g.Tokens > s.MaxTokens || sel.Messages+len(g.Items) > s.MaxMessages {
			continue
		}
		sel.Used += g.Tokens
		sel.Messages += len(g.Items)
		sel.Scores[i].Chosen = true
		picked = append(picked, i)
	}
	slices.Sort(picked)
	sel.Chosen = []echo.Hash{}
	for _, i := range picked {
		sel.Chosen = append(sel.Chosen, groups[i].ID)
	}
	return sel
}

// byScore orders indices by a score, the higher first; of equal ones the newer.
func byScore(indices []int, score func(int) float64) []int {
	slices.SortFunc(indices, func(a, b int) int { return cmp.Or(cmp.Compare(score(b), score(a)), cmp.Compare(b, a)) })
	return indices
}
