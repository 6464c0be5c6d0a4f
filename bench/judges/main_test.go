package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/engine/election"
)

var update = flag.Bool("update", false, "write the golden files")

// usual are the rules of files that say nothing of ballots.
var usual = election.Rules{Min: soundings.DefaultMinPairs, Max: soundings.DefaultMaxPairs, Confidence: soundings.DefaultConfidence}

// command runs the command and returns what it prints.
func command(t *testing.T, args ...string) (out, notes string, err error) {
	t.Helper()
	var o, n bytes.Buffer
	err = run(args, &o, &n)
	return o.String(), n.String(), err
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestPrintsTheSameTable(t *testing.T) {
	t.Parallel()
	out, _, err := command(t, "-elections", "100", "-candidates", "2,3", "-judge", "first,always a tie")
	require.NoError(t, err)
	golden(t, "testdata/first.golden", out)
}

func TestPrintsATableForEachMaximum(t *testing.T) {
	t.Parallel()
	out, _, err := command(t, "-elections", "10", "-candidates", "2", "-judge", "first", "-max", "5,7")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(out, "10 elections for each line, through engine/election; seed windlass; 3 to"))
	require.Contains(t, out, "3 to 7 pairs of ballots, confidence 0.9")
}

func TestPrintsJSON(t *testing.T) {
	t.Parallel()
	out, _, err := command(t, "-elections", "10", "-candidates", "4", "-judge", "noise", "-json")
	require.NoError(t, err)
	var got struct {
		Rules   election.Rules
		Figures []figures
	}
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, usual, got.Rules)
	require.Len(t, got.Figures, 6)
	require.Equal(t, cell{"noise", 4, 4, 0}, got.Figures[0].cell)
}

func TestFlags(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"-elections 0":       "-elections 0: it is a number from 1",
		"-max 0":             "-max 0: give numbers from 1 to 1000, separated by commas",
		"-max 5,x":           "-max 5,x: give numbers from 1 to 1000, separated by commas",
		"-candidates 1":      "-candidates 1: give numbers from 2 to 64, separated by commas",
		"-candidates 65":     "-candidates 65: give numbers from 2 to 64, separated by commas",
		"-min 0":             "-min 0: it is a number of pairs from 1 to -max, 12",
		"-max 20,2":          "-min 3: it is a number of pairs from 1 to -max, 2",
		"-confidence 0.5":    "-confidence 0.5: it is between 0.5 and 1, such as 0.9",
		"-confidence 1":      "-confidence 1: it is between 0.5 and 1, such as 0.9",
		"-confidence NaN":    "-confidence NaN: it is between 0.5 and 1, such as 0.9",
		"-judge second":      `-judge "second" is not known: choose among steady, first, last, middle, noise, first and noise, wavering, always a tie, always the first, taste of its own`,
		"-through telepathy": `-through "telepathy" is not known: choose among election, judging`,
		"file":               `judges has no arguments, got "file": judges -h lists the flags`,
		"-x":                 "flag provided but not defined: -x",
	} {
		_, _, err := command(t, strings.Split(args, " ")...)
		require.EqualError(t, err, want, args)
	}
	_, notes, err := command(t, "-h")
	require.NoError(t, err)
	require.Contains(t, notes, "Equal flags print equal tables.")
}

// What the election promises, and what the defaults are chosen for, with room for chance: three standard errors.
func TestPromises(t *testing.T) {
	t.Parallel()
	const elections = 400
	all, err := everything(elections, "promises", usual, []int{2, 3, 5}, nil, direct)
	require.NoError(t, err)
	for _, f := range all {
		chance := func(share float64) float64 { return 3 * math.Sqrt(share*(1-share)/elections) }
		what := f.Judge + ", " + strconv.Itoa(f.Candidates) + " candidates, preferred " + f.preferred()
		useless := slices.ContainsFunc(odd, func(j judge) bool { return j.name == f.Judge })
		byPlace := slices.Contains([]string{"first", "last", "first and noise"}, f.Judge)
		switch {
		case f.Judge == "taste of its own": // it prefers one, and votes cannot tell why
			require.InDelta(t, 1, f.Decided, 0, what)
		case useless:
			require.Zero(t, f.Decided, what)
		case f.Best > 1: // equals
			require.LessOrEqual(t, f.Decided, 0.1+chance(0.1), what)
		case f.Preference == 0.9 && byPlace:
			require.InDelta(t, turned, f.Turned, 0.03, what)
			require.GreaterOrEqual(t, f.Decided, 0.4, what)
			require.GreaterOrEqual(t, f.Right, 0.9, what)
		case f.Preference >= 0.7 && byPlace:
			require.GreaterOrEqual(t, f.Right, 0.9-chance(0.9)*math.Sqrt(1/f.Decided), what)
		}
		if f.Best == 1 && !useless {
			require.LessOrEqual(t, f.Wrong, 0.03, what)
			require.Greater(t, f.Kept+chance(f.Kept), f.OneRight, what)
		}
	}
}

// Requests with labels, replies as JSON and ballots on a record come to what the votes alone come to. These judges vote
// for whom they have in mind, in whatever order they see the candidates.
func TestJudgingComesToTheSame(t *testing.T) {
	t.Parallel()
	for _, j := range []judge{judges[1], judges[4], odd[0], odd[1]} {
		for _, c := range []cell{{j.name, 2, 1, 0.9}, {j.name, 5, 2, 0.9}} {
			want, err := measure(&j, c, 40, "same", usual, direct)
			require.NoError(t, err)
			got, err := measure(&j, c, 40, "same", usual, judged)
			require.NoError(t, err)
			got.Kept = want.Kept // of a tie the one keeps the first, and the other counts all that are not beaten
			require.Equal(t, want, got)
		}
	}
}

// More pairs than anyone would hold break no promise, and neither does a greater bias.
func TestPromisesHoldWhateverTheBias(t *testing.T) {
	t.Parallel()
	const elections = 250
	rules := election.Rules{Min: 1, Max: 40, Confidence: 0.9}
	for _, bias := range []float64{0.1, 0.8, 0.99} {
		for name, place := range map[string]func(int) int{"first": first, "last": last, "middle": middle} {
			j := judge{name: name, place: place, bias: always(bias)}
			for _, c := range []cell{{name, 2, 2, 0}, {name, 3, 3, 0}, {name, 3, 2, 0.9}} {
				f, err := measure(&j, c, elections, "bias", rules, direct)
				require.NoError(t, err)
				require.LessOrEqual(t, f.Decided, 0.1+3*math.Sqrt(0.09/elections), "%v bias %v", c, bias)
			}
		}
	}
}

// One call in a fixed order is right in 47 % of the cases: with five candidates, a preference of 0.7, and a judge that
// turns 45 % of its verdicts, the bias of which names the best candidate by chance.
func TestOneCall(t *testing.T) {
	t.Parallel()
	f, err := measure(&judges[1], cell{"first", 5, 1, 0.7}, 3000, "one", election.Rules{Min: 1, Max: 1, Confidence: 0.9}, direct)
	require.NoError(t, err)
	require.InDelta(t, (1-turned)*0.7+turned/5, f.OneRight, 0.025)
	require.InDelta(t, 0.475, (1-turned)*0.7+turned/5, 1e-9)
}

// A verdict does not depend on which ballots are held before it.
func TestVerdictsDoNotDependOnTheOrderOfBallots(t *testing.T) {
	t.Parallel()
	for _, j := range slices.Concat(judges, odd) {
		tastes := taste{5, 1, 0.7, 3}
		for pair := 1; pair < 50; pair++ {
			second, first := j.mindOf(tastes, "s", pair+1), j.mindOf(tastes, "s", pair)
			require.Equal(t, first, j.mindOf(tastes, "s", pair))
			require.Equal(t, second, j.mindOf(tastes, "s", pair+1))
		}
	}
}
