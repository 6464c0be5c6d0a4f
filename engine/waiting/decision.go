package waiting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-run/windlass/echo"
)

// What follows from a decision besides another phase.
const (
	ActionContinue = "_continue" // the run continues as without a decision
	ActionRetry    = "_retry"    // the phase runs again, with what the person says
	ActionAbort    = "_abort"    // the phase fails
)

// IsAction reports whether what follows is one of these, and no phase.
func IsAction(action string) bool {
	return action == ActionContinue || action == ActionRetry || action == ActionAbort
}

// Points says where the decisions of a phase lead.
type Points struct {
	Routing map[string]string // by the ids of options
	Targets []string          // the phases that an option of a model may lead to
	Retries int               // how often the phase may run again yet
}

// Asked is what the output of a phase asks a person to decide.
type Asked struct {
	Form    *echo.Form // nil: nothing is asked
	Rest    string     // the output without what asks
	Problem string     // why what asks cannot be read, for the model
	Spent   bool       // every option would have the phase run again, which it may not any more
}

// The marks around what asks, of which the first is one only before an object.
const (
	decisionOpen  = "<decision>"
	decisionClose = "</decision>"
)

// HowToDecide tells a model how it asks.
func (p *Points) HowToDecide() string {
	text := "When a person is to decide before the work continues, put one block into your final answer, and nothing of it anywhere else:\n" +
		decisionOpen + `{"question": "...", "context": "...", "options": [{"id": "...", "label": "...", "description": "..."}]}` + decisionClose +
		"\nAn option can say in \"action\" what follows: " + ActionContinue + " (the default), " + ActionRetry + " (you work on it again, with what the person says) or " + ActionAbort + "."
	if len(p.Targets) > 0 {
		text += " It can also be the phase that runs next: " + strings.Join(p.Targets, ", ") + "."
	}
	if ids := sortedKeys(p.Routing); len(ids) > 0 {
		text += " What follows is settled already for options with these ids: " + strings.Join(ids, ", ") + "."
	}
	return text + " With \"allow_custom\": true the person may answer in own words. Decide yourself what you can."
}

// Ask reads what a text of a model asks a person to decide.
func (p *Points) Ask(text string) Asked {
	block, rest, problem := decisionBlock(text)
	if block == "" || problem != "" {
		return Asked{Rest: text, Problem: problem}
	}
	f, problem := p.form(block)
	switch {
	case problem != "":
		return Asked{Rest: text, Problem: problem}
	case len(f.Options) == 0:
		return Asked{Rest: cmp.Or(rest, text), Spent: true}
	}
	return Asked{Form: f, Rest: cmp.Or(rest, text)}
}

// Undecided returns the output that a decision is on: a text of a model without what asks.
func Undecided(text string) string {
	if _, rest, problem := decisionBlock(text); problem == "" {
		return cmp.Or(rest, text)
	}
	return text
}

// decisionBlock returns the one block of a text, "" where it has none.
func decisionBlock(text string) (block, rest, problem string) {
	before, after, found := cutDecision(text)
	if !found {
		return "", text, ""
	}
	block, after, closed := strings.Cut(after, decisionClose)
	switch _, _, more := cutDecision(after); {
	case !closed:
		return "", "", fmt.Sprintf("The decision has no end: %s is missing.", decisionClose)
	case more:
		return "", "", "There are several decisions in the answer, and one can be asked at a time."
	}
	return block, strings.TrimSpace(strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after)), ""
}

// cutDecision cuts a text around the first mark that an object follows.
func cutDecision(text string) (before, after string, found bool) {
	for at := 0; ; {
		i := strings.Index(text[at:], decisionOpen)
		if i < 0 {
			return text, "", false
		}
		at += i + len(decisionOpen)
		if strings.HasPrefix(strings.TrimSpace(text[at:]), "{") {
			return text[:at-len(decisionOpen)], text[at:], true
		}
	}
}

func (p *Points) form(block string) (*echo.Form, string) {
	var in struct {
		Question    string
		Context     string
		Severity    string
		AllowCustom bool `json:"allow_custom"`
		Options     []json.RawMessage
	}
	if err := json.Unmarshal([]byte(block), &in); err != nil {
		return nil, fmt.Sprintf("The decision is no JSON object that can be read: %v.", err)
	}
	opts, problem := options(in.Options)
	switch {
	case problem != "":
		return nil, "The decision: " + problem
	case strings.TrimSpace(in.Question) == "":
		return nil, `The decision has no "question".`
	case len(opts) == 0 || len(opts) > MaxOptions:
		return nil, fmt.Sprintf("The decision has %d options; it needs 1 to %d.", len(opts), MaxOptions)
	}
	f := &echo.Form{Kind: echo.FormChoice, Question: in.Question, Context: in.Context, Severity: in.Severity, Custom: in.AllowCustom && p.Retries > 0, Feedback: true}
	for i, o := range opts {
		action, problem := p.action(o.ID, in.Options[i])
		switch {
		case problem != "":
			return nil, problem
		case action == ActionRetry && p.Retries <= 0:
			continue
		}
		f.Options, f.Actions = append(f.Options, o), append(f.Actions, action)
	}
	return f, ""
}

// action returns what follows from an option: what it says itself, else what the phase has for its id.
func (p *Points) action(id string, option json.RawMessage) (action, problem string) {
	var says struct{ Action string }
	_ = json.Unmarshal(option, &says) // of an option that is a text it says nothing
	action = cmp.Or(says.Action, p.Routing[id], ActionContinue)
	if says.Action != "" && !IsAction(action) && !slices.Contains(p.Targets, action) {
		return "", fmt.Sprintf("The option %q of the decision leads to %q. What can follow: %s.", id, action, strings.Join(append([]string{ActionContinue, ActionRetry, ActionAbort}, p.Targets...), ", "))
	}
	return action, ""
}

// Chosen returns what follows from the answer to a decision. Words of a person's own have the phase run again.
func Chosen(f *echo.Form, value any) (choice, feedback, action string) {
	choice, _ = value.(string)
	if m, ok := value.(map[string]any); ok {
		choice, _ = m["choice"].(string)
		feedback, _ = m["feedback"].(string)
	}
	at := slices.IndexFunc(f.Options, func(o echo.Option) bool { return o.ID == choice })
	switch {
	case at < 0:
		return choice, cmp.Or(feedback, choice), ActionRetry
	case at >= len(f.Actions):
		return choice, feedback, ActionContinue
	}
	return choice, feedback, f.Actions[at]
}

// checkFeedback returns an answer in which words go with an option.
func checkFeedback(f *echo.Form, value map[string]any) (any, error) {
	for name := range value {
		if name != "choice" && name != "feedback" {
			return nil, &FormError{Why: fmt.Sprintf(`a decision has no %q: the answer is {"choice": "...", "feedback": "..."}`, name)}
		}
	}
	choice, err := chosen(f.Options, f.Custom, value["choice"])
	if err != nil {
		return nil, err
	}
	switch s, ok := value["feedback"].(string); {
	case !ok && value["feedback"] != nil || len(s) > MaxText:
		return nil, &FormError{Why: fmt.Sprintf(`"feedback" is a text of at most %d bytes`, MaxText)}
	case strings.TrimSpace(s) != "":
		return map[string]any{"choice": choice, "feedback": strings.ToValidUTF8(s, "\uFFFD")}, nil
	}
	return choice, nil
}

// Decided says in words what a person has decided.
func Decided(f *echo.Form, choice, feedback string) string {
	label := choice
	if i := slices.IndexFunc(f.Options, func(o echo.Option) bool { return o.ID == choice }); i >= 0 {
		label = cmp.Or(f.Options[i].Label, choice)
	}
	if feedback == "" || feedback == choice {
		return label
	}
	return label + "\n" + feedback
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
