package clickhouse_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// requireGolden compares with a file in testdata.
func requireGolden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// story writes the log of a run: what entry gives is completed with session, number and time.
type story struct {
	session string
	entries []*echo.Entry
	history map[string][]*echo.Message // of each phase
	tools   int
}

func (s *story) add(e echo.Entry) {
	e.SessionID, e.CascadeID, e.Seq = s.session, "incident_report", uint64(len(s.entries)+1)
	e.At = time.Date(2026, 3, 1, 12, 0, len(s.entries), 0, time.UTC)
	if s.session == "s2" {
		e.At = e.At.AddDate(0, 0, 1)
	}
	if e.Message != nil {
		e.ContentHash = e.Message.Hash()
	}
	s.entries = append(s.entries, placed(&e))
	if e.Message != nil && !isSummary(&e) {
		if s.history == nil {
			s.history = map[string][]*echo.Message{}
		}
		s.history[e.Phase] = append(s.history[e.Phase], e.Message)
	}
}

// isSummary reports whether the message of an entry is in no history.
func isSummary(e *echo.Entry) bool {
	path := e.Key.Path()
	return len(path.Effect) > 0 && path.Effect[0].Kind == echo.StepCompact
}

func (s *story) say(phase string, attempt int, role echo.Role, kind echo.Kind, text string) {
	key := echo.PhaseKey(phase, 1)
	if attempt > 0 {
		key = key.Attempt(attempt)
	}
	s.add(echo.Entry{NodeType: echo.NodeMessage, Key: key.Step(echo.StepKind(kind)), Message: echo.NewText(role, kind, text)})
}

// spans masks the results of tools.
func (s *story) spans(phase string) []echo.Span {
	var spans []echo.Span
	for i, m := range s.history[phase] {
		sp := echo.Span{From: i, Count: 1, Form: "full", Reason: "recent", Hashes: []echo.Hash{m.Hash()}, Tokens: []int64{int64(10 * (i + 1))}}
		if m.Role() == echo.RoleTool {
			d := m.Draft()
			d.Parts = echo.Text(fmt.Sprintf("[Masked: recall(%q)]", m.Hash()))
			sp.Form, sp.Reason, sp.Tokens, sp.Sent = "masked", "aged", []int64{5}, [][]*echo.Message{{echo.Seal(d)}}
		}
		spans = append(spans, sp)
	}
	return spans
}

func (s *story) call(phase string, attempt, turn int, in, cached, out int64, cost *float64, failure *echo.Failure) {
	place := fmt.Sprintf("%s/attempt%d/turn%d", phase, attempt, turn)
	s.add(echo.Entry{
		NodeType: echo.NodeSelection, Key: echo.MustKey(place + "/context"), Model: "gpt-5",
		Selection: &echo.Selection{
			FullHistorySize: in * 2, ContextSize: in, TokensSaved: in, MessageCount: len(s.history[phase]), MaskedCount: 1,
			SharedSize: cached, FullSharedSize: cached * 2, Spans: s.spans(phase),
		},
	})
	if sel := s.entries[len(s.entries)-1].Selection; cost != nil { // the price is known where the cost is
		sel.SentUSD, sel.FullUSD = usd(in-cached, cached), usd(2*(in-cached), 2*cached)
		if attempt == 2 { // the frontier moved: full history would have come from the cache
			sel.FullSharedSize = 2*in - 100
			sel.FullUSD = usd(100, sel.FullSharedSize)
		}
	}
	e := echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey(place + "/model"), Model: "gpt-5",
		Provider: "api.example.org", CostUSD: cost, DurationMS: float64(in), Error: failure,
	}
	if failure == nil {
		e.Usage = &echo.Usage{In: in, Cached: cached, Out: out}
		e.Message = echo.NewText(echo.RoleAssistant, echo.KindAnswer, "answer of "+place)
	}
	s.add(e)
}

// usd is what tokens cost at 10 dollars a million, and a tenth of that in the cache.
func usd(written, cached int64) *float64 {
	v := float64(10*written+cached) / 1e6
	return &v
}

func (s *story) tool(phase, name, result string, ms float64, failed bool) {
	call := echo.ToolCall{ID: fmt.Sprint("c", len(s.entries)), Name: name, Arguments: `{"path":"main.go"}`}
	s.tools++
	s.add(echo.Entry{
		NodeType: echo.NodeToolCall, Key: echo.MustKey(fmt.Sprintf("%s/attempt1/turn1/tool%d", phase, s.tools)), DurationMS: ms,
		Tool:    &echo.ToolUse{Name: name, CallID: call.ID, Arguments: call.Arguments},
		Message: echo.NewToolResult(call, echo.Text(result), failed),
	})
}

func (s *story) mark(n echo.NodeType, phase string, data any) {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // the data are the test's own
	}
	key := echo.RunKey()
	if phase != "" {
		key = echo.PhaseKey(phase, 1)
	}
	steps := map[echo.NodeType]echo.StepKind{
		echo.NodeRunStart: echo.StepStart, echo.NodePhaseStart: echo.StepStart, echo.NodeRunEnd: echo.StepEnd,
		echo.NodePhaseEnd: echo.StepEnd, echo.NodeHandoff: echo.StepHandoff,
	}
	s.add(echo.Entry{NodeType: n, Key: key.Step(steps[n]), Data: b})
}

// end marks the end of a phase or a run. As the engine does, it repeats the sums of its calls.
func (s *story) end(n echo.NodeType, phase, status string, sum echo.Usage, cost *float64) {
	s.mark(n, phase, map[string]any{"status": status, "reason": ""})
	last := s.entries[len(s.entries)-1]
	last.Usage, last.CostUSD = &sum, cost
}

// stories are two runs: one that completed, with an unknown cost in it, and one that was killed.
func stories() []*echo.Entry {
	cents := func(f float64) *float64 { return &f }
	s1 := &story{session: "s1"}
	s1.mark(echo.NodeRunStart, "", map[string]any{"input": "db"})
	s1.mark(echo.NodePhaseStart, "research", map[string]any{"visit": 1})
	s1.say("research", 0, echo.RoleUser, echo.KindTask, "Find out why.")
	s1.call("research", 1, 1, 1000, 0, 50, cents(0.0125), nil)
	s1.tool("research", "read_file", "package main", 12, false)
	s1.tool("research", "run_command", "exit status 1", 900, true)
	s1.call("research", 1, 2, 1500, 1000, 80, nil, nil)
	s1.end(echo.NodePhaseEnd, "research", "completed", echo.Usage{In: 2500, Cached: 1000, Out: 130}, nil)
	s1.mark(echo.NodePhaseStart, "fix", map[string]any{"visit": 1, "context": map[string]any{
		"dialect": "native", "policy": map[string]any{"enabled": true, "advance": "cost"}, "price": map[string]any{"input": 10, "cached": 1},
	}})
	s1.entries[len(s1.entries)-1].Model = "gpt-5"
	s1.add(*echo.NewEntry(echo.MustKey("fix/select"), between(s1.history["research"])))
	s1.say("fix", 0, echo.RoleSystem, echo.KindSystem, "Be brief.")
	s1.say("fix", 0, echo.RoleUser, echo.KindTask, "Fix it.")
	s1.call("fix", 1, 1, 400, 0, 30, cents(0.005), nil)
	s1.add(echo.Entry{
		NodeType: echo.NodeVerdict, Key: echo.MustKey("fix/attempt1/turn1/verdict/tests_pass"),
		Data: json.RawMessage(`{"validator":"tests_pass","valid":false,"reason":"2 tests fail"}`),
	})
	s1.say("fix", 2, echo.RoleUser, echo.KindRetry, "2 tests fail")
	s1.add(echo.Entry{
		NodeType: echo.NodeModelCall, Key: echo.MustKey("fix/attempt2/turn1/compact1/model"), Model: "gpt-5-nano",
		Provider: "api.example.org", CostUSD: cents(0.0001), Usage: &echo.Usage{In: 150, Out: 20},
		Message: echo.NewText(echo.RoleAssistant, echo.KindAnswer, "a summary"),
	})
	s1.call("fix", 2, 1, 700, 300, 60, cents(0.0075), nil)
	s1.mark(echo.NodeHandoff, "fix", map[string]any{
		"status": "completed", "remaining": []any{map[string]any{"source": "checklist", "text": "tell the owners"}},
		"continuation": "Begin with: tell the owners.",
	})
	s1.end(echo.NodePhaseEnd, "fix", "completed", echo.Usage{In: 1250, Cached: 300, Out: 110}, cents(0.0126))
	s1.end(echo.NodeRunEnd, "", "completed", echo.Usage{In: 3750, Cached: 1300, Out: 240}, nil)
	s2 := &story{session: "s2"}
	s2.mark(echo.NodeRunStart, "", map[string]any{"input": "web"})
	s2.mark(echo.NodePhaseStart, "research", map[string]any{"visit": 1})
	s2.call("research", 1, 1, 900, 0, 0, cents(0), &echo.Failure{Kind: "rate_limited", Message: "429: slow down"})
	return append(s1.entries, s2.entries...)
}

// between is a selection of two anchors and one of two candidates, in 1,000 of 3,000 tokens.
func between(of []*echo.Message) echo.InterSelection {
	return echo.InterSelection{
		Selected: echo.Selected{
			Asked: echo.StrategyLLM, Strategy: echo.StrategyLLM, Candidates: 2, CandidateTokens: 2200, Budget: 500, Used: 222, Messages: 1,
			Why: "It says what was looked for.", Chosen: []echo.Hash{of[0].Hash()},
			Scores: []echo.Score{
				{ID: of[0].Hash(), Phase: "research", Tokens: 200, Messages: 1, Rank: 1, Chosen: true},
				{ID: of[2].Hash(), Phase: "research", Tokens: 2000, Messages: 3, Rank: 2},
			},
		},
		Anchors: []echo.Anchor{
			{ID: of[1].Hash(), Phase: "research", Why: "errors", Messages: 3, Tokens: 500}, {ID: of[4].Hash(), Phase: "research", Why: "output", Messages: 1, Tokens: 300},
		},
		AnchorTokens: 800, Everything: 3000, Ending: 22,
	}
}

func fill(t *testing.T) *clickhouse.DB {
	t.Helper()
	db := clickhousetest.Open(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, stories()[:8]), "what is delivered twice counts once")
	putCards(t, db, stories())
	return db
}

// putCards writes a card for each message that is worth one. They are made here, so that what is
// shown does not change with what makes cards.
func putCards(t *testing.T, db *clickhouse.DB, entries []*echo.Entry) {
	t.Helper()
	var cards []contextcards.Card
	for i, e := range entries {
		s := contextcards.Source{SessionID: e.SessionID, Message: e.Message}
		if e.Message == nil || !s.Worth() || isSummary(e) {
			continue
		}
		text := e.Message.Parts()[0].Text
		cards = append(cards, contextcards.Card{
			SessionID: e.SessionID, Hash: e.Message.Hash(), Summary: text, Keywords: strings.Fields(strings.ToLower(text)),
			Embedding: vowels(text), EmbeddingModel: "vowels@5", Tokens: int64(len(text)+3) / 4, Role: e.Message.Role(),
			Phase: e.Phase, Visit: 1, Attempt: e.Attempt, Turn: e.Turn, Order: i + 1,
			GeneratedAt: e.At.Add(time.Second), Generator: "message", MessageAt: e.At,
		})
	}
	require.NoError(t, clickhousetest.Cards(db).Put(t.Context(), cards))
}

// vowels embeds a text by how often it has each vowel.
func vowels(text string) []float32 {
	var v []float32
	for _, vowel := range "aeiou" {
		v = append(v, float32(strings.Count(text, string(vowel))))
	}
	return v
}

var sqlBlock = regexp.MustCompile("(?s)\n## ([^\n]+)\n(.*?)```sql\n(.*?)```")

// TestDocumentedQueries runs every query of docs/sql.md.
func TestDocumentedQueries(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/sql.md")
	require.NoError(t, err)
	blocks := sqlBlock.FindAllStringSubmatch(string(page), -1)
	require.Len(t, blocks, strings.Count(string(page), "```sql"), "every query stands under a heading of its own")
	db := fill(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, family(t)))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, tries(t)))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, asks(t)))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, remembers(t)))
	var out strings.Builder
	for _, b := range blocks {
		fmt.Fprintf(&out, "## %s\n%s\n", b[1], result(t, db, b[3]))
	}
	requireGolden(t, "docs_sql", out.String())
}

var quotedQuery = regexp.MustCompile(`(?m)^windlass sql (?:--\w+ )?"([^"]+)"$`)

// TestQueriesElsewhere runs the queries that the other pages show.
func TestQueriesElsewhere(t *testing.T) {
	t.Parallel()
	db := fill(t)
	pages, err := filepath.Glob("../../docs/*.md")
	require.NoError(t, err)
	var out strings.Builder
	for _, path := range append(pages, "../../README.md") {
		page, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range quotedQuery.FindAllStringSubmatch(string(page), -1) {
			fmt.Fprintf(&out, "## %s: %s\n%s\n", filepath.Base(path), m[1], result(t, db, m[1]))
		}
	}
	requireGolden(t, "docs_elsewhere", out.String())
}

// result returns the rows of a query as lines.
func result(t *testing.T, db *clickhouse.DB, sql string) string {
	t.Helper()
	rows, err := db.Query(t.Context(), sql, clickhouse.QueryOptions{})
	require.NoError(t, err, sql)
	var out strings.Builder
	for i, c := range rows.Columns {
		if i > 0 {
			out.WriteString(" | ")
		}
		out.WriteString(c.Name)
	}
	out.WriteString("\n")
	for rows.Next() {
		row, err := rows.Row()
		require.NoError(t, err)
		for i, v := range row {
			if i > 0 {
				out.WriteString(" | ")
			}
			out.WriteString(v.String())
		}
		out.WriteString("\n")
	}
	require.NoError(t, rows.Close(), sql)
	return out.String()
}

func TestReports(t *testing.T) {
	t.Parallel()
	db := fill(t)
	report := map[string]any{}
	for _, by := range clickhouse.CostBys() {
		rows, err := db.Costs(t.Context(), by, clickhouse.Filter{})
		require.NoError(t, err)
		report["cost_by_"+string(by)] = rows
	}
	sessions, err := db.Sessions(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	report["sessions"] = sessions
	b, err := json.MarshalIndent(report, "", "  ")
	require.NoError(t, err)
	requireGolden(t, "reports", string(b)+"\n")
}

func TestSessionsByTheirNames(t *testing.T) {
	t.Parallel()
	db := fill(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, texts("s10", "x", 1)))
	for name, want := range map[string][]string{
		"s1": {"s1"}, "s": {"s1", "s10", "s2"}, "10": {"s10"}, "0": {}, "x": {}, "": {}, "s%": {}, "s1' OR 1=1 --": {},
	} {
		ids, err := clickhouse.IDsLike(t.Context(), db, name, 2)
		require.NoError(t, err)
		require.ElementsMatch(t, want, ids, name)
	}
	s, err := db.Session(t.Context(), "s1")
	require.NoError(t, err)
	require.Equal(t, "s1", s.ID)
	_, err = db.Session(t.Context(), "s")
	require.EqualError(t, err, `no session "s" in ClickHouse`)

	sessions, err := db.Sessions(t.Context(), 0, clickhouse.Filter{})
	require.NoError(t, err)
	newest := map[string]string{"nope": ""}
	for _, s := range sessions { // the newest first
		if _, known := newest[s.CascadeID]; !known {
			newest[s.CascadeID] = s.ID
		}
	}
	require.Greater(t, len(newest), 1)
	for cascade, want := range newest {
		id, err := clickhouse.NewestOf(t.Context(), db, cascade)
		require.NoError(t, err)
		require.Equal(t, want, id, cascade)
	}
}
