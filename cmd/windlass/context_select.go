package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/inspect"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/vectors"
)

// strategyPrefilter is hybrid without the model.
const strategyPrefilter = "prefilter"

// selectFlags are the flags of windlass context select.
type selectFlags struct {
	task, strategy, phase, model string
	budget                       int64
	asJSON                       bool
}

func newContextSelectCommand(a *app) *cobra.Command {
	var o selectFlags
	cmd := &cobra.Command{
		Use: "select SESSION", Short: "Try which messages of a session would be selected for a task",
		Long: "Tries which messages of a recorded session would be selected for a task, without running anything. Everything that\n" +
			"finished phases said is a candidate; there are no anchors. Strategies: heuristic, semantic, prefilter (words and\n" +
			"meaning), and with --model, which is asked and paid for, llm and hybrid.",
		Example: "  windlass context select 01JZ4K --for \"Why did orders fail?\"\n" +
			"  windlass context select 01JZ4K --for \"Write the fix\" --strategy heuristic --budget 4000 --phase fix\n" +
			"  windlass context select 01JZ4K --for \"Write the fix\" --strategy llm --model gpt-5-nano --json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] != "" {
				return nil
			}
			return usageError(fmt.Errorf("%s takes one session id, got %q", cmd.CommandPath(), args), cmd.CommandPath()+" --help")
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			return a.inspectSession(cmd.Context(), args[0], func(r *inspect.Record) error {
				return a.trySelection(cmd.Context(), r, o)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.task, "for", "", "the `TASK` to select for")
	f.StringVar(&o.strategy, "strategy", strategyPrefilter, "how: heuristic, semantic, prefilter, llm or hybrid")
	f.Int64Var(&o.budget, "budget", cascade.DefaultInter().Selection.MaxTokens, "the most `TOKENS`")
	f.StringVar(&o.phase, "phase", "", "select from what had finished when this `PHASE` began")
	f.StringVar(&o.model, "model", "", "the `MODEL` that chooses, with llm and hybrid")
	jsonFlag(cmd, &o.asJSON)
	return cmd
}

func (o *selectFlags) check() error {
	asks := cascade.SelectionStrategy(o.strategy).AsksModel()
	known := []string{strategyPrefilter, string(cascade.StrategyHeuristic), string(cascade.StrategySemantic), string(cascade.StrategyLLM), string(cascade.StrategyHybrid)}
	switch {
	case strings.TrimSpace(o.task) == "":
		return usageError(errors.New("no task to select for"), `windlass context select SESSION --for "why did it fail?"`)
	case !slices.Contains(known, o.strategy):
		return usageError(fmt.Errorf("--strategy %q: there are %s", o.strategy, strings.Join(known, ", ")), "--strategy heuristic")
	case o.budget < 1:
		return usageError(fmt.Errorf("--budget %d: expected 1 or more tokens", o.budget), "--budget 4000")
	case asks && o.model == "":
		return usageError(fmt.Errorf("the strategy %s asks a model, and none is named", o.strategy), "--model gpt-5-nano, or --strategy prefilter")
	case !asks && o.model != "":
		return usageError(fmt.Errorf("--model is for the strategies llm and hybrid; %s asks none", o.strategy), "leave it out, or --strategy llm")
	}
	return nil
}

// settings returns what the selection is made with.
func (o *selectFlags) settings() (s cascade.InterSelection, prefilter bool) {
	s = cascade.DefaultInter().Selection
	s.Strategy, s.MaxTokens, s.SelectorModel = cascade.SelectionStrategy(o.strategy), o.budget, o.model
	if o.strategy == strategyPrefilter {
		s.Strategy, prefilter = cascade.StrategyHybrid, true
	}
	return s, prefilter
}

// trySelection selects and shows what came of it.
func (a *app) trySelection(ctx context.Context, r *inspect.Record, o selectFlags) error {
	begins := func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Phase == o.phase }
	if o.phase != "" && !slices.ContainsFunc(r.Entries, begins) {
		return usageError(fmt.Errorf("session %s has no phase %q", r.ID, o.phase), "windlass sessions show "+r.ID)
	}
	_, cfg, err := settings()
	if err != nil {
		return err
	}
	router, secrets := llm.NewRouter(cfg, environment.Getenv), core.KnownSecrets(cfg, nil)
	router.Know(secrets)
	defer router.Close()
	t := phasecontext.Trial{Task: secrets.Text(o.task), Before: o.phase, Now: time.Now}
	t.Selection, t.Prefilter = o.settings()
	if o.model != "" {
		if err := router.Check(o.model); err != nil {
			return core.ModelError(err)
		}
		t.Model, t.Count = router, router.Facts(o.model).Count
	}
	embedder, err := a.selectEmbedder(ctx, cfg, router, t.Selection.Strategy)
	if err != nil {
		return err
	}
	c := cards.InMemory(embedder, secrets.Text)
	defer func() { _ = c.Close() }() // it only keeps them in memory
	if t.Cards = c.Pipeline(); embedder != nil {
		t.Similarity = c
	}
	sel, err := phasecontext.Try(ctx, r.ID, r.Entries, t)
	if err != nil {
		return usageError(err, "windlass sessions show "+r.ID)
	}
	if o.asJSON {
		return a.printJSON(sel)
	}
	return a.printSelection(sel)
}

// selectEmbedder returns what a strategy compares by meaning with, nil for one that does not.
func (a *app) selectEmbedder(ctx context.Context, cfg *config.Config, router *llm.Router, s cascade.SelectionStrategy) (contextcards.Embedder, error) {
	if s != cascade.StrategySemantic && s != cascade.StrategyHybrid {
		return nil, nil //nolint:nilnil // a strategy that compares no meanings has no embedder
	}
	dir, err := config.CacheDir()
	if err != nil {
		return nil, withExit(exitStorage, err, "set WINDLASS_CACHE to a folder")
	}
	progress := newFetchProgress(a.err)
	defer progress.mute()
	e, err := cards.OpenEmbedder(ctx, cards.EmbeddingModel(cfg), vectors.ConfigFromEnv(dir), router, progress.show)
	if err != nil {
		return nil, err
	}
	if e.Instead != nil {
		fmt.Fprintf(a.err, "Messages are compared by their spelling and not by meaning: %v\n", e.Instead)
	}
	return e.Embedder, nil
}

// printSelection shows the scores of every candidate and the sums.
func (a *app) printSelection(s *echo.InterSelection) error {
	if err := a.show(scoreTable(s.Scores)); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "\nchosen by %s: %d of %s, %s of %s tokens; everything is %s tokens\n", s.Strategy, len(s.Chosen),
		plural(s.Candidates, "candidate"), formatCount(s.Used), formatCount(s.Budget), formatCount(s.Everything))
	if s.Embedder != "" {
		fmt.Fprintf(a.out, "compared by meaning with %s\n", s.Embedder)
	}
	for _, note := range slices.Concat(s.Notes, s.Degraded) {
		fmt.Fprintf(a.out, "note: %s\n", printable(note))
	}
	return nil
}

func scoreTable(scores []echo.Score) *table {
	t := newTable("hash", "phase", ">tokens", ">keyword", ">recency", ">meaning", "callout", ">total", ">rank", "chosen")
	for i := range scores {
		s := &scores[i]
		cells := append([]string{string(s.ID), s.Phase, formatCount(s.Tokens)}, scoreCells(s)...)
		t.add(append(cells, ifSo(s.Chosen))...)
	}
	return t
}

// scoreCells are the parts of a score: keyword, recency, meaning, callout, total, rank.
func scoreCells(s *echo.Score) []string {
	meaning, rank := "", ""
	if s.Similarity != nil {
		meaning = fmt.Sprintf("%.2f", *s.Similarity)
	}
	if s.Rank > 0 {
		rank = fmt.Sprint(s.Rank)
	}
	return []string{fmt.Sprintf("%.2f", s.Keyword), fmt.Sprintf("%.2f", s.Recency), meaning, ifSo(s.Callout), fmt.Sprintf("%.3f", s.Total), rank}
}

func ifSo(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
