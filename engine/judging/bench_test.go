package judging

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// testBundle is a bench with a real record and a judge made of a function: what a test sets up and then looks at.
type testBundle struct {
	t      *testing.T
	judge  judgeFunc
	facts  map[string]effect.ModelFacts
	budget cascade.Budget
	render func(field, source string, more map[string]any) (string, error)
	order  func(n int) []int // in which branches run
	seed   string
	mask   effect.Mask
	person func(f *echo.Form) *echo.Answer // answers waits; nil: nobody does

	mu       sync.Mutex
	entries  []*echo.Entry
	requests []*effect.ModelRequest
	place    *core.Place
	account  *core.Account
}

// judgeFunc is a judge: what it replies to what it sees.
type judgeFunc func(seen paper) (reply string, err error)

// paper is a request as a judge sees it.
type paper struct {
	req    *effect.ModelRequest
	system string
	user   string
	mark   string
	task   string
	labels []string
	texts  []string // of the answers, by labels
}

func setup(t *testing.T, judge judgeFunc) *testBundle {
	t.Helper()
	return &testBundle{t: t, judge: judge, seed: "s1 p"}
}

var markIn = regexp.MustCompile(`the mark ([0-9a-f]{16})`)

func read(req *effect.ModelRequest) paper {
	p := paper{req: req, system: req.Messages[0].Text()}
	for i, m := range req.Messages[1:] {
		p.user += strings.Repeat("\n\n", min(i, 1)) + m.Text()
	}
	p.mark = markIn.FindStringSubmatch(p.system)[1]
	rest := p.user
	for {
		_, after, ok := strings.Cut(rest, "<<<"+p.mark+" ")
		if !ok {
			return p
		}
		label, body, _ := strings.Cut(after, "\n")
		text, next, _ := strings.Cut(body, "\n"+p.mark+" "+label+">>>")
		if rest = next; label == "task" {
			p.task = text
			continue
		}
		p.labels, p.texts = append(p.labels, label), append(p.texts, text)
	}
}

// label returns the label of the answer that has a text; "" when there is none.
func (p paper) label(text string) string {
	for i, t := range p.texts {
		if strings.Contains(t, text) {
			return p.labels[i]
		}
	}
	return ""
}

// names replies with the label of the answer that has a text.
func names(text string) judgeFunc {
	return func(p paper) (string, error) { return verdict(p.label(text)), nil }
}

func verdict(label string) string {
	return string(effect.MustJSON(map[string]string{"why": "so it is", "winner": label}))
}

func namesFirst(p paper) (string, error) { return verdict(p.labels[0]), nil }

func says(reply string) judgeFunc { return func(paper) (string, error) { return reply, nil } }

const callCost = 0.01

func (b *testBundle) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	reply, err := b.judge(read(req))
	if err != nil {
		return nil, err
	}
	b.requests = append(b.requests, req)
	m := echo.NewText(echo.RoleAssistant, echo.KindAnswer, reply)
	resp := &effect.ModelResponse{Message: m, Provider: "fake", Model: req.Model, FinishReason: "stop", Usage: echo.Usage{In: 100, Out: 10}}
	if req.Model != "free" {
		resp.CostUSD = new(callCost)
	}
	return resp, nil
}

// begin prepares a run that has a recording; without a log it is a replay.
func (b *testBundle) begin(recording []*echo.Entry, log *echo.Log) {
	mask := cmp.Or[effect.Mask](b.mask, effect.NoMask{})
	o := effect.Options{Log: log, Recording: recording, Mask: mask}
	if log != nil {
		o.Effects = effect.NewLive(b, nil, effect.Writer{Log: log, Mask: mask}, b.now).Answers(b)
	}
	rec := &core.Recorder{Recorder: effect.NewRecorder(o), Cascade: "c", Rules: core.Rules, Mask: mask, Observer: &core.Watcher{}}
	b.place = &core.Place{Site: effect.Site{Cascade: "c", Phase: "p", Visit: 1}, Key: echo.PhaseKey("p", 1), Rec: rec}
	facts := func(model string) effect.ModelFacts { return b.facts[model] }
	b.account = &core.Account{
		Ledger: budget.NewLedger(b.budget, nil), Totals: &effect.Totals{}, Start: time.Now(),
		Models: &core.Models{Rec: rec, Facts: facts, Known: map[string]effect.ModelFacts{}},
	}
	for _, e := range recording {
		b.account.Ledger.Recorded(e)
	}
}

// began is when each entry of a test is recorded, as far as waits look at it.
var began = time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC)

// now is late enough for every deadline, where nobody answers.
func (b *testBundle) now() time.Time { return time.Now().Add(1000 * time.Hour) }

// Answer implements [effect.Mailbox].
func (b *testBundle) Answer(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	if b.person == nil {
		return nil, nil //nolint:nilnil // see the interface
	}
	return b.person(req.Wait.Form), nil
}

func (b *testBundle) Model() string { return "m" }

func (b *testBundle) Place() *core.Place { return b.place }

func (b *testBundle) Instructions(field, source string, more map[string]any) (string, error) {
	if b.render == nil {
		return source, nil
	}
	return b.render(field, source, more)
}

func (b *testBundle) Calls() *core.Calls {
	return &core.Calls{Account: b.account, Place: b.place, Visited: &effect.Totals{}}
}

func (b *testBundle) Each(ctx context.Context, keys []echo.Key, do func(context.Context, int, *core.Calls) error) error {
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	if b.order != nil {
		order = b.order(len(keys))
	}
	var first error
	for _, i := range order {
		place, account := *b.place, *b.account
		place.Rec, place.Ward = b.place.Rec.In(keys[i]), keys[i]
		account.Models = b.account.Models.In(place.Rec)
		if err := do(ctx, i, &core.Calls{Account: &account, Place: &place, Visited: &effect.Totals{}}); err != nil && first == nil {
			first = err
		}
	}
	return first
}

type sink struct{ b *testBundle }

func (s sink) Write(e *echo.Entry) error {
	s.b.entries = append(s.b.entries, e)
	return nil
}

func (sink) Close(context.Context) error { return nil }

func asRead(t *testing.T, entries []*echo.Entry) []*echo.Entry {
	t.Helper()
	out := make([]*echo.Entry, len(entries))
	for i, e := range entries {
		raw, err := json.Marshal(e)
		require.NoError(t, err)
		out[i] = &echo.Entry{}
		require.NoError(t, json.Unmarshal(raw, out[i]))
	}
	return out
}

// choose holds what every choice must: a replay comes to the same from the record alone.
func (b *testBundle) choose(s *soundings.Soundings, entrants ...Entrant) (*echo.Choice, error) {
	return b.ask(Question{Settings: s, Entrants: entrants})
}

func (b *testBundle) ask(q Question) (*echo.Choice, error) {
	b.t.Helper()
	b.entries, b.requests = nil, nil
	return b.resume(nil, q)
}

// resume continues with a recording.
func (b *testBundle) resume(recording []*echo.Entry, q Question) (*echo.Choice, error) {
	b.t.Helper()
	q.Key, q.Seed = echo.PhaseKey("p", 1), b.seed
	if q.Task == "" {
		q.Task = "Write a line about the sea."
	}
	b.entries = slices.Clone(recording)
	b.begin(recording, echo.ContinueLog("s1", uint64(len(recording)), nil, nil, sink{b}))
	c, err := Choose(b.t.Context(), b, q)
	if err != nil {
		return nil, err
	}
	list := asRead(b.t, b.entries)
	b.begin(list, nil)
	again, err := Choose(b.t.Context(), b, q)
	require.NoError(b.t, err, "the replay")
	require.Equal(b.t, asJSON(c), asJSON(again))
	require.NoError(b.t, b.place.Rec.Complete(echo.NodeChoice, q.Key))
	return c, nil
}

func asJSON(v any) string { return string(effect.MustJSON(v)) }

// recorded returns what is recorded of a kind.
func recorded[T echo.Payload](t *testing.T, b *testBundle) (keys []string, list []T) {
	t.Helper()
	for _, e := range asRead(t, b.entries) {
		if v, err := echo.Read[T](e); err == nil {
			keys, list = append(keys, e.Key.String()), append(list, v)
		}
	}
	return keys, list
}

// entrants are candidates with these answers, numbered from 1.
func entrants(texts ...string) []Entrant {
	list := make([]Entrant, len(texts))
	for i, text := range texts {
		list[i] = entrant(i+1, text)
	}
	return list
}

func entrant(number int, text string) Entrant {
	return Entrant{
		Number: number, Text: text, Hash: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text).Hash(),
		CostUSD: new(0.001 * float64(number)), Tokens: int64(10 * number), Model: fmt.Sprintf("model-%d", number),
	}
}

func states(c *echo.Choice) string {
	var list []string
	for _, s := range c.Standings {
		list = append(list, fmt.Sprintf("%d %s", s.Number, s.State))
	}
	return strings.Join(list, ", ")
}
