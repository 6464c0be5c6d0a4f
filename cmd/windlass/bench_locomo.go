package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/locomo"
	"github.com/windlass-run/windlass/internal/source"
)

// locomoOptions are the flags of windlass bench locomo.
type locomoOptions struct {
	budgets     []int64
	strategies  []string
	embedders   []string
	url, model  string
	maxMessages int
	asJSON      bool
}

func newBenchLocomoCommand(a *app) *cobra.Command {
	var o locomoOptions
	cmd := &cobra.Command{
		Use:   "locomo FILE",
		Short: "Measure what selections find of the evidence in long conversations",
		Long: `Measures how much of the evidence for questions about long conversations each strategy finds under a budget. FILE is in
the format of LoCoMo: a JSON array of conversations over many sessions, with questions and the ids of the turns that hold
each answer. Every turn is a candidate, a question is the task, and recall is the share of the evidence among what is
chosen. Tokens are characters divided by four. No model is asked; of hybrid it is measured what it would show to one, cut
to the budget. docs/selection.md has the figures.

EMBEDDER is words (word vectors, fetched once), hashed (runs of characters: spelling, no meaning), or the name of an
embedding model as in windlass.json.`,
		Example: "  windlass bench locomo conversations.json\n" +
			"  windlass bench locomo conversations.json --budgets 500,1000 --strategy heuristic --json\n" +
			"  windlass bench locomo conversations.json --embedder words,hashed,text-embedding-3-small\n" +
			"  windlass bench locomo conversations.json --embeddings-url http://127.0.0.1:8080/v1 --embeddings-model minilm",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError(fmt.Errorf("bench locomo needs one file, got %d", len(args)), cmd.CommandPath()+" --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return a.benchLocomo(cmd.Context(), args[0], o) },
	}
	f := cmd.Flags()
	f.Int64SliceVar(&o.budgets, "budgets", []int64{1000, 2000, 4000}, "tokens that may be chosen, separated by commas")
	f.StringSliceVar(&o.strategies, "strategy", []string{"heuristic", "semantic", "hybrid"}, "what to measure, repeatable or separated by commas")
	f.StringSliceVar(&o.embedders, "embedder", nil, "what semantic and hybrid compare by, repeatable or separated by commas; default: what runs would use")
	f.StringVar(&o.url, "embeddings-url", "", "also measure a model at this OpenAI-compatible endpoint")
	f.StringVar(&o.model, "embeddings-model", "", "the model there")
	f.IntVar(&o.maxMessages, "max-messages", 0, "turns that may be chosen; 0: as many as the budget holds")
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

func (a *app) benchLocomo(ctx context.Context, path string, o locomoOptions) error {
	ctx, stop := interruptible(ctx, newNotices(io.Discard))
	defer stop()
	if err := o.check(); err != nil {
		return err
	}
	all, err := readLocomo(path)
	if err != nil {
		return err
	}
	bench := &locomo.Bench{Budgets: o.budgets, Settings: locomoSettings(o.maxMessages)}
	if bench.Methods, err = a.locomoMethods(ctx, o); err != nil {
		return interruptedOr(ctx, err)
	}
	var mu sync.Mutex
	progress := newCounter(a.err, "conversations", len(all))
	outcomes, err := bench.Run(ctx, all, func() {
		mu.Lock()
		defer mu.Unlock()
		progress.step()
	})
	progress.clear()
	if err != nil {
		return interruptedOr(ctx, providerError(err))
	}
	report := bench.Report(outcomes)
	a.warnLocomo(report)
	if o.asJSON { // in one line: a line for each of the ids chosen would be most of it
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		return enc.Encode(report)
	}
	return a.printLocomo(report)
}

// measured are the strategies that need no model.
var measured = []string{string(echo.StrategyHeuristic), string(echo.StrategySemantic), string(echo.StrategyHybrid)}

// check finds what is wrong with the flags.
func (o *locomoOptions) check() error {
	if len(o.budgets) == 0 || slices.ContainsFunc(o.budgets, func(n int64) bool { return n <= 0 }) {
		return usageError(errors.New("--budgets: a budget is a number of tokens above 0"), "--budgets 1000,2000,4000")
	}
	if o.maxMessages < 0 {
		return usageError(fmt.Errorf("--max-messages %d: a number of turns, or 0", o.maxMessages), "leave it out for as many as the budget holds")
	}
	if (o.url == "") != (o.model == "") {
		return usageError(errors.New("--embeddings-url and --embeddings-model need each other"), "both of them, or neither")
	}
	if len(o.strategies) == 0 {
		return usageError(errors.New("--strategy is empty"), strings.Join(measured, ", "))
	}
	for _, s := range o.strategies {
		if s == string(echo.StrategyLLM) {
			return usageError(errors.New("--strategy llm: a model would be asked for every question, and none is asked here"), strings.Join(measured, ", "))
		}
		if !slices.Contains(measured, s) {
			return usageError(fmt.Errorf("--strategy %q is not known", s), strings.Join(measured, ", "))
		}
	}
	return cmp.Or(once("budgets", o.budgets), once("strategy", o.strategies), once("embedder", o.embedders))
}

// once checks that a flag has each of its values once.
func once[T int64 | string](flag string, list []T) error {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return usageError(fmt.Errorf("--%s has %v twice", flag, v), "each once")
		}
	}
	return nil
}

func readLocomo(path string) ([]*locomo.Conversation, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, usageError(err, "a file of conversations in the format of LoCoMo; docs/selection.md describes it")
	}
	defer func() { _ = f.Close() }()
	all, err := locomo.Read(f)
	if err != nil {
		return nil, usageError(fmt.Errorf("read %s: %w", path, err), "a file of conversations in the format of LoCoMo; docs/selection.md describes it")
	}
	return all, nil
}

// warnLocomo says what does not stand in the table.
func (a *app) warnLocomo(r *locomo.Report) {
	if len(r.Unknown) > 0 {
		fmt.Fprintf(a.err, "Note: %s of evidence that no turn has: %s\n", plural(len(r.Unknown), "id"), printable(strings.Join(r.Unknown, ", ")))
	}
	for _, m := range r.Methods {
		if m.Embedder != "" && !autocontext.UsesSimilarity(m.Strategy, m.Embedder) {
			fmt.Fprintf(a.err, "Note: %s goes by words alone: %s compares spelling, not meaning\n", m.Strategy, printable(m.Embedder))
		}
		if m.FellBack > 0 {
			fmt.Fprintf(a.err, "Note: %s by %s knew nothing of %s: chosen by words\n", m.Strategy, printable(m.Embedder), plural(m.FellBack, "question"))
		}
	}
}

func (a *app) printLocomo(r *locomo.Report) error {
	fmt.Fprintf(a.out, "%s, %s, %s", plural(r.Conversations, "conversation"), counted(r.Turns, "turn"), counted(r.Questions, "question"))
	if r.NoEvidence > 0 {
		fmt.Fprintf(a.out, " (%d without evidence left out)", r.NoEvidence)
	}
	messages := "any number of turns"
	if r.MaxMessages > 0 {
		messages = "at most " + plural(r.MaxMessages, "turn")
	}
	fmt.Fprintf(a.out, "; %s\nshare of the evidence among what is chosen, by budget in tokens\n\n", messages)
	heads := []string{"strategy", "embedder", "questions about", ">questions"}
	for _, b := range r.Budgets {
		heads = append(heads, ">"+formatCount(b))
	}
	t := newTable(heads...)
	for _, m := range r.Methods {
		t.add(append([]string{string(m.Strategy), m.Embedder, "all", formatCount(int64(r.Questions))}, shares(m.Recall)...)...)
		for _, c := range m.Categories {
			t.add(append([]string{"", "", c.Name, formatCount(int64(c.Questions))}, shares(c.Recall)...)...)
		}
	}
	return a.show(t)
}

func shares(list []float64) []string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = fmt.Sprintf("%.3f", v)
	}
	return out
}

// interruptedOr returns err, or that a person interrupted.
func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return withExit(exitInterrupted, errInterrupted, "")
	}
	return err
}
