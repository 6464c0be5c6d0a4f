//go:build unix

package recordings

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// scene is what is typed and looked at.
type scene struct {
	name  string
	files map[string]string
	gates []string // named pipes that a tool waits at until the test opens them
	play  func(*recorder)
}

const incidentCascade = `{
  "cascade_id": "incident",
  "tags": ["payments"],
  "inputs_schema": {"service": "the service that fails"},
  "tools": [
    {"tool_id": "logs", "type": "shell", "description": "The newest errors of a service.", "idempotent": true,
     "inputs_schema": {"service": "a service"}, "command": "cat logs-{{ service }}"},
    {"tool_id": "deploys", "type": "shell", "description": "The newest deployments of a service.", "idempotent": true,
     "inputs_schema": {"service": "a service"}, "command": "cat deploys-{{ service }}"}
  ],
  "auto_context": {"inter_phase": {"enabled": true, "selection": {"strategy": "heuristic", "max_tokens": 150}}},
  "phases": [
    {"name": "research", "instructions": "Find out why {{ input.service }} fails.", "tackle": ["logs", "deploys"]},
    {"name": "report", "instructions": "Write the report for the people of {{ input.service }}.", "context": {"mode": "auto"}}
  ]
}
`

const briefCascade = `{
  "cascade_id": "brief",
  "phases": [
    {"name": "outline", "instructions": "Outline a brief on tides in three points."},
    {"name": "write", "instructions": "Write the brief.", "context": {"from": ["outline"]}}
  ]
}
`

const fixCascade = `{
  "cascade_id": "fix",
  "tags": ["build"],
  "validators": {},
  "phases": [
    {"name": "repair", "instructions": "Repair the failing test.", "rules": {"loop_until": "min_words:8", "max_attempts": 3}}
  ]
}
`

const auditCascade = `{
  "cascade_id": "audit",
  "tags": ["docs"],
  "auto_context": {"intra_phase": {"window": 4, "mask_observations_after": 2}},
  "tools": [
    {"tool_id": "page", "type": "shell", "description": "A page of the handbook.", "idempotent": true,
     "inputs_schema": {"number": "from 1"}, "command": "cat page-{{ number }}"}
  ],
  "phases": [{"name": "read", "instructions": "Read the handbook page by page, and say what contradicts itself.", "tackle": ["page"]}]
}
`

const pages = 12 // of the handbook

// pageFiles are the handbook.
func pageFiles() map[string]string {
	files := map[string]string{"audit.json": auditCascade}
	for n := 1; n <= pages; n++ {
		var b strings.Builder
		for line := range 20 {
			fmt.Fprintf(&b, "%d.%d  Rule %d of page %d: before a change is deployed, two people who did not write it read it.\n", n, line+1, line+1, n)
		}
		files[fmt.Sprintf("page-%d", n)] = b.String()
	}
	return files
}

// reading is the audit of the handbook.
func reading() []*llmtest.Answer {
	var list []*llmtest.Answer
	for n := 1; n <= pages; n++ {
		list = append(list, &llmtest.Answer{
			Text: fmt.Sprintf("Page %d next.", n), Usage: usage(120+520*(n-1), 520*max(n-2, 0), 24),
			Calls: []llmtest.Call{{ID: fmt.Sprintf("call_%d", n), Name: "page", Arguments: fmt.Sprintf(`{"number": %d}`, n)}},
		})
	}
	return append(list, &llmtest.Answer{Text: "Nothing contradicts itself: each page has the same twenty rules.", Usage: usage(6400, 5760, 22)})
}

// evidence is what the tools of the incident find, in the order of the calls.
var evidence = []struct{ tool, service, text string }{
	{"logs", "checkout", "14:02 ERROR pool exhausted: 20 of 20 connections in use\n"},
	{"logs", "payments", "14:02 WARN slow query on orders: 8.1 s\n"},
	{"logs", "stock", "nothing since 09:00\n"},
	{"deploys", "checkout", "13:10 v412 pool size 50 -> 20\n"},
	{"deploys", "payments", "no deployment today\n"},
	{"deploys", "stock", "11:30 v88 new images\n"},
}

func gateNames() (names []string) {
	for _, e := range evidence {
		names = append(names, e.tool+"-"+e.service)
	}
	return names
}

func evidenceFiles() map[string]string {
	files := map[string]string{"incident.json": incidentCascade}
	for _, e := range evidence {
		files[e.tool+"-"+e.service] = e.text
	}
	return files
}

// drafts are the files of the example with five drafts, which are written one after the other: what is shown has one order.
func drafts() map[string]string {
	const example = "../../examples/cascades/five_drafts"
	files := map[string]string{}
	for _, end := range []string{".json", ".script.json"} {
		text, err := os.ReadFile(example + end)
		if err != nil {
			panic(err)
		}
		files[filepath.Base(example)+end] = strings.Replace(string(text), `"max_parallel": 3`, `"max_parallel": 1`, 1)
	}
	return files
}

func usage(in, cached, out int) map[string]any {
	return map[string]any{
		"prompt_tokens": in, "completion_tokens": out, "total_tokens": in + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

// research is the six calls of the incident.
func research() *llmtest.Answer {
	a := &llmtest.Answer{Text: "I look at the three services at once.", Usage: usage(412, 0, 148)}
	for i, e := range evidence {
		a.Calls = append(a.Calls, llmtest.Call{ID: fmt.Sprintf("call_%d", i+1), Name: e.tool, Arguments: `{"service": "` + e.service + `"}`})
	}
	return a
}

// The sums of what was used are such that the last line of a run breaks in 80 columns however long the run took.

// answers are by a text of the task, the first of these that it has; the last answer is given again and again.
var answers = []struct {
	task string
	give []*llmtest.Answer
}{
	{"Write the report", []*llmtest.Answer{{
		Text:  "Checkout fails because v412 made its pool smaller: 20 connections in place of 50. Roll back to v411.",
		Usage: usage(506, 0, 41),
	}}},
	{"Find out why", []*llmtest.Answer{research(), {
		Text:  "The pool of checkout is exhausted since v412, which cut it from 50 to 20 connections.",
		Usage: usage(655, 384, 37),
	}}},
	{"Write the brief", []*llmtest.Answer{{
		Text: "Tides follow the moon: two high ones a day, each 50 minutes later than the day before.", Usage: usage(180, 0, 40),
	}}},
	{"Outline a brief", []*llmtest.Answer{{Text: "1. The moon pulls. 2. Twice a day. 3. Later each day.", Usage: usage(1095, 0, 1122)}}},
	{"Read the handbook", reading()},
	{"Repair the failing", []*llmtest.Answer{
		{
			Header: http.Header{"Retry-After-Ms": {"20"}},
			Fault:  llmtest.Fault{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "Rate limit reached"},
		},
		{Text: "It is done.", Usage: usage(210, 0, 12)},
		{Text: "The median of an even number of values is the mean of the two in the middle.", Usage: usage(2262, 1128, 35)},
	}},
}

// scenes are recorded in this order.
var scenes = []scene{
	{name: "first-run", play: func(r *recorder) {
		r.run("windlass init hello", func() {
			for _, question := range []string{"Name of the cascade", "What the first phase does", "Model"} {
				if r.file { // nobody is asked
					return
				}
				r.pane.await(question, func() bool { return strings.Contains(r.pane.joined(), question) })
				r.pane.press("Enter")
			}
		})
		r.enter("cd hello")
		r.run("windlass run hello.json --offline", nil)
		r.run("windlass show last", nil)
		r.look("")
	}},
	{name: "parallel", files: map[string]string{"incident.json": incidentCascade}, gates: gateNames(), play: func(r *recorder) {
		r.run("windlass run incident.json --input service=checkout", func() {
			var open []func(string)
			for _, gate := range gateNames() {
				open = append(open, r.atGate(r.T, gate))
			}
			r.look("while six tools run")
			for i := range open {
				if i == 3 {
					r.look("when three of them have ended")
				}
				open[i](evidence[i].text)
				r.await(r.T, i+1)
			}
		})
		r.look("")
	}},
	{name: "retry", files: map[string]string{"fix.json": fixCascade}, play: func(r *recorder) {
		r.run("windlass run fix.json", nil)
		r.look("")
	}},
	{name: "interrupt", files: map[string]string{"brief.json": briefCascade}, play: func(r *recorder) {
		r.hang("Write the brief")
		asked := len(r.provider.Requests())
		r.run("windlass run brief.json", func() {
			until(r.T, "two requests", func() bool { return len(r.provider.Requests()) == asked+2 }, r.pane.joined)
			r.look("while the model has not answered")
			r.pane.press("C-c")
		})
		r.run("windlass resume last", nil)
		r.look("")
	}},
	{name: "soundings", files: drafts(), play: func(r *recorder) {
		run := "windlass run five_drafts.json --offline --session parcels" // the id decides in which orders a judge sees the candidates
		if r.file {
			run += " -q" // ballots end in any order, and a file would have a line for each
		}
		r.run(run, nil)
		r.run("windlass soundings parcels", nil)
		r.look("")
		r.forget("parcels")
	}},
}

// readings look at sessions of a home of their own.
var readings = []scene{
	{name: "sessions", play: func(r *recorder) {
		r.run("windlass sessions list", nil)
		r.run("windlass show audit", nil)
		r.look("")
	}},
	{name: "cost", play: func(r *recorder) {
		r.run("windlass cost", nil)
		r.run("windlass cost --by model", nil)
		r.look("")
	}},
	{name: "sql", play: func(r *recorder) {
		r.run(`windlass sql "SELECT cascade_id, phase_name, count() AS calls, sum(tokens_in) AS tokens_in, sum(cost_usd) AS usd FROM model_calls GROUP BY ALL ORDER BY cascade_id, phase_name"`, nil)
		r.look("")
	}},
	{name: "select", play: func(r *recorder) {
		r.run(`windlass context select incident --for "Which deployment broke checkout?" --strategy heuristic --budget 150`, nil)
		r.look("")
	}},
	{name: "simulate", play: func(r *recorder) {
		r.run("windlass simulate audit", nil)
		r.look("")
	}},
}

// made are the sessions that the readings look at, the oldest first.
var made = []struct {
	id   string
	day  int
	args []string
}{
	{"01kjs4v8t0d3m6w9x2c5q7k2mq", 1, []string{"incident.json", "--input", "service=checkout"}},
	{"01kjs5a1z4h8n2r6y0b3f9t4xd", 2, []string{"fix.json"}},
	{"01kjs5m7c9e2j5p8s1v4w6g8ha", 3, []string{"incident.json", "--input", "service=checkout", "--max-tokens", "700"}},
	{"01kjs6e3f5k7q0t2x4z6a8n5vc", 3, []string{"audit.json"}},
	{"01kjs6r9g1m4r7v0y3b6d8s3jp", 3, []string{"incident.json", "--input", "service=checkout"}},
}

// makeSessions makes them, in another home, and delivers them.
func (w *world) makeSessions(t *testing.T) {
	t.Helper()
	files := evidenceFiles()
	files["fix.json"] = fixCascade
	maps.Copy(files, pageFiles())
	scratch := filepath.Join(w.base, "scratch")
	for i, m := range made {
		w.prepare(t, scene{name: "made", files: files}, "before")
		cmd := exec.Command(theBinary, append([]string{"run", "--no-clickhouse", "--session", "made"}, m.args...)...)
		cmd.Dir, cmd.Env = w.dir, append(slices.Clone(w.env), "WINDLASS_HOME="+scratch)
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState.ExitCode() != 5 { // over the budget
			t.Fatalf("%q: %v\n%s", m.args, err, out)
		}
		w.keep(t, scratch, "made", m.id, time.Date(2026, 3, m.day, 9, 7*i, 0, 0, time.UTC))
		must(t, os.RemoveAll(scratch))
		if o := w.lab.Run("ship", m.id); o.Code != 0 {
			t.Fatal(o.Err)
		}
	}
}
