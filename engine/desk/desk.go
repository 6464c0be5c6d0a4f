// Package desk answers the calls of tools that are effects of the engine: those that wait for people or signals, make
// artifacts, or use a bank of memory or memos; and it has calls wait for approval.
package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/artifact"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/memo"
	"github.com/windlass-run/windlass/engine/memory"
	"github.com/windlass-run/windlass/engine/recollection"
	"github.com/windlass-run/windlass/engine/toolset"
	"github.com/windlass-run/windlass/engine/waiting"
)

// Signals sends the signals of runs to whoever waits for them. It is safe for concurrent use.
type Signals interface {
	// Fire leaves a signal for its waits, once for each letter however often it is called. What is recorded of the
	// run is durable before. The error says why it cannot be left, for the model.
	Fire(ctx context.Context, s echo.Fired) error
}

// Desk answers such calls of one visit. Calls of one turn may be answered at the same time.
type Desk struct {
	*core.Place
	Cascade *cascade.Cascade
	Session string
	Schemas *toolset.Schemas
	Copied  func(*echo.Entry) bool // reports of an entry whether the session, a fork, has copied it
	Signals Signals                // nil: none are sent
	Banks   memory.Banks           // nil: a call of memory fails
	Notes   *memory.Notes          // how much of each bank the run sees
	Memos   memo.Desk
	Shelf   *artifact.Shelf // what the run has made for people to see
}

// approves reports whether calls of a tool wait for approval. What the engine answers itself does not.
func (d *Desk) approves(tool string) bool {
	if waiting.Waits(tool) || toolset.IsOwnTool(tool) {
		return false
	}
	declared := slices.ContainsFunc(d.Cascade.Tools, func(t cascade.Tool) bool { return t.ToolID == tool && t.Approve })
	return declared || waiting.Needs(d.Def.Rules.Approve, tool)
}

// KindDenied is the kind of failure of a call that a person has not allowed.
const KindDenied = "denied"

// DeniedError is a call that a person has not allowed.
type DeniedError struct{ tool, reason string }

func (e *DeniedError) Error() string { return waiting.Denied(e.tool, e.reason) }

// Approved returns the arguments with which a call runs, once that is allowed: exactly those that were
// shown. The error is a [*DeniedError], or that of a wait.
func (d *Desk) Approved(ctx context.Context, key echo.Key, spec effect.ToolSpec, args json.RawMessage) (run json.RawMessage, edited bool, err error) {
	if !d.approves(spec.Name) {
		return args, false, nil
	}
	if run, err = waiting.Canonical(args); err != nil {
		return nil, false, err
	}
	shown := waiting.Show(echo.AwaitedCall{
		Tool: spec.Name, Arguments: run, Cascade: CascadeHash(d.Cascade, spec.Name, d.Rec.Mask), Schema: spec.Parameters,
	}, d.Rec.Mask, d.Rec.Peek(echo.NodeWait, key.Step(echo.StepWait)))
	a, err := d.awaitApproval(ctx, key, waiting.Approval(shown.Call))
	if err != nil {
		return nil, false, err
	}
	decision, edit, err := d.decision(ctx, key, spec, a, shown)
	switch {
	case err != nil:
		return nil, false, fmt.Errorf("read the approval of %s: %w", spec.Name, err)
	case decision.Verdict == waiting.Deny:
		return nil, false, &DeniedError{spec.Name, decision.Reason}
	case a.Shown != shown.Call.Hash() && !d.hasRun(key):
		return nil, false, &shownError{tool: spec.Name, given: a.Shown}
	case decision.Verdict == waiting.Edit:
		return edit, true, nil
	}
	return run, false, nil
}

// shownError is an approval of something else than what would run.
type shownError struct {
	tool  string
	given echo.Hash
}

func (e *shownError) Error() string {
	return fmt.Sprintf("the approval of %s is of another call than the one that waits: it was given for %q", e.tool, e.given)
}

// awaitApproval returns the decision on a call. A fork asks again what was decided in the session that it comes from and
// had not run there: who decided did not mean the fork.
func (d *Desk) awaitApproval(ctx context.Context, key echo.Key, w echo.Wait) (*effect.Ended, error) {
	a, err := effect.AwaitAnswer(ctx, d.Rec.Recorder, key.Step(echo.StepWait), d.Site, w)
	if err != nil {
		return nil, err
	}
	if a.Shown != a.Wait.Shown {
		return nil, &shownError{tool: w.Call.Tool, given: a.Shown}
	}
	copied := &echo.Entry{Seq: a.Seq}
	if a.Seq == 0 || !d.Copied(copied) || waiting.Denies(a.Value) || d.had(key, d.Copied) {
		return a, nil
	}
	again, err := effect.AwaitAnswer(ctx, d.Rec.Recorder, key.Try(echo.StepWait, 2), d.Site, w)
	if err == nil && again.Shown != again.Wait.Shown {
		err = &shownError{tool: w.Call.Tool, given: again.Shown}
	}
	return again, err
}

// had reports whether one of the recorded entries with which a call has run is one of some.
func (d *Desk) had(key echo.Key, some func(*echo.Entry) bool) bool {
	return slices.ContainsFunc([]echo.NodeType{echo.NodeToolStart, echo.NodeToolCall, echo.NodeChildStart}, func(node echo.NodeType) bool {
		e := d.Rec.Peek(node, key)
		return e != nil && some(e)
	})
}

// hasRun reports whether it is recorded that a call has run.
func (d *Desk) hasRun(key echo.Key) bool {
	return d.had(key, func(*echo.Entry) bool { return true })
}

// decision returns the decision that an answer is, and the arguments with which the call runs after an edit. They are
// checked until it has run: texts may have been taken out of them since.
func (d *Desk) decision(ctx context.Context, key echo.Key, spec effect.ToolSpec, a *effect.Ended, shown *waiting.Shown) (decision *waiting.Decision, edit json.RawMessage, err error) {
	decision, err = waiting.Decide(a.Value, func(args json.RawMessage) (problem string, err error) {
		hasRun := d.hasRun(key)
		if edit, err = shown.Runs(args, !hasRun); err != nil || hasRun {
			return "", err
		}
		_, problem, err = d.Schemas.CheckArguments(ctx, spec, string(edit))
		return d.Rec.Mask.Text(problem), err
	})
	return decision, edit, err
}

// ask has a tool wait for its answer. The text is for the model.
func (d *Desk) ask(ctx context.Context, key echo.Key, tool string, args json.RawMessage) (text string, failed bool, err error) {
	w, problem, err := waiting.Of(tool, args)
	if err != nil || problem != "" {
		return problem, true, err
	}
	if problem, err = d.readImages(ctx, key, tool, args, w.Form); err != nil || problem != "" {
		return problem, true, err
	}
	a, err := effect.AwaitAnswer(ctx, d.Rec.Recorder, key.Step(echo.StepWait), d.Site, w)
	if err != nil {
		return "", false, err
	}
	if tool == waiting.ToolAny {
		text, err = waiting.ToldAny(args, a.Answer)
		return text, false, err
	}
	text, failed = waiting.Told(&a.Wait, a.Answer)
	return text, failed, nil
}

// readImages reads the images that a question shows, once, before anybody is asked: later they are taken from the
// record. The problem is for the model.
func (d *Desk) readImages(ctx context.Context, key echo.Key, tool string, args json.RawMessage, f *echo.Form) (problem string, err error) {
	paths, err := waiting.ImagesOf(tool, args)
	if err != nil || len(paths) == 0 {
		return "", err
	}
	m, err := d.Rec.Tool(ctx, key.Step(echo.StepImages), effect.ToolSpec{Name: effect.ImagesTool, Idempotent: true}, effect.ToolRequest{
		Site: d.Site, SessionID: d.Session, Name: effect.ImagesTool, Arguments: effect.MustJSON(map[string][]string{"paths": paths}),
	})
	switch {
	case err != nil:
		return "", err
	case m.Failed():
		return "Nobody was asked: " + m.Text(), nil
	case m.Redacted() != nil:
		f.Images, err = d.imagesAsked(key)
		return "", err
	}
	f.Images, problem = waiting.Images(paths, m)
	return problem, nil
}

// imagesAsked returns what a recorded question has of its images, which were taken out of the record since.
func (d *Desk) imagesAsked(key echo.Key) ([]echo.Image, error) {
	e := d.Rec.Peek(echo.NodeWait, key.Step(echo.StepWait))
	if e == nil {
		return nil, nil
	}
	was, err := echo.Read[echo.Wait](e)
	if err != nil || was.Form == nil {
		return nil, err
	}
	return was.Form.Images, nil
}

// fire sends a signal. The text is for the model.
func (d *Desk) fire(ctx context.Context, key echo.Key, args json.RawMessage) (text string, failed bool, err error) {
	var in struct {
		Signal  string `json:"signal_name"`
		Payload any    `json:"payload"`
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return "", false, fmt.Errorf("read arguments of %s: %w", waiting.ToolFire, err)
	}
	fired, err := effect.WholeReading[echo.Fired](ctx, d.Rec, key.Step(echo.StepFire), d.Site, func() echo.Payload {
		s := echo.Fired{Letter: echo.LetterOf(d.Session, key), Signal: in.Signal, Session: in.Session, Payload: in.Payload}
		err := errors.New("this program delivers no signals")
		if d.Signals != nil {
			err = d.Signals.Fire(ctx, s)
		}
		if err != nil {
			s.Problem = err.Error()
		}
		return s
	})
	switch {
	case err != nil:
		return "", false, err
	case fired.Problem != "":
		return "The signal was not sent: " + fired.Problem, true, nil
	}
	return string(effect.MustJSON(map[string]string{"status": waiting.RouteSent, "signal_name": fired.Signal, "letter": fired.Letter})), false, nil
}

// Answers reports whether a tool is answered by people, by signals, by a bank or by memos, or is of what people see.
func (d *Desk) Answers(tool string) bool {
	return d.KeepsOrder(tool) || waiting.Waits(tool) || tool == waiting.ToolFire || artifact.Is(tool)
}

// KeepsOrder reports whether calls of a tool in one answer run in its order: a bank or memos may answer each by what the one
// before has written.
func (d *Desk) KeepsOrder(tool string) bool {
	return tool == cascade.RecallToolOf(d.Cascade, d.Def) || cascade.IsMemoryTool(tool)
}

// Answer has a call of such a tool answered.
func (d *Desk) Answer(ctx context.Context, key echo.Key, tool string, args json.RawMessage) (text string, failed bool, err error) {
	switch {
	case tool == waiting.ToolFire:
		return d.fire(ctx, key, args)
	case artifact.Is(tool):
		return d.artifacts(ctx, key, tool, args)
	case tool == cascade.RecallToolOf(d.Cascade, d.Def):
		c := &recollection.Call{Place: d.Place, Cascade: d.Cascade, Banks: d.Banks, Notes: d.Notes, Session: d.Session, Key: key}
		return recollection.Answer(ctx, c, args)
	case tool == memory.Tool:
		bank := d.Cascade.BankOf(d.Def)
		return memory.Answer(ctx, d.Rec, d.Site, d.Banks, d.Notes, &memory.Request{Bank: bank, Session: d.Session, Key: key}, args)
	case memo.Is(tool):
		return d.Memos.Answer(ctx, d.Site, key, tool, args)
	}
	return d.ask(ctx, key, tool, args)
}

// CascadeHash returns the hash of what runs when a tool is called, without secrets: of the cascade, and of all that the
// tool reaches where it is a cascade. 16 hexadecimal digits.
func CascadeHash(c *cascade.Cascade, tool string, mask effect.Mask) string {
	text := mask.JSON(effect.MustJSON(c))
	if hashes := toolset.CalledBy(c, tool); len(hashes) > 0 {
		text = fmt.Appendf(slices.Clip(text), "\n%q", hashes)
	}
	return string(echo.TextHash(text))
}
