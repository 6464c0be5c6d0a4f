package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/waits"
)

// weekLater is the world of a session that has waited for a week: answers that were left on the way, and a model and tools that
// answer what comes then.
type weekLater struct {
	effect.Tools
	began time.Time
	left  map[string]any // by the beginning of the key of the wait
	ran   []string
}

func (w *weekLater) Answer(_ context.Context, req *effect.WaitRequest) (*echo.Answer, error) {
	for key, value := range w.left {
		if !strings.HasPrefix(req.Key.String(), key) {
			continue
		}
		x := &waits.Wait{Kind: req.Wait.Kind, Form: req.Wait.Form, Call: req.Wait.Call}
		a := &echo.Answer{Value: value, By: "ada", Via: echo.ViaCommand, At: w.began.AddDate(0, 0, 6), Shown: req.Wait.Shown}
		if name, is := value.(echo.Answer); is {
			a.Signal, a.Value, a.Letter = name.Signal, name.Value, "letter of "+key
			return a, nil
		}
		checked, err := waits.Check(x, value)
		a.Value = checked
		return a, err
	}
	return nil, nil //nolint:nilnil // see the interface
}

func (w *weekLater) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	var nothing float64
	last := req.Messages[len(req.Messages)-1].Text()
	text, _, _ := strings.Cut(last, "\n")
	return &effect.ModelResponse{Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "So: "+text), Provider: "test", Model: req.Model, CostUSD: &nothing, FinishReason: "stop"}, nil
}

func (w *weekLater) Call(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
	w.ran = append(w.ran, fmt.Sprintf("%s %s", req.Name, req.Arguments))
	return effect.ToolResult{Parts: echo.Text("stamped")}, nil
}

// A session that began to wait under an earlier windlass of the same rules, of which testdata/frozen/waiting has journals, is
// resumed by this one a week later: answers that were left count, and deadlines that have passed act as they were recorded. All that
// it has recorded before and after holds.
func TestFrozenWaits(t *testing.T) {
	t.Parallel()
	for rules := 4; rules <= engine.Rules; rules++ { // journals of newer rules are missing where one cannot be read
		t.Run(fmt.Sprint("rules ", rules), func(t *testing.T) { frozenWaits(t, rules) })
	}
}

func frozenWaits(t *testing.T, rules int) {
	t.Parallel()
	rec, err := journal.Read(fmt.Sprintf("testdata/frozen/waiting/rules%d.jsonl", rules))
	require.NoError(t, err)
	require.Equal(t, rules, rec.Header.Rules)
	require.Equal(t, echo.StatusWaiting, record.EndOf(rec.Entries).Status)
	require.Len(t, record.OpenWaits(rec.Entries), 8)
	began := rec.Entries[len(rec.Entries)-1].At
	world := &weekLater{began: began, left: map[string]any{
		"ask/": "blue", "decide/": "not before Monday", "ship/": map[string]any{"decision": "allow"}, "each/node5/item1/": "one", "each/node5/item2/": "two",
		"gate/": echo.Answer{Value: map[string]any{"n": json.Number("1.50")}}, "any/": echo.Answer{Signal: "cancelled"},
	}}
	res, entries := resumeWaiting(t, rec, world, began.AddDate(0, 0, 7))
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Equal(t, `So: End not before Monday, nobody, ["one","two"], {"n":1.5}.`, res.Output)
	require.Equal(t, []string{`stamp {"n":"<a> & b"}`}, world.ran, "what was shown runs")
	answers := map[string]echo.Answer{}
	for _, e := range entries {
		if e.NodeType == echo.NodeAnswer {
			a, err := echo.Read[echo.Answer](e)
			require.NoError(t, err)
			answers[e.Key.String()] = a
		}
	}
	require.Len(t, answers, 8)
	for _, e := range record.OpenWaits(rec.Entries) {
		w, err := echo.Read[echo.Wait](e)
		require.NoError(t, err)
		a := answers[e.Key.String()]
		require.Equal(t, w.Shown, a.Shown)
		if e.Key.String() == "fill/node3/wait" {
			require.True(t, a.TimedOut)
			require.True(t, w.Deadline(e.At).Equal(a.At), "the recorded deadline")
			continue
		}
		require.False(t, a.TimedOut, e.Key)
		require.True(t, began.AddDate(0, 0, 6).Equal(a.At))
	}

	// Nobody has answered: what has no deadline goes on to wait.
	res, entries = resumeWaiting(t, rec, &weekLater{began: began}, began.AddDate(0, 0, 7))
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Len(t, record.OpenWaits(slices.Concat(rec.Entries, entries)), 7)
}

// TestFrozenWaitsMore: the same of a decision on an output, a choice among candidates, and a question with an image, whose file is gone.
func TestFrozenWaitsMore(t *testing.T) {
	t.Parallel()
	rec, err := journal.Read("testdata/frozen/waiting/rules5_more.jsonl")
	require.NoError(t, err)
	require.Len(t, record.OpenWaits(rec.Entries), 3)
	began := rec.Entries[len(rec.Entries)-1].At
	world := &weekLater{began: began, left: map[string]any{
		"draft/": map[string]any{"choice": "yes", "feedback": "Go."}, "pick/": map[string]any{"winner": "B", "why": "shorter"}, "look/": "left",
	}}
	res, entries := resumeWaiting(t, rec, world, began.AddDate(0, 0, 7))
	require.Equal(t, echo.StatusCompleted, res.Status)
	require.Regexp(t, `^So: End The draft\.`, res.Output)
	require.Contains(t, res.Output, " headline, yes.")
	require.Empty(t, world.ran)
	require.Empty(t, record.OpenWaits(slices.Concat(rec.Entries, entries)))

	// Nobody has answered: all of it waits on.
	res, entries = resumeWaiting(t, rec, &weekLater{began: began}, began.AddDate(0, 0, 7))
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Len(t, record.OpenWaits(slices.Concat(rec.Entries, entries)), 3)
}

// resumeWaiting resumes a session at a time, and returns how that ended and the entries that came to it, which hold.
func resumeWaiting(t *testing.T, rec *journal.Recording, world *weekLater, at time.Time) (*engine.Result, []*echo.Entry) {
	t.Helper()
	replay, err := appAt(t.TempDir()).Replay(rec.Header, app.Extensions{})
	require.NoError(t, err)
	defer func() { require.NoError(t, replay.Close()) }()
	runner, spec := *replay.Runner, replay.Spec
	now := func() time.Time { return at }
	world.Tools = runner.Tools
	runner.Mailbox, runner.Model, runner.Tools, runner.Seams.Now = world, world, world, now
	kept := &keptEntries{}
	spec.Log = echo.ContinueLog(rec.Header.SessionID, uint64(len(rec.Entries)), now, nil, kept)
	spec.Recording, spec.Effects = rec.Entries, nil
	res, err := runner.Run(t.Context(), spec)
	require.False(t, effect.IsRecordError(err), "%v", err)
	again, err := appAt(t.TempDir()).Verify(t.Context(), &journal.Recording{Header: rec.Header, Entries: slices.Concat(rec.Entries, kept.list)}, app.Extensions{})
	require.NoError(t, err)
	require.NotNil(t, again)
	return res, kept.list
}

// The frozen journals of sessions that wait, or have waited, are verified by the command.
func TestVerifyFrozenWaits(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/frozen/waiting/*.jsonl")
	require.NoError(t, err)
	require.Len(t, paths, 7)
	for _, path := range paths {
		verifyFrozen(t, path)
	}
}
