package windlass

import (
	"cmp"
	"context"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/simulate"
	"github.com/windlass-run/windlass/internal/snapshot"
	"github.com/windlass-run/windlass/internal/snapshot/frozen"
	"github.com/windlass-run/windlass/internal/snapshot/suite"
)

// Simulation says how conversations are simulated, see [Windlass.Simulate].
type Simulation struct {
	// Policies are "full", "default", "every_turn", "step:N", a JSON object of intra_context
	// settings or "@FILE" with one, with "NAME=" before it or not; none: those that the command
	// compares.
	Policies []string
	// Prices are what a cached token costs as a share of another, as "0.1", "IN:CACHED" in USD per
	// million tokens, or the name of a model; none: 0.1.
	Prices []string
}

// SimulationReport is what a simulation found: Groups, one for each source and price, and Total
// over several sources. Each has a summary for each policy: what was sent, what a prefix cache
// would have shared, what it would have cost, and what would have been lost.
type SimulationReport = simulate.Report

// Simulate replays recorded conversations under context settings, without a model. A source is a
// file with a conversation on each line, or a session of this machine. docs/simulate.md says what
// is measured. The error is of [InvalidRequest] or one of those of [Windlass.Record].
func (w *Windlass) Simulate(ctx context.Context, s Simulation, sources ...string) (*SimulationReport, error) {
	if err := w.ready("simulate"); err != nil {
		return nil, err
	}
	policies, _, err := simulate.ChoosePolicies(s.Policies, "Simulation.Policies")
	if err != nil {
		return nil, failure.New(InvalidRequest, err, "docs/simulate.md describes policies")
	}
	if len(s.Prices) == 0 {
		s.Prices = []string{"0.1"}
	}
	prices, err := simulate.ChoosePrices(s.Prices, w.app.Price)
	if err != nil {
		return nil, failure.New(InvalidRequest, err, "docs/simulate.md describes prices")
	}
	all, err := simulate.ReadSources(sources, w.archive.LocalJournal)
	if journal.IsUnreadable(err) {
		err = archive.ReadError(err)
	}
	if err != nil {
		return nil, explain(err)
	}
	sim := &simulate.Simulation{Policies: simulate.WithHindsight(policies), Prices: prices}
	report, err := sim.Replay(ctx, all, &simulate.Files{}, func() {})
	return report, explain(err)
}

// Aspect is one thing that a frozen test compares.
type Aspect = snapshot.Aspect

// The aspects of frozen tests.
const (
	AspectPhases  = snapshot.Phases  // which ran, how each ended, what its checks said
	AspectRoutes  = snapshot.Routes  // which phase followed which, and why
	AspectTools   = snapshot.Tools   // the calls of tools with their arguments
	AspectOutput  = snapshot.Output  // of the run
	AspectState   = snapshot.State   // what was stored, and what each phase put out
	AspectContext = snapshot.Context // what each model call was sent
)

// FreezeOptions say what test is made of a session: its Name, the folder Dir that it is written to
// ("": tests), what it compares (Match; none: all but the context), the file of the Cascade that it
// runs ("": the session's), and KeepEnv, the granted variables whose values stay in it. Warn, which
// may be nil, gets what a person should know of the test.
type FreezeOptions = frozen.Options

// FrozenTest is a test that was made of a session, and the file that it is in: its Path.
type FrozenTest = snapshot.Test

// Freeze makes a test of a session that has ended: one file with the answers that its models and
// tools gave and what it came to. [RunTests] runs it, without a model. What models and tools
// answered is in the file, so read it before you share it. A session with tools of a program, see
// [WithTool], cannot be frozen.
func (w *Windlass) Freeze(ctx context.Context, id string, o FreezeOptions) (*FrozenTest, error) {
	if err := w.ready("freeze a session"); err != nil {
		return nil, err
	}
	if !journal.IsSessionID(o.Name) {
		return nil, invalid("freeze session %s: the name %q: use up to 64 letters, digits, dots, dashes and underscores, "+
			"beginning with a letter or digit", id, o.Name)
	}
	rec, err := recording(ctx, w, id)
	if err != nil {
		return nil, err
	}
	o.Dir = cmp.Or(o.Dir, "tests")
	if len(o.Match) == 0 {
		o.Match = snapshot.Usual()
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	t, err := frozen.Make(ctx, rec, o)
	return t, explain(err)
}

// TestReport is how tests ended: Tests one by one, and how many Passed, Failed, or had Errors.
type TestReport = suite.Report

// RunTests runs frozen tests: those of the files, and of the folders and all below them. Each runs
// its cascade as the file is now with the recorded answers; no model is asked and no tool runs.
// With update the tests expect from now on what comes out, which is the only thing that is written.
//
// The error is of [InvalidRequest] when there are no tests; that one fails is in the report.
func RunTests(ctx context.Context, update bool, paths ...string) (*TestReport, error) {
	files, err := suite.Find(paths)
	if err != nil {
		return nil, failure.New(InvalidRequest, err, "Freeze makes a test")
	}
	report := suite.Options{Load: app.LoadKnown, Update: update}.RunAll(ctx, files)
	if err := ctx.Err(); err != nil {
		return nil, failure.New(Interrupted, err, "")
	}
	return report, nil
}

// recording reads the journal of a session, which is rebuilt when only ClickHouse has the session.
func recording(ctx context.Context, w *Windlass, id string) (*journal.Recording, error) {
	id, _, err := w.archive.Bring(ctx, id)
	if err != nil {
		return nil, explain(err)
	}
	rec, err := w.app.ReadJournal(id)
	return rec, explain(err)
}
