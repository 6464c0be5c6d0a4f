package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// TestStationsSurviveTheEngine kills the embedded ClickHouse in the middle of a run: the run goes
// on, with what it selects, and the next engine gets all rows and cards.
func TestStationsSurviveTheEngine(t *testing.T) {
	t.Parallel()
	l := embeddedLab(t)
	killed := make(chan int, 1)
	var first sync.Once
	answers := llmtest.Config{Key: testKey, Embed: embedStations, Answer: func(r llmtest.Request) *llmtest.Answer {
		if !asksForCards(&r) && !asksForMenu(&r) {
			if station, _, turn := stationOf(&r); station == 2 && turn == stationTurns {
				first.Do(func() { killed <- l.killEngine() })
			}
		}
		return answerStations(r)
	}}
	server := llmtest.Start(answers)
	t.Cleanup(server.Close)
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL, "WINDLASS_EMBEDDING_MODEL=embedder", "WINDLASS_ENGINE_IDLE=20s")
	for n := range stations*stationTurns + 1 {
		l.file(fmt.Sprintf("part%d.txt", n), words(n, 600))
	}
	l.disturbed("", false)
	l.run(exitOK, "sql", "--csv", "SELECT 1 AS one") // there is an engine when it is to be killed
	run := l.runStations("long", "--json")
	require.NoError(t, server.Refused())
	require.Equal(t, undisturbed(), outputsOf(t, run))
	require.NotZero(t, <-killed)
	for i, d := range l.degradations() {
		require.Regexp(t, `^(ClickHouse could not rank: ranked in memory)?$`, d, "selection %d", i+1)
	}
	l.requireCards("generator_model = 'cheap'")
	rows := l.ask("SELECT count() AS n FROM logs WHERE session_id = 'long' AND node_type = 'context_inter'")
	require.Equal(t, json.Number(fmt.Sprint(stations-1)), rows[0]["n"])
}

// killEngine kills the lab's engine, once it runs, and returns its process.
func (l *lab) killEngine() int {
	pid := l.engine().PID
	if p, err := os.FindProcess(pid); err == nil && pid != 0 {
		_ = p.Kill()
	}
	return pid
}
