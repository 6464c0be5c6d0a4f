package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"sync"

	"github.com/windlass-run/windlass/internal/clickhouse"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// startProvider starts a strict endpoint. The model that is asked says how it answers: models named
// after what goes wrong, "plain" for a text of unknown cost, and gpt-5-mini, which has a price, for
// one that works with tools.
func startProvider() *llmtest.Server {
	var asked sync.Map // model -> true
	return llmtest.Start(llmtest.Config{
		Window: 1_000_000, Details: true,
		Key: testKey,
		Models: []string{
			"plain", "gpt-5-mini", "html", "broken-json", "no-choices", "empty", "cut-once", "cut", "limited-once", "limited", "hangs",
			"hangs-midway", "bad-arguments", "unknown-tool", "calls-slow", "overloaded", "summer", "vectors", "thinks",
		},
		Embed: embed,
		Answer: func(r llmtest.Request) *llmtest.Answer {
			_, again := asked.LoadOrStore(r.Model, true)
			return answer(r, !again)
		},
	})
}

var usage = map[string]any{
	"prompt_tokens": 1200, "completion_tokens": 40, "total_tokens": 1240, "prompt_tokens_details": map[string]any{"cached_tokens": 200},
}

func answer(r llmtest.Request, first bool) *llmtest.Answer {
	a := &llmtest.Answer{Text: "An answer in plain words.", Usage: usage}
	called := r.Messages[len(r.Messages)-1].Role == "tool"
	switch r.Model {
	case "summer":
		a.Text = `{"summaries": [{"id": 1, "summary": "What the first says."}, {"id": 2, "summary": "What the second says."}]}`
	case "gpt-5-mini":
		return work(r)
	case "thinks":
		a = work(r)
		a.Details = `[{"type":"reasoning.text","text":"Is it <so> & \"so\"?","index":0},{"type":"reasoning.encrypted","data":"AA==","index":1}]`
	case "html":
		a.Fault.HTML = true
	case "broken-json":
		a.Plain, a.Fault.Truncate = true, true
	case "no-choices":
		a.Fault.NoChoices = true
	case "empty":
		a.Text = ""
	case "cut-once":
		if first {
			a.Fault.ResetAt = llmtest.AtMiddle
		}
	case "cut":
		a.Fault.ResetAt = llmtest.AtMiddle
	case "limited-once", "limited":
		if r.Model == "limited" || first {
			a.Header = http.Header{"Retry-After-Ms": {"20"}}
			a.Fault = llmtest.Fault{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Message: "Rate limit reached for " + testKey}
		}
	case "overloaded":
		a.Header = http.Header{"Retry-After": {"3600"}}
		a.Fault = llmtest.Fault{Status: http.StatusServiceUnavailable, Message: "overloaded"}
	case "hangs":
		a.Fault.HangAt = llmtest.AtStart
	case "hangs-midway":
		a.Fault.HangAt = llmtest.AtMiddle
	case "bad-arguments":
		if !called {
			a.Calls = []llmtest.Call{{ID: "c1", Name: "read_file", Arguments: `{"path": 7, "colour": "red"}`}, {ID: "c2", Name: "read_file", Arguments: `{"path": `}}
		}
	case "unknown-tool":
		if !called {
			a.Calls = []llmtest.Call{{ID: "c1", Name: "read_minds", Arguments: `{}`}}
		}
	case "calls-slow":
		if !called {
			a.Calls = []llmtest.Call{{ID: "c1", Name: "slow", Arguments: `{}`}}
		}
	}
	return a
}

// embed answers with vectors and, of the model "vectors", with what they took.
func embed(r llmtest.EmbedRequest) *llmtest.Answer {
	a := &llmtest.Answer{Vectors: llmtest.Vectors(r.Input, r.Dimensions)}
	switch r.Model {
	case "vectors":
		a.Usage = map[string]any{"prompt_tokens": 100 * len(r.Input), "total_tokens": 100 * len(r.Input)}
	case "limited":
		a.Fault = llmtest.Fault{Status: http.StatusBadRequest, Message: "No vectors for " + testKey}
	}
	return a
}

// The answers of a model that works on the examples. What it is asked decides: it uses the tools
// that it is offered, once each, and gives the form that the request demands.
const (
	auditReport = `{"summary": "A module that runs workflows, measured and read.", "size": {"files": 1, "lines": 2, "test_files": 3, "test_lines": 4},
		"findings": [{"severity": "low", "title": "nothing of weight", "evidence": "go.mod:1"}], "next_steps": ["none"]}`
	triagePlan = `{"severity": "page", "owner": "reporting", "action": "Give report-job a pool of its own."}`
	medianFile = "package median\n\nimport \"slices\"\n\n// Of returns the median.\nfunc Of(values []float64) float64 {\n" +
		"\tif len(values) == 0 {\n\t\treturn 0\n\t}\n\ts := slices.Sorted(slices.Values(values))\n\tm := len(s) / 2\n" +
		"\tif len(s)%2 == 1 {\n\t\treturn s[m]\n\t}\n\treturn (s[m-1] + s[m]) / 2\n}\n"
)

func work(r llmtest.Request) *llmtest.Answer {
	all := ""
	for i := range r.Messages {
		all += r.Messages[i].Text() + "\n"
	}
	a := &llmtest.Answer{Usage: usage, Text: "This is what was found, in more than ten words of plain and simple English."}
	called := r.Messages[len(r.Messages)-1].Role == "tool"
	switch {
	case len(r.Tools) > 0 && !called && !r.NoCalls:
		a.Text, a.Calls = "I look.", callEach(r.Tools, all)
	case strings.Contains(all, "You judge an answer"):
		a.Text = `{"valid": true, "reason": "cause and evidence are there"}`
	case strings.Contains(all, `"next_steps"`):
		a.Text = auditReport
	case strings.Contains(all, `"severity"`):
		a.Text = triagePlan
	}
	return a
}

// callEach calls every tool that is offered once.
func callEach(tools []llmtest.Tool, said string) []llmtest.Call {
	dir := ""
	if _, rest, ok := strings.Cut(said, "Go module in "); ok {
		dir, _, _ = strings.Cut(rest, " fail")
	}
	arguments := map[string]string{
		"list_files": `{"path": "."}`, "read_file": `{"path": "README.md"}`, "search_files": `{"path": ".", "pattern": "package main", "max_results": 2}`,
		"set_state": `{"key": "entry_point", "value": "cmd/windlass/main.go"}`, "go_test": fmt.Sprintf(`{"dir": %q}`, dir),
		"write_file": fmt.Sprintf(`{"path": %q, "content": %q}`, dir+"/median.go", medianFile),
	}
	var calls []llmtest.Call
	for i, t := range tools {
		if args, ok := arguments[t.Name]; ok {
			calls = append(calls, llmtest.Call{ID: fmt.Sprintf("call_%d", i), Name: t.Name, Arguments: args})
		}
	}
	return calls
}

// queryRows asks ClickHouse.
func queryRows(db *clickhouse.DB, query string) ([][]clickhouse.Value, error) {
	rows, err := db.Query(context.Background(), query, clickhouse.QueryOptions{})
	if err != nil {
		return nil, err
	}
	var out [][]clickhouse.Value
	for rows.Next() {
		row, err := rows.Row()
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Close()
}

// processesWith lists the command lines of the processes that have a text in theirs.
func processesWith(text string) []string {
	out, err := exec.Command("ps", "-A", "-ww", "-o", "pid=,args=").Output()
	if err != nil {
		return []string{"ps failed: " + err.Error()} // seen as a process, so that the test does not pass unlooked
	}
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, text) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
