package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// envOutlive says how many runs TestRunsOutliveTheEngine makes; see make outlive.
const envOutlive = "WINDLASS_OUTLIVE_RUNS"

const (
	outliveTurns  = 12
	outliveAtOnce = 2
)

// outliving is a phase that reads file after file, with old results masked, and one that has the
// outcome.
const outliving = `{"cascade_id": "outlive", "phases": [
	{"name": "work", "instructions": "Read all parts.", "tackle": ["read_file"], "rules": {"max_turns": 20},
	 "intra_context": {"enabled": true, "window": 3}, "handoffs": ["sum"]},
	{"name": "sum", "instructions": "Sum up: {{ outputs.work }}"}]}`

// outlivingAnswer reads one part a turn and then says how many it has read.
func outlivingAnswer(r *llmtest.Request) *llmtest.Answer {
	turn := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			turn++
		}
	}
	a := &llmtest.Answer{Text: fmt.Sprintf("Read %d parts.", turn), Usage: usage}
	if len(r.Tools) > 0 && turn < outliveTurns {
		a.Text = ""
		a.Calls = []llmtest.Call{{ID: fmt.Sprintf("call%d", turn), Name: "read_file", Arguments: fmt.Sprintf(`{"path":"part%d.txt"}`, turn)}}
	}
	return a
}

// TestRunsOutliveTheEngine kills the embedded ClickHouse at random moments while runs go on, which
// start it again. Every run ends as if nothing had happened, and in the end every row is there
// once.
func TestRunsOutliveTheEngine(t *testing.T) {
	t.Parallel()
	runs := 6
	if text := os.Getenv(envOutlive); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		runs = n
	}
	l := embeddedLab(t)
	for n := range outliveTurns {
		l.file(fmt.Sprintf("part%d.txt", n), words(n, 400))
	}
	l.file("outlive.json", outliving)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var mu sync.Mutex
	var kills atomic.Int32
	random := rand.New(rand.NewPCG(seed, 1))
	server := llmtest.Start(llmtest.Config{Key: testKey, Answer: func(r llmtest.Request) *llmtest.Answer {
		mu.Lock()
		kill := random.IntN(6) == 0
		mu.Unlock()
		if kill && r.Model == "disturbed" && l.killEngine() != 0 {
			kills.Add(1)
		}
		return outlivingAnswer(&r)
	}})
	t.Cleanup(server.Close)
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL, "WINDLASS_ENGINE_IDLE=20s")
	undisturbed := l.run(exitOK, "run", "outlive.json", "--model", "calm", "--session", "calm", "--json")
	want := cameTo(t, undisturbed)
	for first := 0; first < runs; first += outliveAtOnce {
		var started []*process
		for n := first; n < min(first+outliveAtOnce, runs); n++ {
			started = append(started, l.start("run", "outlive.json", "--model", "disturbed", "--session", fmt.Sprintf("outlive-%03d", n), "--json"))
		}
		for _, p := range started {
			require.Equal(t, exitOK, p.wait(), p.err.String())
			require.Equal(t, want, cameTo(t, p))
		}
	}
	require.NoError(t, server.Refused())
	t.Logf("%d runs, the engine killed %d times", runs, kills.Load())
	require.Positive(t, kills.Load())
	l.run(exitOK, "ship")
	require.Contains(t, l.run(exitOK, "ship").err.String(), "Nothing is pending")
	l.requireEveryRowOnce(runs + 1)
}

// cameTo is what a run came to, without what differs from run to run.
func cameTo(t *testing.T, p *process) string {
	t.Helper()
	var res struct {
		Status string `json:"status"`
		Output any    `json:"output"`
		Phases []struct {
			Phase  string `json:"phase"`
			Status string `json:"status"`
			Calls  int    `json:"calls"`
			Output any    `json:"output"`
		} `json:"phases"`
		Cost *float64 `json:"cost_usd"`
	}
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &res))
	require.Equal(t, "completed", res.Status)
	text, err := json.Marshal(res)
	require.NoError(t, err)
	return string(text)
}

// requireEveryRowOnce demands of every session of the lab that ClickHouse has each entry of its
// journal once, with each selection.
func (l *lab) requireEveryRowOnce(sessions int) {
	l.t.Helper()
	ids, err := archive.Local(l.home)
	require.NoError(l.t, err)
	require.Len(l.t, ids, sessions)
	type counts struct {
		ID         string      `json:"session_id"`
		Rows       json.Number `json:"n"`
		Seqs       json.Number `json:"seqs"`
		Last       json.Number `json:"last"`
		Selections json.Number `json:"selections"`
	}
	var got []counts
	p := l.run(exitOK, "sql", "--json", `SELECT session_id, count() AS n, uniqExact(seq) AS seqs, max(seq) AS last,
		any(selected) AS selections FROM logs
		LEFT JOIN (SELECT session_id, count() AS selected FROM context_selections GROUP BY session_id) AS s USING session_id
		GROUP BY session_id ORDER BY session_id`)
	require.NoError(l.t, decode(p.out.String(), &got))
	require.Len(l.t, got, sessions)
	for i, id := range ids {
		lines := journalOf(l.t, l.home, id)
		n := json.Number(strconv.Itoa(len(lines)))
		selected := 0
		for _, line := range lines {
			if strings.Contains(line, `"node_type":"context_selection"`) || strings.Contains(line, `"node_type":"context_inter"`) {
				selected++
			}
		}
		require.Equal(l.t, counts{id, n, n, n, json.Number(strconv.Itoa(selected))}, got[i])
	}
}

// TestNextRunDelivers: a run delivers what one before it could not.
func TestNextRunDelivers(t *testing.T) {
	t.Parallel()
	dsn := clickhousetest.DSN(t, clickhousetest.Open(t))
	l := newLab(t, dsn)
	l.file("it.json", recorded["ask.json"])
	away := *l
	away.env = append(append([]string(nil), l.env...), "WINDLASS_CLICKHOUSE_DSN=clickhouse://127.0.0.1:1/logs")
	p := away.run(exitOK, "run", "it.json", "--model", "plain", "--session", "left")
	require.Contains(t, p.err.String(), "The journal has them: the next run delivers them, or windlass ship left.")
	away.run(exitOK, "run", "it.json", "--model", "plain", "--session", "stays", "--no-clickhouse")
	var said string
	n := 0
	until(t, "a run delivers it", func() bool { // on a busy machine, not the first one
		n++
		p := l.run(exitOK, "run", "it.json", "--model", "plain", "--session", fmt.Sprintf("next-%d", n))
		said = p.err.String()
		return strings.Contains(said, "Delivered to ClickHouse besides: ")
	})
	require.Contains(t, said, fmt.Sprintf("Delivered to ClickHouse besides: %d rows of 1 earlier session\n", len(journalOf(t, l.home, "left"))))
	require.Len(t, rowsBy(t, l, "left"), len(journalOf(t, l.home, "left")))
	require.Empty(t, rowsBy(t, l, "stays"))
}

// TestSessionsThatRunAndThatWereKilled: what runs is left to its process, and what was killed can
// be resumed and delivered.
func TestSessionsThatRunAndThatWereKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("it.json", recorded["ask.json"])
	p := l.start("run", "it.json", "--model", "hangs", "--session", "alive")
	l.awaitHanging("alive")
	require.Regexp(t, `(?m)^alive +ask +running  `, l.run(exitOK, "sessions", "list").out.String())
	require.Regexp(t, `(?m)^alive +0 +\d+  running: left to the process that runs it$`, l.run(exitOK, "ship", "alive").out.String())
	require.NotContains(t, l.run(exitOK, "doctor").out.String(), "rows of")
	require.NoError(t, p.Process.Kill())
	_ = p.Wait() // it was killed
	require.Regexp(t, `(?m)^alive +ask +killed, resumable  `, l.run(exitOK, "sessions", "list").out.String())
	l.run(exitOK, "ship")
	require.Len(t, rowsBy(t, l, "alive"), len(journalOf(t, l.home, "alive")))
	require.Regexp(t, `(?m)^alive +ask +killed, resumable  `, l.run(exitOK, "sessions", "list").out.String())
}
