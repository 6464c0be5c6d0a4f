package main

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/election"
	"github.com/windlass-run/windlass/engine/judging"
)

// judged holds an election with engine/judging: requests with labels, replies as JSON, ballots on a record. A tie is
// decided by on_tie first.
func judged(seed string, k int, rules election.Rules, says func(pair, ballot int, order []int) int) (outcome, error) {
	q := judging.Question{
		Key: echo.PhaseKey("choose", 1), Seed: seed, Task: "Write the number of a candidate.",
		Settings: &soundings.Soundings{
			OnTie:   soundings.TieFirst,
			Ballots: &soundings.Ballots{Min: rules.Min, Max: rules.Max, Confidence: rules.Confidence},
		},
	}
	for n := 1; n <= k; n++ {
		text := fmt.Sprintf("candidate %d", n)
		q.Entrants = append(q.Entrants, judging.Entrant{
			Number: n, Text: text, Hash: echo.NewText(echo.RoleAssistant, echo.KindAnswer, text).Hash(),
		})
	}
	c, err := judging.Choose(context.Background(), newBench(says), q)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{decided: !c.Tie, winner: c.Winner, pairs: c.Pairs, flipped: c.Flipped, ballots: *c.CostUSD}
	if c.Tie {
		o.level = []int{c.Winner}
	}
	return o, nil
}

// bench is what the judging needs of a run: a record that nobody reads, and a model that is the judge. Ballots are
// held one after the other.
type bench struct {
	says    func(pair, ballot int, order []int) int
	ballot  int // that is held now, from 1
	place   *core.Place
	account *core.Account
}

func newBench(says func(pair, ballot int, order []int) int) *bench {
	b := &bench{says: says}
	log := echo.NewLog("s", nil, nil)
	rec := &core.Recorder{
		Recorder: effect.NewRecorder(effect.Options{Log: log, Effects: effect.NewLive(b, nil, effect.Writer{Log: log}, nil)}),
		Cascade:  "judges", Rules: core.Rules, Mask: effect.NoMask{}, Observer: &core.Watcher{},
	}
	b.place = &core.Place{Site: effect.Site{Cascade: "judges", Phase: "choose", Visit: 1}, Key: echo.PhaseKey("choose", 1), Rec: rec}
	facts := func(string) effect.ModelFacts { return effect.ModelFacts{} }
	b.account = &core.Account{
		Ledger: budget.NewLedger(cascade.Budget{}, nil), Totals: &effect.Totals{}, Start: time.Now(),
		Models: &core.Models{Rec: rec, Facts: facts, Known: map[string]effect.ModelFacts{}},
	}
	return b
}

// Model is the name of the judge.
func (b *bench) Model() string { return "judge" }

// Place is that of the phase.
func (b *bench) Place() *core.Place { return b.place }

// Instructions are as they stand.
func (b *bench) Instructions(_, source string, _ map[string]any) (string, error) { return source, nil }

// Calls are those of the trunk.
func (b *bench) Calls() *core.Calls {
	return &core.Calls{Account: b.account, Place: b.place, Visited: &effect.Totals{}}
}

var numberOf = regexp.MustCompile(`\d+$`)

// Each does one after the other.
func (b *bench) Each(ctx context.Context, keys []echo.Key, do func(context.Context, int, *core.Calls) error) error {
	for i, key := range keys {
		n, err := strconv.Atoi(numberOf.FindString(key.String()))
		if err != nil {
			return fmt.Errorf("read the number of ballot %s: %w", key, err)
		}
		b.ballot = n
		place, account := *b.place, *b.account
		place.Rec, place.Ward = b.place.Rec.In(key), key
		account.Models = b.account.Models.In(place.Rec)
		if err := do(ctx, i, &core.Calls{Account: &account, Place: &place, Visited: &effect.Totals{}}); err != nil {
			return err
		}
	}
	return nil
}

var shown = regexp.MustCompile(`(?m)^<<<[0-9a-f]+ ([A-Z]+)\ncandidate (\d+)$`)

// Complete reads a ballot as a judge sees it, and says whom it names by its label.
func (b *bench) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	var order []int
	labels := map[int]string{0: "tie"}
	for _, m := range shown.FindAllStringSubmatch(req.Messages[len(req.Messages)-1].Text(), -1) {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return nil, err
		}
		order, labels[n] = append(order, n), m[1]
	}
	if len(order) < 2 {
		return nil, fmt.Errorf("ballot %d shows %d candidates", b.ballot, len(order))
	}
	named := labels[b.says((b.ballot+1)/2, (b.ballot-1)%2, order)]
	reply, err := json.Marshal(map[string]string{"winner": named, "why": strings.Repeat("so it is ", 3)})
	if err != nil {
		return nil, err
	}
	cost := 1.0 // the unit of what is counted here is a ballot
	return &effect.ModelResponse{
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, string(reply)), Model: req.Model, FinishReason: "stop", CostUSD: &cost,
	}, nil
}
