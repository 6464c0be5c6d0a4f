// Command memory measures how much of the evidence for questions about long conversations is found in a bank that has
// remembered the conversation by itself, each of its sessions in a run of its own. `make bench-memory DATA=FILE` runs it;
// docs/measured.md explains the figures.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/bench/locomo"
	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

const usage = `memory [flags] FILE

Measures how much of the evidence for questions about long conversations is found in a bank of memory. FILE is in the format
of LoCoMo. Each session of a conversation is a run of its own, with a scripted model that says what was said there; the bank of
the conversation remembers it by "remember": "messages". Recall is the share of the evidence among what the ranking of the
bank's tool has found for a question. Tokens are characters divided by four. docs/measured.md has the figures.

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

// budgets are the tokens that may be found.
var budgets = []int64{1000, 2000, 4000}

// limits are how many texts the tool may find.
var limits = []int{5, 20}

// Report is what was measured.
type Report struct {
	Conversations int     `json:"conversations"`
	Sessions      int     `json:"sessions"` // runs
	Turns         int     `json:"turns"`
	Questions     int     `json:"questions"`
	Remembered    int     `json:"remembered"`   // texts in all banks
	WholeTokens   float64 `json:"whole_tokens"` // of the conversation of a question
	// Session has the recall of the ranking over the conversation as one session, under each budget, with the settings of
	// a selection and with those of the bank's tool; Bank that over the bank, under each budget; Tool that of one answer of
	// the tool, under each limit.
	Budgets []int64   `json:"budgets"`
	Session []float64 `json:"session"`
	Same    []float64 `json:"session_as_the_tool"`
	Bank    []float64 `json:"bank"`
	Limits  []int     `json:"limits"`
	Tool    []float64 `json:"tool"`
	Tokens  []float64 `json:"tool_tokens"` // of the texts in one answer, whole
}

func run(ctx context.Context, args []string, out, notes io.Writer) error {
	path, asJSON, err := parse(args, notes)
	if err != nil {
		return err
	}
	all, err := locomo.ReadFile(path)
	if err != nil {
		return err
	}
	report, err := measure(ctx, all)
	if err != nil {
		return err
	}
	if asJSON {
		return json.NewEncoder(out).Encode(report)
	}
	return show(out, report)
}

func parse(args []string, notes io.Writer) (path string, asJSON bool, err error) {
	fs := flag.NewFlagSet("memory", flag.ContinueOnError)
	fs.SetOutput(notes)
	fs.Usage = func() { fmt.Fprint(notes, usage); fs.PrintDefaults() }
	fs.BoolVar(&asJSON, "json", false, "print JSON")
	if err := fs.Parse(args); err != nil {
		return "", false, err
	}
	if fs.NArg() != 1 {
		return "", false, fmt.Errorf("memory needs one file, got %d: make bench-memory DATA=FILE", fs.NArg())
	}
	return fs.Arg(0), asJSON, nil
}

// measure measures all conversations.
func measure(ctx context.Context, all []*locomo.Conversation) (*Report, error) {
	r := &Report{Conversations: len(all), Budgets: budgets, Limits: limits}
	for _, into := range []*[]float64{&r.Session, &r.Same, &r.Bank} {
		*into = make([]float64, len(budgets))
	}
	r.Tool, r.Tokens = make([]float64, len(limits)), make([]float64, len(limits))
	for _, c := range all {
		if err := measureOne(ctx, c, r); err != nil {
			return nil, fmt.Errorf("measure %s: %w", c.ID, err)
		}
	}
	if r.Questions == 0 {
		return nil, errors.New("no question has evidence")
	}
	for _, sums := range [][]float64{r.Session, r.Same, r.Bank, r.Tool, r.Tokens} {
		for i := range sums {
			sums[i] /= float64(r.Questions)
		}
	}
	r.WholeTokens /= float64(r.Questions)
	return r, ctx.Err()
}

func measureOne(ctx context.Context, c *locomo.Conversation, r *Report) error {
	bank, err := remember(ctx, c)
	if err != nil {
		return err
	}
	r.Sessions += bank.runs
	r.Turns += len(c.Turns)
	r.Questions += len(c.Questions)
	r.Remembered += len(bank.docs)
	whole := int64(0)
	for i := range c.Turns {
		whole += c.Turns[i].Tokens
	}
	r.WholeTokens += float64(whole * int64(len(c.Questions)))
	for i := range c.Questions {
		bank.ask(&c.Questions[i], r)
	}
	tool := toolSettings()
	for _, of := range []struct {
		settings selection.Settings
		into     []float64
	}{{selection.SettingsOf(cascade.DefaultInter().Selection), r.Session}, {tool, r.Same}} {
		of.settings.MaxMessages = 0
		b := &locomo.Bench{Methods: []locomo.Method{{Strategy: echo.StrategyHeuristic}}, Budgets: budgets, Settings: of.settings}
		outcomes, err := b.Run(ctx, []*locomo.Conversation{c}, func() {})
		if err != nil {
			return err
		}
		for _, choices := range outcomes[0].Choices {
			for k := range choices {
				of.into[k] += choices[k].Recall
			}
		}
	}
	return nil
}

// show prints a report.
func show(out io.Writer, r *Report) error {
	_, err := fmt.Fprintf(out, "%d conversations, %d sessions as runs, %d turns, %d questions; %d texts remembered\n\n", r.Conversations, r.Sessions, r.Turns, r.Questions, r.Remembered)
	row := func(name string, values []float64) {
		if err == nil {
			_, err = fmt.Fprintf(out, "%-44s", name)
		}
		for _, v := range values {
			if err == nil {
				_, err = fmt.Fprintf(out, "  %6.3f", v)
			}
		}
		if err == nil {
			_, err = fmt.Fprintln(out)
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(out, "%-44s  %6d  %6d  %6d\n", "evidence found, by tokens", budgets[0], budgets[1], budgets[2])
	}
	row("no memory", make([]float64, len(budgets)))
	row("the conversation as one session", r.Session)
	row("the same, with the settings of the tool", r.Same)
	row("the bank", r.Bank)
	if err == nil {
		_, err = fmt.Fprintf(out, "\nthe whole history: 1.000 with %.0f tokens\n", r.WholeTokens)
	}
	for i, limit := range r.Limits {
		if err == nil {
			_, err = fmt.Fprintf(out, "one search for %d texts: %.3f with %.0f tokens\n", limit, r.Tool[i], r.Tokens[i])
		}
	}
	return err
}
