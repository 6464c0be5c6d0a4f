package engine

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/handoff"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkHandoffs holds what every record must: each visit that ended in the trunk has a handoff directly before
// its end, and it says what can be said from the record alone.
func checkHandoffs(t *testing.T, entries []*echo.Entry) {
	t.Helper()
	for i, e := range entries {
		if e.NodeType != echo.NodePhaseEnd || e.Key.HasBranches() {
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
		require.LessOrEqual(t, len(handoff.Markdown(h)), handoff.MaxSize)
	}
}

func handoffOf(t *testing.T, entries []*echo.Entry) *echo.Handoff {
	t.Helper()
	h, err := handoff.Of(entries)
	require.NoError(t, err)
	return h
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
	requireGolden(t, "handoff-interrupted", handoff.Markdown(h))
	requireGolden(t, "handoff-interrupted-json", indented(t, h))

	killed := entries[:len(entries)-3] // before the stop was recorded
	requireGolden(t, "handoff-killed", handoff.Markdown(handoffOf(t, killed)))

	b = repairing(t, say("Still nothing."))
	_, err = b.run(handedOver, nil)
	require.ErrorContains(t, err, "no answer passed")
	requireGolden(t, "handoff-failed", handoff.Markdown(handoffOf(t, b.entries.asRead(t))))

	b = repairing(t, say("It is mended."))
	b.model.answers = append(b.model.answers, say("All is well."))
	_, err = b.run(handedOver, nil)
	require.NoError(t, err)
	entries = b.entries.asRead(t)
	requireGolden(t, "handoff-completed", handoff.Markdown(handoffOf(t, entries)))
	requireGolden(t, "handoff-begun", handoff.Markdown(handoffOf(t, entries[:2])))
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

// generatedAt is what differs between handoffs of the same run.
var generatedAt = regexp.MustCompile(`(as of: |"generated_at": ")[0-9TZ:.-]+( [0-9:]+ UTC)?`)

func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	got = generatedAt.ReplaceAllString(got, "${1}WHEN")
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// A stop that was recorded in part, because the process was killed meanwhile, is set aside as one
// that was recorded whole.
func TestResumeAfterAStopThatIsRecordedInPart(t *testing.T) {
	t.Parallel()
	for cut := range 4 {
		t.Run(fmt.Sprint(cut, " entries missing"), func(t *testing.T) {
			t.Parallel()
			w := &stopping{world: newWorld(), at: 4}
			var ctx context.Context
			ctx, w.cancel = context.WithCancel(context.Background())
			defer w.cancel()
			sink := &inMemory{}
			_, err := w.run(ctx, t, sink, nil)
			require.ErrorIs(t, err, context.Canceled)
			past := sink.asRead(t)
			require.Equal(t, []echo.NodeType{echo.NodeHandoff, echo.NodePhaseEnd, echo.NodeRunEnd}, nodeTypes(past[len(past)-3:]))
			past = past[:len(past)-cut]
			require.True(t, record.ResumptionOf(past).Possible)
			require.Equal(t, cut < 3, record.EndOf(past).Status == echo.StatusInterrupted)
			goOn, sink := &stopping{world: w.world}, &inMemory{}
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
