package engine

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkHandoffs holds what every record must: each visit that ended has a handoff directly before its end, and it says what
// can be said from the record alone.
func checkHandoffs(t *testing.T, entries []*echo.Entry) {
	t.Helper()
	for i, e := range entries {
		if e.NodeType != echo.NodePhaseEnd {
			continue
		}
		before := entries[i-1]
		if before.NodeType == echo.NodeResume { // the process died between the two
			before = entries[i-2]
		}
		require.Equal(t, echo.NodeHandoff, before.NodeType)
		require.Equal(t, e.Key.VisitKey(), before.Key.VisitKey())
		h := handoffOf(t, entries[:i+1])
		now, err := json.Marshal(h)
		require.NoError(t, err)
		require.Equal(t, string(before.Data), string(now), "the handoff before entry %d", e.Seq)
		require.LessOrEqual(t, len(Markdown(h)), MaxHandoff)
	}
}

func handoffOf(t *testing.T, entries []*echo.Entry) *echo.Handoff {
	t.Helper()
	h, err := HandoffOf(entries)
	require.NoError(t, err)
	return h
}

func TestChecklistIn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []checked
	}{
		"none":        {"Nothing to do.\n- a list\n[x] no list", nil},
		"dashes":      {"Plan:\n- [ ] one\n- [x] two\n", []checked{{"one", false}, {"two", true}}},
		"other marks": {"* [X] a\n+ [ ] b\n1. [x] c\n2) [ ] d", []checked{{"a", true}, {"b", false}, {"c", true}, {"d", false}}},
		"indented":    {"  - [ ]   spaces   inside  ", []checked{{"spaces inside", false}}},
		"no text":     {"- [ ] \n- [ ]\n- [y] odd", nil},
		"controls":    {"- [ ] a\x1b[2Jb\u202e", []checked{{"a[2Jb", false}}},
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
	require.Equal(t, []checked{{"one", false}, {"two", true}, {"gone", false}, {"three", false}}, c.merged())
	c.set("plan", "- [x] one\n- [ ] two")
	require.Equal(t, []checked{{"Two", false}, {"three", false}, {"one", true}}, c.merged(), "what a new version leaves out is gone, and it is the newest")
}

const handedOver = `{"cascade_id":"repair","phases":[
	{"name":"look","instructions":"Find out what is broken.","callouts":"cause","handoffs":[{"target":"fix"},{"target":"stop"}]},
	{"name":"fix","instructions":"Mend it.\nThen test it.","tackle":["set_state","write_file","test"],"rules":{"max_attempts":2,"loop_until":"regex:mended"},"handoffs":["report"]},
	{"name":"report","instructions":"Report."},
	{"name":"stop","instructions":"Say why not."}]}`

func repairing(t *testing.T, last answerFunc) *testBundle {
	t.Helper()
	b := setup(t,
		call("route_to", `{"target":"fix"}`), say("The seal leaks.\nDecision: replace the seal"),
		call("set_state", `{"key":"plan","value":"- [ ] order a seal\n- [ ] fit it\n- [ ] test it"}`, "set_state", `{"key":"size","value":12}`,
			"write_file", `{"path":"notes.md","content":"- [x] order a seal\n"}`),
		call("test", `{}`),
		say("I cannot test it.\n- [x] find the valve"),
		last,
	)
	b.tools.addEcho("write_file")
	b.tools.add("test", `{"type":"object"}`, func(context.Context, effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Failed: true, Parts: echo.Text("no pressure\nat valve 3")}, nil
	})
	b.runner.Workspace = func(ctx context.Context) *echo.Workspace {
		require.NoError(t, ctx.Err(), "the files are read after the end of the run's context, too")
		return &echo.Workspace{
			At: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Branch: "main", Head: "0123456789abcdef0123",
			Files: []echo.FileChange{{Path: "notes.md", Change: "untracked"}, {Path: "valve.go", Change: "modified"}}, More: 1,
		}
	}
	return b
}

func TestHandoffMarkdown(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b := repairing(t, func(*effect.ModelRequest) (*effect.ModelResponse, error) {
		cancel()
		return nil, ctx.Err()
	})
	_, err := b.runCtx(ctx, handedOver, map[string]any{"valve": 3})
	require.ErrorIs(t, err, context.Canceled)
	entries := b.entries.asRead(t)
	h := handoffOf(t, entries)
	require.Equal(t, echo.StatusInterrupted, h.Status)
	requireGolden(t, "handoff-interrupted", Markdown(h))
	requireGolden(t, "handoff-interrupted-json", indented(t, h))

	killed := entries[:len(entries)-3] // before the stop was recorded
	requireGolden(t, "handoff-killed", Markdown(handoffOf(t, killed)))

	b = repairing(t, say("Still nothing."))
	_, err = b.run(handedOver, nil)
	require.ErrorContains(t, err, "no answer passed")
	requireGolden(t, "handoff-failed", Markdown(handoffOf(t, b.entries.asRead(t))))

	b = repairing(t, say("It is mended."))
	b.model.answers = append(b.model.answers, say("All is well."))
	_, err = b.run(handedOver, nil)
	require.NoError(t, err)
	entries = b.entries.asRead(t)
	requireGolden(t, "handoff-completed", Markdown(handoffOf(t, entries)))
	requireGolden(t, "handoff-begun", Markdown(handoffOf(t, entries[:2])))
	handoffs := b.entries.of(echo.NodeHandoff)
	require.Len(t, handoffs, 3)
	require.NotContains(t, string(handoffs[0].Data), "workspace", "no tool ran in it that could have changed something")
	require.Contains(t, string(handoffs[1].Data), "workspace")
}

func indented(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	return string(text) + "\n"
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
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

// However much a run has said, written and decided, and whatever characters are in it, its handoff has its size, and every
// item of it is one line.
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
	h, err := HandoffOf(b.entries)
	require.NoError(t, err)
	text := Markdown(h)
	require.LessOrEqual(t, len(text), MaxHandoff)
	require.Greater(t, len(text), MaxHandoff/4, "no more is cut than has to be")
	require.LessOrEqual(t, len(effect.MustJSON(h)), 2*MaxHandoff)
	require.NotContains(t, text, "\x1b")
	require.NotContains(t, text, "\u202e")
	require.NotContains(t, text, "\n# Head")
	require.Positive(t, h.Omitted.Remaining)
	require.Positive(t, h.Omitted.Changed)
}

// A stop that was recorded in part, because the process was killed meanwhile, is set aside as one that was recorded whole.
func TestResumeAfterAStopThatIsRecordedInPart(t *testing.T) {
	t.Parallel()
	for cut := range 4 {
		t.Run(fmt.Sprint(cut, " entries missing"), func(t *testing.T) {
			t.Parallel()
			w := &stopping{world: newWorld(), at: 4}
			var ctx context.Context
			ctx, w.cancel = context.WithCancel(context.Background())
			defer w.cancel()
			sink := &memory{}
			_, err := w.run(ctx, t, sink, nil)
			require.ErrorIs(t, err, context.Canceled)
			past := sink.asRead(t)
			require.Equal(t, []echo.NodeType{echo.NodeHandoff, echo.NodePhaseEnd, echo.NodeRunEnd}, nodeTypes(past[len(past)-3:]))
			past = past[:len(past)-cut]
			require.True(t, record.ResumptionOf(past).Possible)
			require.Equal(t, cut < 3, record.EndOf(past).Status == echo.StatusInterrupted)
			goOn, sink := &stopping{world: w.world}, &memory{}
			res, err := goOn.run(context.Background(), t, sink, past)
			require.NoError(t, err)
			require.Equal(t, echo.StatusCompleted, res.Status)
			replay(t, sink.asRead(t))
		})
	}
}

func nodeTypes(entries []*echo.Entry) []echo.NodeType {
	var out []echo.NodeType
	for _, e := range entries {
		out = append(out, e.NodeType)
	}
	return out
}

func TestHandoffOfNothing(t *testing.T) {
	t.Parallel()
	_, err := HandoffOf(nil)
	require.EqualError(t, err, "the session has no entries yet")
}

// A record of before there were handoffs is followed all the same.
func TestRecordWithoutHandoffs(t *testing.T) {
	t.Parallel()
	b := repairing(t, say("It is mended."))
	b.model.answers = append(b.model.answers, say("All is well."))
	_, err := b.run(handedOver, nil)
	require.NoError(t, err)
	var old []*echo.Entry
	for _, e := range b.entries.asRead(t) {
		if e.NodeType != echo.NodeHandoff {
			old = append(old, e)
		}
	}
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(handedOver), c))
	again := *b.runner
	again.Model, again.Tools = nil, onlySpecs{b.tools}
	_, err = again.Run(context.Background(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: old})
	require.NoError(t, err)
}

// BenchmarkHandoff sums up a phase of 200 turns: words, a call of write_file every tenth turn, results of 4 kB.
func BenchmarkHandoff(b *testing.B) {
	r := &recordBuilder{t: b, cascade: "c"}
	visit := echo.PhaseKey("work", 1)
	r.add(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1})
	r.message(visit.Step(echo.StepTask), echo.NewText(echo.RoleUser, echo.KindTask, "Mend it."))
	for i := range 200 {
		c := echo.ToolCall{ID: fmt.Sprint("c", i), Name: "read_file", Arguments: `{"path":"a.go"}`}
		if i%10 == 0 {
			c = echo.ToolCall{ID: c.ID, Name: writeFile, Arguments: string(effect.MustJSON(map[string]string{
				"path": "plan.md", "content": strings.Repeat("- [x] something that was to be done\n", 100),
			}))}
		}
		r.answer(visit.Attempt(1).Turn(i+1), echo.Seal(echo.Draft{
			Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(strings.Repeat("I look at the next file. ", 20)), ToolCalls: []echo.ToolCall{c},
		}), echo.NewToolResult(c, echo.Text(strings.Repeat("line\n", 800)), false))
	}
	f := record.Of(r.entries)
	for b.Loop() {
		progressOf(f, nil).handoff()
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
