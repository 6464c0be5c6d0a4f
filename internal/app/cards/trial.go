package cards

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/phasecontext"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/fetch"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/vectors"
)

// StrategyPrefilter is hybrid without the model. Only trials have it.
const StrategyPrefilter cascade.SelectionStrategy = "prefilter"

// Strategies lists those of trials.
func Strategies() []cascade.SelectionStrategy {
	return []cascade.SelectionStrategy{
		StrategyPrefilter, cascade.StrategyHeuristic, cascade.StrategySemantic, cascade.StrategyLLM, cascade.StrategyHybrid,
	}
}

// StrategyError says that trials have no strategy of a name.
type StrategyError struct{ Name cascade.SelectionStrategy }

func (e *StrategyError) Error() string {
	var names []string
	for _, s := range Strategies() {
		names = append(names, string(s))
	}
	expected := "expected one of " + strings.Join(names, ", ")
	if e.Name == "" {
		return "no strategy is named: " + expected
	}
	return fmt.Sprintf("strategy %q: %s", e.Name, expected)
}

// Trial is a selection on the record of a session, without a run.
type Trial struct {
	Task     string
	Strategy cascade.SelectionStrategy // of a cascade, or StrategyPrefilter
	Budget   int64                     // the most tokens
	Phase    string                    // what had finished when it began is selected from; "": everything
	Model    string                    // that chooses, with a strategy that asks one

	Withdrawals *echo.Withdrawals // what persons have taken out of the views of the session; nil: nothing

	Store contextcards.Store // takes the cards that it lacks; nil: none does

	Config   *config.Config
	Secrets  *secret.Set          // no model is sent them
	CacheDir string               // of fetched files
	NoFetch  bool                 // nothing is fetched
	Here     *vectors.Kept        // not nil: what would ask a model, fetch or write anything is a [*NotFreeError]
	Gate     *fetch.Gate          // decides whether word vectors are downloaded
	Progress func(fetch.Progress) // is told how word vectors are fetched
	Instead  func(error)          // is told why another embedder than the one of Config is used
}

// NotFreeError says that a trial would ask a model or fetch something, and is not to.
type NotFreeError struct{ Why string }

func (e *NotFreeError) Error() string { return e.Why }

// Tried is a trial selection with what it goes by.
type Tried = phasecontext.Tried

// Try makes a trial selection on the entries of a session. A phase that the session does not have,
// or a session with nothing to select from, is of the kind [failure.InvalidRequest].
func Try(ctx context.Context, sessionID string, entries []*echo.Entry, t Trial) (found *Tried, err error) {
	begins := func(e *echo.Entry) bool { return e.NodeType == echo.NodePhaseStart && e.Phase == t.Phase }
	if t.Phase != "" && !slices.ContainsFunc(entries, begins) {
		return nil, failure.Newf(failure.InvalidRequest, "session %s has no phase %q", sessionID, t.Phase)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	router := llm.NewRouter(t.Config, environment.Getenv)
	router.Know(t.Secrets)
	defer router.Close()
	try := phasecontext.Trial{Task: t.Secrets.Text(t.Task), Before: t.Phase, Withdrawals: t.Withdrawals, Now: time.Now}
	try.Selection, try.Prefilter = t.settings()
	if t.Model != "" {
		if err := router.Check(t.Model); err != nil {
			return nil, ModelError(err)
		}
		try.Model, try.Count = router, router.Facts(t.Model).Count
	}
	embedder, err := t.embedder(ctx, router, try.Selection.Strategy)
	if err != nil {
		return nil, err
	}
	c := t.cards(embedder)
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.pipeline.Load(ctx, sessionID); err != nil {
		return nil, failure.New(failure.StorageFailed, err, "")
	}
	if try.Cards = c.Pipeline(); embedder != nil {
		try.Similarity = c
	}
	found, err = phasecontext.Try(ctx, sessionID, entries, try)
	if err != nil {
		return nil, failure.New(failure.InvalidRequest, err, "")
	}
	return found, nil
}

// cards returns cards that are kept in memory, and in the store if there is one.
func (t *Trial) cards(e contextcards.Embedder) *Cards {
	o := contextcards.Options{Embedder: e, Mask: t.Secrets.Text, Store: t.Store}
	return &Cards{embedder: e, pipeline: contextcards.Start(o)}
}

// check says why a trial makes no sense.
func (t *Trial) check() error {
	asks := t.Strategy.AsksModel()
	switch {
	case strings.TrimSpace(t.Task) == "":
		return failure.Newf(failure.InvalidRequest, "no task to select for")
	case !slices.Contains(Strategies(), t.Strategy):
		return failure.New(failure.InvalidRequest, &StrategyError{t.Strategy}, "")
	case t.Here != nil && asks:
		return failure.New(failure.InvalidRequest, &NotFreeError{fmt.Sprintf("the strategy %s asks a model, which is paid for", t.Strategy)}, "")
	case t.Budget < 1:
		return failure.Newf(failure.InvalidRequest, "a budget of %d: expected 1 or more tokens", t.Budget)
	case asks && t.Model == "":
		return failure.Newf(failure.InvalidRequest, "the strategy %s asks a model, and none is named", t.Strategy)
	case !asks && t.Model != "":
		return failure.Newf(failure.InvalidRequest, "a model is for the strategies llm and hybrid; %s asks none", t.Strategy)
	}
	return nil
}

// settings returns what the selection is made with.
func (t *Trial) settings() (s cascade.InterSelection, prefilter bool) {
	s = cascade.DefaultInter().Selection
	s.Strategy, s.MaxTokens, s.SelectorModel = t.Strategy, t.Budget, t.Model
	if t.Strategy == StrategyPrefilter {
		s.Strategy, prefilter = cascade.StrategyHybrid, true
	}
	return s, prefilter
}

// embedder returns what a strategy compares by similarity with, nil for one that does not.
func (t *Trial) embedder(ctx context.Context, router *llm.Router, s cascade.SelectionStrategy) (contextcards.Embedder, error) {
	if s != cascade.StrategySemantic && s != cascade.StrategyHybrid {
		return nil, nil //nolint:nilnil // a strategy that compares nothing by similarity has no embedder
	}
	name, local := EmbeddingModel(t.Config), vectors.ConfigFromEnv(t.CacheDir)
	if t.Here != nil {
		return t.embedderHere(name, local)
	}
	local.Gate = t.Gate
	e := Embedder{Embedder: contextcards.NewHashed(0), Instead: errNoFetch}
	if name != EmbedderWords || !t.NoFetch || local.Here() {
		var err error
		if e, err = OpenEmbedder(ctx, name, local, router, t.Progress); err != nil {
			return nil, err
		}
	}
	if refused, ok := errors.AsType[*failure.Error](e.Instead); ok && fetch.IsRefused(refused) {
		return nil, refused // whoever tries a selection wants it as a run would make it
	}
	if e.Instead != nil {
		t.Instead(e.Instead)
	}
	return e.Embedder, nil
}

// embedderHere returns an embedder that is on this machine.
func (t *Trial) embedderHere(name string, local vectors.Config) (contextcards.Embedder, error) {
	switch name {
	case EmbedderHashed:
		return contextcards.NewHashed(0), nil
	case EmbedderWords:
		w, err := t.Here.Open(local)
		if err != nil {
			return nil, failure.New(failure.InvalidRequest, &NotFreeError{fmt.Sprintf("the strategy %s compares by meaning, and the word vectors for that are not on this machine", t.Strategy)}, "windlass fetch vectors")
		}
		return w, nil
	}
	return nil, failure.New(failure.InvalidRequest, &NotFreeError{fmt.Sprintf("the strategy %s compares by meaning with %s, which is asked over the network and paid for", t.Strategy, name)}, "")
}
