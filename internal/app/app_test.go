package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/tool"
)

// answers is a model of a test: it calls the tool restart once, and then says what that returned.
// Each of its calls has an id of its own.
type answers struct {
	fail  error
	calls atomic.Int32
}

func (a *answers) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	if a.fail != nil {
		return nil, a.fail
	}
	last := req.Messages[len(req.Messages)-1]
	d := echo.Draft{Role: echo.RoleAssistant, Parts: echo.Text("It says: " + last.Text())}
	if last.Role() != echo.RoleTool {
		d = echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{{ID: fmt.Sprint("c", a.calls.Add(1)), Name: "restart", Arguments: `{"service": "checkout"}`}}}
	}
	var nothing float64
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "test", Model: req.Model, CostUSD: &nothing, FinishReason: "stop"}, nil
}

// restart is a tool of a test.
func restart() tool.Func {
	return tool.Func{
		Spec: effect.ToolSpec{Name: "restart", Description: "Restarts a service.", Parameters: []byte(`{"type": "object", "properties": {"service": {"type": "string"}}}`)},
		Run: func(_ context.Context, req effect.ToolRequest) effect.ToolResult {
			return effect.ToolResult{Parts: echo.Text("restarted by " + req.Name)}
		},
	}
}

func extensions() Extensions {
	return Extensions{Model: &answers{}, Tools: []tool.Func{restart()}}
}

const askCascade = `{"cascade_id": "it", "inputs_schema": {"service": "which one"}, "phases": [
	{"name": "one", "instructions": "Restart {{ input.service }}.", "tackle": ["restart"]}, {"name": "two", "instructions": "{{ outputs.one }}", "tackle": ["restart"]}]}`

func job(t *testing.T, text string) Job {
	t.Helper()
	c, found, err := cascade.Parse("it.json", []byte(text), Known("restart"))
	require.NoError(t, err, found)
	return Job{Cascade: c, File: "it.json", Input: map[string]any{"service": "checkout"}}
}

func newApp(t *testing.T) *App {
	t.Helper()
	a, err := Open(Options{Home: t.TempDir(), Dir: t.TempDir(), Version: "test"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

func options(id string) RunOptions {
	return RunOptions{SessionID: id, NoClickHouse: true, Extensions: extensions()}
}

func (a *App) recording(t *testing.T, id string) *journal.Recording {
	t.Helper()
	rec, err := journal.Read(filepath.Join(a.SessionDir(id), journal.File))
	require.NoError(t, err)
	return rec
}

// kept is a sink of a test.
type kept struct{ entries []*echo.Entry }

func (k *kept) Write(e *echo.Entry) error {
	k.entries = append(k.entries, e)
	return nil
}

func (*kept) Close(context.Context) error { return nil }

// A program's own model and tool answer a run, whose entries it gets. The session is verified and
// forked with the same ones.
func TestRunWithExtensions(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	k := &kept{}
	var followed *Run
	r, err := a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{Follow: func(r *Run) (engine.Observer, []echo.Sink) {
		followed = r
		return nil, []echo.Sink{k}
	}})
	require.NoError(t, err)
	require.Same(t, r, followed)
	require.Equal(t, "s1", r.ID())
	require.Equal(t, "it.json", r.File())
	require.Equal(t, "test", r.Header().Windlass)
	require.Equal(t, "it", r.Cascade().CascadeID)
	require.Empty(t, r.Recorded())
	res, err := r.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, "It says: restarted by restart", res.Output)
	require.Equal(t, 4, r.Sums().Totals.Calls)
	require.Equal(t, 4, r.VisitTotals(res.Phases[0].Key).Calls+r.VisitTotals(res.Phases[1].Key).Calls)
	require.Zero(t, r.Sums().Background)
	require.Equal(t, Closing{}, r.Close())
	rec := a.recording(t, "s1")
	require.Len(t, rec.Entries, len(k.entries))
	require.Equal(t, r.Sums().Entries, uint64(len(k.entries)))

	v, err := a.Verify(t.Context(), rec, extensions())
	require.NoError(t, err)
	require.True(t, v.Holds, v.Difference)
	require.Equal(t, 4, v.Requests)
	_, err = a.Verify(t.Context(), rec, Extensions{})
	require.True(t, failure.Is(err, failure.InvalidRequest), "%v", err)
	require.EqualError(t, err, `session s1: its cascade names the tool "restart", which is neither built in, nor declared, nor given`)
	require.EqualError(t, &MissingToolsError{"s1", []string{"a", "b"}},
		`session s1: its cascade names the tools "a", "b", which are neither built in, nor declared, nor given`)

	_, err = a.Resume(t.Context(), "s1", ResumeOptions{Extensions: extensions()}, Watch{})
	require.True(t, failure.Is(err, failure.NotResumable))
	require.EqualError(t, err, "session s1: the run has completed: there is nothing to resume")
	fork, err := a.Fork(t.Context(), "s1", 5, ForkOptions{SessionID: "s2", ResumeOptions: ResumeOptions{Extensions: extensions()}}, Watch{})
	require.NoError(t, err)
	require.Len(t, fork.Recorded(), 5)
	res, err = fork.Do(t.Context())
	require.NoError(t, err)
	require.Equal(t, "It says: restarted by restart", res.Output)
	require.Equal(t, Closing{}, fork.Close())
	require.Equal(t, "s1", a.recording(t, "s2").Header.Parent)
}

// The error of a run has its kind, and the session is resumed where it stopped.
func TestResumeAfterFailure(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		fail error
		kind failure.Kind
		try  string
	}{
		"the model": {&effect.ModelError{Kind: echo.ModelErrNetwork, Model: "own", Message: "away", Hint: "look"}, failure.ModelUnavailable, "look"},
		"a script":  {&effect.ModelError{Kind: echo.ModelErrScript, Model: "own", Message: "no answer", Hint: "write one"}, failure.Failed, "write one"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			o := options("s1")
			o.Extensions.Model = &answers{fail: tt.fail}
			r, err := a.Start(t.Context(), job(t, askCascade), o, Watch{})
			require.NoError(t, err)
			_, err = r.Do(t.Context())
			var f *failure.Error
			require.ErrorAs(t, err, &f)
			require.Equal(t, tt.kind, f.Kind)
			require.Equal(t, tt.try, f.Try)
			require.NoError(t, r.Close().Err)
			if tt.kind == failure.Failed {
				return
			}
			r, err = a.Resume(t.Context(), "s1", ResumeOptions{Extensions: extensions()}, Watch{})
			require.NoError(t, err)
			require.NotEmpty(t, r.Recorded())
			require.Empty(t, r.Changed(), "there is no file of it")
			_, err = r.Do(t.Context())
			require.NoError(t, err)
			require.NoError(t, r.Close().Err)
		})
	}
}

func TestRunIsInterrupted(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r, err := a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := r.Do(ctx)
	require.Equal(t, echo.StatusInterrupted, res.Status)
	require.True(t, failure.Is(err, failure.Interrupted))
	require.NoError(t, r.Close().Err)
}

func TestRunIsOverBudget(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	o := options("s1")
	one := int64(1)
	o.Limits.MaxTokens = &one
	r, err := a.Start(t.Context(), job(t, askCascade), o, Watch{})
	require.NoError(t, err)
	_, err = r.Do(t.Context())
	require.True(t, failure.Is(err, failure.OverBudget), "%v", err)
	require.NoError(t, r.Close().Err)
}

// What is wrong is found before there is a session, and nothing is left of it.
func TestStartFails(t *testing.T) {
	t.Setenv("WINDLASS_MODEL", "")
	tests := map[string]struct {
		change func(*RunOptions)
		kind   failure.Kind
		text   string
	}{
		"id": {
			func(o *RunOptions) { o.SessionID = "../x" }, failure.InvalidRequest,
			`session id "../x": use up to 64 letters, digits, dots, dashes and underscores, beginning with a letter or digit`,
		},
		"no model": {
			func(o *RunOptions) { o.Extensions.Model = nil }, failure.InvalidRequest,
			"no model: it.json names none, and neither WINDLASS_MODEL nor windlass.json does",
		},
		"phase": {
			func(o *RunOptions) { o.Models.Phases = map[string]string{"three": "m"} }, failure.InvalidRequest,
			`model "m" is named for the phase "three", and the cascade has no phase "three"`,
		},
		"script": {
			func(o *RunOptions) { o.Extensions.Model, o.Offline = nil, true }, failure.InvalidRequest,
			`no script for "it.json": looked for it.script.json and .yaml: file does not exist`,
		},
		"root": {
			func(o *RunOptions) { o.Rights.Roots = []string{"/no/such/folder"} }, failure.InvalidRequest,
			"/no/such/folder",
		},
		"two tools of one name": {
			func(o *RunOptions) { o.Extensions.Tools = append(o.Extensions.Tools, restart()) }, failure.InvalidRequest,
			`tool "restart": there is a tool of that name already`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a := newApp(t)
			o := options("s1")
			tt.change(&o)
			_, err := a.Start(t.Context(), job(t, askCascade), o, Watch{})
			require.ErrorContains(t, err, tt.text)
			require.Equal(t, tt.kind, failure.KindOf(err))
			require.NoDirExists(t, a.SessionDir("s1"))
		})
	}
}

func TestStartOfASessionThatExists(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r, err := a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{})
	require.NoError(t, err)
	_, err = a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{})
	require.True(t, failure.Is(err, failure.SessionExists), "%v", err)
	_, err = a.Resume(t.Context(), "s1", ResumeOptions{}, Watch{})
	require.True(t, failure.Is(err, failure.SessionBusy), "%v", err)
	require.NoError(t, r.Close().Err)
	_, err = a.Resume(t.Context(), "s2", ResumeOptions{}, Watch{})
	require.True(t, failure.Is(err, failure.UnknownSession))
	require.EqualError(t, err, `no session "s2" on this machine`)
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "windlass.json"), []byte("{"), 0o600))
	_, err = a.Start(t.Context(), job(t, askCascade), options("s3"), Watch{})
	require.True(t, failure.Is(err, failure.InvalidConfig))
}

func TestForkFails(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r, err := a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{})
	require.NoError(t, err)
	_, err = r.Do(t.Context())
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	n := len(a.recording(t, "s1").Entries)
	resume := ResumeOptions{Extensions: extensions()}
	_, err = a.Fork(t.Context(), "s1", 99, ForkOptions{ResumeOptions: resume}, Watch{})
	require.True(t, failure.Is(err, failure.InvalidRequest))
	var point *ForkPointError
	require.ErrorAs(t, err, &point)
	require.Equal(t, n, point.Entries)
	require.ErrorContains(t, err, "session s1 has no entry 99: it has ")
	_, err = a.Fork(t.Context(), "s1", uint64(n), ForkOptions{ResumeOptions: resume}, Watch{})
	require.True(t, failure.Is(err, failure.NotResumable))
	require.ErrorContains(t, err, "of session s1: the run has completed: there is nothing to resume")
	other := job(t, `{"cascade_id": "it", "phases": [{"name": "one", "instructions": "Another task.", "tackle": ["restart"]}]}`)
	_, err = a.Fork(t.Context(), "s1", 5, ForkOptions{SessionID: "s2", Cascade: other.Cascade, File: other.File, ResumeOptions: resume}, Watch{})
	require.True(t, failure.Is(err, failure.Diverged), "%v", err)
	require.NoDirExists(t, a.SessionDir("s2"))
	_, err = a.Fork(t.Context(), "s9", 5, ForkOptions{}, Watch{})
	require.True(t, failure.Is(err, failure.UnknownSession))
}

// Every error that has a type of its own says what is wrong.
func TestErrorTexts(t *testing.T) {
	t.Parallel()
	cause := errors.New("why")
	for text, err := range map[string]error{
		"why":            &NoScriptError{failure.Cause{Err: cause}},
		"session s: why": &ResumeError{"s", cause},
		"session s: its process died before the fork of p was whole: 1 entry of 9 are missing":   &HalfForkError{"s", "p", 9, 1},
		"session s: its process died before the fork of p was whole: 6 entries of 9 are missing": &HalfForkError{"s", "p", 9, 6},
		"session p has no entry 9: it has 3":                                                     &ForkPointError{Parent: "p", Seq: 9, Entries: 3},
		"entry 9 of session p: why":                                                              &ForkPointError{Parent: "p", Seq: 9, Err: cause},
	} {
		require.EqualError(t, err, text)
	}
	for _, err := range []error{&NoScriptError{failure.Cause{Err: cause}}, &ToolsError{failure.Cause{Err: cause}}, &ResumeError{"s", cause}, &ForkPointError{Err: cause}, &HeaderError{failure.Cause{Err: cause}}} {
		require.ErrorIs(t, err, cause)
	}
}

func TestJournalError(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]failure.Kind{
		os.ErrNotExist: failure.UnknownSession, journal.ErrBusy: failure.SessionBusy, &journal.DamageError{}: failure.Damaged,
		&journal.VersionError{}: failure.OtherVersion, os.ErrPermission: failure.StorageFailed,
		&journal.DamageError{Err: &journal.FolderError{}}: failure.Damaged,
	} {
		require.Equal(t, want, failure.KindOf(JournalError("s", err)), "%v", err)
	}
	for _, tt := range []struct {
		err error
		try string
	}{
		{errors.New("other"), "put a sound copy of the journal in its place"},
		{&journal.FolderError{}, ""},
		{journal.ErrNotBegun, "remove its folder: there is nothing in it, and its id can be used again"},
	} {
		var f *failure.Error
		require.ErrorAs(t, JournalError("s", &journal.DamageError{Err: tt.err}), &f)
		require.Equal(t, tt.try, f.Try)
	}
}

// A session that says nothing of what it was started with, or that another version started, cannot
// be run again.
func TestReadHeaderFails(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	r, err := a.Start(t.Context(), job(t, askCascade), options("s1"), Watch{})
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	for text, change := range map[string]func(*journal.Header){
		"session s1: ":                     func(h *journal.Header) { h.Rules = engine.Rules + 1 },
		"read the cascade of session s1: ": func(h *journal.Header) { h.Cascade = []byte(`{`) },
		"read the input of session s1: ":   func(h *journal.Header) { h.Input = []byte(`7`) },
		"the journal of session s1 does not say what the run was started with": func(h *journal.Header) { h.Options = nil },
		"read what session s1 was started with: ":                              func(h *journal.Header) { h.Options = []byte(`7`) },
	} {
		h := r.Header()
		change(&h)
		_, err := ReadHeader(h, "restart")
		require.ErrorContains(t, err, text)
		require.True(t, failure.Is(err, failure.OtherVersion), text)
	}
	o, err := ReadHeader(r.Header(), "restart")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"service": "checkout"}, o.Input)
	require.Equal(t, []string{"own"}, o.Started.Models)
}
