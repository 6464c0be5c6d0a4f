package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
)

// speaker is a model of a test: each answer is the text that it was asked, and costs a cent.
type speaker struct {
	mu    sync.Mutex
	asked []string
	on    map[string]func(ctx context.Context) error // what happens when it is asked a text
}

func (m *speaker) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	text := req.Messages[len(req.Messages)-1].Text()
	text, _, _ = strings.Cut(text, "\n")
	m.mu.Lock()
	m.asked = append(m.asked, text)
	on := m.on[text]
	m.mu.Unlock()
	if on != nil {
		if err := on(ctx); err != nil {
			return nil, err
		}
	}
	cent := 0.01
	return &effect.ModelResponse{
		Message: echo.Seal(echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("said " + text)}), Provider: "test", Model: req.Model,
		CostUSD: &cent, Usage: echo.Usage{In: 10, Out: 2}, FinishReason: "stop",
	}, nil
}

// says has something happen, once, when the model is asked a text.
func (m *speaker) says(text string, do func(ctx context.Context) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on == nil {
		m.on = map[string]func(context.Context) error{}
	}
	m.on[text] = func(ctx context.Context) error {
		m.mu.Lock()
		delete(m.on, text)
		m.mu.Unlock()
		return do(ctx)
	}
}

const (
	parentCascade = `{"cascade_id": "parent", "phases": [{"name": "p", "instructions": "parent"}]}`
	childCascade  = `{"cascade_id": "child", "inputs_schema": {"topic": "what it is about"}, "phases": [
		{"name": "one", "instructions": "first {{ input.topic }}"}, {"name": "two", "instructions": "second {{ outputs.one }}"}]}`
)

func cascadeOf(t *testing.T, text string) *cascade.Cascade {
	t.Helper()
	c, found, err := cascade.Parse("it.json", []byte(text), Known("restart"))
	require.NoError(t, err, found)
	return c
}

func reachedOf(t *testing.T, text string) *cascade.Reached {
	t.Helper()
	return &cascade.Reached{File: "child.json", Hash: "0123456789abcdef", Cascade: cascadeOf(t, text)}
}

// childOf is what a run begins under a name.
func childOf(t *testing.T, r *Run, name, text string) *engine.Child {
	t.Helper()
	key := echo.PhaseKey("p", 1).Named(echo.StepChild, name)
	of := reachedOf(t, text)
	return &engine.Child{
		ChildStart: echo.ChildStart{
			Session: echo.ChildSession(r.ID(), key), Name: name, How: echo.ChildSub, Cascade: of.Cascade.CascadeID, Hash: of.Hash, File: of.File,
			Input: map[string]any{"topic": "sea"},
		},
		Parent: r.ID(), Key: key, Depth: r.header.Depth + 1, Cascade: of,
	}
}

func startParent(t *testing.T, a *App, m effect.Model, id string) *Run {
	t.Helper()
	r, err := a.Start(t.Context(), Job{Cascade: cascadeOf(t, parentCascade), File: "parent.json"}, RunOptions{
		SessionID: id, NoClickHouse: true, Models: Models{Default: "m1"}, Extensions: Extensions{Model: m}, Rights: Rights{AllowWrite: []string{"Makefile"}},
	}, Watch{})
	require.NoError(t, err)
	return r
}

// again opens the app of a process that has died, as another process would.
func again(t *testing.T, a *App) *App {
	t.Helper()
	b, err := Open(Options{Home: a.home, Dir: a.dir, Version: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.Close()) })
	return b
}

// interrupt runs a child until its model is asked a text.
func interrupt(t *testing.T, r *Run, m *speaker, x *engine.Child, text string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	m.says(text, func(context.Context) error { cancel(); return ctx.Err() })
	_, err := r.children.Wait(ctx, x)
	require.ErrorIs(t, err, context.Canceled)
}

func resumeParent(t *testing.T, a *App, m effect.Model, id string) *Run {
	t.Helper()
	r, err := a.Resume(t.Context(), id, ResumeOptions{Extensions: Extensions{Model: m}}, Watch{})
	require.NoError(t, err)
	return r
}

// A child is a session of its own, with what its parent has, and is run once however often it is asked
// for.
func TestChildIsASession(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	x := childOf(t, r, "x", childCascade)
	x.State = map[string]any{"key": json.Number("12345678901234567890")}
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, echo.ChildEnd{Session: x.Session, Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Output: "said second said first sea", State: out.State}, out.ChildEnd)
	require.Nil(t, out.Error)
	require.Equal(t, 2, out.Totals.Calls)
	require.InDelta(t, 0.02, out.Totals.CostUSD, 1e-9)
	same, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Same(t, out, same)
	require.Equal(t, []string{"first sea", "second said first sea"}, m.asked)
	require.Equal(t, Closing{}, r.Close())

	rec := a.recording(t, x.Session)
	h := rec.Header
	require.Equal(t, []any{r.ID(), x.Key, r.ID(), 1, "child.json"}, []any{h.ChildOf, h.ChildKey, h.Root, h.Depth, h.File})
	o, err := ReadHeader(h)
	require.NoError(t, err)
	require.Equal(t, r.started.Rights, o.Started.Rights)
	require.Equal(t, r.started.Dir, o.Started.Dir)
	require.True(t, o.Started.NoClickHouse)
	require.Equal(t, []string{"m1"}, o.Started.Models)
	require.Equal(t, filepath.Join(a.SessionDir(x.Session), "work"), o.Started.WorkDir)
	require.Equal(t, map[string]any{"topic": "sea"}, o.Input)
	require.Equal(t, x.State, o.State)
	v, err := a.Verify(t.Context(), rec, Extensions{})
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
}

// The model that a person asked for holds in children, too; else that of the child's cascade, else
// that of its parent.
func TestModelOfAChild(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ asked, parent, child, want string }{
		"asked for":   {"asked", "parents", "childs", "asked"},
		"the child's": {"", "parents", "childs", "childs"},
		"inherited":   {"", "parents", "", "parents"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t), &speaker{}
			parent := cascadeOf(t, parentCascade)
			parent.Model = tt.parent
			r, err := a.Start(t.Context(), Job{Cascade: parent, File: "parent.json"}, RunOptions{
				NoClickHouse: true, Models: Models{Default: tt.asked}, Extensions: Extensions{Model: m},
			}, Watch{})
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
			a = again(t, a)
			r = resumeParent(t, a, m, r.ID()) // a session that is resumed knows it, too
			x := childOf(t, r, "x", childCascade)
			x.Cascade.Cascade.Model = tt.child
			_, err = r.children.Wait(t.Context(), x)
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
			o, err := ReadHeader(a.recording(t, x.Session).Header)
			require.NoError(t, err)
			require.Equal(t, []string{tt.want}, o.Started.Models)
		})
	}
}

// A child that was interrupted goes on where it was when its parent is resumed; one that has ended is
// not run again; one that was resumed by itself has ended for its parent.
func TestChildGoesOn(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	ended, stopped := childOf(t, r, "ended", childCascade), childOf(t, r, "stopped", childCascade)
	stopped.Input = map[string]any{"topic": "land"}
	want, err := r.children.Wait(t.Context(), ended)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	m.says("second said first land", func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return ctx.Err()
	})
	_, err = r.children.Wait(ctx, stopped)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, r.Close().Err)
	require.Equal(t, echo.StatusInterrupted, record.EndOf(a.recording(t, stopped.Session).Entries).Status)

	m.asked = nil
	a = again(t, a)
	r = resumeParent(t, a, m, r.ID())
	out, err := r.children.Wait(t.Context(), ended)
	require.NoError(t, err)
	require.JSONEq(t, string(encoded(want)), string(encoded(out)))
	require.Empty(t, m.asked)
	out, err = r.children.Wait(t.Context(), stopped)
	require.NoError(t, err)
	require.Equal(t, "said second said first land", out.Output)
	require.Equal(t, 2, out.Totals.Calls, "also that of the earlier life")
	require.Equal(t, []string{"second said first land"}, m.asked)
	require.NoError(t, r.Close().Err)
}

// A child may be resumed by itself.
func TestChildIsResumedAlone(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	x := childOf(t, r, "x", childCascade)
	x.State = map[string]any{"n": json.Number("1.50")}
	interrupt(t, r, m, x, "second said first sea")
	require.NoError(t, r.Close().Err)
	a = again(t, a)
	alone := resumeParent(t, a, m, x.Session)
	require.Equal(t, "m1", alone.runner.DefaultModel)
	res, err := alone.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, "said second said first sea", res.Output)
	require.NoError(t, alone.Close().Err)
	m.asked = nil
	r = resumeParent(t, a, m, r.ID())
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, "said second said first sea", out.Output)
	require.Empty(t, m.asked)
	require.NoError(t, r.Close().Err)
}

// A child that fails is an outcome. One that failed of a model goes on when its parent is resumed; one
// that cannot be resumed has the end that it had.
func TestChildFails(t *testing.T) {
	t.Parallel()
	away := &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m1", Message: "the network is away", Unpaid: true}
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	x := childOf(t, r, "x", childCascade)
	m.says("second said first sea", func(context.Context) error { return away })
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, []any{echo.StatusFailed, echo.StopError, "error"}, []any{out.Status, out.Reason, out.Error.Kind})
	require.Contains(t, out.Error.Message, "the network is away")
	require.Nil(t, out.Output)
	checked := childOf(t, r, "checked", `{"cascade_id": "checked", "phases": [{"name": "one", "instructions": "x", "rules": {"loop_until": "min_words:99", "max_attempts": 1}}]}`)
	want, err := r.children.Wait(t.Context(), checked)
	require.NoError(t, err)
	require.Equal(t, echo.StopExhausted, want.Reason)
	wrong := childOf(t, r, "wrong", childCascade)
	wrong.Input = map[string]any{}
	out, err = r.children.Wait(t.Context(), wrong)
	require.NoError(t, err)
	require.Equal(t, echo.ChildEnd{Session: wrong.Session, Status: echo.StatusFailed, Reason: echo.StopInput}, out.ChildEnd)
	require.Equal(t, "the input does not fit the cascade: missing input \"topic\" (what it is about): used without default by \"instructions\" of phase \"one\"", out.Error.Message)
	require.NoDirExists(t, a.SessionDir(wrong.Session))
	require.NoError(t, r.Close().Err)

	a, m.asked = again(t, a), nil
	r = resumeParent(t, a, m, r.ID())
	out, err = r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, echo.StatusCompleted, out.Status)
	require.Equal(t, []string{"second said first sea"}, m.asked)
	got, err := r.children.Wait(t.Context(), checked)
	require.NoError(t, err)
	require.JSONEq(t, string(encoded(want)), string(encoded(got)))
	require.NoError(t, r.Close().Err)
}

// What runs beside the run and is not detached is interrupted at its end; what is detached is waited
// for by Close, and ends with the context of the run.
func TestChildrenBesideARun(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	beside, detached := childOf(t, r, "beside", childCascade), childOf(t, r, "detached", childCascade)
	beside.Input, detached.Input, detached.Detach = map[string]any{"topic": "a"}, map[string]any{"topic": "b"}, true
	begun, ended := make(chan bool), make(chan bool)
	m.says("first a", func(ctx context.Context) error {
		begun <- true
		<-ctx.Done()
		return ctx.Err()
	})
	m.says("first b", func(context.Context) error {
		begun <- true
		<-ended
		return nil
	})
	m.says("parent", func(ctx context.Context) error {
		r.children.Begin(ctx, beside)
		r.children.Begin(ctx, detached)
		<-begun
		<-begun
		return nil
	})
	_, err := r.Do(t.Context())
	require.NoError(t, err)
	_, err = r.children.Wait(t.Context(), beside)
	require.ErrorIs(t, err, context.Canceled)
	close(ended)
	require.NoError(t, r.Close().Err)
	require.Equal(t, echo.StatusInterrupted, record.EndOf(a.recording(t, beside.Session).Entries).Status)
	require.Equal(t, echo.StatusCompleted, record.EndOf(a.recording(t, detached.Session).Entries).Status)
}

// An interrupted run interrupts what is detached, too, also while it is closed.
func TestDetachedIsInterrupted(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "")
	x := childOf(t, r, "x", childCascade)
	x.Detach = true
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan struct{})
	m.says("first sea", func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	})
	m.says("parent", func(ctx context.Context) error { r.children.Begin(ctx, x); return nil })
	_, err := r.Do(ctx)
	require.NoError(t, err)
	require.True(t, r.Unfinished())
	<-asked
	cancel()
	closing := r.Close()
	require.NoError(t, closing.Err)
	require.Equal(t, []string{x.Session}, closing.Interrupted)
	require.False(t, r.Unfinished())
	require.Equal(t, echo.StatusInterrupted, record.EndOf(a.recording(t, x.Session).Entries).Status)
}

// A session under the id of a child that is something else is never taken for it.
func TestNotTheChild(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	other := startParent(t, a, m, x.Session)
	require.NoError(t, other.Close().Err)
	_, err := r.children.Wait(t.Context(), x)
	var not *NotChildError
	require.ErrorAs(t, err, &not)
	require.True(t, effect.IsRecordError(err))
	require.EqualError(t, not, "session "+x.Session+" is there already, and is not what session p1 begins at p/child/x: nothing has begun it but a person or a program")

	y := childOf(t, r, "y", childCascade)
	_, err = r.children.Wait(t.Context(), y)
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	r = resumeParent(t, a, m, "p1")
	y.Cascade = reachedOf(t, parentCascade)
	_, err = r.children.Wait(t.Context(), y)
	require.ErrorContains(t, err, "it runs another cascade")
	y.Parent, x.Session = "p2", y.Session
	require.EqualError(t, r.children.checkChild(y, &journal.Header{SessionID: "s", ChildOf: "p1", ChildKey: x.Key}),
		"session s is there already, and is not what session p2 begins at p/child/y: it is what session p1 begins at p/child/x")
	require.NoError(t, r.Close().Err)
}

// A child of another process cannot go on, which a resume of its parent says before it does anything.
func TestChildIsBusy(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	require.NoError(t, r.log.Append(echo.NewEntry(x.Key, x.ChildStart)))
	interrupt(t, r, m, x, "second said first sea")
	require.NoError(t, r.Close().Err)

	b := again(t, a)
	held, _, err := b.sessions.Open(t.Context(), x.Session)
	require.NoError(t, err)
	_, err = a.Resume(t.Context(), "p1", ResumeOptions{Extensions: Extensions{Model: m}}, Watch{})
	require.True(t, failure.Is(err, failure.SessionBusy))
	require.EqualError(t, err, "session p1: another process runs its child "+x.Session+", which it would wait for: resume it when that has ended")
	require.NoError(t, held.Close(t.Context()))
	r = resumeParent(t, a, m, "p1")
	held, _, err = b.sessions.Open(t.Context(), x.Session)
	require.NoError(t, err)
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, "another process runs the session: resume when it has ended", out.Error.Message)
	require.Equal(t, echo.StopError, out.Reason)
	require.NoError(t, held.Close(t.Context()))
	require.NoError(t, r.Close().Err)
}

// What open children have taken counts in the next life of their parent, theirs with them.
func TestTakenByOpenChildren(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	require.NoError(t, r.log.Append(echo.NewEntry(x.Key, x.ChildStart)))
	interrupt(t, r, m, x, "second said first sea")
	done := childOf(t, r, "done", childCascade)
	require.NoError(t, r.log.Append(echo.NewEntry(done.Key, done.ChildStart)))
	out, err := r.children.Wait(t.Context(), done)
	require.NoError(t, err)
	require.NoError(t, r.log.Append(effect.ChildEntry(done.Key, effect.Site{}, out, 0)))
	require.NoError(t, r.Close().Err)
	entries := a.recording(t, "p1").Entries
	taken := relatives{a}.takenByOpen("p1", entries, 0)
	require.Equal(t, 1, taken.Calls)
	require.InDelta(t, 0.01, taken.CostUSD, 1e-9)
	require.Equal(t, echo.Usage{In: 10, Out: 2}, taken.Usage)
	require.InDelta(t, 0.02, sumOfEnds(record.Counted(entries)).CostUSD, 1e-9)
}

// A process that died while it made a child leaves something that the next one begins anew.
func TestChildHalfMade(t *testing.T) {
	t.Parallel()
	for name, left := range map[string]string{"a folder": "", "half a header": `{"windlass_journal":3,`, "an empty journal": "-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, m := newApp(t), &speaker{}
			r := startParent(t, a, m, "p1")
			x := childOf(t, r, "x", childCascade)
			dir := a.SessionDir(x.Session)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			if left != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, journal.File), []byte(strings.Trim(left, "-")), 0o600))
			}
			out, err := r.children.Wait(t.Context(), x)
			require.NoError(t, err)
			require.Equal(t, echo.StatusCompleted, out.Status)
			require.NoError(t, r.Close().Err)
		})
	}
}

// The child of a fork goes on with a copy of what the original had.
func TestChildOfAFork(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	interrupt(t, r, m, x, "second said first sea")
	require.NoError(t, r.Close().Err)
	m.asked = nil
	fork := startParent(t, a, m, "p2")
	y := childOf(t, fork, "x", childCascade)
	y.From = x.Session
	require.NotEqual(t, x.Session, y.Session)
	out, err := fork.children.Wait(t.Context(), y)
	require.NoError(t, err)
	require.Equal(t, "said second said first sea", out.Output)
	require.Equal(t, []string{"second said first sea"}, m.asked)
	h := a.recording(t, y.Session).Header
	require.Equal(t, []any{"p2", y.Key, "p2", 1, x.Session}, []any{h.ChildOf, h.ChildKey, h.Root, h.Depth, h.Parent})
	gone := childOf(t, fork, "gone", childCascade)
	gone.From = "01jd0q5x8v4n7c2k9m3b6f1h5t"
	out, err = fork.children.Wait(t.Context(), gone)
	require.NoError(t, err, "it begins anew")
	require.Equal(t, echo.StatusCompleted, out.Status)
	require.NoError(t, fork.Close().Err)

	alone, err := a.Fork(t.Context(), y.Session, 3, ForkOptions{SessionID: "p3", ResumeOptions: ResumeOptions{Extensions: Extensions{Model: m}}}, Watch{})
	require.NoError(t, err)
	require.Empty(t, alone.Header().ChildOf+alone.Header().Root, "what a person forks is nobody's child")
	require.NoError(t, alone.Close().Err)
}

// A limit of a run above stops the parent, too; one of the child's own is an outcome.
func TestChildIsOverBudget(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	x.Cascade.Cascade.Budget = &cascade.Budget{MaxTokens: 1}
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, []any{echo.StatusOverBudget, echo.StopBudget}, []any{out.Status, out.Reason})
	require.Contains(t, out.Error.Message, "max_tokens is 1 tokens")
	y := childOf(t, r, "y", childCascade)
	y.Budget = &cascade.Budget{MaxSeconds: 1e-9}
	_, err = r.children.Wait(t.Context(), y)
	var over *budget.Error
	require.ErrorAs(t, err, &over)
	require.True(t, over.Above)
	require.NoError(t, r.Close().Err)
}

func TestLimitsOfAChild(t *testing.T) {
	t.Parallel()
	r := &Run{cascade: &cascade.Cascade{Budget: &cascade.Budget{MaxSeconds: 9}}, figures: figuresOf(nil)}
	r.children = &children{of: &engine.Child{}}
	require.Nil(t, r.limitsOfChild(cascade.Budget{MaxUSD: 2}, 0))
	r.children.of.Budget = &cascade.Budget{MaxUSD: 3, MaxTokens: 5, MaxSeconds: 4}
	require.Equal(t, &cascade.Budget{MaxUSD: 2, MaxTokens: 5, MaxSeconds: 4}, r.limitsOfChild(cascade.Budget{MaxUSD: 2, MaxSeconds: 1}, 0))
	require.Equal(t, &cascade.Budget{MaxTokens: 5, MaxUSD: 3, MaxSeconds: 7}, r.limitsOfChild(cascade.Budget{}, 3*time.Second))
	r.cascade = &cascade.Cascade{}
	require.Equal(t, &cascade.Budget{MaxUSD: 3, MaxTokens: 1, MaxSeconds: 4}, r.limitsOfChild(cascade.Budget{MaxTokens: 1}, 0))
}

// A fault of a tool or of windlass in a child does not end the program.
func TestChildPanics(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	m.says("first sea", func(context.Context) error { panic("oh") })
	_, err := r.children.Wait(t.Context(), x)
	require.ErrorContains(t, err, fmt.Sprintf("session %s: a fault of windlass: oh", x.Session))
	require.NoError(t, r.Close().Err)
}

// So does one that is opened, or whoever is told of it.
func TestChildPanicsWhenItIsOpened(t *testing.T) {
	t.Parallel()
	a, err := Open(Options{Home: t.TempDir(), Dir: t.TempDir(), Version: "test"})
	require.NoError(t, err)
	r, err := a.Start(t.Context(), Job{Cascade: cascadeOf(t, parentCascade), File: "parent.json"}, RunOptions{SessionID: "p1", NoClickHouse: true, Extensions: Extensions{Model: &speaker{}}}, Watch{
		Child: func(*Run, *Run) (engine.Observer, []echo.Sink) { panic("oh") },
	})
	require.NoError(t, err)
	x := childOf(t, r, "x", childCascade)
	_, err = r.children.Wait(t.Context(), x)
	require.ErrorContains(t, err, fmt.Sprintf("session %s: a fault of windlass: oh", x.Session))
	require.NoError(t, r.Close().Err)
	require.NoError(t, a.Close())
}

// The search for a cascade that a model names ends with the run, which records nothing of it and searches
// again when it is resumed.
func TestSearchIsInterrupted(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &caller{name: "spawn_cascade", args: `{"cascade": "leaf", "input": {}}`}
	ctx, cancel := context.WithCancel(t.Context())
	searched := 0
	find := func(ctx context.Context, _, ref string, _ cascade.Known) (*cascade.Reached, error) {
		if searched++; searched == 1 {
			cancel()
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("there is no cascade %s", ref)
	}
	c := cascadeOf(t, `{"cascade_id": "parent", "phases": [{"name": "p", "instructions": "parent", "tackle": ["spawn_cascade"]}]}`)
	e := Extensions{Model: m, Find: find}
	r, err := a.Start(ctx, Job{Cascade: c, File: "parent.json"}, RunOptions{SessionID: "p1", NoClickHouse: true, Extensions: e}, Watch{})
	require.NoError(t, err)
	_, err = r.Do(ctx)
	require.True(t, failure.Is(err, failure.Interrupted), "%v", err)
	require.NoError(t, r.Close().Err)
	found := func(e *echo.Entry) bool { p := e.Key.Path(); return p.Last().Kind == echo.StepCascade }
	require.False(t, slices.ContainsFunc(a.recording(t, "p1").Entries, found))

	r, err = a.Resume(t.Context(), "p1", ResumeOptions{Extensions: e}, Watch{})
	require.NoError(t, err)
	_, err = r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, 2, searched)
	require.True(t, slices.ContainsFunc(a.recording(t, "p1").Entries, found))
}

// caller is a model that calls a tool once, and then answers.
type caller struct{ name, args string }

func (m *caller) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	d := echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("done")}
	if req.Messages[len(req.Messages)-1].Role() != echo.RoleTool {
		d = echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{{ID: "c1", Name: m.name, Arguments: m.args}}}
	}
	cent := 0.01
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "test", Model: req.Model, CostUSD: &cent, Usage: echo.Usage{In: 10, Out: 2}, FinishReason: "stop"}, nil
}

// Children are followed by who follows their parent, if that is wanted.
func TestChildrenAreFollowed(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	var mu sync.Mutex
	var of []string
	k := &kept{}
	r, err := a.Start(t.Context(), Job{Cascade: cascadeOf(t, parentCascade), File: "parent.json"}, RunOptions{SessionID: "p1", NoClickHouse: true, Extensions: Extensions{Model: m}}, Watch{
		Child: func(parent, child *Run) (engine.Observer, []echo.Sink) {
			mu.Lock()
			defer mu.Unlock()
			of = append(of, parent.ID(), child.ID())
			return nil, []echo.Sink{k}
		},
	})
	require.NoError(t, err)
	x := childOf(t, r, "x", childCascade)
	_, err = r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	require.Equal(t, []string{"p1", x.Session}, of)
	require.Len(t, k.entries, len(a.recording(t, x.Session).Entries))
	require.False(t, errors.Is(err, context.Canceled))
}

// A validator that is a cascade sees the images that it is given, also when its session is resumed and
// verified.
func TestImagesOfAChild(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	x.Images = []echo.Part{{Type: echo.PartImage, URL: "data:image/png;base64,iVBORw0KGgo="}, {Type: echo.PartImage, URL: "https://example.org/a.png"}}
	interrupt(t, r, m, x, "first sea")
	require.NoError(t, r.Close().Err)
	r = resumeParent(t, a, m, "p1")
	_, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	rec := a.recording(t, x.Session)
	shown := 0
	for _, e := range rec.Entries {
		if e.Message != nil && e.Message.Kind() == echo.KindTask {
			require.Equal(t, x.Images[0].URL, e.Message.Parts()[1].URL)
			shown++
		}
	}
	require.Equal(t, 2, shown)
	v, err := a.Verify(t.Context(), rec, Extensions{})
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
}

// A list of the input that is none, or is too long, is refused before anything is paid, also in a child.
func TestListsOfTheInput(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"list.json": `{"cascade_id": "list", "inputs_schema": {"files": "what to read"}, "phases": [{"name": "p", "instructions": "plan"}, {"name": "each", "instructions": "{{ item }}", "for_each": {"items": "input.files"}}]}`,
		"top.json":  `{"cascade_id": "top", "phases": [{"name": "p", "instructions": "x", "sub_cascades": [{"ref": "list.json", "input_map": {"files": "{{ input.topic }}"}}]}]}`,
	}
	a, m := newApp(t), &speaker{}
	job := treeJob(t, files, "list.json")
	for text, value := range map[string]any{
		"it is a text, and no list": "a, b",
		"the list has 10001 elements, at most 10000 are run in one session: run the cascade once for each (windlass batch is not there yet), or make the list shorter": make([]any, cascade.MaxItems+1),
	} {
		job.Input = map[string]any{"files": value}
		_, err := a.Start(t.Context(), job, RunOptions{SessionID: "s", NoClickHouse: true, Models: Models{Default: "m1"}, Extensions: Extensions{Model: m}}, Watch{})
		require.True(t, failure.Is(err, failure.InvalidInput))
		require.EqualError(t, err, "the input does not fit the cascade: list/each: for_each.items: "+text)
		require.NoDirExists(t, a.SessionDir("s"))
	}
	r := startTree(t, a, m, treeJob(t, files, "top.json"))
	_, err := r.Do(t.Context())
	require.ErrorContains(t, err, "the input does not fit the cascade: list/each: for_each.items: it is a text, and no list")
	require.NoError(t, r.Close().Err)
	require.Empty(t, m.asked)
}
