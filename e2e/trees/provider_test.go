//go:build unix

package trees

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/windlass-run/windlass/e2e/lab"
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

// provider is the server of one tree of runs: it answers by rules, late, counts what it is asked for, and springs the
// trap that is set.
type provider struct {
	*llmtest.Server
	late time.Duration // the longest time that an answer takes

	mu      sync.Mutex
	rules   []rule
	trap    *trap
	asked   map[string]int  // how often an answer was asked for, by the body's id
	settled map[string]bool // answers that were recorded when a process died
	again   []string        // that were asked for again all the same
	unknown []string        // messages that no rule is for
	account account
}

// thePrices are those of windlass.json in testdata/project.
var thePrices = &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}

func startProvider(t testing.TB, rules []rule) *provider {
	t.Helper()
	p := &provider{rules: rules, asked: map[string]int{}, settled: map[string]bool{}}
	p.Server = llmtest.Start(llmtest.Config{Key: lab.Key, Prices: thePrices, Answer: p.answer, Sent: p.sent})
	t.Cleanup(p.Close)
	return p
}

func (p *provider) answer(r llmtest.Request) *llmtest.Answer {
	text, step := place(&r)
	a := p.say(text, step)
	id, bill := llmtest.BodyID(r.Raw), p.Bill()
	a.Model = fmt.Sprintf("m%d-%.12s", r.Number, id)
	p.mu.Lock()
	p.asked[id]++
	if p.settled[id] {
		p.again = append(p.again, text)
	}
	p.account.asks(&r, bill)
	t := p.trap
	p.mu.Unlock()
	if p.late > 0 {
		time.Sleep(rand.N(p.late)) // of a model that thinks; nothing waits for it
	}
	switch t.request() {
	case trapRequest:
		t.spring()
	case trapHalf:
		a.Fault.HangAt = llmtest.AtMiddle
	}
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

func (p *provider) sent(_ llmtest.Request, whole bool) {
	p.mu.Lock()
	t := p.trap
	p.mu.Unlock()
	if !whole || t.answered() {
		t.spring()
	}
}

// set sets a trap for the process that comes next, nil for none.
func (p *provider) set(t *trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trap = t
}

// settle notes which of the answers, by their number, are recorded.
func (p *provider) settle(numbers map[int]bool) {
	bill := p.Bill()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range bill {
		if numbers[bill[i].Number] {
			p.settled[bill[i].ID] = true
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
	for _, text := range p.again {
		all = append(all, "an answer that was recorded was asked for again: "+text)
	}
	return strings.Join(all, "\n")
}
