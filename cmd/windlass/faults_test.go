package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/clickhouse/clickhousetest"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// fault is something that goes wrong at a provider, and what has to come of it.
type fault struct {
	what     string                // as docs/models.md has it
	answers  []llmtest.Answer      // the last one is given from then on
	settings string                // of the model in windlass.json; empty: quick retries
	retried  []echo.ModelErrorKind // the kinds of the requests that were tried again
	kind     string                // of the error in the end; empty: there is an answer
}

// quick are settings under which nothing waits, but for what the provider asks.
const quick = `{"retry_wait_seconds": 0.001}`

// faultyAnswers are the ways to go wrong that faults is made of.
var faultyAnswers = map[string]llmtest.Answer{
	"429":         {Fault: llmtest.Fault{Status: 429, Message: "not now"}},
	"429 now":     {Fault: llmtest.Fault{Status: 429, Message: "not now"}, Header: http.Header{"Retry-After": {"0"}}},
	"429 later":   {Fault: llmtest.Fault{Status: 429, Message: "not now"}, Header: http.Header{"Retry-After": {"3600"}}},
	"500":         {Fault: llmtest.Fault{Status: 500, Message: "not now"}},
	"503":         {Fault: llmtest.Fault{Status: 503, Message: "not now"}},
	"reset":       {Fault: llmtest.Fault{ResetAt: llmtest.AtStart}},
	"cut":         {Text: "Half of this is void.", Fault: llmtest.Fault{ResetAt: llmtest.AtMiddle}},
	"truncated":   {Text: "Half of this is void.", Plain: true, Fault: llmtest.Fault{Truncate: true}},
	"broken":      {Raw: "data: {\"choices\":[{\"index\":0,\"delta\":{\"conte\n\n"},
	"empty":       {Fault: llmtest.Fault{Empty: true}},
	"none":        {Fault: llmtest.Fault{NoChoices: true}},
	"silent":      {Fault: llmtest.Fault{HangAt: llmtest.AtStart}},
	"silent half": {Text: "Half of this is void.", Fault: llmtest.Fault{HangAt: llmtest.AtMiddle}},
	"endless":     {Fault: llmtest.Fault{Drip: true}},
	"well":        {Text: "An answer in plain words.", Usage: usage},
}

// faults are the rows of the table in docs/models.md, in its order.
func faults() []fault {
	gives := func(names ...string) []llmtest.Answer {
		var out []llmtest.Answer
		for _, name := range names {
			out = append(out, faultyAnswers[name])
		}
		return out
	}
	times := func(n int, kind echo.ModelErrorKind) []echo.ModelErrorKind {
		return slices.Repeat([]echo.ModelErrorKind{kind}, n)
	}
	// If the header did not count, the wait would be longer than the call may take, and nothing would
	// be tried again.
	const onlyTheHeader = `{"retry_wait_seconds": 1000}`
	const impatient = `{"retry_wait_seconds": 0.001, "idle_timeout_seconds": 0.5}` // shorter ones end tries before a busy server has seen them
	return []fault{
		{"429, once", gives("429", "well"), "", times(1, "rate_limited"), ""},
		{"429, every time", gives("429"), "", times(4, "rate_limited"), "rate_limited"},
		{"429 with `Retry-After: 0`, once", gives("429 now", "well"), onlyTheHeader, times(1, "rate_limited"), ""},
		{"429 with `Retry-After: 0`, every time", gives("429 now"), onlyTheHeader, times(4, "rate_limited"), "rate_limited"},
		{"429 with `Retry-After: 3600`", gives("429 later"), "", nil, "rate_limited"},
		{"500, once", gives("500", "well"), "", times(1, "server"), ""},
		{"500, every time", gives("500"), "", times(4, "server"), "server"},
		{"503, once", gives("503", "well"), "", times(1, "server"), ""},
		{"503, every time", gives("503"), "", times(4, "server"), "server"},
		{"429, then 503, then a reset", gives("429", "503", "reset", "well"), "", []echo.ModelErrorKind{"rate_limited", "server", "network"}, ""},
		{"a reset before the answer, once", gives("reset", "well"), "", times(1, "network"), ""},
		{"a reset before the answer, every time", gives("reset"), "", times(4, "network"), "network"},
		{"a reset in the middle of the stream, once", gives("cut", "well"), "", times(1, "network"), ""},
		{"a reset in the middle of the stream, every time", gives("cut"), "", times(4, "network"), "network"},
		{"JSON that is cut off, once", gives("truncated", "well"), "", times(1, "bad_response"), ""},
		{"JSON that is cut off, every time", gives("truncated"), "", times(2, "bad_response"), "bad_response"},
		{"a stream of JSON that is cut off, every time", gives("broken"), "", times(2, "bad_response"), "bad_response"},
		{"an empty choice, once", gives("empty", "well"), "", times(1, "bad_response"), ""},
		{"an empty choice, every time", gives("empty"), "", times(2, "bad_response"), "bad_response"},
		{"no choices, every time", gives("none"), "", times(2, "bad_response"), "bad_response"},
		{"silence before the answer, every time", gives("silent"), impatient, times(4, "timeout"), "timeout"},
		{"silence in the middle of the stream, every time", gives("silent half"), impatient, times(4, "timeout"), "timeout"},
		{"a stream that never ends", gives("endless"), `{"timeout_seconds": 2}`, nil, "timeout"},
	}
}

// faultyLab is a lab with a provider at which models go wrong.
type faultyLab struct {
	*lab
	repaired []atomic.Bool // by the row of faults: its model answers well from now on
}

// faultLab has a provider at which the model "fault-N" does what row N of faults says, and all
// others answer well.
func faultLab(t *testing.T, list []fault) *faultyLab {
	l := &faultyLab{newLab(t, clickhousetest.DSN(t, clickhousetest.Open(t))), make([]atomic.Bool, len(list))}
	asked := make(chan map[string]int, 1)
	asked <- map[string]int{}
	l.provider.Close()
	l.provider = llmtest.Start(llmtest.Config{Key: testKey, Answer: func(r llmtest.Request) *llmtest.Answer {
		a := faultyAnswers["well"]
		if n, ok := strings.CutPrefix(r.Model, "fault-"); ok {
			i, _ := strconv.Atoi(n)
			if l.repaired[i].Load() {
				return &a
			}
			count := <-asked
			a = list[i].answers[min(count[n], len(list[i].answers)-1)]
			count[n]++
			asked <- count
		}
		return &a
	}})
	t.Cleanup(l.provider.Close)
	l.env = append(l.env, "OPENAI_BASE_URL="+l.provider.URL)
	models := map[string]json.RawMessage{}
	for i, f := range list {
		models[fmt.Sprintf("fault-%d", i)] = json.RawMessage(cmp.Or(f.settings, quick))
	}
	config, err := json.Marshal(map[string]any{"models": models})
	require.NoError(t, err)
	l.file("windlass.json", string(config))
	l.file("it.json", `{"cascade_id": "it", "phases": [{"name": "one", "instructions": "Say something."}, {"name": "two", "instructions": "Say more."}]}`)
	return l
}

// TestProviderFaults lets everything go wrong that goes wrong at providers, one fault in each run,
// after a call that went well on the same connection. It holds what comes of it against the
// server's count of requests, the journal, ClickHouse and the table of docs/models.md, which
// -update writes. No fault may keep a run from ending, and every run that failed goes on when the
// provider is well again, without asking anew for what it has.
func TestProviderFaults(t *testing.T) {
	t.Parallel()
	list := faults()
	l := faultLab(t, list)
	codes, requests := make([]int, len(list)), make([]int, len(list))
	t.Run("runs", func(t *testing.T) {
		for i, f := range list {
			t.Run(f.what, func(t *testing.T) {
				t.Parallel()
				codes[i] = l.runFault(t, i, f)
				if requests[i] = l.asked(f.id(i)); codes[i] != exitOK {
					l.goesOn(t, i)
				}
			})
		}
	})
	require.NoError(t, l.provider.Refused())
	require.Equal(t, len(list), l.asked("fine"), "the first call of each run, once")
	rows := l.ask("SELECT session_id, retries, retry_kinds, error_kind FROM model_calls WHERE phase_name = 'two' ORDER BY toUInt32(substring(session_id, 7)), seq LIMIT 1 BY session_id")
	require.Len(t, rows, len(list))
	table := "| the endpoint answers with | requests | result | kind | exit code |\n|---|---|---|---|---|\n"
	for i, f := range list {
		retried := []any{}
		for _, kind := range f.retried {
			retried = append(retried, string(kind))
		}
		require.Equal(t, len(f.retried)+1, requests[i], f.what)
		require.Equal(t, map[string]any{
			"session_id": f.id(i), "retries": number(uint64(requests[i] - 1)), "retry_kinds": retried, "error_kind": f.kind,
		}, rows[i], f.what)
		outcome, kind := "an answer", ""
		if f.kind != "" {
			outcome, kind = "failed", "`"+f.kind+"`"
		}
		table += fmt.Sprintf("| %s | %d | %s | %s | %d |\n", f.what, requests[i], outcome, kind, codes[i])
	}
	l.showsTries()
	requireInPage(t, "models.md", "| the endpoint answers with |", table)
}

// id is the name of a row's model, and of its session.
func (fault) id(row int) string { return fmt.Sprintf("fault-%d", row) }

// asked counts the requests to a model.
func (l *faultyLab) asked(model string) int {
	n := 0
	for _, r := range l.provider.Requests() {
		if r.Model == model {
			n++
		}
	}
	return n
}

// goesOn takes up a run that failed, at a provider that is well again.
func (l *faultyLab) goesOn(t *testing.T, row int) {
	id := fault{}.id(row)
	before := l.asked(id)
	l.repaired[row].Store(true)
	p := l.start("resume", id)
	require.Equal(t, exitOK, p.wait(), p.err.String())
	require.Equal(t, "An answer in plain words.\n", p.out.String())
	require.Contains(t, p.err.String(), "1 model call answered from its record")
	require.Equal(t, before+1, l.asked(id))
}

// runFault runs one row and looks at its output and its journal.
func (l *faultyLab) runFault(t *testing.T, i int, f fault) int {
	id := f.id(i)
	p := l.start("run", "it.json", "--model", "fine", "--model", "two="+id, "--session", id)
	// The longest wait for a fault is some seconds. This only ends a test that would hang otherwise.
	stop := time.AfterFunc(5*time.Minute, func() { _ = p.Process.Kill() })
	defer stop.Stop()
	code := p.wait()
	rec, err := journal.Read(filepath.Join(l.home, "sessions", id, journal.File))
	require.NoError(t, err)
	require.Equal(t, echo.NodeRunEnd, rec.Entries[len(rec.Entries)-1].NodeType)
	for _, e := range rec.Entries {
		if e.NodeType != echo.NodeModelCall {
			continue
		}
		data, err := echo.Read[echo.ModelCall](e)
		require.NoError(t, err)
		switch {
		case e.Phase == "one":
			require.Zero(t, data.Retries)
			require.Equal(t, "An answer in plain words.", e.Message.Text())
			continue
		case f.kind == "":
			require.Nil(t, e.Error)
			require.Equal(t, "An answer in plain words.", e.Message.Text(), "nothing of a try that broke off is left")
		default:
			require.Equal(t, f.kind, e.Error.Kind)
			require.Nil(t, e.Message)
		}
		require.Equal(t, f.retried, data.RetryKinds)
		require.Equal(t, len(f.retried), data.Retries)
	}
	require.Equal(t, len(f.retried), strings.Count(p.err.String(), "two turn 1: trying again in "), p.err.String())
	if f.kind == "" {
		require.Equal(t, exitOK, code, p.err.String())
		require.Equal(t, "An answer in plain words.\n", p.out.String())
		return code
	}
	require.Equal(t, exitProvider, code, p.err.String())
	require.Empty(t, p.out.String())
	require.Contains(t, p.err.String(), "Error: it/two (attempt 1, turn 1): model "+id+" at ")
	require.Contains(t, p.err.String(), "windlass resume "+id+"\n")
	return code
}

// showsTries demands that windlass show --calls says how often calls were tried.
func (l *faultyLab) showsTries() {
	l.t.Helper()
	require.Regexp(l.t, `two/attempt1/turn1/model .* ok \(tried 2 times\)`, l.run(exitOK, "show", "fault-0", "--calls").out.String())
	require.Regexp(l.t, `two/attempt1/turn1/model .* failed: rate limited \(429\): not now \(tried 5 times\)`, l.run(exitOK, "show", "fault-1", "--calls").out.String())
	var shown struct {
		CallList []struct {
			Retries    int      `json:"retries"`
			RetryKinds []string `json:"retry_kinds"`
		} `json:"call_list"`
	}
	require.NoError(l.t, json.Unmarshal([]byte(l.run(exitOK, "sessions", "show", "fault-0", "--json").out.String()), &shown))
	require.Len(l.t, shown.CallList, 2)
	require.Zero(l.t, shown.CallList[0].Retries)
	require.Equal(l.t, 1, shown.CallList[1].Retries)
	require.Equal(l.t, []string{"rate_limited"}, shown.CallList[1].RetryKinds)
}

// requireInPage demands that a page of the documentation has a table, from the line that begins
// with head to the next empty line. With -update it is written there.
func requireInPage(t *testing.T, page, head, table string) {
	t.Helper()
	path := filepath.Join("../../docs", page)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(data), head)
	require.True(t, found, "%s has no table %s", page, head)
	old, after, found := strings.Cut(rest, "\n\n")
	require.True(t, found)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(before+table+"\n"+after), 0o600))
		return
	}
	require.Equal(t, table, head+old+"\n")
}
