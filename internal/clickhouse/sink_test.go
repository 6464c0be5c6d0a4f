package clickhouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// stored is a row as it is read back, column by column; it names every column a second time, on
// purpose, so that the writer's list is checked against it.
type stored struct {
	SessionID string    `ch:"session_id"`
	Seq       uint64    `ch:"seq"`
	At        time.Time `ch:"at"`
	NodeType  string    `ch:"node_type"`
	StoredPlace
	Effect          string   `ch:"effect"`
	EffectNumber    uint32   `ch:"effect_number"`
	EffectName      string   `ch:"effect_name"`
	Role            string   `ch:"role"`
	Kind            string   `ch:"kind"`
	ContentHash     string   `ch:"content_hash"`
	ContentJSON     string   `ch:"content_json"`
	ToolCallsJSON   string   `ch:"tool_calls_json"`
	ToolName        string   `ch:"tool_name"`
	ToolCallID      string   `ch:"tool_call_id"`
	ToolArguments   string   `ch:"tool_arguments"`
	Failed          bool     `ch:"failed"`
	RedactedJSON    string   `ch:"redacted_json"`
	Model           string   `ch:"model"`
	Provider        string   `ch:"provider"`
	Scripted        bool     `ch:"scripted"`
	HasUsage        bool     `ch:"has_usage"`
	TokensIn        int64    `ch:"tokens_in"`
	TokensCached    int64    `ch:"tokens_cached"`
	TokensOut       int64    `ch:"tokens_out"`
	TokensReasoning int64    `ch:"tokens_reasoning"`
	UsageEstimated  bool     `ch:"usage_estimated"`
	CostUSD         *float64 `ch:"cost_usd"`
	PretendUSD      *float64 `ch:"pretend_usd"`
	DurationMS      float64  `ch:"duration_ms"`
	RequestHash     string   `ch:"request_hash"`
	FullHistorySize int64    `ch:"full_history_size"`
	ContextSize     int64    `ch:"context_size"`
	TokensSaved     int64    `ch:"tokens_saved"`
	MessageCount    int64    `ch:"message_count"`
	MaskedCount     int64    `ch:"masked_count"`
	SharedSize      int64    `ch:"shared_size"`
	FullSharedSize  int64    `ch:"full_shared_size"`
	SentUSD         *float64 `ch:"sent_usd"`
	FullUSD         *float64 `ch:"full_usd"`
	PriceAs         string   `ch:"price_as"`
	PretendSentUSD  *float64 `ch:"pretend_sent_usd"`
	PretendFullUSD  *float64 `ch:"pretend_full_usd"`
	RequestSize     int64    `ch:"request_size"`
	RequestLimit    int64    `ch:"request_limit"`
	ErrorKind       string   `ch:"error_kind"`
	Error           string   `ch:"error"`
	DataJSON        string   `ch:"data_json"`
	PromptedJSON    string   `ch:"prompted_json"`
	SelectionJSON   string   `ch:"selection_json"`
}

// StoredPlace is what both tables have of a key.
type StoredPlace struct {
	Key       string `ch:"key"`
	CascadeID string `ch:"cascade_id"`
	PhaseName string `ch:"phase_name"`
	Visit     uint32 `ch:"visit"`
	Branch    string `ch:"branch"`
	Sounding  uint32 `ch:"sounding"`
	Reforge   uint32 `ch:"reforge"`
	Item      uint32 `ch:"item"`
	Node      uint32 `ch:"node"`
	Child     string `ch:"child"`
	Attempt   uint32 `ch:"attempt"`
	Turn      uint32 `ch:"turn"`
	Ward      uint32 `ch:"ward"`
}

// placeOf is for keys of the trunk: see TestPlaces for the others.
func placeOf(cascade string, k echo.Key) StoredPlace {
	p := k.Path()
	return StoredPlace{
		Key: k.String(), CascadeID: cascade, PhaseName: p.Phase, Visit: uint32(p.Visit), Branch: k.Branch().String(),
		Attempt: uint32(p.Attempt), Turn: uint32(p.Turn),
	}
}

// storedSelection is a row of unified_selections as it is read back.
type storedSelection struct {
	SessionID string    `ch:"session_id"`
	Seq       uint64    `ch:"seq"`
	At        time.Time `ch:"at"`
	StoredPlace
	Model           string   `ch:"model"`
	Dialect         string   `ch:"dialect"`
	MessageSeq      []uint64 `ch:"message_seq"`
	Hash            []string `ch:"hash"`
	Form            []string `ch:"form"`
	Reason          []string `ch:"reason"`
	Tokens          []int64  `ch:"tokens"`
	SentJSON        []string `ch:"sent_json"`
	FullHistorySize int64    `ch:"full_history_size"`
	ContextSize     int64    `ch:"context_size"`
	TokensSaved     int64    `ch:"tokens_saved"`
	MessageCount    int64    `ch:"message_count"`
	MaskedCount     int64    `ch:"masked_count"`
	SharedSize      int64    `ch:"shared_size"`
	FullSharedSize  int64    `ch:"full_shared_size"`
	SentUSD         *float64 `ch:"sent_usd"`
	FullUSD         *float64 `ch:"full_usd"`
	PriceAs         string   `ch:"price_as"`
	PretendSentUSD  *float64 `ch:"pretend_sent_usd"`
	PretendFullUSD  *float64 `ch:"pretend_full_usd"`
	RequestSize     int64    `ch:"request_size"`
	RequestLimit    int64    `ch:"request_limit"`
	SelectionType   string   `ch:"selection_type"`
	Strategy        string   `ch:"strategy"`
	Why             string   `ch:"why"`
	AnchorHashes    []string `ch:"anchor_hashes"`
	SelectedHashes  []string `ch:"selected_hashes"`
	InputPrice      *float64 `ch:"input_price"`
	CachedPrice     *float64 `ch:"cached_price"`
}

// expect says what must be stored of an entry, without the code that stores it.
func expect(e *echo.Entry) stored {
	s := stored{
		SessionID: e.SessionID, Seq: e.Seq, At: e.At, NodeType: string(e.NodeType), StoredPlace: placeOf(e.CascadeID, e.Key),
		ContentHash: string(e.ContentHash), Model: e.Model, Provider: e.Provider, Scripted: e.Scripted,
		CostUSD: e.CostUSD, DurationMS: e.DurationMS, RequestHash: e.RequestHash, DataJSON: string(e.Data),
	}
	if steps := e.Key.Path().Effect; len(steps) > 0 {
		s.Effect, s.EffectNumber, s.EffectName = string(steps[0].Kind), uint32(steps[0].Number), steps[0].Name
	}
	if m := e.Message; m != nil {
		s.Role, s.Kind, s.Failed = string(m.Role()), string(m.Kind()), m.Failed()
		s.ContentJSON, s.ToolCallsJSON = string(m.ContentJSON()), string(m.ToolCallsJSON())
		s.ToolName, s.ToolCallID = m.Tool(), m.ToolCallID()
		if w := inWords(e.Key, m); w != m {
			s.PromptedJSON = string(w.ContentJSON())
		}
	}
	if t := e.Tool; t != nil {
		s.ToolName, s.ToolCallID, s.ToolArguments = t.Name, t.CallID, t.Arguments
	}
	if u := e.Usage; u != nil {
		s.HasUsage, s.TokensIn, s.TokensCached = true, u.In, u.Cached
		s.TokensOut, s.TokensReasoning, s.UsageEstimated = u.Out, u.Reasoning, u.Estimated
	}
	if f := e.Error; f != nil {
		s.ErrorKind, s.Error = f.Kind, f.Message
	}
	if sel := e.Selection; sel != nil {
		text, _ := json.Marshal(sel)
		s.SelectionJSON = string(text)
		s.FullHistorySize, s.ContextSize, s.TokensSaved = sel.FullHistorySize, sel.ContextSize, sel.TokensSaved
		s.MessageCount, s.MaskedCount = int64(sel.MessageCount), int64(sel.MaskedCount)
		s.SharedSize, s.FullSharedSize, s.SentUSD, s.FullUSD = sel.SharedSize, sel.FullSharedSize, sel.SentUSD, sel.FullUSD
		s.RequestSize, s.RequestLimit = sel.RequestSize, sel.Limit
		if s.PriceAs = sel.PriceAs; s.PriceAs != "" {
			s.PretendSentUSD, s.PretendFullUSD, s.SentUSD, s.FullUSD = sel.SentUSD, sel.FullUSD, nil, nil
		}
	}
	if p := e.Pretend; p != nil {
		s.PriceAs, s.PretendUSD = p.Model, &p.USD
	}
	return s
}

// randomText returns texts that are hard to carry: empty, quotes, control characters, other
// scripts, not UTF-8, long.
func randomText(r *rand.Rand) string {
	pieces := []string{
		"", "plain", `"quoted" \ 'both'`, "two\nlines\ttab", "\x00\x01\x1f", "žluťoučký kůň", "漢字🦊👩‍👩‍👧", "\u2028\ufeff",
		"\xff\xfe broken", `\N`, "NULL", "'); DROP TABLE unified_logs; --", "{}", strings.Repeat("long ", r.IntN(2000)),
	}
	return pieces[r.IntN(len(pieces))] + pieces[r.IntN(len(pieces))]
}

func randomMessage(r *rand.Rand) *echo.Message {
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, Parts: echo.Text(randomText(r))}
	switch r.IntN(4) {
	case 0:
		d.Role, d.Kind = echo.RoleTool, echo.KindToolResult
		d.ToolCallID, d.Tool, d.Failed = "call_"+randomText(r), randomText(r), r.IntN(2) == 0
	case 1:
		d.Parts = append(d.Parts, echo.Part{Type: echo.PartImage, URL: "data:image/png;base64," + randomText(r)})
	case 2:
		d.Parts = nil
		for range 1 + r.IntN(3) {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: randomText(r), Name: "tool", Arguments: randomText(r)})
		}
	}
	return echo.Seal(d)
}

func opener(o clickhouse.Options) func(context.Context) (*clickhouse.DB, error) {
	return func(ctx context.Context) (*clickhouse.DB, error) { return clickhouse.Open(ctx, o) }
}

// deliver sends entries through a sink and waits for them.
func deliver(t *testing.T, o clickhouse.Options, entries []*echo.Entry) {
	t.Helper()
	s := clickhouse.NewSink(opener(o), clickhouse.SinkOptions{})
	for _, e := range entries {
		require.NoError(t, s.Write(e))
	}
	require.NoError(t, s.Close(t.Context()))
	stats := s.Stats()
	require.Equal(t, clickhouse.SinkStats{Written: int64(len(entries))}, stats)
}

// requireStored compares every column of every row with what was given.
func requireStored(t *testing.T, db *clickhouse.DB, entries []*echo.Entry, selections []storedSelection) {
	t.Helper()
	want := make([]stored, len(entries))
	for i, e := range entries {
		want[i] = expect(e)
	}
	var got []stored
	require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &got,
		"SELECT * FROM unified_logs FINAL WHERE session_id = ? ORDER BY seq", entries[0].SessionID))
	require.Empty(t, cmp.Diff(want, got))
	var gotSelections []storedSelection
	require.NoError(t, clickhouse.Conn(db).Select(t.Context(), &gotSelections,
		"SELECT * FROM unified_selections FINAL WHERE session_id = ? ORDER BY seq", entries[0].SessionID))
	require.Empty(t, cmp.Diff(selections, gotSelections))
}

func TestEveryValueArrives(t *testing.T) {
	t.Parallel()
	embedded := clickhousetest.Options(t)
	db, err := clickhouse.Open(t.Context(), embedded)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		entries, selections := randomSession(1, "embedded", 1500)
		deliver(t, embedded, entries)
		requireStored(t, db, entries, selections)
	})
	t.Run("DSN", func(t *testing.T) {
		t.Parallel()
		entries, selections := randomSession(2, "dsn", 700)
		o := clickhouse.Options{DSN: clickhousetest.DSN(t, db)}
		deliver(t, o, entries)
		requireStored(t, db, entries, selections)
	})
	t.Run("twice is once", func(t *testing.T) {
		t.Parallel()
		entries, selections := randomSession(3, "twice", 300)
		deliver(t, embedded, entries)
		deliver(t, embedded, entries[:200])
		require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
		requireStored(t, db, entries, selections)
	})
}

func TestSinkDeliversWhileTheRunGoesOn(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	s := clickhouse.NewSink(opener(o), clickhouse.SinkOptions{})
	t.Cleanup(func() { require.NoError(t, s.Close(context.Background())) })
	require.NoError(t, s.Write(entriesOf(4, "slow", 1)[0]))
	require.Eventually(t, func() bool { return s.Stats().Written == 1 }, 30*time.Second, 5*time.Millisecond)
}

func TestSinkWithoutClickHouse(t *testing.T) {
	t.Parallel()
	entries := entriesOf(5, "lost", 3)

	t.Run("nothing to open", func(t *testing.T) {
		t.Parallel()
		s := clickhouse.NewSink(func(context.Context) (*clickhouse.DB, error) { return nil, errors.New("no engine here") },
			clickhouse.SinkOptions{})
		for _, e := range entries {
			require.NoError(t, s.Write(e))
		}
		err := s.Close(t.Context())
		require.EqualError(t, err, "3 rows of the session wait for ClickHouse: no engine here")
		var undelivered *clickhouse.UndeliveredError
		require.ErrorAs(t, err, &undelivered)
		require.EqualError(t, s.Write(entries[0]), "write to the ClickHouse sink: it is closed")
		require.Equal(t, err, s.Close(t.Context()), "a second close says the same")
	})
	t.Run("a server that is away", func(t *testing.T) {
		t.Parallel()
		var told atomic.Value
		s := clickhouse.NewSink(opener(clickhouse.Options{DSN: "clickhouse://user:geheim@" + closedPort(t) + "/db"}),
			clickhouse.SinkOptions{Notify: func(m string) { told.Store(m) }})
		require.NoError(t, s.Write(entries[0]))
		require.Eventually(t, func() bool { return told.Load() != nil }, 10*time.Second, time.Millisecond)
		err := s.Close(t.Context())
		require.ErrorContains(t, err, "1 row of the session waits for ClickHouse: ClickHouse at 127.0.0.1:")
		require.ErrorContains(t, err, "connection refused")
		require.NotContains(t, err.Error()+told.Load().(string), "geheim")
	})
	t.Run("close does not wait longer than it may", func(t *testing.T) {
		t.Parallel()
		s := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) { <-ctx.Done(); return nil, ctx.Err() },
			clickhouse.SinkOptions{})
		require.NoError(t, s.Write(entries[0]))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.EqualError(t, s.Close(ctx), "1 row of the session waits for ClickHouse: it did not answer in time")
	})
}

func TestSinkReconnects(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	var calls atomic.Int32
	s := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) {
		if calls.Add(1) < 3 {
			return nil, &clickhouse.UnavailableError{Where: "nowhere", Err: errors.New("not yet")}
		}
		return clickhouse.Open(ctx, o)
	}, clickhouse.SinkOptions{})
	require.NoError(t, s.Write(entriesOf(6, "later", 1)[0]))
	require.Eventually(t, func() bool { return s.Stats().Written == 1 }, 30*time.Second, 5*time.Millisecond)
	require.NoError(t, s.Close(t.Context()))
	require.NoError(t, s.Stats().LastError)
}

// TestSinkOpensADatabaseThatWasLostAgain loses the sink's connections: what it has then goes to a
// database that it opens anew, the first time in vain.
func TestSinkOpensADatabaseThatWasLostAgain(t *testing.T) {
	t.Parallel()
	o := clickhousetest.Options(t)
	var opened []*clickhouse.DB // by the sink's goroutine, one after the other
	s := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) {
		if len(opened) == 1 {
			opened = append(opened, nil)
			return nil, errors.New("not yet")
		}
		db, err := clickhouse.Open(ctx, o)
		if opened = append(opened, db); len(opened) == 1 {
			err = errors.Join(err, db.Close())
		}
		return db, err
	}, clickhouse.SinkOptions{})
	require.NoError(t, s.Write(entriesOf(6, "lost", 1)[0]))
	require.Eventually(t, func() bool { return s.Stats().Written == 1 }, time.Minute, time.Millisecond)
	require.NoError(t, s.Close(t.Context()))
	require.Len(t, opened, 3)
}

func BenchmarkSinkWrite(b *testing.B) {
	s := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) { <-ctx.Done(); return nil, ctx.Err() },
		clickhouse.SinkOptions{})
	e := entriesOf(7, "bench", 1)[0]
	for b.Loop() {
		if err := s.Write(e); err != nil {
			b.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(b.Context())
	cancel()
	_ = s.Close(ctx)
}

// closedPort returns an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	return addr
}

var _ echo.Sink = (*clickhouse.Sink)(nil)

// Deliver has what was written in the database at once, says how far it came when it may wait no
// longer, and does not wait for a sink that was closed.
func TestDeliver(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	s := clickhouse.NewSink(opener(clickhouse.Options{DSN: clickhousetest.DSN(t, db)}), clickhouse.SinkOptions{})
	for n := range uint64(3) {
		e := &echo.Entry{SessionID: "s1", Seq: n + 1, At: time.Unix(1, 0), NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start")}
		require.NoError(t, s.Write(e))
		upTo, newest := s.Deliver(t.Context())
		require.Equal(t, []uint64{n + 1, n + 1}, []uint64{upTo, newest})
		require.Equal(t, fmt.Sprint(n+1), scalar(t, db, "SELECT count() FROM logs WHERE session_id = 's1'"))
	}
	require.NoError(t, s.Close(t.Context()))
	upTo, newest := s.Deliver(t.Context())
	require.Equal(t, []uint64{3, 3}, []uint64{upTo, newest})

	away := clickhouse.NewSink(func(ctx context.Context) (*clickhouse.DB, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, clickhouse.SinkOptions{})
	require.NoError(t, away.Write(&echo.Entry{SessionID: "s1", Seq: 1, NodeType: echo.NodePhaseStart, Key: echo.MustKey("p/start")}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	upTo, newest = away.Deliver(ctx)
	require.Equal(t, []uint64{0, 1}, []uint64{upTo, newest})
	require.Error(t, away.Close(ctx))
	upTo, _ = away.Deliver(t.Context())
	require.Zero(t, upTo)
}
