// Command judges measures how honest the choice among candidates is: simulated judges that prefer places, that are
// noisy, or that are no use, through the election that decides in windlass. `make bench-judges` runs it;
// docs/soundings.md explains the figures.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/engine/election"
)

const usage = `judges [flags]

Holds elections among candidates with simulated judges, and counts how many have a winner, the right one or a wrong one,
and what they cost. No model is asked. Equal flags print equal tables. docs/soundings.md explains judges and columns.

`

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// options are what is measured.
type options struct {
	elections  int
	seed       string
	rules      election.Rules
	candidates []int
	judges     []string // empty: all
	max        []int    // pairs; when there are several, what each of them brings
	through    string
	asJSON     bool
}

func run(args []string, out, notes io.Writer) error {
	o, err := parse(args, notes)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, most := range o.max {
		rules := o.rules
		rules.Max = most
		all, err := everything(o.elections, o.seed, rules, o.candidates, o.judges, ways[o.through])
		if err != nil {
			return err
		}
		if o.asJSON {
			enc := json.NewEncoder(out)
			enc.SetIndent("", " ")
			if err := enc.Encode(map[string]any{"rules": rules, "figures": all}); err != nil {
				return err
			}
			continue
		}
		if err := show(out, o, rules, all); err != nil {
			return err
		}
	}
	return nil
}

// ways are the ways to hold an election.
var ways = map[string]hold{"election": direct, "judging": judged}

// parse reads the command line.
func parse(args []string, notes io.Writer) (o options, err error) {
	fs := flag.NewFlagSet("judges", flag.ContinueOnError)
	fs.SetOutput(notes)
	fs.Usage = func() { fmt.Fprint(notes, usage); fs.PrintDefaults() }
	fs.IntVar(&o.elections, "elections", 2000, "elections for each line of the table")
	fs.StringVar(&o.seed, "seed", "windlass", "of all that is random")
	fs.IntVar(&o.rules.Min, "min", soundings.DefaultMinPairs, "pairs of ballots before the first decision")
	fs.Float64Var(&o.rules.Confidence, "confidence", soundings.DefaultConfidence, "that a winner needs, between 0.5 and 1")
	most := fs.String("max", strconv.Itoa(soundings.DefaultMaxPairs), "pairs of ballots at most, separated by commas: a table for each")
	ks := fs.String("candidates", "2,3,5", "how many candidates there are, separated by commas")
	names := fs.String("judge", "", "which judges, separated by commas; empty: all")
	fs.StringVar(&o.through, "through", "election", "what holds the elections: election (votes alone), or judging (requests, replies and a record; takes longer)")
	fs.BoolVar(&o.asJSON, "json", false, "print JSON")
	if err = fs.Parse(args); err != nil {
		return o, err
	}
	if o.max, err = numbers("max", *most, 1, 1000); err != nil {
		return o, err
	}
	if o.candidates, err = numbers("candidates", *ks, 2, soundings.MaxFactor); err != nil {
		return o, err
	}
	if *names != "" {
		o.judges = strings.Split(*names, ",")
	}
	for _, name := range o.judges {
		if !slices.Contains(known(), name) {
			return o, fmt.Errorf("-judge %q is not known: choose among %s", name, strings.Join(known(), ", "))
		}
	}
	switch {
	case fs.NArg() > 0:
		return o, fmt.Errorf("judges has no arguments, got %q: judges -h lists the flags", fs.Arg(0))
	case o.elections < 1:
		return o, fmt.Errorf("-elections %d: it is a number from 1", o.elections)
	case o.rules.Min < 1 || o.rules.Min > slices.Min(o.max):
		return o, fmt.Errorf("-min %d: it is a number of pairs from 1 to -max, %d", o.rules.Min, slices.Min(o.max))
	case !(o.rules.Confidence > 0.5 && o.rules.Confidence < 1):
		return o, fmt.Errorf("-confidence %v: it is between 0.5 and 1, such as 0.9", o.rules.Confidence)
	case ways[o.through] == nil:
		return o, fmt.Errorf("-through %q is not known: choose among election, judging", o.through)
	}
	return o, nil
}

// numbers reads a list.
func numbers(name, list string, least, most int) ([]int, error) {
	var all []int
	for _, s := range strings.Split(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return nil, fmt.Errorf("-%s %s: give numbers from %d to %d, separated by commas", name, list, least, most)
		}
		all = append(all, n)
	}
	return all, nil
}

// known are the names of the judges.
func known() []string {
	var names []string
	for _, j := range slices.Concat(judges, odd) {
		names = append(names, j.name)
	}
	return names
}
