package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

// randomSent returns what may become of a message.
func randomSent(r *rand.Rand, m *echo.Message) Sent {
	s := Sent{Hash: m.Hash(), Form: "full", Reason: []string{"recent", "kept"}[r.IntN(2)], Tokens: r.Int64N(1000), Full: true}
	switch r.IntN(4) {
	case 0:
		s.Form, s.Reason, s.Full = "masked", "aged", false
		s.As = []*echo.Message{echo.NewText(echo.RoleTool, echo.KindToolResult, "[masked "+string(s.Hash)+"]")}
	case 1:
		s.Form, s.Reason, s.Full, s.Tokens = "dropped", "slid", false, 0
	case 2:
		s.Reason, s.Full = "repaired", false
		s.As = []*echo.Message{m, echo.NewText(echo.RoleTool, echo.KindToolResult, "no response")}
	}
	return s
}

// spansOf writes what became of the messages in places as spans.
func spansOf(view []Sent, places []int) []echo.Span {
	var spans []echo.Span
	for _, i := range places {
		s := view[i]
		n := len(spans)
		if n == 0 || spans[n-1].From+spans[n-1].Count != i || spans[n-1].Form != s.Form || spans[n-1].Reason != s.Reason ||
			(spans[n-1].Sent == nil) != s.Full {
			spans = append(spans, echo.Span{From: i, Form: s.Form, Reason: s.Reason})
			n++
		}
		sp := &spans[n-1]
		sp.Count++
		sp.Hashes, sp.Tokens = append(sp.Hashes, s.Hash), append(sp.Tokens, s.Tokens)
		if !s.Full {
			sp.Sent = append(sp.Sent, s.As)
		}
	}
	return spans
}

// throughJSON returns an entry as the journal gives it back.
func throughJSON(t *testing.T, e *echo.Entry) *echo.Entry {
	t.Helper()
	b, err := json.Marshal(e)
	require.NoError(t, err)
	back := &echo.Entry{}
	require.NoError(t, json.Unmarshal(b, back))
	return back
}

// written writes out what became of messages; nothing for a message may be nil or an empty list.
func written(view []Sent) []string {
	var out []string
	for _, s := range view {
		line := fmt.Sprintf("%s %s %s %d %v", s.Hash, s.Form, s.Reason, s.Tokens, s.Full)
		for _, m := range s.As {
			line += " " + string(m.JSON())
		}
		out = append(out, line)
	}
	return out
}

// TestSelectionsComeBack writes random views as deltas, through JSON, and holds what is read
// against the views.
func TestSelectionsComeBack(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 3))
		reader := NewSelections()
		views := map[string][]Sent{}
		for call := range 60 {
			visit := []string{"a", "b", "a~2"}[r.IntN(3)]
			if r.IntN(15) == 0 {
				delete(views, visit)
				_, err := reader.Read(&echo.Entry{NodeType: echo.NodePhaseStart, Key: echo.MustKey(visit + "/start")})
				require.NoError(t, err)
			}
			view, known := views[visit]
			var changed []int
			for i := range view {
				if r.IntN(5) == 0 {
					view[i] = randomSent(r, echo.NewText(echo.RoleUser, echo.KindTask, fmt.Sprint(seed, call, i)))
					changed = append(changed, i)
				}
			}
			for range r.IntN(4) {
				changed = append(changed, len(view))
				view = append(view, randomSent(r, echo.NewText(echo.RoleUser, echo.KindTask, fmt.Sprint(seed, call, len(view)))))
			}
			views[visit] = view
			sel := &echo.Selection{Delta: known, Spans: spansOf(view, changed)}
			if known && r.IntN(10) == 0 { // a whole one in between is allowed as well
				sel = &echo.Selection{Spans: spansOf(view, upTo(len(view)))}
			}
			got, err := reader.Read(throughJSON(t, &echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey(visit + "/attempt1/turn1/context"), Selection: sel}))
			require.NoError(t, err)
			require.Equal(t, written(view), written(got))
		}
	}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func TestDamagedSelections(t *testing.T) {
	t.Parallel()
	two := echo.Span{Count: 2, Form: "full", Reason: "recent", Hashes: []echo.Hash{"a", "b"}, Tokens: []int64{1, 2}}
	bend := func(change func(*echo.Span)) echo.Span {
		s := two
		change(&s)
		return s
	}
	const at = "entry 7 (one/attempt1/turn2/context): "
	for want, sel := range map[string]echo.Selection{
		at + "span 1 (full, 2 messages from 3): it does not continue the 2 messages before it": {
			Delta: true, Spans: []echo.Span{bend(func(s *echo.Span) { s.From = 3 })},
		},
		at + "span 1 (full, 2 messages from -1): it does not continue the 2 messages before it": {
			Delta: true, Spans: []echo.Span{bend(func(s *echo.Span) { s.From = -1 })},
		},
		at + "span 1 (full, 2 messages from 2): it does not continue the 0 messages before it": {
			Spans: []echo.Span{bend(func(s *echo.Span) { s.From = 2 })},
		},
		at + "span 2 (full, 2 messages from 0): it has 1 hashes": {
			Delta: true, Spans: []echo.Span{two, bend(func(s *echo.Span) { s.Hashes = s.Hashes[:1] })},
		},
		at + "span 1 (full, 2 messages from 0): it has 0 counts of tokens": {
			Delta: true, Spans: []echo.Span{bend(func(s *echo.Span) { s.Tokens = nil })},
		},
		at + "span 1 (full, 2 messages from 0): it says what was sent for 1 messages": {
			Delta: true, Spans: []echo.Span{bend(func(s *echo.Span) { s.Sent = [][]*echo.Message{nil} })},
		},
		at + "span 1 (full, -2 messages from 0): it has 0 hashes": {
			Delta: true, Spans: []echo.Span{{Count: -2, Form: "full"}},
		},
	} {
		r := NewSelections()
		_, err := r.Read(&echo.Entry{NodeType: echo.NodeSelection, Key: echo.MustKey("one/attempt1/turn1/context"), Selection: &echo.Selection{Spans: []echo.Span{two}}})
		require.NoError(t, err)
		_, err = r.Read(&echo.Entry{Seq: 7, NodeType: echo.NodeSelection, Key: echo.MustKey("one/attempt1/turn2/context"), Selection: &sel})
		require.EqualError(t, err, want)
		_, err = r.Read(&echo.Entry{Seq: 8, NodeType: echo.NodeSelection, Key: echo.MustKey("one/attempt1/turn3/context"), Selection: &echo.Selection{Delta: true}})
		require.EqualError(t, err, "entry 8 (one/attempt1/turn3/context): the selection says what changed since the one before it, which is not there",
			"after damage nothing is read as if nothing had happened")
		got, err := r.Read(&echo.Entry{Seq: 9, NodeType: echo.NodeSelection, Key: echo.MustKey("one/attempt1/turn4/context"), Selection: &echo.Selection{Spans: []echo.Span{two}}})
		require.NoError(t, err, "a selection that names every message is read again")
		require.Len(t, got, 2)
	}
}
