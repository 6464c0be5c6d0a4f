package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// The stations are the phases of a long run: in each turn but the last a model reads a part of what
// there is at the station, in one turn a part that is not there. Each station after the first
// selects what it needs of the others.
const (
	stations     = 5
	stationTurns = 12 // of each
	brokenTurn   = 4  // in which the tool fails
)

var sights = strings.Fields("crane meadow railway bridge owl well lighthouse ferry orchard quarry mill")

// stationCascade returns the cascade. settings are further members of inter_phase, each with a
// comma behind it.
func stationCascade(strategy string, budget int, settings string) string {
	var phases []string
	for i := range stations {
		selects := ""
		if i > 0 {
			selects = `"context": {"mode": "auto"},`
		}
		phases = append(phases, fmt.Sprintf(`{"name": "s%d", "instructions": "Station %d: what does the %s have to do with {{ input.subject }}?", "tackle": ["read_file"], %s
			"callouts": "finding %d", "rules": {"max_turns": 20}}`, i, i, sights[i], selects, i))
	}
	return fmt.Sprintf(`{"cascade_id": "stations", "inputs_schema": {"subject": "what it is about"},
		"auto_context": {"inter_phase": {%s "anchors": {"window": 2}, "selection": {"strategy": %q, "max_tokens": %d}}},
		"phases": [%s]}`, settings, strategy, budget, strings.Join(phases, ",\n"))
}

var (
	stationTask = regexp.MustCompile(`^Station (\d+): `)
	menuLine    = regexp.MustCompile(`(?m)^(m\d+) \| `)
)

// A request is of one of three kinds, by what it begins with.
func asksForMenu(r *llmtest.Request) bool {
	return strings.HasPrefix(r.Messages[0].Text(), "You choose what a worker needs")
}

func asksForCards(r *llmtest.Request) bool {
	return strings.HasPrefix(r.Messages[0].Text(), "You write index cards")
}

// stationOf returns the station that a request is of, the place of its task, and the number of the
// turn.
func stationOf(r *llmtest.Request) (station, task, turn int) {
	for i := range r.Messages {
		m := &r.Messages[i]
		if found := stationTask.FindStringSubmatch(m.Text()); m.Role == "user" && found != nil {
			_, _ = fmt.Sscan(found[1], &station) // digits
			task, turn = i, 1
		} else if m.Role == "assistant" {
			turn++
		}
	}
	return station, task, turn
}

// answerStations answers as it is asked, and nothing else matters: the same request has the same
// answer.
func answerStations(r llmtest.Request) *llmtest.Answer {
	a := &llmtest.Answer{Usage: map[string]any{"prompt_tokens": len(r.Raw) / 4, "completion_tokens": 20, "total_tokens": len(r.Raw)/4 + 20}}
	switch {
	case asksForMenu(&r):
		a.Text = chooseSome(r.Messages[1].Text())
		return a
	case asksForCards(&r):
		a.Text = cardsAsked(&r)
		return a
	}
	station, _, turn := stationOf(&r)
	n := station*stationTurns + turn
	if turn >= stationTurns {
		a.Text = fmt.Sprintf("Answer of station %d: the %s stands by the %s. %s", station, sights[station], sights[n%len(sights)], words(n, 300))
		return a
	}
	a.Text = fmt.Sprintf("Part %d is about the %s. %s", n, sights[n%len(sights)], words(1000+n, 260))
	if turn == brokenTurn {
		n += 9000
	}
	a.Calls = []llmtest.Call{readPart(n, n)}
	return a
}

// chooseSome answers a menu: every third group, and some that mean nothing.
func chooseSome(menu string) string {
	ids := []string{"m0", "nothing"}
	for i, m := range menuLine.FindAllStringSubmatch(menu, -1) {
		if i%3 == 1 {
			ids = append(ids, m[1])
		}
	}
	return `{"ids": ["` + strings.Join(ids, `", "`) + `"]}`
}

// cardsAsked sums each message up by its beginning, whichever it stands beside.
func cardsAsked(r *llmtest.Request) string {
	text := r.Messages[1].Text()
	var list []struct {
		ID   int    `json:"id"`
		Text string `json:"text"`
	}
	if err := json.Unmarshal([]byte(text[max(strings.Index(text, "["), 0):]), &list); err != nil {
		return err.Error()
	}
	var out []string
	for _, m := range list {
		out = append(out, fmt.Sprintf(`{"id": %d, "summary": %q}`, m.ID, "In short: "+m.Text[:min(len(m.Text), 60)]))
	}
	return `{"summaries": [` + strings.Join(out, ",") + `]}`
}

// embedStations gives texts that are spelled alike vectors that are alike.
func embedStations(r llmtest.EmbedRequest) *llmtest.Answer {
	list, err := contextcards.NewHashed(64).Embed(context.Background(), r.Input)
	if err != nil {
		return &llmtest.Answer{Fault: llmtest.Fault{Status: 500, Message: err.Error()}}
	}
	a := &llmtest.Answer{}
	for _, v := range list {
		wide := make([]float64, 64)
		for i := range v {
			wide[i] = float64(v[i])
		}
		a.Vectors = append(a.Vectors, wide)
	}
	return a
}

// stationLab returns a lab with the parts, a server that answers, and a configuration of models.
// Embeddings come from the server's model "embedder".
func stationLab(t *testing.T, dsn string, answers llmtest.Config) (*lab, *llmtest.Server) {
	t.Helper()
	answers.Key = testKey
	if answers.Answer == nil {
		answers.Answer = answerStations
	}
	if answers.Embed == nil {
		answers.Embed = embedStations
	}
	l := newLab(t, dsn)
	server := llmtest.Start(answers)
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, server.Refused(), "no request is ever invalid")
	})
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL, "WINDLASS_EMBEDDING_MODEL=embedder")
	l.file("windlass.json", `{"models": {"embedder": {"max_retries": 0, "timeout_seconds": 1}, "cheap": {"max_retries": 0}}}`)
	for n := range stations*stationTurns + 1 {
		l.file(fmt.Sprintf("part%d.txt", n), fmt.Sprintf("At the %s:\n%s", sights[n%len(sights)], words(n, 500+100*(n%5))))
	}
	return l, server
}

func (l *lab) runStations(session string, args ...string) *process {
	l.t.Helper()
	return l.run(exitOK, append([]string{"run", "stations.json", "-i", "subject=the harbour", "--model", "gpt-5-mini", "--session", session}, args...)...)
}

// recorded returns the entries of a session's journal.
func (l *lab) recorded(session string) []*echo.Entry {
	l.t.Helper()
	rec, err := journal.Read(filepath.Join(config.SessionDir(l.home, session), journal.File))
	require.NoError(l.t, err)
	return rec.Entries
}

// selectionsOf returns the selections of earlier phases that are recorded, in order, without the
// time that they took.
func (l *lab) selectionsOf(session string) []*echo.InterSelection {
	l.t.Helper()
	var out []*echo.InterSelection
	for _, e := range l.recorded(session) {
		if e.NodeType == echo.NodeInter {
			s, err := echo.Read[echo.InterSelection](e)
			require.NoError(l.t, err)
			s.Millis = 0
			out = append(out, &s)
		}
	}
	return out
}
