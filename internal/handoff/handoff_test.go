package handoff

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
)

func TestChecklistIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []checked
	}{
		"none":        {"Nothing to do.\n- a list\n[x] no list", nil},
		"dashes":      {"Plan:\n- [ ] one\n- [x] two\n", []checked{{text: "one", done: false}, {text: "two", done: true}}},
		"other marks": {"* [X] a\n+ [ ] b\n1. [x] c\n2) [ ] d", []checked{{text: "a", done: true}, {text: "b", done: false}, {text: "c", done: true}, {text: "d", done: false}}},
		"indented":    {"  - [ ]   spaces   inside  ", []checked{{text: "spaces inside", done: false}}},
		"no text":     {"- [ ] \n- [ ]\n- [y] odd", nil},
		"controls":    {"- [ ] a\x1b[2Jb\u202e", []checked{{text: "a[2Jb", done: false}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, checklistIn(tc.text))
		})
	}
}

func TestDecisionsIn(t *testing.T) {
	t.Parallel()
	text := "Decision: use A\n- **Decision:** use B\n> decision : use C\nThe decision: none\nDecisions: none\nDecision:\nDECISION: D"
	require.Equal(t, []string{"use A", "use B", "use C", "D"}, decisionsIn(text))
}

func TestMergedChecklists(t *testing.T) {
	t.Parallel()
	c := &checklists{latest: map[string][]string{}}
	c.set("plan", "- [ ] one\n- [ ] two\n- [ ] gone")
	c.set("file", "- [x] Two\n- [ ] thr")
	c.add("file", "ee\n")
	require.Equal(t, []checked{{text: "one", done: false}, {text: "two", done: true}, {text: "gone", done: false}, {text: "three", done: false}}, c.merged())
	c.set("plan", "- [x] one\n- [ ] two")
	require.Equal(t, []checked{{text: "Two", done: false}, {text: "three", done: false}, {text: "one", done: true}}, c.merged(), "what a new version leaves out is gone, and it is the newest")
}

// recordBuilder makes the record of a session by hand.
type recordBuilder struct {
	t       testing.TB
	cascade string
	log     *echo.Log
	entries []*echo.Entry
}

func (b *recordBuilder) put(e *echo.Entry) *echo.Entry {
	b.t.Helper()
	if b.log == nil {
		b.log = echo.NewLog("s1", nil, nil)
		b.log.Follow(func(e *echo.Entry) { b.entries = append(b.entries, e) })
	}
	e.CascadeID = b.cascade
	require.NoError(b.t, b.log.Append(e))
	return e
}

func (b *recordBuilder) add(key echo.Key, p echo.Payload) *echo.Entry {
	b.t.Helper()
	return b.put(echo.NewEntry(key, p))
}

func (b *recordBuilder) message(key echo.Key, m *echo.Message) {
	b.t.Helper()
	b.put(&echo.Entry{NodeType: echo.NodeMessage, Key: key, Message: m})
}

func (b *recordBuilder) answer(turn echo.Key, m *echo.Message, results ...*echo.Message) {
	b.t.Helper()
	b.put(&echo.Entry{NodeType: echo.NodeModelCall, Key: turn.Step(echo.StepModel), Message: m})
	for i, r := range results {
		b.put(&echo.Entry{NodeType: echo.NodeToolCall, Key: turn.Numbered(echo.StepTool, i+1), Message: r})
	}
}

// However much a run has said, written and decided, and whatever characters are in it, its handoff
// has its size, and every item of it is one line.
func TestHandoffIsBounded(t *testing.T) {
	t.Parallel()
	hostile := strings.Repeat("ä\x1b]0;x\x07 \u202e\n# Head\n", 40)
	b := &recordBuilder{t: t, cascade: hostile}
	b.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{Input: map[string]any{"text": hostile}})
	files := &echo.Workspace{Branch: hostile, Head: strings.Repeat("a", 40)}
	for i := range 300 {
		files.Files = append(files.Files, echo.FileChange{Path: fmt.Sprint(i, hostile), Change: hostile})
	}
	for i := range 20 {
		visit := echo.PhaseKey(fmt.Sprint(hostile, i), 1)
		b.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
		b.message(visit.Step(echo.StepTask), echo.NewText(echo.RoleUser, echo.KindTask, hostile))
		b.add(visit.Named(echo.StepState, hostile), echo.State{Key: hostile + fmt.Sprint(i), Value: hostile})
		var plan strings.Builder
		for n := range 30 {
			fmt.Fprintf(&plan, "- [ ] %d %d %s\nDecision: %s\n", i, n, strings.Repeat("long ", 100), hostile)
		}
		b.answer(visit.Attempt(1).Turn(1), echo.NewText(echo.RoleAssistant, echo.KindAnswer, plan.String()))
		b.add(visit.Attempt(1).Named(echo.StepVerdict, hostile), echo.Verdict{Validator: hostile, Reason: hostile})
		b.add(visit.Step(echo.StepHandoff), echo.Handoff{Workspace: files})
		end := echo.PhaseEnd{Status: echo.StatusCompleted, Output: hostile}
		if i == 19 {
			end = echo.PhaseEnd{Status: echo.StatusFailed}
		}
		b.add(visit.Step(echo.StepEnd), end).Error = &echo.Failure{Message: hostile}
		b.add(visit.Step(echo.StepRoute), echo.Route{From: hostile, To: hostile, Reason: "route_to"})
	}
	h, err := Of(b.entries)
	require.NoError(t, err)
	text := Markdown(h)
	require.LessOrEqual(t, len(text), MaxSize)
	require.Greater(t, len(text), MaxSize/4, "no more is cut than has to be")
	encoded, err := json.Marshal(h)
	require.NoError(t, err)
	require.LessOrEqual(t, len(encoded), 2*MaxSize)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "\n# Head")
	require.Positive(t, h.Omitted.Remaining)
	require.Positive(t, h.Omitted.Changed)
}

// Of what a check printed a handoff has the last lines, which say why it failed.
func TestHandoffHasTheEndOfAnOutput(t *testing.T) {
	t.Parallel()
	for validator, want := range map[string]string{
		"command:make test": "command:make test did not pass: [... 25 lines left out ...] ok ok ok ok ok of_test.go:19: want 0 [exit status 1]",
		"output_schema":     "output_schema did not pass: " + strings.TrimSuffix(strings.Repeat("ok ", 30), " ") + " of_test.go:19: want 0 [exit status 1]",
	} {
		b := &recordBuilder{t: t, cascade: "c"}
		b.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{})
		visit := echo.PhaseKey("p", 1)
		b.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
		b.add(visit.Attempt(1).Named(echo.StepVerdict, validator), echo.Verdict{
			Validator: validator, Reason: strings.Repeat("ok\n", 30) + "of_test.go:19: want 0\n[exit status 1]\n",
		})
		h, err := Of(b.entries)
		require.NoError(t, err)
		require.Equal(t, []echo.HandoffItem{{Source: "validator", Text: want}}, h.Blocking)
	}
}

func TestHandoffOfNothing(t *testing.T) {
	t.Parallel()
	_, err := Of(nil)
	require.EqualError(t, err, "the session has no entries yet")
}

// BenchmarkHandoff sums up a phase of 200 turns: words, a call of write_file every tenth turn,
// results of 4 kB.
func BenchmarkHandoff(b *testing.B) {
	r := &recordBuilder{t: b, cascade: "c"}
	visit := echo.PhaseKey("work", 1)
	r.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
	r.message(visit.Step(echo.StepTask), echo.NewText(echo.RoleUser, echo.KindTask, "Mend it."))
	for i := range 200 {
		c := echo.ToolCall{ID: fmt.Sprint("c", i), Name: "read_file", Arguments: `{"path":"a.go"}`}
		if i%10 == 0 {
			c = echo.ToolCall{ID: c.ID, Name: writeFile, Arguments: echo.AsText(map[string]string{
				"path": "plan.md", "content": strings.Repeat("- [x] something that was to be done\n", 100),
			})}
		}
		r.answer(visit.Attempt(1).Turn(i+1), echo.Seal(echo.Draft{
			Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(strings.Repeat("I look at the next file. ", 20)), ToolCalls: []echo.ToolCall{c},
		}), echo.NewToolResult(c, echo.Text(strings.Repeat("line\n", 800)), false))
	}
	f := record.Of(r.entries)
	for b.Loop() {
		FromFold(f, nil, nil)
	}
}

func TestHandoffFiles(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	file := []echo.FileChange{{Path: "notes.md", Change: "untracked"}}
	for want, w := range map[string]echo.Workspace{
		"No branch, 0 files not as committed (at 2026-05-04 03:02:01 UTC).\n":                     {At: at},
		"Branch main at 0123456789ab, 3 files not as committed (at 2026-05-04 03:02:01 UTC).\n":   {At: at, Branch: "main", Head: "0123456789abcdef", Files: file, More: 2},
		"The repository could not be read at 2026-05-04 03:02:01 UTC: there is no git on PATH.\n": {At: at, Problem: "there is no git on PATH"},
		"(at 2026-05-04 03:02:01 UTC). There are more: git named more files than 1024 KiB hold.\n": {
			At: at, Files: file, Problem: "git named more files than 1024 KiB hold",
		},
	} {
		require.Contains(t, Markdown(&echo.Handoff{Workspace: &w}), want)
	}
}

// TestHandoffOfWhatWasTakenBack: the words of an answer that a person has taken back are nowhere in a handoff; what its calls have
// done is.
func TestHandoffOfWhatWasTakenBack(t *testing.T) {
	t.Parallel()
	b := &recordBuilder{t: t, cascade: "c"}
	b.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{})
	visit := echo.PhaseKey("p", 1)
	b.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
	attempt := visit.Attempt(1)
	b.answer(attempt.Turn(1), echo.NewText(echo.RoleAssistant, echo.KindAnswer, "A first step."))
	call := echo.ToolCall{ID: "1", Name: "write_file", Arguments: `{"path":"a.md","content":"x"}`}
	b.answer(attempt.Turn(2), echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text("Decision: never\n- [ ] never"), ToolCalls: []echo.ToolCall{call}}), echo.NewToolResult(call, echo.Text("written"), false))
	b.message(attempt.Turn(2).Numbered(echo.StepAudible, 1), echo.NewText(echo.RoleUser, echo.KindRetract, "Not so."))
	h, err := Of(b.entries)
	require.NoError(t, err)
	require.Equal(t, "A first step.", h.Progress.Said)
	require.Empty(t, h.Decisions)
	require.NotContains(t, Markdown(h), "never")
	require.Contains(t, Markdown(h), "a.md")
}

// TestHandoffOfWhatWasTakenOut: what a person has taken out of the context is nowhere in a handoff, but for the task of a phase that
// has not ended.
func TestHandoffOfWhatWasTakenOut(t *testing.T) {
	t.Parallel()
	b := &recordBuilder{t: t, cascade: "c"}
	b.add(echo.RunKey().Step(echo.StepStart), echo.RunStart{})
	said := func(phase, text string) *echo.Message {
		visit, m := echo.PhaseKey(phase, 1), echo.NewText(echo.RoleAssistant, echo.KindAnswer, text)
		b.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
		b.message(visit.Step(echo.StepTask), echo.NewText(echo.RoleUser, echo.KindTask, "Task of "+phase+"."))
		b.answer(visit.Attempt(1).Turn(1), m)
		return m
	}
	first := said("p", "Decision: never\n- [ ] never")
	b.add(echo.PhaseKey("p", 1).Step(echo.StepEnd), echo.PhaseEnd{Status: echo.StatusCompleted, Output: "Decision: never\n- [ ] never"})
	second := said("q", "Blockers:\n- [ ] nowhere (blocked)")
	task := echo.NewText(echo.RoleUser, echo.KindTask, "Task of q.")
	change := echo.ViewChange{Number: 1, Action: echo.ViewDrop}
	for phase, list := range map[string][]*echo.Message{"p": {first}, "q": {second, task}} {
		for _, m := range list {
			change.Messages = append(change.Messages, echo.Spot{Phase: phase, Visit: 1, Hash: m.Hash(), Nth: 1})
		}
	}
	before, err := Of(b.entries)
	require.NoError(t, err)
	require.Contains(t, Markdown(before), "never")
	require.Contains(t, Markdown(before), "nowhere")
	b.add(echo.PhaseKey("q", 1).Attempt(1).Turn(1).Numbered(echo.StepChange, 1), change)
	h, err := Of(b.entries)
	require.NoError(t, err)
	require.NotContains(t, Markdown(h), "never")
	require.NotContains(t, Markdown(h), "nowhere")
	require.Contains(t, Markdown(h), "its answer was taken out of the context")
	require.Equal(t, "Task of q.", h.Task)
}
