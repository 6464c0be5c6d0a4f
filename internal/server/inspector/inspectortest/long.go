package inspectortest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// Long says how long a session is that [Long.Write] makes: one phase whose model calls tools in each turn. Every Every calls, the
// results that are older than half as many calls are masked.
type Long struct {
	Calls      int
	Results    int // of tools, after each call
	Characters int // of a message, about
	Every      int
}

// Inspected is the session that has to be looked at without waiting: 10,000 calls and 100,000 messages.
var Inspected = Long{Calls: 10_000, Results: 9, Characters: 1500, Every: 50}

// Write makes the journal of such a session in a home.
func (l Long) Write(t testing.TB, home, session string) {
	t.Helper()
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	j, err := journal.Create(config.SessionDir(home, session), journal.Header{
		SessionID: session, Rules: 1, StartedAt: began, Cascade: []byte(`{"cascade_id": "long", "phases": [{"name": "work", "instructions": "work"}]}`), Input: []byte(`{}`),
	})
	require.NoError(t, err)
	seq := uint64(0)
	w := &longWriter{Long: l, put: func(e *echo.Entry) {
		seq++
		e.SessionID, e.Seq, e.At, e.CascadeID = session, seq, began.Add(time.Duration(seq)*100*time.Millisecond), "long"
		if e.Message != nil {
			e.ContentHash = e.Message.Hash()
		}
		e.SetKeyFields()
		require.NoError(t, j.Write(e))
	}}
	w.write()
	require.NoError(t, j.Close(t.Context()))
}

// longWriter makes the entries of a long session.
type longWriter struct {
	Long
	put func(*echo.Entry)

	history []longMessage
	told    int // messages of the history that a selection has named
	masked  int // messages of the history that may be masked, and are
	size    int64
	full    int64
}

// longMessage is a message of the history with what is sent for it.
type longMessage struct {
	*echo.Message
	tokens int64 // of itself
	sent   int64
}

func (w *longWriter) write() {
	visit := echo.PhaseKey("work", 1)
	w.put(echo.NewEntry(echo.RunKey().Named(echo.StepFacts, "made/model"), echo.ModelFacts{
		Window: 1_000_000, Tariff: &echo.Tariff{Input: 3, Cached: 0.3, Output: 15},
	}))
	w.put(echo.NewEntry(visit.Step(echo.StepStart), echo.PhaseStart{Visit: 1}))
	w.add(&echo.Entry{NodeType: echo.NodeMessage, Key: visit.Attempt(1).Step(echo.StepTask), Message: echo.NewText(echo.RoleUser, echo.KindTask, "Work.")})
	for turn := 1; turn <= w.Calls; turn++ {
		at := visit.Attempt(1).Turn(turn)
		w.selection(turn, at)
		calls := make([]echo.ToolCall, w.Results)
		for i := range calls {
			calls[i] = echo.ToolCall{ID: fmt.Sprintf("c%d_%d", turn, i), Name: "read_file", Arguments: fmt.Sprintf(`{"path": "src/%d/%d.go"}`, turn, i)}
		}
		usd := 0.01
		w.add(&echo.Entry{
			NodeType: echo.NodeModelCall, Key: at.Step(echo.StepModel), Model: "made/model", CostUSD: &usd, DurationMS: 400,
			Usage: &echo.Usage{In: w.size, Cached: w.size / 2, Out: 100}, Message: echo.Seal(echo.Draft{
				Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(w.text("Answer", turn, 0)), ToolCalls: calls,
			}),
		})
		for i, c := range calls {
			w.add(&echo.Entry{
				NodeType: echo.NodeToolCall, Key: at.Numbered(echo.StepTool, i+1), DurationMS: 20, Tool: &echo.ToolUse{Name: c.Name, CallID: c.ID, Arguments: c.Arguments},
				Message: echo.NewToolResult(c, echo.Text(w.text("Result", turn, i)), false),
			})
		}
	}
}

func (w *longWriter) text(what string, turn, i int) string {
	line := fmt.Sprintf("%s %d of turn %d: the quick brown fox jumps over the lazy dog.\n", what, i, turn)
	return strings.Repeat(line, w.Characters/len(line)+1)[:w.Characters]
}

// add puts an entry whose message goes into the history.
func (w *longWriter) add(e *echo.Entry) {
	n := autocontext.Tokens(e.Message)
	w.history = append(w.history, longMessage{e.Message, n, n})
	w.full += n
	w.put(e)
}

// selection puts what a call is sent.
func (w *longWriter) selection(turn int, at echo.Key) {
	s := &echo.Selection{Delta: turn > 1, FullHistorySize: w.full, FullSharedSize: w.full - w.since(w.told), SharedSize: w.size}
	if w.Every > 0 && turn%w.Every == 0 {
		if until := (turn - w.Every/2) * (w.Results + 1); until > w.masked {
			s.Spans = append(s.Spans, w.mask(until, s)...)
		}
	}
	w.size += w.since(w.told)
	s.Spans = append(s.Spans, w.span(w.told, len(w.history), string(autocontext.FormFull), string(autocontext.ReasonRecent)))
	w.told = len(w.history)
	s.ContextSize, s.TokensSaved, s.MessageCount, s.MaskedCount = w.size, w.full-w.size, len(w.history), w.masked
	e := echo.NewEntry(at.Step(echo.StepContext), echo.Carry{})
	e.Selection, e.Model = s, "made/model"
	w.put(e)
}

func (w *longWriter) since(from int) (sum int64) {
	for i := range w.history[from:] {
		sum += w.history[from+i].sent
	}
	return sum
}

// mask has the results before a message be sent as a line, and says from where a cache cannot have the request.
func (w *longWriter) mask(until int, s *echo.Selection) (spans []echo.Span) {
	s.SharedSize = 0
	for i := range w.history[:w.masked] {
		s.SharedSize += w.history[i].sent
	}
	for i := w.masked; i < until; i++ {
		m := &w.history[i]
		if m.Role() != echo.RoleTool {
			continue
		}
		line := echo.Seal(echo.Draft{Role: echo.RoleTool, Kind: m.Kind(), Parts: echo.Text("[result left out]"), ToolCallID: m.ToolCallID()})
		n := autocontext.Tokens(line)
		w.size -= m.sent - n
		m.sent = n
		span := w.span(i, i+1, string(autocontext.FormMasked), string(autocontext.ReasonAged))
		span.Sent = [][]*echo.Message{{line}}
		spans = append(spans, span)
	}
	w.masked = until
	return spans
}

func (w *longWriter) span(from, to int, form, reason string) echo.Span {
	s := echo.Span{From: from, Count: to - from, Form: form, Reason: reason}
	for _, m := range w.history[from:to] {
		s.Hashes, s.Tokens = append(s.Hashes, m.Hash()), append(s.Tokens, m.sent)
	}
	return s
}

// CallKey returns the key of a model call of a long session, from 1.
func CallKey(n int) string {
	return echo.PhaseKey("work", 1).Attempt(1).Turn(n).Step(echo.StepModel).String()
}
