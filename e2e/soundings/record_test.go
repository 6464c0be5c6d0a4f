//go:build unix

package soundings

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

// tried is one choice with all that it was made of, as a journal has it.
type tried struct {
	place      string // of the visit, the step of refinement or the run
	choice     *echo.Choice
	candidates map[string]echo.Candidate // by their keys
	ballots    map[string]echo.Ballot    // likewise
}

// sounded returns the visit or the run that it is of.
func (x *tried) sounded() string {
	sounded, _, _ := strings.Cut(x.place, "/reforge")
	return sounded
}

// step returns the step of refinement, 0 for the first choice.
func (x *tried) step() int {
	_, step, _ := strings.Cut(x.place, "/reforge")
	n, _ := strconv.Atoi(step) // "" is 0
	return n
}

// triesOf returns the choices of a session by their places. An entry of a key that was there is an error, as is one that is
// of no choice.
func triesOf(s *billed.Session) (map[string]*tried, error) {
	all, order := map[string]*tried{}, []string(nil)
	at := func(key string) *tried {
		if all[key] == nil {
			all[key] = &tried{place: key, candidates: map[string]echo.Candidate{}, ballots: map[string]echo.Ballot{}}
			order = append(order, key)
		}
		return all[key]
	}
	for _, e := range record.Counted(s.Entries) {
		key := e.Key.String()
		up := strings.Split(key, "/")
		switch e.NodeType { //nolint:exhaustive // the others are not of soundings
		case echo.NodeCandidate:
			c, err := echo.Read[echo.Candidate](e)
			if err != nil {
				return nil, err
			}
			x := at(strings.Join(up[:len(up)-2], "/"))
			if was, ok := x.candidates[key]; ok && (was.Mutation == nil || was.Mutation.Text != "") {
				return nil, fmt.Errorf("%s is there twice", key)
			}
			x.candidates[key] = c
		case echo.NodeBallot:
			b, err := echo.Read[echo.Ballot](e)
			if err != nil {
				return nil, err
			}
			x := at(strings.Join(up[:len(up)-1], "/"))
			if _, ok := x.ballots[key]; ok {
				return nil, fmt.Errorf("%s is there twice", key)
			}
			x.ballots[key] = b
		case echo.NodeChoice:
			c, err := echo.Read[echo.Choice](e)
			if err != nil {
				return nil, err
			}
			x := at(strings.Join(up[:len(up)-1], "/"))
			if x.choice != nil {
				return nil, fmt.Errorf("%s is there twice", key)
			}
			x.choice = &c
		}
	}
	return all, nil
}

// sound returns what of a choice does not fit together.
func (x *tried) sound() error {
	if x.choice == nil {
		return nil // it was not made yet
	}
	c := x.choice
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(x.place+": "+format, args...)) }
	won, numbers := 0, map[int]bool{}
	for _, s := range c.Standings {
		if s.State == echo.CandidateWon {
			if won++; s.Number != c.Winner {
				wrong("candidate %d won, the winner is %d", s.Number, c.Winner)
			}
		}
		if s.Number > 0 {
			numbers[s.Number] = true
		}
	}
	if want := map[bool]int{true: 0, false: 1}[c.How == echo.ChoiceAggregate]; won != want {
		wrong("%d candidates won", won)
	}
	if len(numbers) != len(x.candidates) {
		wrong("%d candidates stand, and %d have begun", len(numbers), len(x.candidates))
	}
	for key, k := range x.candidates {
		if !numbers[k.Index+1] || !strings.HasSuffix(key, fmt.Sprintf("/sounding%d/candidate", k.Index+1)) {
			wrong("%s has the index %d", key, k.Index)
		}
	}
	return errors.Join(append(errs, x.soundBallots())...)
}

// soundBallots holds the choice against its ballots.
func (x *tried) soundBallots() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(x.place+": "+format, args...)) }
	pairs, usd := map[int][2]*echo.Ballot{}, 0.0
	for key, b := range x.ballots {
		if b.CostUSD != nil {
			usd += *b.CostUSD
		}
		if b.Pair == 0 {
			continue
		}
		p := pairs[b.Pair]
		n := map[bool]int{false: 0, true: 1}[b.Reverse]
		if p[n] != nil || !strings.HasSuffix(key, fmt.Sprintf("/ballot%d", 2*b.Pair-1+n)) {
			wrong("%s is ballot %d of pair %d", key, n+1, b.Pair)
		}
		p[n] = &b
		pairs[b.Pair] = p
	}
	if len(pairs) != x.choice.Pairs {
		wrong("%d pairs are recorded, and the choice has %d", len(pairs), x.choice.Pairs)
	}
	if u := x.choice.CostUSD; x.choice.How != echo.ChoiceAggregate && (u == nil || math.Abs(*u-usd) > billed.Cent) {
		wrong("the ballots cost $%.9f, the choice says %v", usd, u)
	}
	flipped := 0
	for n, p := range pairs {
		if p[0] == nil || p[1] == nil {
			wrong("pair %d has one ballot", n)
			continue
		}
		back := slices.Clone(p[1].Order)
		slices.Reverse(back)
		if !slices.Equal(p[0].Order, back) || p[0].Vote != nil || p[0].EValues != nil || len(p[1].EValues) != len(p[1].Order) {
			wrong("pair %d has the orders %v and %v and %d e-values", n, p[0].Order, p[1].Order, len(p[1].EValues))
		}
		a, b := p[0].Winner, p[1].Winner
		both := a != nil && b != nil && *a == *b
		if v := p[1].Vote; both != (v != nil) || v != nil && *v != *a {
			wrong("pair %d: the vote is %v", n, v)
		}
		if p[0].Said != "" && p[1].Said != "" && !both && (a != nil || b != nil) {
			flipped++
		}
	}
	if flipped != x.choice.Flipped {
		wrong("%d pairs are flipped, the choice says %d", flipped, x.choice.Flipped)
	}
	return errors.Join(errs...)
}

// checkRecord demands that candidates, ballots and choices are recorded once and fit together; that "windlass soundings"
// shows the same; and that ClickHouse has the same rows, where runs are recorded there.
func checkRecord(w *billed.World, u *billed.Undisturbed, t *billed.Tree) {
	w.T.Helper()
	tried := 0
	for _, s := range t.All {
		all, err := triesOf(s)
		require.NoError(w.T, err)
		for _, x := range all {
			require.NoError(w.T, x.sound(), s.Path)
			tried += len(x.candidates)
		}
		showSame(w, s, all)
	}
	require.Positive(w.T, tried)
	if !u.Rows {
		return
	}
	w.MustRun(0, "ship") // a process that died at the end has delivered nothing
	views, err := viewsOf(t)
	require.NoError(w.T, err)
	for _, v := range views {
		v.hold(w)
	}
}

// showSame demands that "windlass soundings" shows each choice and each candidate of a session, and keeps one of each place.
func showSame(w *billed.World, s *billed.Session, all map[string]*tried) {
	w.T.Helper()
	if len(all) == 0 {
		return
	}
	var shown []struct {
		Key   string `json:"key"`
		Kept  string `json:"kept"`
		Steps []struct {
			Candidates []struct {
				Key  string `json:"key"`
				Kept bool   `json:"kept"`
			} `json:"candidates"`
			Choice *echo.Choice `json:"choice"`
		} `json:"steps"`
	}
	e := w.MustRun(0, "soundings", s.Header.SessionID, "--json")
	require.NoError(w.T, json.Unmarshal([]byte(e.Out), &shown), e.Out)
	steps := 0
	for _, x := range shown {
		kept := 0
		for n, step := range x.Steps {
			place := x.Key
			if n > 0 {
				place += fmt.Sprintf("/reforge%d", n)
			}
			of := all[place]
			require.NotNil(w.T, of, place)
			require.Len(w.T, step.Candidates, len(of.candidates), place)
			require.Equal(w.T, of.choice, step.Choice, place)
			for _, c := range step.Candidates {
				if c.Kept {
					kept++
				}
			}
			steps++
		}
		if first := x.Steps[0].Choice; first != nil && first.How != echo.ChoiceAggregate {
			require.Equal(w.T, 1, kept, "%s: one candidate is kept\n%s", x.Key, e.Out)
		}
	}
	require.Equal(w.T, len(all), steps)
}
