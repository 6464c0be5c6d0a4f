//go:build unix

package trees

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

// rule says what the model answers to a message of a user.
type rule struct {
	When  pattern `json:"when"`  // somewhere in the newest message of a user
	Turns []turn  `json:"turns"` // since that message; the last one for all that follow. $1 is what a group of When found
	Fails int     `json:"fails"` // the status of an error in place of an answer
}

// turn is an answer: in a file a text, or an object.
type turn struct {
	Text  string `json:"text"`
	Calls []call `json:"calls"`
}

type call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
}

// UnmarshalJSON reads a text or an object.
func (t *turn) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &t.Text) == nil {
		return nil
	}
	type plain turn
	return json.Unmarshal(data, (*plain)(t))
}

// pattern is a regular expression in a file.
type pattern struct{ *regexp.Regexp }

// UnmarshalText compiles it.
func (p *pattern) UnmarshalText(text []byte) (err error) {
	p.Regexp, err = regexp.Compile("(?s)" + string(text))
	return err
}

// provider is the server of one tree of runs: it answers by rules, and keeps the account of its money.
type provider struct {
	*crashtest.Server

	mu      sync.Mutex
	rules   []rule
	unknown []string // messages that no rule is for
	account account
}

// thePrices are those of windlass.json in testdata/project.
var thePrices = &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}

func startProvider(t testing.TB, rules []rule) *provider {
	t.Helper()
	p := &provider{rules: rules}
	p.Server = crashtest.Start(crashtest.Config{
		Config: llmtest.Config{Key: lab.Key, Prices: thePrices, Answer: p.answer},
		Name: func(r *llmtest.Request) (id, text string) {
			text, _ = place(r)
			return llmtest.BodyID(r.Raw), text
		},
	})
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(r llmtest.Request) *llmtest.Answer {
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
func (p *provider) say(text string, step int) *llmtest.Answer {
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
func (p *provider) settle(numbers map[int]bool) {
	for _, c := range p.Bill() {
		if numbers[c.Number] {
			p.Settle(c.ID)
		}
	}
}

// wrong returns what the server has to say against the run; "": nothing.
func (p *provider) wrong() string {
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
