package form

import (
	"slices"

	"github.com/windlass-run/windlass/internal/term"
)

// Hearer is a phase that runs and hears what a person says.
type Hearer struct {
	Phase   string
	Retries bool // a person may take its newest answer back
}

// Said is what a person says to a run.
type Said struct {
	Text  string
	Phase string // that is meant; "": whichever comes first
	Retry bool   // its newest answer is taken back
}

// NewAudible returns the form in which a person says something to a run. phases are those that run and hear it.
func NewAudible(phases []Hearer) *Form {
	return begin(&Form{
		title: "› Say something to the model", body: tellsWhen,
		words: wording{answers: "says it", leaves: "says nothing"}, plan: audible(phases),
	})
}

func tellsWhen(width int, _ func(term.Colour, string) string) []string {
	return wrap("It is told before its next turn. The run goes on meanwhile.", width)
}

// Said returns what was said, when the state of the form of [NewAudible] is Answered.
func (f *Form) Said() Said {
	s, _ := f.plan.answer(f.values(len(f.parts))).Value.(Said)
	return s
}

// Unsaid returns the words that are in the form of [NewAudible].
func (f *Form) Unsaid() string {
	text, _ := f.parts[0].input.value().(string)
	return text
}

// audible asks for the words, for the phase where there are several, and whether the newest answer is taken back where
// the phase allows it.
func audible(phases []Hearer) plan {
	several := len(phases) > 1
	meant := func(values []any) string {
		if !several || len(values) < 2 {
			return ""
		}
		phase, _ := values[1].(string)
		return phase
	}
	retries := func(values []any) bool {
		return slices.ContainsFunc(phases, func(h Hearer) bool {
			phase := meant(values)
			return h.Retries && (phase == "" || phase == h.Phase)
		})
	}
	return plan{
		next: func(values []any) *part {
			switch n := len(values); {
			case n == 0 && (several || retries(nil)):
				return &part{input: &editor{}, enter: "goes on"}
			case n == 0:
				return &part{input: &editor{}}
			case n == 1 && several:
				return whichPhase(phases, values[0])
			case (n == 1 || several && n == 2) && retries(values):
				return takenBack(values[0])
			}
			return nil
		},
		answer: func(values []any) Answer {
			s := Said{Phase: meant(values)}
			s.Text, _ = values[0].(string)
			s.Retry, _ = values[len(values)-1].(bool)
			return Answer{Value: s}
		},
	}
}

func whichPhase(phases []Hearer, words any) *part {
	items := []item{{value: "", label: "whichever asks its model next"}}
	for _, h := range phases {
		items = append(items, item{value: h.Phase, label: h.Phase})
	}
	p := &part{name: "Which phase is told?", input: newPicker(items, false), lines: quoted(words)}
	if slices.ContainsFunc(phases, func(h Hearer) bool { return h.Retries }) {
		p.enter = "goes on"
	}
	return p
}

func takenBack(words any) *part {
	return &part{name: "Is the newest answer taken back?", input: newPicker([]item{
		{value: false, label: "no, it stays", hot: 'n'}, {value: true, label: "yes: the model is not sent it again, and answers anew", hot: 'y'},
	}, false), lines: quoted(words)}
}

// quoted shows the words that are about to be said.
func quoted(words any) func(width int, paint func(term.Colour, string) string) []string {
	text, _ := words.(string)
	return func(width int, paint func(term.Colour, string) string) []string {
		out := wrap(text, width-2)
		for i := range out {
			out[i] = paint(term.Cyan, "│ ") + out[i]
		}
		return out
	}
}
