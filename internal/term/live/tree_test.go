package live

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
)

// treeRun is a run of a graph with a list of 120 elements, a ward and children, as views hear of it.
type treeRun struct {
	t     *testing.T
	view  View
	clock *time.Time
}

func (r treeRun) entry(key string, p echo.Payload, usd float64) {
	r.t.Helper()
	e := echo.NewEntry(echo.MustKey(key), p)
	e.SetKeyFields()
	e.DurationMS = 1200
	if e.NodeType == echo.NodeModelCall || e.NodeType == echo.NodeChildEnd {
		e.CostUSD, e.Usage, e.Model = &usd, &echo.Usage{In: 1000, Out: 50}, "gpt-5-mini"
	}
	if d, ok := p.(echo.PhaseEnd); ok && d.Status == echo.StatusFailed {
		e.Error = &echo.Failure{Kind: "error", Message: "the answer is empty"}
	}
	require.NoError(r.t, r.view.Write(e))
}

func (r treeRun) mark(node echo.NodeType, key string) {
	e := &echo.Entry{NodeType: node, Key: echo.MustKey(key)}
	e.SetKeyFields()
	require.NoError(r.t, r.view.Write(e))
}

func (r treeRun) asks(key string) {
	k := echo.MustKey(key)
	p := k.Path()
	r.view.Observe(engine.Event{Kind: engine.EventModelCall, Key: k, Site: effect.Site{Phase: p.Phase, Attempt: p.Attempt, Turn: p.Turn}, Model: "gpt-5-mini"})
}

func (r treeRun) calls(key, tool, arguments string) {
	k := echo.MustKey(key)
	p := k.Path()
	r.view.Observe(engine.Event{Kind: engine.EventToolCall, Key: k, Site: effect.Site{Phase: p.Phase, Attempt: p.Attempt, Turn: p.Turn}, Tool: tool, Arguments: arguments})
}

func (r treeRun) after(d time.Duration) { *r.clock = r.clock.Add(d) }

// play plays the run; show is called in between. child returns the view of a child.
func (r treeRun) play(show func(when string), child func(parent, session string, c *cascade.Cascade) View) {
	r.entry("run/start", echo.RunStart{}, 0)
	for i := 1; i <= 4; i++ {
		r.mark(echo.NodeBranchStart, fmt.Sprintf("%s/node%d/start", []string{"plan", "each", "news", "report"}[i-1], i))
	}
	r.entry("plan/node1/begin", echo.PhaseStart{Visit: 1}, 0)
	r.entry("news/node3/begin", echo.PhaseStart{Visit: 1}, 0)
	r.entry("plan/node1/child/background", echo.ChildStart{Session: "c1", Name: "background", How: echo.ChildSub, Cascade: "summary"}, 0)
	r.entry("news/node3/async/late", echo.ChildStart{Session: "c2", Name: "late", How: echo.ChildAsync, Cascade: "late"}, 0)
	r.asks("news/node3/attempt1/turn1/model")
	c := r
	c.view = child("s", "c1", &cascade.Cascade{CascadeID: "summary", Phases: []cascade.Phase{{Name: "outline"}}})
	c.entry("run/start", echo.RunStart{}, 0)
	c.entry("outline/start", echo.PhaseStart{Visit: 1}, 0)
	c.asks("outline/attempt1/turn1/model")
	c.entry("outline/attempt1/turn1/model", echo.ModelCall{}, 0.25)
	c.entry("outline/attempt1/turn1/tool1", echo.ChildStart{Session: "c3", Name: "facts", How: echo.ChildTool, Cascade: "facts"}, 0)
	c.entry("outline/attempt1/turn1/verdict/fair", echo.Verdict{Validator: "fair", Reason: "it is one-sided"}, 0)
	r.after(3 * time.Second)
	show("two phases run, and children of theirs")
	c.entry("outline/attempt1/turn1/tool1", echo.ChildEnd{Session: "c3", Status: echo.StatusFailed, Reason: echo.StopError, Calls: 2}, 0.125)
	r.entry("plan/node1/child/background", echo.ChildEnd{Session: "c1", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Calls: 3}, 0.375)
	r.asks("plan/node1/ward1/validate/fair/model")
	r.asks("plan/node1/ward2/validate/safe/model")
	show("wards")
	r.entry("plan/node1/ward1/verdict/fair", echo.Verdict{Validator: "fair", Valid: true, Ward: "pre", Mode: "blocking"}, 0)
	r.entry("plan/node1/ward2/verdict/safe", echo.Verdict{Validator: "safe", Reason: "it names a person", Ward: "pre", Mode: "advisory"}, 0)
	r.entry("plan/node1/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered}, 0)
	r.entry("each/node2/begin", echo.PhaseStart{Visit: 1}, 0)
	for i := 1; i <= 120; i++ {
		r.mark(echo.NodeBranchStart, fmt.Sprintf("each/node2/item%d/start", i))
	}
	for i := 1; i <= 8; i++ {
		r.asks(fmt.Sprintf("each/node2/item%d/attempt1/turn1/model", i))
	}
	r.after(5 * time.Second)
	for i := 1; i <= 4; i++ {
		r.entry(fmt.Sprintf("each/node2/item%d/attempt1/turn1/model", i), echo.ModelCall{}, 0.01)
	}
	for i := 1; i <= 3; i++ {
		end := echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered}
		if i == 2 {
			end = echo.PhaseEnd{Status: echo.StatusFailed, Reason: echo.StopError}
		}
		r.entry(fmt.Sprintf("each/node2/item%d/finish", i), end, 0)
	}
	r.calls("each/node2/item4/attempt2/turn3/tool1", "read_file", `{"path": "services/checkout/main.go"}`)
	r.after(2 * time.Second)
	show("a list")
	r.entry("news/node3/finish", echo.PhaseEnd{Status: echo.StatusCompleted, Reason: echo.StopAnswered}, 0)
	show("a phase has ended, what it has begun has not")
	r.entry("run/async/c2", echo.ChildEnd{Session: "c2", Status: echo.StatusCompleted, Reason: echo.StopEndOfCascade, Calls: 1}, 0.5)
	show("it has ended")
}

// Phases and elements that run in parallel have lines of their own, and children are below their phase.
func TestFramesOfATree(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	p := NewProgress("research", "nightly-7", []string{"plan", "each", "news", "report"}, func() time.Time { return clock })
	var b strings.Builder
	show := func(when string) {
		for _, room := range []Room{{200, 40}, {80, 24}, {50, 9}, {100, 0}} {
			lines := p.Frame(room, false)
			fmt.Fprintf(&b, "== %s, %d columns, %d lines\n", when, room.Width, room.Height)
			require.True(t, room.Height == 0 || len(lines) <= room.Height)
			for _, line := range lines {
				require.LessOrEqual(t, runewidth.StringWidth(line), room.Width)
				b.WriteString(line + "\n")
			}
		}
		for _, line := range p.Said(80, false) {
			b.WriteString("said: " + line + "\n")
		}
	}
	root := following{p}
	tree := NewTree("s", root)
	treeRun{t, root, &clock}.play(show, tree.Child)
	goldenFile(t, "testdata/tree.golden", b.String())
}

// In lines, each names the branch and the child that it is of.
func TestPlainOfATree(t *testing.T) {
	t.Parallel()
	clock := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	var b strings.Builder
	root := NewPlain(&b)
	tree := NewTree("s", root)
	treeRun{t, root, &clock}.play(func(string) {}, tree.Child)
	goldenFile(t, "testdata/tree_plain.golden", b.String())
}

// A child of a run that nobody shows is not shown, and a warning about money in a child names it.
func TestChildrenOfOtherViews(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	tree := NewTree("s", NewQuiet(&b))
	require.Equal(t, hidden{}, tree.Child("x", "y", &cascade.Cascade{}))
	v := tree.Child("s", "c", &cascade.Cascade{CascadeID: "background"})
	require.Same(t, v, tree.Child("s", "c", &cascade.Cascade{CascadeID: "background"}))
	e := echo.NewEntry(echo.MustKey("outline/attempt1/turn1/clock1/beside/warning"), echo.Warning{Message: "a cost is not known"})
	e.SetKeyFields()
	require.NoError(t, v.Write(e))
	require.Equal(t, "Warning: background/outline turn 1: a cost is not known\n", b.String())
}

func goldenFile(t *testing.T, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "go test ./internal/term/live -update writes what is seen")
}
