//go:build unix

package billed

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab"
	"github.com/windlass-run/windlass/internal/crashtest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// Rule says what the model answers to a message of a user.
type Rule struct {
	When  Pattern `json:"when"`  // somewhere in the newest message of a user
	Turns []Turn  `json:"turns"` // since that message; the last one for all that follow. $1 is what a group of When found
	Fails int     `json:"fails"` // the status of an error in place of an answer
}

// Turn is an answer: in a file a text, or an object.
type Turn struct {
	Text  string `json:"text"`
	Calls []Call `json:"calls"`
}

// Call is a call of a tool.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// UnmarshalJSON reads a text or an object.
func (t *Turn) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.Text) == nil {
		return nil
	}
	type plain Turn
	return json.Unmarshal(data, (*plain)(t))
}

// Pattern is a regular expression in a file.
type Pattern struct{ *regexp.Regexp }

// UnmarshalText compiles it.
func (p *Pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile("(?s)" + string(text))
	return err
}

// Provider is the server of one tree of runs: it answers by rules, and keeps the account of its money.
type Provider struct {
	*crashtest.Server

	mu      sync.Mutex
	rules   []Rule
	unknown []string // messages that no rule is for
	account account
}

// pricesOf returns what a model's answers are charged.
func (s *Suite) pricesOf(model string) *llmtest.Prices {
	if p, ok := s.ModelPrices[model]; ok {
		return p
	}
	return s.Prices
}

func (s *Suite) startProvider(t testing.TB, rules []Rule) *Provider {
	t.Helper()
	p := &Provider{rules: rules, account: account{prices: s.pricesOf, expects: s.Expects}}
	p.Server = crashtest.Start(crashtest.Config{
		Config: llmtest.Config{Key: lab.Key, Prices: s.Prices, ModelPrices: s.ModelPrices, Cache: s.Cache, Answer: p.answer},
		Name: func(r *llmtest.Request) (id, text string) {
			text, _ = place(r)
			return llmtest.BodyID(r.Raw), text
		},
	})
	t.Cleanup(p.Close)
	return p
}

func (p *Provider) answer(r llmtest.Request) *llmtest.Answer {
	a := p.say(place(&r))
	a.Model = fmt.Sprintf("m%d-%.12s", r.Number, llmtest.BodyID(r.Raw))
	bill := p.Bill()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.account.asks(&r, bill)
	return a
}

// place returns the newest message of a user, and how many answers of the model there are since it.
func place(r *llmtest.Request) (text string, step int) {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == "user" {
			return m.Text(), step
		}
		if m.Role == "assistant" {
			step++
		}
	}
	return "", step
}

// say answers by the first rule that fits.
func (p *Provider) say(text string, step int) *llmtest.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.rules {
		r := &p.rules[i]
		found := r.When.FindStringSubmatchIndex(text)
		switch {
		case found == nil:
			continue
		case r.Fails != 0:
			return &llmtest.Answer{Fault: llmtest.Fault{Status: r.Fails, Code: "refused", Message: "the server refuses this"}}
		case len(r.Turns) == 0:
			return &llmtest.Answer{}
		}
		t := r.Turns[min(step, len(r.Turns)-1)]
		expand := func(s string) string { return string(r.When.ExpandString(nil, s, text, found)) }
		a := &llmtest.Answer{Text: expand(t.Text)}
		for n, c := range t.Calls {
			a.Calls = append(a.Calls, llmtest.Call{ID: fmt.Sprintf("call_%d_%d", step, n), Name: c.Tool, Arguments: expand(string(c.Arguments))})
		}
		return a
	}
	p.unknown = append(p.unknown, text)
	return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusBadRequest, Code: "no_rule", Message: "no rule is for: " + text}}
}

// settle notes which of the answers, by their number, are recorded.
func (p *Provider) settle(numbers map[int]bool) {
	for _, c := range p.Bill() {
		if numbers[c.Number] {
			p.Settle(c.ID)
		}
	}
}

// Wrong returns what the server has to say against the run; "": nothing.
func (p *Provider) Wrong() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []string
	if err := p.Refused(); err != nil {
		all = append(all, "the server refused a request: "+err.Error())
	}
	for _, text := range p.unknown {
		all = append(all, "no rule of the case is for the message: "+text)
	}
	for _, text := range p.Again() {
		all = append(all, "an answer that was recorded was asked for again: "+text)
	}
	return strings.Join(all, "\n")
}

// Mend replaces the rules.
func (p *Provider) Mend(rules []Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = rules
}

// When compiles a pattern; a point is any character.
func When(text string) Pattern { return Pattern{regexp.MustCompile("(?s)" + text)} }

// Says is a rule that answers with a text.
func Says(when, text string) Rule { return Rule{When: When(when), Turns: []Turn{{Text: text}}} }

// Refuses is a rule that answers with an error of the provider.
func Refuses(when string, status int) Rule { return Rule{When: When(when), Fails: status} }

// CallsTool is a rule that calls a tool, and then answers with a text.
func CallsTool(when, tool, arguments, then string) Rule {
	return Rule{When: When(when), Turns: []Turn{{Calls: []Call{{Tool: tool, Arguments: json.RawMessage(arguments)}}}, {Text: then}}}
}
