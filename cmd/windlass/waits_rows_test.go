package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/exit"
)

// waitRow is what both windlass waiting and the view waits say of an open wait.
type waitRow struct {
	ID       string     `json:"id"`
	Session  string     `json:"session"`
	Root     string     `json:"root"`
	Cascade  string     `json:"cascade"`
	Phase    string     `json:"phase"`
	Key      string     `json:"key"`
	Kind     string     `json:"kind"`
	Shown    string     `json:"shown"`
	Since    time.Time  `json:"since"`
	Deadline *time.Time `json:"deadline"`
}

// ClickHouse says of open waits what windlass waiting reads from the journals, and of the answers what was given; also
// of a run that was resumed with some of them, and of the signals that were sent.
func TestWaitsInClickHouse(t *testing.T) {
	t.Parallel()
	l := newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t)))
	l.file("below.json", `{"cascade_id": "below", "phases": [{"name": "deep", "tool": "ask_human", "inputs": {"question": "Below?"}}]}`)
	l.file("top.json", `{"cascade_id": "top", "tools": [{"tool_id": "stamp", "type": "shell", "description": "x", "inputs_schema": {"n": "x"}, "command": "echo {{ n }}"}],
		"phases": [
		{"name": "ask", "tool": "request_decision", "inputs": {"question": "Now?", "options": ["now", "later"], "timeout_seconds": 86400.5}},
		{"name": "ship", "tool": "stamp", "inputs": {"n": "<b>"}, "rules": {"approve": ["*"]}},
		{"name": "gate", "tool": "await_signal", "inputs": {"signal_name": "go", "description": "out"}},
		{"name": "nest", "tool": "below"},
		{"name": "end", "tool": "set_state", "inputs": {"key": "k", "value": "v"}, "after": ["ask", "ship", "gate", "nest"], "human_input": {"prompt": "Fine?", "type": "confirmation"}}]}`)
	l.file("fire.json", `{"cascade_id": "fire", "phases": [{"name": "send", "tool": "fire_signal", "inputs": {"signal_name": "go", "payload": {"n": 1}, "session_id": "top"}}]}`)
	rows := func(into any, args ...string) {
		t.Helper()
		require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, args...).out.String()), into))
	}
	same := func(open int) []waitRow {
		t.Helper()
		var said, stored []waitRow
		rows(&said, "waiting", "--json")
		require.Len(t, said, open)
		l.run(exitOK, "ship")
		rows(&stored, "sql", "--json", `SELECT wait_id AS id, session_id AS session, root, cascade_id AS cascade, phase_name AS phase, key, kind, shown,
			formatDateTime(since, '%Y-%m-%dT%H:%i:%S.%fZ') AS since, formatDateTime(deadline, '%Y-%m-%dT%H:%i:%S.%fZ') AS deadline
			FROM waits WHERE status = 'open' ORDER BY since, wait_id`)
		require.Equal(t, said, stored)
		return said
	}
	l.run(exit.Waiting, "run", "top.json", "--allow-commands", "--session", "top", "-q")
	for _, w := range same(4) {
		switch w.Phase {
		case "ask":
			l.run(exitOK, "answer", w.ID, "later")
		case "ship":
			l.run(exitOK, "answer", w.ID, "allow")
		}
	}
	same(4) // an answer that no run has taken is none of its record
	l.run(exit.Waiting, "resume", "top", "-q")
	l.run(exitOK, "run", "fire.json", "--session", "fire", "-q")
	for _, w := range same(2) {
		if w.Phase == "deep" {
			l.run(exitOK, "answer", w.ID, "--value", `"so deep"`)
		}
	}
	l.run(exit.Waiting, "resume", "top", "-q")
	l.run(exitOK, "answer", same(1)[0].ID, "yes", "--resume", "-q")
	same(0)
	var answered []struct {
		Phase, Status, By, Via, Answer, Decision string
		Seconds                                  float64 `json:"wait_seconds"`
	}
	rows(&answered, "sql", "--json", `SELECT phase_name AS phase, status, answered_by AS by, via, answer, decision, wait_seconds FROM waits ORDER BY phase_name`)
	require.Len(t, answered, 5)
	var got []string
	for _, a := range answered {
		require.Equal(t, "answered", a.Status)
		require.NotEmpty(t, a.By)
		require.Positive(t, a.Seconds)
		got = append(got, strings.Join([]string{a.Phase, a.Via, a.Answer, a.Decision}, " | "))
	}
	require.Equal(t, []string{
		`ask | command | "later" | `, `deep | command | "so deep" | `, `end | command | true | `, `gate | tool | {"n":1} | `, `ship | command | {"decision":"allow"} | allow`,
	}, got)
	var signals []map[string]any
	rows(&signals, "sql", "--json", "SELECT signal, from_session, to_session, taken_by, status, payload FROM signals")
	require.Equal(t, []map[string]any{{
		"signal": "go", "from_session": "fire", "to_session": "top", "taken_by": "top", "status": "taken", "payload": `{"n":1}`,
	}}, signals)
}
