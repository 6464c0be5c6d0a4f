package locomo

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// Method is a way to choose that is measured.
type Method struct {
	Strategy echo.Strategy         // heuristic, semantic or hybrid: of hybrid, what it chooses before a model is asked
	Embedder contextcards.Embedder // nil for heuristic
}

// usesSimilarity reports whether the embedder has a part in it.
func (m Method) usesSimilarity() bool {
	return m.Embedder != nil && selection.UsesSimilarity(m.Strategy, m.Embedder.Name())
}

// Bench says what is measured. It is read only while it runs.
type Bench struct {
	Methods  []Method
	Budgets  []int64            // tokens
	Settings selection.Settings // strategy and budget are set by the bench
}

// Choice is what one method chose for one question under one budget.
type Choice struct {
	Budget int64    `json:"budget"`
	Tokens int64    `json:"tokens"` // of what was chosen
	Recall float64  `json:"recall"`
	Turns  []string `json:"turns"`               // ids, in their order
	Fell   bool     `json:"fell_back,omitempty"` // nothing was known of the question's meaning: chosen by words
}

// Outcome is what became of one conversation: a list of choices for each question, by method, then by budget.
type Outcome struct {
	Conversation *Conversation
	Choices      [][]Choice
}

// Run measures conversations, as many at a time as there are processors, and tells of each that is done, from any
// goroutine. Outcomes are in the order of the conversations. It ends with the first error.
func (b *Bench) Run(ctx context.Context, all []*Conversation, done func()) ([]*Outcome, error) {
	out := make([]*Outcome, len(all))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range all {
		g.Go(func() error {
			o, err := b.one(ctx, c)
			out[i] = o
			if err == nil {
				done()
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return out, nil
}

// one measures one conversation. Each embedder embeds it once.
func (b *Bench) one(ctx context.Context, c *Conversation) (*Outcome, error) {
	out := &Outcome{Conversation: c, Choices: make([][]Choice, len(c.Questions))}
	x := selection.NewIndex()
	laid := map[string]*candidates{}
	for i, m := range b.Methods {
		cand := laid[m.embedder()]
		if cand == nil {
			var err error
			if cand, err = lay(ctx, c, m.Embedder); err != nil {
				return nil, err
			}
			laid[m.embedder()] = cand
		}
		for q := range c.Questions {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			cand.compare(ctx, q, m)
			for _, budget := range b.Budgets {
				sel, _ := x.Select(c.Questions[q].Text, cand.groups, b.settings(i, budget), nil)
				choice := chosen(c, &c.Questions[q], sel)
				choice.Fell = m.usesSimilarity() && sel.Strategy == echo.StrategyHeuristic
				out.Choices[q] = append(out.Choices[q], choice)
			}
		}
	}
	return out, nil
}

func (b *Bench) settings(m int, budget int64) selection.Settings {
	s := b.Settings
	s.Strategy, s.MaxTokens, s.Prefilter = b.Methods[m].Strategy, budget, true
	return s
}

// chosen says what a selection found.
func chosen(c *Conversation, q *Question, sel *echo.Selected) Choice {
	out := Choice{Budget: sel.Budget, Tokens: sel.Used, Turns: []string{}}
	for i := range sel.Scores {
		if sel.Scores[i].Chosen {
			out.Turns = append(out.Turns, c.Turns[i].ID)
		}
	}
	found := 0
	for _, e := range q.Evidence {
		if sel.Scores[e].Chosen {
			found++
		}
	}
	out.Recall = float64(found) / float64(len(q.Evidence))
	return out
}
