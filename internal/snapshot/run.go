package snapshot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

// Outcome is what a test came to.
type Outcome struct {
	Observed

	// Unanswered is what the run asked that has no recorded answer, and stopped at; nil: nothing.
	Unanswered *effect.UnansweredError
}

// standstill is when everything in a test happens, so that it depends on no clock.
var standstill = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func stillSeams() effect.Seams {
	return effect.Seams{
		Now:   func() time.Time { return standstill },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
}

// Run runs a cascade with the answers of the test. No model or tool is called, nothing is written,
// and no budget limits it. The run's own end is no error. It is safe for concurrent use.
func (t *Test) Run(ctx context.Context, r engine.Runner, c *cascade.Cascade) (*Outcome, error) {
	answers := make([]*echo.Entry, len(t.Answers))
	for i := range t.Answers {
		answers[i] = t.Answers[i].entry()
	}
	kept := &keeper{}
	log := echo.NewLog(t.Session, func() time.Time { return standstill }, nil, kept)
	r.Env, r.Seams, r.Children = t.Env, stillSeams(), ended{}
	_, err := r.Run(ctx, engine.Spec{
		Rules: cmp.Or(t.Rules, 1), Off: t.Off, Cascade: c, Input: t.Input, WorkDir: WorkDir, Budget: &cascade.Budget{}, Log: log, Effects: effect.NewAnswered(effect.Writer{Log: log, Mask: r.Mask}, answers),
	})
	out := &Outcome{}
	var record *effect.RecordError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &record):
		return nil, err
	}
	errors.As(err, &out.Unanswered) // any other error is how the run ended: it is in what was observed
	out.Observed = Observe(kept.entries)
	return out, nil
}

// Differences compares with what is expected; without an answer, not what only an end brings.
func (t *Test) Differences(now *Outcome) []Difference {
	chosen := t.Match
	if now.Unanswered != nil {
		chosen = slices.DeleteFunc(slices.Clone(chosen), func(a Aspect) bool { return a == Output || a == State })
	}
	return Compare(t.Expect, now.Observed, chosen)
}

// Accept makes what a test came to what it expects, and reports whether that changes it.
func (t *Test) Accept(now *Outcome) bool {
	changed := len(t.Differences(now))+len(t.Lacking()) > 0
	t.Expect = now.only(t.Match)
	return changed
}

type keeper struct{ entries []*echo.Entry }

func (k *keeper) Write(e *echo.Entry) error {
	k.entries = append(k.entries, e)
	return nil
}

func (k *keeper) Close(context.Context) error { return nil }
