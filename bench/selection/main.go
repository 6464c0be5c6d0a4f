// Command selection measures how much of the evidence for questions about long conversations each
// strategy of selection finds under a budget. `make bench-selection DATA=FILE` runs it;
// docs/measured.md explains the figures.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/bench/locomo"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

const usage = `selection [flags] FILE

Measures how much of the evidence for questions about long conversations each strategy finds under a budget. FILE is in
the format of LoCoMo: a JSON array of conversations over many sessions, with questions and the ids of the turns that hold
each answer. Every turn is a candidate, a question is the task, and recall is the share of the evidence among what is
chosen. Tokens are characters divided by four. No model is asked; of hybrid it is measured what it would show to one, cut
to the budget. docs/measured.md has the figures.

An embedder is words (word vectors, fetched once), hashed (runs of characters: similarity of spelling only), or the name of
an embedding model as in windlass.json.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

// options are what is measured.
type options struct {
	budgets     []int64
	strategies  []string
	embedders   []string
	url, model  string
	maxMessages int
	asJSON      bool
}

// run measures one file.
func run(ctx context.Context, args []string, out, notes io.Writer) error {
	o, path, err := parse(args, notes)
	if err != nil {
		return err
	}
	all, err := locomo.ReadFile(path)
	if err != nil {
		return err
	}
	settings := selection.SettingsOf(cascade.DefaultInter().Selection)
	settings.MaxMessages = o.maxMessages
	bench := &locomo.Bench{Budgets: o.budgets, Settings: settings}
	if bench.Methods, err = methods(ctx, o, notes); err != nil {
		return err
	}
	outcomes, err := bench.Run(ctx, all, func() {})
	if err != nil {
		return err
	}
	report := bench.Report(outcomes)
	warn(notes, report)
	if o.asJSON { // in one line: a line for each of the ids chosen would be most of it
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		return enc.Encode(report)
	}
	return show(out, report)
}

// parse reads the command line.
func parse(args []string, notes io.Writer) (o options, path string, err error) {
	fs := flag.NewFlagSet("selection", flag.ContinueOnError)
	fs.SetOutput(notes)
	fs.Usage = func() { fmt.Fprint(notes, usage); fs.PrintDefaults() }
	budgets := fs.String("budgets", "1000,2000,4000", "tokens that may be chosen, separated by commas")
	strategies := fs.String("strategy", strings.Join(measured, ","), "what to measure, separated by commas")
	embedders := fs.String("embedder", "", "what semantic and hybrid compare by, separated by commas; empty: what runs would use")
	fs.StringVar(&o.url, "embeddings-url", "", "also measure a model at this OpenAI-compatible endpoint")
	fs.StringVar(&o.model, "embeddings-model", "", "the model there")
	fs.IntVar(&o.maxMessages, "max-messages", 0, "turns that may be chosen; 0: as many as the budget holds")
	fs.BoolVar(&o.asJSON, "json", false, "print JSON, with the turns chosen for every question")
	if err := fs.Parse(args); err != nil {
		return o, "", err
	}
	if fs.NArg() != 1 {
		return o, "", fmt.Errorf("selection needs one file, got %d: make bench-selection DATA=FILE", fs.NArg())
	}
	o.strategies, o.embedders = list(*strategies), list(*embedders)
	for _, s := range list(*budgets) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n <= 0 {
			return o, "", fmt.Errorf("-budgets %s: a budget is a number of tokens above 0, such as 1000", s)
		}
		o.budgets = append(o.budgets, n)
	}
	return o, fs.Arg(0), o.check()
}

func list(s string) []string {
	return slices.DeleteFunc(strings.Split(s, ","), func(v string) bool { return v == "" })
}

// measured are the strategies that need no model.
var measured = []string{string(echo.StrategyHeuristic), string(echo.StrategySemantic), string(echo.StrategyHybrid)}

// check finds what is wrong with the flags.
func (o *options) check() error {
	known := "choose among " + strings.Join(measured, ", ")
	switch {
	case len(o.budgets) == 0:
		return errors.New("-budgets is empty: name numbers of tokens, such as 1000,2000,4000")
	case o.maxMessages < 0:
		return fmt.Errorf("-max-messages %d: it is a number of turns, or 0 for as many as the budget holds", o.maxMessages)
	case (o.url == "") != (o.model == ""):
		return errors.New("-embeddings-url and -embeddings-model need each other: name both of them, or neither")
	case len(o.strategies) == 0:
		return errors.New("-strategy is empty: " + known)
	}
	for _, s := range o.strategies {
		switch {
		case s == string(echo.StrategyLLM):
			return errors.New("-strategy llm: a model would be asked for every question, and none is asked here: " + known)
		case !slices.Contains(measured, s):
			return fmt.Errorf("-strategy %q is not known: %s", s, known)
		}
	}
	return cmp.Or(once("budgets", o.budgets), once("strategy", o.strategies), once("embedder", o.embedders))
}

// once checks that a flag has each of its values once.
func once[T int64 | string](flag string, list []T) error {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return fmt.Errorf("-%s has %v twice: name each once", flag, v)
		}
	}
	return nil
}
