//go:build unix

// Package waits proves what waits promise, with the built program and a strict server that bills: killed anywhere around
// waits, nothing is asked twice, no answer is lost, no tool runs that was not allowed or runs twice, no signal is taken twice,
// what a person says to the model is told once, nothing is paid for twice, and the record holds.
package waits

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

var suite = billed.Suite{Project: "testdata/project", Prices: &llmtest.Prices{Input: 2000, Cached: 200, Output: 8000}}

func TestMain(m *testing.M) { suite.Main(m) }

// session is the run that waits: in parallel phases, in elements of a list, and in a child.
const session = "waits"

// expected is how many waits the run and its child have.
const expected = 10

var rules = []billed.Rule{
	billed.CallsTool("ASK for", "ask_human", `{"question":"Which colour?"}`, "asked"),
	{When: billed.When("SHIP it"), Turns: []billed.Turn{
		{Calls: []billed.Call{{Tool: "stamp", Arguments: json.RawMessage(`{"n":"a"}`)}, {Tool: "stamp", Arguments: json.RawMessage(`{"n":"b"}`)}}}, {Text: "shipped"},
	}},
	billed.Says("A person has changed", "shipped"),
	billed.Says("LATE it", "late"),
	billed.Says("OVER ", "over"),
	billed.Says("FIRED ", "fired"),
	billed.Says("END ", "the end"),
	billed.Says("WORD [0-9]+", "heard"),
}

// TestKills kills windlass at random places of runs that wait, of answers, of signals and of resumptions, and reports how often it
// did so around each step of a wait.
func TestKills(t *testing.T) {
	t.Parallel()
	deaths, rounds, hit := 0, 0, map[string]int{}
	for n := uint64(1); n == 1 || deaths < suite.Deaths; n++ {
		r := newRound(t, n)
		r.play()
		r.check()
		r.Provider.Close()
		deaths += r.deaths
		rounds++
		for place, times := range r.hit {
			hit[place] += times
		}
	}
	var places strings.Builder
	for _, place := range allPlaces {
		fmt.Fprintf(&places, "\n%5d  %s", hit[place], place)
		if deaths >= 200 {
			require.Positive(t, hit[place], "no kill came %s, seed %d", place, suite.Seed)
		}
	}
	t.Logf("seed %d: windlass was killed %d times around waits in %d runs:%s", suite.Seed, deaths, rounds, places.String())
}

func newRound(t *testing.T, n uint64) *round {
	t.Helper()
	w := suite.New(t, rules)
	w.Provider.Late = billed.Lateness
	return &round{
		World: w, t: t, rand: rand.New(rand.NewPCG(suite.Seed, n)), given: map[string]string{}, sent: map[string]bool{}, words: map[string]bool{}, hit: map[string]int{},
	}
}
