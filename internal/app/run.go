package app

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/app/cards"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/database"
	"github.com/windlass-run/windlass/internal/secret"
	"github.com/windlass-run/windlass/internal/tool"
)

// Run is one run with everything that it has open. [App.Start], [App.Resume] and [App.Fork] return
// it; it is to be done once with [Run.Do], and closed however that ended.
type Run struct {
	header  journal.Header
	started Started
	limits  Limits
	cascade *cascade.Cascade
	input   map[string]any
	recheck recheck // what was recorded before, and whether the run continues

	journal string // the path of its journal
	secrets *secret.Set
	runner  *engine.Runner
	tools   *tool.Registry
	log     *echo.Log
	figures *figures
	cards   *cards.Cards // nil when no phase has a use for them
	store   *store       // nil without ClickHouse

	around
}

// around is what a run has to do with besides its own record.
type around struct {
	children *children
}

// store is what a run has of ClickHouse.
type store struct {
	handle   *database.Handle
	sink     *clickhouse.Sink
	querier  *database.Querier
	delivery *database.Delivery // of earlier sessions
}

// Deliver implements [tool.Querier].
func (s *store) Deliver(ctx context.Context) (upTo, newest uint64) { return s.sink.Deliver(ctx) }

// QuerySession implements [tool.Querier].
func (s *store) QuerySession(ctx context.Context, sessionID, sql string) (columns []string, rows [][]any, err error) {
	return s.querier.QuerySession(ctx, sessionID, sql)
}

// closeLimit is how long rows may take to reach ClickHouse after a run. What does not get there is
// in the journal.
const closeLimit = 15 * time.Second

// ID returns the id of the session.
func (r *Run) ID() string { return r.header.SessionID }

// Header returns the header of the session's journal.
func (r *Run) Header() journal.Header { return r.header }

// File returns where the cascade is from, as it was given.
func (r *Run) File() string { return r.header.File }

// Journal returns the path of the session's journal.
func (r *Run) Journal() string { return r.journal }

// Cascade returns what runs.
func (r *Run) Cascade() *cascade.Cascade { return r.cascade }

// Recorded returns what was recorded of the session before it was resumed, or continues in this process.
func (r *Run) Recorded() []*echo.Entry { return r.recheck.entries() }

// WithoutSecrets returns a text in which known secrets are replaced by their names.
func (r *Run) WithoutSecrets(text string) string { return r.secrets.Text(text) }

// Sums returns what the session came to so far. It may be called while the run goes on.
func (r *Run) Sums() record.Sums { return r.figures.sums() }

// VisitTotals returns what a visit to a phase took so far, see [engine.PhaseResult].
func (r *Run) VisitTotals(visit echo.Key) record.Totals { return r.figures.visit(visit) }

// Do runs the cascade to its end. The result says what it came to, also with an error, which is a
// [*failure.Error].
func (r *Run) Do(ctx context.Context) (*engine.Result, error) {
	defer r.children.run(ctx)()
	res, err := r.runner.Run(ctx, r.spec())
	for r.recheck.take() {
		res, err = r.runner.Run(ctx, r.spec())
	}
	return res, endError(res, r.children, withoutSecrets(r.secrets, err))
}

// spec is what the run is.
func (r *Run) spec() engine.Spec {
	spec := engine.Spec{
		Cascade: r.cascade, Input: r.input, Files: r.started.Files, Log: r.log, WorkDir: r.started.WorkDir, Name: r.started.Name, Rules: r.header.Rules, Redacted: redactionsOf(&r.header), Off: r.started.Off, Header: encoded(r.header),
		Recording: r.Recorded(), Background: r.cards.SinceAsked(),
		Lineage: engine.Lineage{Depth: r.header.Depth, Taken: r.children.taken(), State: r.started.state(), Trial: r.started.Trial},
	}
	spec.Budget = r.limits.Apply(spec.BudgetInForce())
	if of := r.children.of; of != nil {
		spec.Parent, spec.Detached = of.Ledger, of.Detach
		spec.Budget = cmp.Or(r.limitsOfChild(spec.BudgetInForce(), ranWhile(r.children.op.parent.run.Recorded(), r.Recorded())), spec.Budget)
	}
	return spec
}

// Closing is what closing a run has left to say.
type Closing struct {
	Cards       error                        // cards that did not get done
	Notices     error                        // who was not told of a wait
	Undelivered *clickhouse.UndeliveredError // rows that ClickHouse does not have; nil: none
	Delivered   bool                         // ClickHouse has everything
	Earlier     database.Delivered           // what was delivered of earlier sessions
	Engine      string                       // what a person should know of the engine; "": nothing
	Interrupted []string                     // sessions that the run had begun and left to themselves, and that can be resumed
	Err         error                        // anything else
}

// Close waits for the children that run on, see [cascade.AsyncCascade.Detach], until they have ended or
// the context of the run has, and ends everything that the run has open. Rows that are on their way to
// ClickHouse have a while to get there.
func (r *Run) Close() Closing {
	children := r.children.close()
	c := r.close()
	c.add(children)
	return c
}

func (r *Run) close() Closing {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	var c Closing
	if !r.cards.Later() {
		c.Cards = r.cards.Close() // first: what it has to say goes into the log
	}
	err := errors.Join(r.log.Close(ctx), r.tools.Close())
	if s := r.store; s != nil {
		if s.delivery != nil {
			c.Earlier = s.delivery.Finish(err == nil)
		}
		err = errors.Join(err, s.querier.Close(ctx))
		c.Engine = s.handle.Warning()
	}
	if !errors.As(err, &c.Undelivered) {
		c.Err = err
	}
	if r.cards.Later() {
		if c.Undelivered != nil { // ClickHouse is away, which is said already
			r.cards.Drop()
		}
		c.Cards = r.cards.Close()
	}
	c.Notices = r.children.op.notices.close()
	c.Delivered = r.store != nil && (c.Undelivered == nil || c.Undelivered.Rows == 0)
	return c
}

// add takes what closing a child has left to say.
func (c *Closing) add(child Closing) {
	if child.Cards != nil {
		c.Cards = errors.Join(c.Cards, child.Cards)
	}
	if child.Notices != nil {
		c.Notices = errors.Join(c.Notices, child.Notices)
	}
	if child.Err != nil {
		c.Err = errors.Join(c.Err, child.Err)
	}
	c.Engine = cmp.Or(c.Engine, child.Engine)
	c.Interrupted = append(c.Interrupted, child.Interrupted...)
	c.Delivered = c.Delivered && child.Delivered
	switch {
	case child.Undelivered == nil:
	case c.Undelivered == nil:
		c.Undelivered = child.Undelivered
	default:
		sum := *c.Undelivered
		sum.Rows, sum.Unread, sum.Err = sum.Rows+child.Undelivered.Rows, sum.Unread+child.Undelivered.Unread, cmp.Or(sum.Err, child.Undelivered.Err)
		c.Undelivered = &sum
	}
}
