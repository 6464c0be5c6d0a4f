package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/environment"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/tool"
)

// Verification is what [App.Verify] found.
type Verification struct {
	SessionID  string `json:"session_id"`
	Holds      bool   `json:"holds"`
	Status     string `json:"status"`         // of the run
	Entries    int    `json:"entries"`        // recorded
	Requests   int    `json:"requests"`       // model calls, whose requests were made again
	Views      int    `json:"views"`          // selections inside phases
	Selections int    `json:"selections"`     // between phases
	Torn       bool   `json:"torn,omitempty"` // the last line was cut off by a crash; it is left out
	Difference string `json:"difference,omitempty"`

	Redaction *RedactionCheck `json:"redacted,omitempty"` // nil: nothing of the session is redacted

	Children []*ChildVerification `json:"children,omitempty"` // that count, in the order in which they began; see [VerifyTree]

	state map[string]any // with which the replay ended, without secrets
}

// RedactionCheck is what [App.Verify] cannot say of a session with redacted messages.
type RedactionCheck struct {
	Redactions []journal.Redaction `json:"redactions"`
	Messages   int                 `json:"messages"`                // whose hashes were taken as recorded, not computed
	Of         int                 `json:"of"`                      // messages recorded
	Taken      int                 `json:"taken"`                   // entries that follow from them, taken as recorded
	NotMade    uint64              `json:"not_made_from,omitempty"` // the entry from which on nothing could be made again; 0: all was
}

// Verify runs a session again with nothing but its record: no model is asked, no tool runs, nothing
// is written. It compares everything that the run would record with what is recorded. The error
// says that it could not be tried.
func (a *App) Verify(ctx context.Context, rec *journal.Recording, e Extensions) (*Verification, error) {
	replay, err := a.Replay(rec.Header, e)
	if err != nil {
		return nil, err
	}
	defer replay.Close() //nolint:errcheck // nothing was opened that could be lost
	end := record.EndOf(rec.Entries)
	v := &Verification{SessionID: rec.Header.SessionID, Status: end.Status.String(), Entries: len(rec.Entries), Torn: rec.Torn}
	v.count(rec.Entries)
	replay.Spec.Recording = rec.Entries
	if len(rec.Entries) == 0 {
		v.Holds = true
		return v, nil
	}
	res, err := replay.Runner.Run(ctx, replay.Spec)
	if v.Redaction = redactionCheck(rec); v.Redaction != nil {
		v.Redaction.Taken = res.Taken
	}
	v.state, _ = replay.Runner.Mask.Any(res.State).(map[string]any)
	var differs *effect.DivergenceError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &differs) && differs.Redacted:
		v.Holds, v.Redaction.NotMade = true, differs.Seq
	case errors.As(err, &differs):
		v.Difference = differs.Error()
	case errors.Is(err, effect.ErrEndOfRecord):
		v.Holds = end.Status != echo.StatusCompleted && end.Status != echo.StatusFailed
	case end.Status == echo.StatusRunning, res.Status == end.Status:
		v.Holds = true
	}
	if !v.Holds && v.Difference == "" {
		v.Difference = fmt.Sprintf("the run is recorded as %s, and comes to %s: %v", end.Status, res.Status, err)
	}
	return v, nil
}

func redactionCheck(rec *journal.Recording) *RedactionCheck {
	if len(rec.Header.Redactions) == 0 {
		return nil
	}
	c := &RedactionCheck{Redactions: rec.Header.Redactions}
	for _, e := range rec.Entries {
		if e.Message == nil {
			continue
		}
		if c.Of++; e.Message.Redacted() != nil {
			c.Messages++
		}
	}
	return c
}

// redactionsOf returns what was redacted of a session, for a run that follows its recording. A fork has
// other entries behind those of its parent.
func redactionsOf(h *journal.Header) effect.Redactions {
	x := effect.Redactions{Messages: h.Redacted()}
	for _, r := range h.Redactions {
		x.Entries = append(x.Entries, r.Entries...)
		if len(r.Entries) > 0 && r.Numbers > 0 && (x.Zeros == 0 || r.Entries[0] < x.Zeros) {
			x.Zeros = r.Entries[0]
		}
	}
	return x
}

func (v *Verification) count(entries []*echo.Entry) {
	for _, e := range record.Counted(entries) {
		switch e.NodeType {
		case echo.NodeModelCall:
			v.Requests++
		case echo.NodeSelection:
			v.Views++
		case echo.NodeInter:
			v.Selections++
		}
	}
}

// Replay is what runs a recorded session again with nothing but its record: no model, no tool,
// nothing written. Tools are there to be described only: what a model was told of them is part of
// what it was sent.
type Replay struct {
	Runner *engine.Runner
	Spec   engine.Spec // without a recording
	tools  *tool.Registry
}

// Close ends the use of the tools.
func (r *Replay) Close() error { return r.tools.Close() }

// Replay returns what runs the session of a header again. It must be closed.
func (a *App) Replay(h journal.Header, e Extensions) (*Replay, error) {
	origin, err := ReadHeader(h, e.ToolNames()...)
	if err != nil {
		return nil, err
	}
	cfg, err := config.Open(origin.Started.Dir, a.home)
	if err != nil {
		cfg = &config.Config{} // of another machine: what counts of it is in the record
	}
	options := origin.Started.options()
	options.Extensions = e
	op := a.opening(cfg, options, Watch{})
	op.run.header, op.run.cascade = h, origin.Cascade
	if err := op.assignModels(); err != nil {
		return nil, err
	}
	known := factsUnasked
	if options.Offline {
		known = factsOffline
	}
	op.runner.Facts = known(llm.NewRouter(cfg, environment.Getenv))
	tools, err := tool.New(tool.Options{
		Roots: []string{os.TempDir()}, Declared: origin.Cascade.Tools, Funcs: e.Tools, AllowEnv: origin.Started.AllowEnv,
		Getenv: environment.LookupEnv, Secrets: op.run.secrets,
	})
	if err != nil {
		return nil, headerError("%w", err)
	}
	op.runner.Tools = tools
	return &Replay{
		Runner: op.runner, tools: tools,
		Spec: engine.Spec{
			Rules: h.Rules, Redacted: redactionsOf(&h), Off: origin.Started.Off, Cascade: origin.Cascade, Input: origin.Input, Files: origin.Started.Files, Name: cmp.Or(origin.Started.Name, h.SessionID), WorkDir: origin.Started.WorkDir,
			Lineage: engine.Lineage{Depth: h.Depth, State: origin.State, Trial: origin.Started.Trial},
		},
	}, nil
}
