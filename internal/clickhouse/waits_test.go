package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
)

// asks are sessions that wait: w1 has a wait of each kind, with a grant that was used twice, and has a child w2 that was
// sent a signal by w3; w4 has failed while a branch of it waited; w5 is a fork of w1; w6 has set a wait aside.
func asks(t *testing.T) []*echo.Entry {
	t.Helper()
	w1, w2, w3 := &relative{t: t, session: "w1"}, &relative{t: t, session: "w2"}, &relative{t: t, session: "w3"}
	question := func(text string) echo.Wait {
		return echo.Wait{Kind: echo.WaitQuestion, Form: &echo.Form{Kind: echo.FormText, Question: text}, By: echo.AwaitedBy{Tool: "ask_human"}}
	}
	answer := func(r *relative, key string, a echo.Answer) {
		t.Helper()
		if a.At.IsZero() {
			a.At = r.entries[len(r.entries)-1].At.Add(500 * time.Millisecond)
		}
		r.say(key, a)
	}
	approval := func(key string, a echo.Answer) {
		t.Helper()
		call := &echo.AwaitedCall{Tool: "deploy", Arguments: json.RawMessage(`{"to":"prod"}`), Cascade: "0123456789abcdef", Schema: json.RawMessage(`{}`)}
		w1.say(key, echo.Wait{Kind: echo.WaitApproval, Call: call, Shown: call.Hash(), Form: &echo.Form{Kind: echo.FormApproval, Question: "May deploy run?"}})
		a.Shown = call.Hash()
		answer(w1, key, a)
	}
	decided := func(what string) map[string]any { return map[string]any{"decision": what} }
	w1.start(map[string]any{})
	w1.say("ship/start", echo.PhaseStart{Visit: 1})
	w1.say("ship/attempt1/turn1/tool1/wait", question("Which "+strings.Repeat("ü", 250)))
	answer(w1, "ship/attempt1/turn1/tool1/wait", echo.Answer{Value: "blue", By: "ada", Via: echo.ViaCommand})
	approval("ship/attempt1/turn2/tool1/wait", echo.Answer{Value: decided("allow"), By: "ada", Via: echo.ViaHTTP, Grant: &echo.Granted{Scope: echo.GrantCascade}})
	used := &echo.Granted{Scope: echo.GrantCascade, ID: echo.WaitID("w1", echo.MustKey("ship/attempt1/turn2/tool1/wait"))}
	approval("ship/attempt1/turn3/tool1/wait", echo.Answer{Value: decided("allow"), By: "ada", Via: echo.ViaGrant, Grant: used})
	approval("ship/attempt1/turn3/tool2/wait", echo.Answer{Value: decided("allow"), By: "ada", Via: echo.ViaGrant, Grant: used})
	approval("ship/attempt1/turn4/tool1/wait", echo.Answer{Value: decided("deny"), By: "bob", Via: echo.ViaTerminal})
	limit := question("And why?")
	limit.Kind, limit.Timeout, limit.Expiry, limit.By = echo.WaitInput, 1.5, echo.TimeoutContinue, echo.AwaitedBy{}
	since := w1.say("ship/wait", limit).At
	answer(w1, "ship/wait", echo.Answer{TimedOut: true, Via: echo.ViaClock, At: since.Add(1500 * time.Millisecond)})
	choice := question("Which is better?")
	choice.Kind, choice.Form.Kind, choice.Timeout = echo.WaitChoice, echo.FormCandidates, 604800
	w1.say("pick/wait", choice)

	w3.start(map[string]any{})
	w3.say("go/attempt1/turn1/tool1/fire", echo.Fired{Letter: "letter1", Signal: "ready", Session: "w2", Payload: map[string]any{"n": json.Number("1")}})
	w3.say("go/attempt1/turn1/tool2/fire", echo.Fired{Letter: "letter2", Signal: "nobody's"})
	w3.say("go/attempt1/turn1/tool3/fire", echo.Fired{Letter: "letter3", Signal: "ready", Session: "nowhere", Problem: "there is no session nowhere on this machine"})
	w3.end(echo.StatusCompleted)

	w2.start(map[string]any{"child_of": "w1", "child_key": "ship/child/check", "root": "w1", "depth": 1})
	await := func(name string) echo.Wait {
		return echo.Wait{Kind: echo.WaitSignal, Signal: name, By: echo.AwaitedBy{Tool: "await_signal", Note: "It is out."}}
	}
	w2.say("hold/attempt1/turn1/tool1/wait", await("ready"))
	answer(w2, "hold/attempt1/turn1/tool1/wait", echo.Answer{
		Value: map[string]any{"n": json.Number("1")}, By: "w3", Via: echo.ViaTool, Letter: "letter1", At: w3.entries[1].At,
	})
	either := await("")
	either.Kind, either.Signal, either.Any = echo.WaitAny, "", []string{"one", "two"}
	w2.say("hold/attempt1/turn2/tool1/wait", either)
	answer(w2, "hold/attempt1/turn2/tool1/wait", echo.Answer{By: "cron", Via: echo.ViaCommand, Letter: "letter4", Signal: "two"})
	w2.say("hold/attempt1/turn3/tool1/wait", await("later"))
	w2.end(echo.StatusWaiting)
	return slices.Concat(w1.entries, w2.entries, w3.entries, failedWait(t), forkedWaits(w1, 8), resumedWait(t, question("Again?")))
}

// failedWait is a session that nobody can resume.
func failedWait(t *testing.T) []*echo.Entry {
	t.Helper()
	r := &relative{t: t, session: "w4"}
	r.start(map[string]any{})
	r.say("a/wait", echo.Wait{Kind: echo.WaitSignal, Signal: "never"})
	r.end(echo.StatusFailed)
	return r.entries
}

// forkedWaits is a fork of a session that has copied so many of its entries, and has used its grant.
func forkedWaits(of *relative, upto uint64) []*echo.Entry {
	of.t.Helper()
	r := &relative{t: of.t, session: "w5"}
	r.start(map[string]any{"parent": of.session, "parent_seq": upto})
	for _, e := range of.entries[1:upto] {
		mine := *e
		r.put(&mine)
	}
	return r.entries
}

// resumedWait is a session that has set aside a wait and its answer, and asks again.
func resumedWait(t *testing.T, w echo.Wait) []*echo.Entry {
	t.Helper()
	r := &relative{t: t, session: "w6"}
	r.start(map[string]any{})
	r.say("a/wait", w)
	r.say("a/wait", echo.Answer{Value: "old", At: r.entries[1].At})
	r.say("run/resume", echo.Resume{SetAside: []uint64{2, 3}})
	r.say("a/wait", w)
	return r.entries
}

// The ids and what is open are those that the record says, whatever setting a user has.
func TestWaits(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	entries := asks(t)
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries[:20]), "what is delivered twice counts once")
	bySession := map[string][]*echo.Entry{}
	for _, e := range entries {
		bySession[e.SessionID] = append(bySession[e.SessionID], e)
	}
	var open []string
	for id, of := range bySession {
		for _, e := range record.OpenWaits(of) {
			if id != "w4" { // which has ended
				open = append(open, echo.WaitID(id, e.Key))
			}
		}
	}
	slices.Sort(open)
	require.Len(t, open, 3)
	for _, nulls := range []string{"", " SETTINGS join_use_nulls = 1"} {
		require.Equal(t, "wait_id\n"+strings.Join(open, "\n")+"\n", result(t, db, "SELECT wait_id FROM waits WHERE status = 'open' ORDER BY wait_id"+nulls))
		requireGolden(t, "waits", result(t, db, `SELECT session_id, seq, root, key, phase_name, turn, wait_id, status, kind, form, tool, lengthUTF8(question) AS asked, signal,
			cascade_hash, shown, since, deadline, answered_at, taken_at, wait_seconds, answered_by, via, timed_out, decision, answer, grant_scope,
			grant_id, letter, copied, answer_copied FROM waits ORDER BY session_id, seq`+nulls))
		grant := echo.WaitID("w1", echo.MustKey("ship/attempt1/turn2/tool1/wait"))
		require.Equal(t, strings.Join([]string{
			"session_id | grant_id | scope | tool | cascade_hash | granted_by | via | granted_at | uses | last_used_at | copied",
			"w1 | " + grant + " | cascade | deploy | 0123456789abcdef | ada | http | 2026-03-03 12:00:04.500000 | 2 | 2026-03-03 12:00:08.500000 | false",
			"w5 | " + echo.WaitID("w5", echo.MustKey("ship/attempt1/turn2/tool1/wait")) +
				" | cascade | deploy | 0123456789abcdef | ada | http | 2026-03-03 12:00:04.500000 | 0 | NULL | true", "",
		}, "\n"), result(t, db, `SELECT session_id, grant_id, scope, tool, cascade_hash, granted_by, via, granted_at, uses, last_used_at, copied
			FROM grants ORDER BY session_id`+nulls))
		wait2, wait4 := echo.WaitID("w2", echo.MustKey("hold/attempt1/turn1/tool1/wait")), echo.WaitID("w2", echo.MustKey("hold/attempt1/turn2/tool1/wait"))
		require.Equal(t, strings.Join([]string{
			"letter | signal | status | sent_by | via | from_session | from_key | to_session | sent_at | payload | problem | taken_by | taken_wait | taken_at",
			`letter1 | ready | taken | w3 | tool | w3 | go/attempt1/turn1/tool1/fire | w2 | 2026-03-03 12:00:01.000000 | {"n":1} |  | w2 | ` + wait2 + ` | 2026-03-03 12:00:02.000000`,
			`letter2 | nobody's | sent | w3 | tool | w3 | go/attempt1/turn1/tool2/fire |  | 2026-03-03 12:00:02.000000 |  |  |  |  | NULL`,
			`letter3 | ready | not_sent | w3 | tool | w3 | go/attempt1/turn1/tool3/fire | nowhere | 2026-03-03 12:00:03.000000 |  | there is no session nowhere on this machine |  |  | NULL`,
			`letter4 | two | taken | cron | command |  |  |  | 2026-03-03 12:00:03.500000 |  |  | w2 | ` + wait4 + ` | 2026-03-03 12:00:04.000000`, "",
		}, "\n"), result(t, db, `SELECT letter, signal, status, sent_by, via, from_session, from_key, to_session, sent_at, payload, problem, taken_by, taken_wait, taken_at
			FROM signals ORDER BY letter`+nulls))
	}
}

// The ids of the view are those of [echo.WaitID], whatever the session and the key.
func TestWaitIDsOfTheView(t *testing.T) {
	t.Parallel()
	db := clickhousetest.Open(t)
	var entries []*echo.Entry
	want := []string{}
	for i := range 50 {
		r := &relative{t: t, session: fmt.Sprintf("session%d", i*i)}
		e := r.say(fmt.Sprintf("phase%d%%2Fx~%d/attempt1/turn%d/tool1/wait", i, i+2, i+1), echo.Wait{Kind: echo.WaitSignal, Signal: "s"})
		entries = append(entries, r.entries...)
		want = append(want, r.session+" | "+echo.WaitID(r.session, e.Key))
	}
	require.NoError(t, clickhousetest.Insert(t.Context(), db, entries))
	slices.Sort(want)
	require.Equal(t, "session_id | wait_id\n"+strings.Join(want, "\n")+"\n", result(t, db, "SELECT session_id, wait_id FROM waits ORDER BY session_id"))
}
