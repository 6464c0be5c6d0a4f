package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// The models of a disturbed run: what fails fails soon.
const (
	single = `"max_retries": 0`
	soon   = `"max_retries": 0, "timeout_seconds": 1`
	nobody = `"base_url": "https://models.example/v1", "api_key_env": "NOBODY_HAS_THIS_KEY"`
)

func failing() *llmtest.Answer {
	return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusInternalServerError, Message: "not today"}}
}

func hanging() *llmtest.Answer { return &llmtest.Answer{Fault: llmtest.Fault{HangAt: llmtest.AtStart}} }

// disturbance is what a summarizer and an embedder do instead of their work. A function that is
// nil, or answers nil, leaves them alone.
type disturbance struct {
	cards    func(llmtest.Request) *llmtest.Answer
	embed    func(llmtest.EmbedRequest) *llmtest.Answer
	models   string // of windlass.json
	strategy string // of the selections; "": hybrid
	hangs    bool   // something does not answer: it is not waited for long
	degraded string // what each selection says of it, a regular expression
	warned   string // what the run says of it on standard error
}

func (d *disturbance) config() llmtest.Config {
	return llmtest.Config{
		Answer: func(r llmtest.Request) *llmtest.Answer {
			if asksForCards(&r) && d.cards != nil {
				if a := d.cards(r); a != nil {
					return a
				}
			}
			return answerStations(r)
		},
		Embed: func(r llmtest.EmbedRequest) *llmtest.Answer {
			if d.embed != nil {
				if a := d.embed(r); a != nil {
					return a
				}
			}
			return embedStations(r)
		},
	}
}

// TestStationsDisturbed runs the stations while what selections are made on fails in every way: the
// answers are the same, each selection that had to do without says so, in the journal and in
// ClickHouse, and every message has its card in the end.
func TestStationsDisturbed(t *testing.T) {
	t.Parallel()
	wide := func(r llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Vectors: llmtest.Vectors(r.Input, 3+r.Number)} // no two answers fit together
	}
	few := func(llmtest.EmbedRequest) *llmtest.Answer {
		return &llmtest.Answer{Vectors: [][]float64{{1, 2}, {3, 4}}}
	}
	for name, d := range map[string]disturbance{
		"summarizer fails":            {cards: func(llmtest.Request) *llmtest.Answer { return failing() }, degraded: `^\d+ cards of \d+ extracted, as cheap gave no summary$`},
		"summarizer hangs":            {hangs: true, models: `"cheap": {` + soon + `}`, cards: func(llmtest.Request) *llmtest.Answer { return hanging() }, degraded: `(?m)^\d+ cards? of \d+ (not ready after 500ms: judged by what could be extracted at once|extracted, as cheap gave no summary)$`},
		"summarizer talks":            {cards: func(llmtest.Request) *llmtest.Answer { return &llmtest.Answer{Text: "I would rather not."} }, degraded: `extracted, as cheap gave no summary$`},
		"summarizer is absent":        {models: `"cheap": {` + nobody + `}`, degraded: `extracted, as cheap gave no summary$`, warned: `Cards are made without cheap: `},
		"embedder fails":              {embed: func(llmtest.EmbedRequest) *llmtest.Answer { return failing() }, degraded: `^nothing could be compared by meaning with embedder: .*not today`},
		"embedder hangs":              {hangs: true, models: `"embedder": {` + soon + `}`, embed: func(llmtest.EmbedRequest) *llmtest.Answer { return hanging() }, degraded: `(?m)^nothing could be compared by meaning with embedder: `},
		"embedder has odd dimensions": {embed: wide, degraded: `^(nothing could be compared by meaning with embedder: |\d+ of \d+ candidates have no embedding of embedder$)`},
		"embedder gives too few":      {embed: few, degraded: `^nothing could be compared by meaning with embedder: `},
		"embedder is absent":          {models: `"embedder": {` + nobody + `}`, degraded: `^hybrid goes by words alone: hashed-ngrams@256 compares spelling, not meaning$`, warned: `Messages are compared by their spelling and not by meaning: `},
		"semantic has no embedder":    {strategy: "semantic", models: `"embedder": {` + nobody + `}`, degraded: `^compared by spelling and not by meaning: `, warned: `Messages are compared by their spelling and not by meaning: `},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := stationLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)), d.config())
			l.disturbed(d.models, d.hangs)
			if d.strategy != "" {
				l.file("stations.json", stationCascade(d.strategy, 1500, ""))
			}
			run := l.runStations("long", "--json")
			require.Equal(t, undisturbed(), outputsOf(t, run))
			require.Contains(t, run.err.String(), d.warned)
			l.requireDegraded(d.degraded)
			l.requireCards("")
		})
	}
}

// disturbed writes the files of a run. models are those that are not what they should be. Cards are
// waited for until they are there, or but shortly when something hangs.
func (l *lab) disturbed(models string, hangs bool) {
	l.t.Helper()
	for _, name := range []string{"cheap", "embedder"} {
		if !strings.Contains(models, `"`+name+`"`) {
			models = strings.TrimPrefix(models+fmt.Sprintf(`, %q: {%s}`, name, single), ", ")
		}
	}
	l.file("windlass.json", `{"models": {`+models+`}}`)
	l.file("stations.json", stationCascade("hybrid", 1500, fmt.Sprintf(`"card_model": "cheap", "cards": {"wait_seconds": %g},`, map[bool]float64{true: 0.5, false: 60}[hangs])))
}

// undisturbed returns what the stations answer when all is well.
func undisturbed() []string {
	var out []string
	for i := range stations {
		messages := []llmtest.Message{{Role: "user", Content: json.RawMessage(fmt.Sprintf(`"Station %d: "`, i))}}
		for range stationTurns - 1 {
			messages = append(messages, llmtest.Message{Role: "assistant"})
		}
		out = append(out, answerStations(llmtest.Request{Messages: messages}).Text)
	}
	return out
}

func outputsOf(t *testing.T, run *process) []string {
	t.Helper()
	var result struct {
		Status string `json:"status"`
		Phases []struct {
			Output string `json:"output"`
		} `json:"phases"`
	}
	require.NoError(t, json.Unmarshal([]byte(run.out.String()), &result))
	require.Equal(t, "completed", result.Status)
	var out []string
	for _, p := range result.Phases {
		out = append(out, p.Output)
	}
	return out
}

// requireDegraded demands that every selection says what it had to do without, that a warning says
// it too, and that ClickHouse has all of it.
func (l *lab) requireDegraded(pattern string) {
	l.t.Helper()
	want := l.degradations()
	require.Len(l.t, want, stations-1)
	for i, d := range want {
		require.Regexp(l.t, pattern, d, "selection %d", i+1)
	}
	rows := l.ask("SELECT data_json FROM logs WHERE session_id = 'long' AND node_type = 'context_inter' ORDER BY seq")
	require.Len(l.t, rows, len(want))
	for i, row := range rows {
		var s struct {
			Degraded []string `json:"degraded"`
		}
		require.NoError(l.t, json.Unmarshal([]byte(row["data_json"].(string)), &s))
		require.Equal(l.t, want[i], strings.Join(s.Degraded, "\n"))
	}
	warnings := l.ask("SELECT key FROM logs WHERE session_id = 'long' AND node_type = 'warning' AND data_json LIKE '%context was selected by%'")
	require.Len(l.t, warnings, len(want))
}

// degradations returns what each selection had to do without, as its own entry and a warning say.
func (l *lab) degradations() []string {
	l.t.Helper()
	var out []string
	warned := 0
	for _, e := range l.recorded("long") {
		if e.NodeType == echo.NodeWarning && strings.Contains(string(e.Data), "context was selected by") {
			warned++
		}
	}
	degraded := 0
	for _, s := range l.selectionsOf("long") {
		if out = append(out, strings.Join(s.Degraded, "\n")); len(s.Degraded) > 0 {
			degraded++
		}
	}
	require.Equal(l.t, degraded, warned)
	return out
}

// requireCards demands that ClickHouse has a card of every message that is worth one; by is a
// further condition, such as that the model has summed up those that were for it.
func (l *lab) requireCards(by string) {
	l.t.Helper()
	messages := map[echo.Hash]bool{}
	long := 0
	for _, e := range l.recorded("long") {
		m := e.Message
		if m == nil || e.NodeType != echo.NodeMessage && e.NodeType != echo.NodeModelCall && e.NodeType != echo.NodeToolCall ||
			m.Kind() == echo.KindSystem || m.Kind() == echo.KindContext || e.Phase == "" || strings.HasSuffix(e.Key.String(), "/select/model") || messages[m.Hash()] {
			continue
		}
		messages[m.Hash()] = true
		if m.Role() != echo.RoleTool && len([]rune(m.Text())) > 200 {
			long++
		}
	}
	rows := l.ask("SELECT content_hash FROM context_cards WHERE session_id = 'long'")
	for _, row := range rows {
		delete(messages, echo.Hash(row["content_hash"].(string)))
	}
	require.Empty(l.t, messages, "messages without a card")
	if by != "" {
		require.Len(l.t, l.ask("SELECT content_hash FROM context_cards WHERE session_id = 'long' AND "+by), long)
	}
}

// TestLateCardsArrive has a summarizer that answers only after the first selection has been made:
// that one does without and says so, and in the end the store has what the model said of every
// message.
func TestLateCardsArrive(t *testing.T) {
	t.Parallel()
	selected := make(chan struct{})
	var first sync.Once
	d := disturbance{cards: func(llmtest.Request) *llmtest.Answer { <-selected; return nil }}
	answers := d.config()
	answer := answers.Answer
	answers.Answer = func(r llmtest.Request) *llmtest.Answer {
		if !asksForCards(&r) && !asksForMenu(&r) {
			if station, _, _ := stationOf(&r); station == 1 {
				first.Do(func() { close(selected) })
			}
		}
		return answer(r)
	}
	l, _ := stationLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)), answers)
	l.disturbed("", true)
	require.Equal(t, undisturbed(), outputsOf(t, l.runStations("long", "--json")))
	require.Regexp(t, `^\d+ cards? of \d+ not ready after 500ms: judged by what could be extracted at once`, l.degradations()[0])
	l.requireCards("generator_model = 'cheap'")
}

// TestStationsWithoutClickHouse runs the stations against a ClickHouse that is not there:
// everything is ranked in memory.
func TestStationsWithoutClickHouse(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	dsn := fmt.Sprintf("clickhouse://u:p@%s/nowhere", free.Addr())
	require.NoError(t, free.Close())
	l, _ := stationLab(t, dsn, (&disturbance{}).config())
	l.disturbed("", false)
	run := l.runStations("long", "--json")
	require.Equal(t, undisturbed(), outputsOf(t, run))
	for i, d := range l.degradations() {
		require.Equal(t, "ClickHouse could not rank: ranked in memory", d, "selection %d", i+1)
	}
	require.Contains(t, run.err.String(), "the card store takes no cards now; they wait in memory")
	l.requireSameSelections()
}

// requireSameSelections runs the stations undisturbed and demands that the same was selected.
func (l *lab) requireSameSelections() {
	l.t.Helper()
	other, _ := stationLab(l.t, clickhousetest.DSN(l.t, clickhousetest.Open(l.t)), (&disturbance{}).config())
	other.disturbed("", false)
	require.Equal(l.t, undisturbed(), outputsOf(l.t, other.runStations("long", "--json")))
	want, got := other.selectionsOf("long"), l.selectionsOf("long")
	require.Len(l.t, got, len(want))
	for i := range want {
		require.Empty(l.t, want[i].Degraded)
		require.Equal(l.t, want[i].Chosen, got[i].Chosen, "selection %d", i+1)
		require.Equal(l.t, want[i].Anchors, got[i].Anchors, "selection %d", i+1)
	}
}
