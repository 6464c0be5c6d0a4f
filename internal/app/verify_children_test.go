package app

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine/effect"
)

// What a session and its child say of each other agrees, or what differs is said with both.
func TestDisagreement(t *testing.T) {
	t.Parallel()
	a, m := newApp(t), &speaker{}
	r := startParent(t, a, m, "p1")
	x := childOf(t, r, "x", childCascade)
	m.says("second said first sea", func(context.Context) error {
		return &effect.ModelError{Kind: echo.ModelErrNetwork, Model: "m1", Message: "away", Unpaid: true}
	})
	failed, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	r = resumeParent(t, a, m, "p1")
	out, err := r.children.Wait(t.Context(), x)
	require.NoError(t, err)
	require.NoError(t, r.Close().Err)
	parent, child := a.recording(t, "p1"), a.recording(t, x.Session)

	for want, change := range map[string]func(b *begunChild, p, c *journal.Header){
		"":                              func(*begunChild, *journal.Header, *journal.Header) {},
		" ":                             func(b *begunChild, _, _ *journal.Header) { b.end = nil },
		"  ":                            func(b *begunChild, _, _ *journal.Header) { b.end = failed },
		"   ":                           func(b *begunChild, _, _ *journal.Header) { b.start.Input["topic"] = json.RawMessage(`"sea"`) },
		"would be session " + x.Session: func(b *begunChild, _, _ *journal.Header) { b.start.Session = "other" },
		"session p1 says that the parent is p1, and session " + x.Session + " that it is nobody": func(_ *begunChild, _, c *journal.Header) { c.ChildOf = "" },
		"the key is p/child/x, and session " + x.Session + " that it is run/start": func(_ *begunChild, _, c *journal.Header) {
			c.ChildKey = echo.MustKey("run/start")
		},
		`the input is {"topic":"land"}, and session ` + x.Session + ` that it is {"topic":"sea"}`: func(b *begunChild, _, _ *journal.Header) {
			b.start.Input = map[string]any{"topic": "land"}
		},
		`the output is "x", and session ` + x.Session + ` that it is "said second said first sea"`: func(b *begunChild, _, _ *journal.Header) { b.end.Output = "x" },
		"the end is failed (ward), and": func(b *begunChild, _, _ *journal.Header) {
			b.end.Status, b.end.Reason = echo.StatusFailed, echo.StopWard
		},
		"the error is other, and": func(b *begunChild, _, _ *journal.Header) { b.end.Error = &echo.Failure{Message: "other"} },
		"what it took is 3 model calls with 20 tokens in, 4 out, and session " + x.Session + " that it is 2 model calls with 20 tokens in, 4 out": func(b *begunChild, _, _ *journal.Header) {
			b.end.Totals.Calls = 3
		},
		"what it cost is 9, and session " + x.Session + " that it is 0.02": func(b *begunChild, _, _ *journal.Header) { b.end.Totals.CostUSD = 9 },
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			end, p, c := *out, *parent, *child
			b := &begunChild{key: x.Key, seq: 3, start: x.ChildStart, end: &end}
			b.start.Input = map[string]any{"topic": "sea"}
			change(b, &p.Header, &c.Header)
			if got := disagreement(&p, b, &c); strings.TrimSpace(want) == "" {
				require.Empty(t, got)
			} else {
				require.Contains(t, got, want)
			}
		})
	}
	known := *parent
	known.Header.Library = encoded(library.Recorded{Cascades: map[string]*library.Volume{x.Hash: {Cascade: json.RawMessage(`{"cascade_id": "x"}`)}}})
	require.Equal(t, "session "+x.Session+" runs another cascade than the one that session p1 has recorded for it (0123456789abcdef)",
		disagreement(&known, &begunChild{key: x.Key, seq: 3, start: x.ChildStart, end: out}, child))
	redacted := *child
	redacted.Header.Redactions = []journal.Redaction{{}}
	b := &begunChild{key: x.Key, seq: 3, start: x.ChildStart, end: out}
	b.start.Input = map[string]any{"topic": "land"}
	require.Empty(t, disagreement(parent, b, &redacted))
}

// The children that count are those that no resumption has set aside.
func TestBegunBy(t *testing.T) {
	t.Parallel()
	key, beside := echo.MustKey("p/child/x"), echo.MustKey("p/async/y")
	start := func(k echo.Key, session string) *echo.Entry {
		return echo.NewEntry(k, echo.ChildStart{Session: session})
	}
	end := func(k echo.Key, session string) *echo.Entry {
		out := &effect.ChildOutcome{ChildEnd: echo.ChildEnd{Session: session, Status: echo.StatusCompleted}}
		return effect.ChildEntry(k, effect.Site{}, out, 0)
	}
	entries := []*echo.Entry{
		start(key, "a"), end(key, "a"), echo.NewEntry(echo.MustKey("run/resume"), echo.Resume{SetAside: []uint64{1, 2}}),
		start(beside, "b"), start(key, "a"), end(key, "a"), end(echo.MustKey("run/async/b"), "b"), start(echo.MustKey("q/child/x"), "c"),
	}
	for i, e := range entries {
		e.Seq = uint64(i + 1)
	}
	var got []string
	for _, b := range begunBy(entries) {
		name := b.start.Session
		if b.end != nil {
			name += " ended " + b.end.Session
		}
		got = append(got, name)
	}
	require.Equal(t, []string{"b ended b", "a ended a", "c"}, got)
	require.Empty(t, begunBy(nil))
}
