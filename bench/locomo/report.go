package locomo

import (
	"maps"
	"slices"

	"github.com/windlass-run/windlass/echo"
)

// Report is what was measured, in the shape of --json.
type Report struct {
	Conversations int             `json:"conversations"`
	Turns         int             `json:"turns"`
	Questions     int             `json:"questions"`
	NoEvidence    int             `json:"questions_without_evidence"` // left out
	Unknown       []string        `json:"unknown_evidence,omitempty"` // ids of evidence that no turn has: left out
	Budgets       []int64         `json:"budgets"`
	MaxMessages   int             `json:"max_messages"` // 0: any number
	Methods       []*MethodReport `json:"methods"`
	Asked         []Asked         `json:"asked"`
}

// MethodReport is how well one method did. Recalls are means over questions, one for each budget.
type MethodReport struct {
	Strategy   echo.Strategy    `json:"strategy"`
	Embedder   string           `json:"embedder,omitempty"`
	Recall     []float64        `json:"recall"`
	Tokens     []float64        `json:"tokens"`              // used, the mean
	FellBack   int              `json:"fell_back,omitempty"` // questions without a vector: chosen by words
	Categories []CategoryReport `json:"categories"`
}

// CategoryReport is how well a method did with the questions of one category.
type CategoryReport struct {
	Category  Category  `json:"category"`
	Name      string    `json:"name"`
	Questions int       `json:"questions"`
	Recall    []float64 `json:"recall"`
}

// Asked is one question with what each method chose for it.
type Asked struct {
	Conversation string         `json:"conversation"`
	Number       int            `json:"number"` // in the conversation, from 1
	Question     string         `json:"question"`
	Category     Category       `json:"category"`
	Evidence     []string       `json:"evidence"`
	Methods      []MethodChoice `json:"methods"`
}

// MethodChoice is what one method chose for one question.
type MethodChoice struct {
	Strategy echo.Strategy `json:"strategy"`
	Embedder string        `json:"embedder,omitempty"`
	Choices  []Choice      `json:"choices"` // one for each budget
}

// Report puts outcomes together.
func (b *Bench) Report(outcomes []*Outcome) *Report {
	r := &Report{Conversations: len(outcomes), Budgets: b.Budgets, MaxMessages: b.Settings.MaxMessages, Asked: []Asked{}}
	sums := make([]tally, len(b.Methods))
	for i := range sums {
		sums[i] = newTally(len(b.Budgets))
	}
	for _, o := range outcomes {
		r.Turns += len(o.Conversation.Turns)
		r.Questions += len(o.Conversation.Questions)
		r.NoEvidence += o.Conversation.NoEvidence
		r.Unknown = append(r.Unknown, o.Conversation.Unknown...)
		for q := range o.Conversation.Questions {
			r.Asked = append(r.Asked, b.asked(o, q, sums))
		}
	}
	for m := range b.Methods {
		r.Methods = append(r.Methods, b.methodReport(m, &sums[m]))
	}
	return r
}

// asked tells of one question and adds its choices to the sums of their methods.
func (b *Bench) asked(o *Outcome, q int, sums []tally) Asked {
	c, question := o.Conversation, &o.Conversation.Questions[q]
	out := Asked{Conversation: c.ID, Number: question.Number, Question: question.Text, Category: question.Category}
	for _, e := range question.Evidence {
		out.Evidence = append(out.Evidence, c.Turns[e].ID)
	}
	for m := range b.Methods {
		choices := o.Choices[q][m*len(b.Budgets) : (m+1)*len(b.Budgets)]
		sums[m].add(question.Category, choices)
		out.Methods = append(out.Methods, MethodChoice{
			Strategy: b.Methods[m].Strategy, Embedder: b.Methods[m].embedder(), Choices: choices,
		})
	}
	return out
}

func (m Method) embedder() string {
	if m.Embedder == nil {
		return ""
	}
	return m.Embedder.Name()
}

// tally adds up what a method did.
type tally struct {
	questions  map[Category]int
	recall     map[Category][]float64
	tokens     []float64
	all, fells int
}

func newTally(budgets int) tally {
	return tally{questions: map[Category]int{}, recall: map[Category][]float64{}, tokens: make([]float64, budgets)}
}

func (t *tally) add(c Category, choices []Choice) {
	t.all++
	t.questions[c]++
	if t.recall[c] == nil {
		t.recall[c] = make([]float64, len(choices))
	}
	for i := range choices {
		t.recall[c][i] += choices[i].Recall
		t.tokens[i] += float64(choices[i].Tokens)
	}
	if len(choices) > 0 && choices[0].Fell {
		t.fells++
	}
}

func (b *Bench) methodReport(m int, t *tally) *MethodReport {
	out := &MethodReport{
		Strategy: b.Methods[m].Strategy, Embedder: b.Methods[m].embedder(), FellBack: t.fells,
		Recall: make([]float64, len(b.Budgets)), Tokens: over(t.tokens, t.all), Categories: []CategoryReport{},
	}
	for _, c := range slices.Sorted(maps.Keys(t.questions)) {
		for i, sum := range t.recall[c] {
			out.Recall[i] += sum
		}
		out.Categories = append(out.Categories, CategoryReport{
			Category: c, Name: c.String(), Questions: t.questions[c], Recall: over(t.recall[c], t.questions[c]),
		})
	}
	out.Recall = over(out.Recall, t.all)
	return out
}

// over divides sums by a number, which may be 0 when the sums are.
func over(sums []float64, n int) []float64 {
	out := make([]float64, len(sums))
	for i, s := range sums {
		out[i] = s / float64(max(n, 1))
	}
	return out
}
