//go:build unix

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// TestTwentySessions runs sessions of every kind and holds each figure of them against the sums over
// the entries of their journals, wherever it can be read: at the end of the run, in lists, reports
// and statistics, over HTTP, and by SQL; also when only ClickHouse has the sessions.
func TestTwentySessions(t *testing.T) {
	t.Parallel()
	l := twentyLab(t)
	ends := map[string]*process{}
	for _, r := range twentySessions {
		var last *process
		for i, args := range r.commands {
			code := exitOK
			if i < len(r.codes) {
				code = r.codes[i]
			}
			last = l.run(code, append(args, "--json")...)
		}
		ends[r.id] = last
	}
	ends["killed"] = l.killed("killed")
	for _, f := range twentyForks {
		ends[f.id] = l.forked(f.id, f.of, f.after)
	}
	require.Len(t, ends, 32)
	l.run(exitOK, "ship")

	want, paid := map[string]*account{}, map[string]bool{}
	for id := range ends {
		entries := l.recorded(id)
		want[id] = sumsOf(entries)
		for _, e := range entries {
			if e.NodeType == echo.NodeModelCall {
				paid[e.At.String()+e.Key.String()] = true // a copy has both of the call that it is of
			}
		}
	}
	requireKinds(t, want)
	calls := 0
	for _, s := range want {
		calls += s.calls + s.embeddings
	}
	require.Len(t, paid, calls, "each call that was paid for is in one session")
	for id, p := range ends {
		if id != "killed" { // which has said nothing
			requireEnd(t, want[id], p)
		}
	}
	l.requireReports(want, true)
	s := l.serve()
	s.requireSessions(want)
	require.NoError(t, os.Rename(filepath.Join(l.home, "sessions"), filepath.Join(l.dir, "away")))
	l.requireReports(want, false)
	s.requireSessions(want)
	s.stop(exitOK)
	require.NoError(t, os.RemoveAll(filepath.Join(l.home, "sessions"))) // an empty folder, if any
	require.NoError(t, os.Rename(filepath.Join(l.dir, "away"), filepath.Join(l.home, "sessions")))
}

// twentySession is a session, by the commands that make it and their exit codes, 0 for those that
// have none here.
type twentySession struct {
	id       string
	commands [][]string
	codes    []int
}

func ran(id, file, model string, more ...string) []string {
	args := []string{"run", file, "--session", id}
	if model != "" {
		args = append(args, "--model", model)
	}
	return append(args, more...)
}

var twentySessions = []twentySession{
	{"priced", [][]string{ran("priced", "ask.json", "gpt-5-mini")}, nil},
	{"unpriced", [][]string{ran("unpriced", "ask.json", "plain")}, nil},
	{"mixed", [][]string{ran("mixed", "two.json", "gpt-5-mini", "--model", "second=plain")}, nil},
	{"tools", [][]string{ran("tools", "read.json", "gpt-5-mini")}, nil},
	{"script", [][]string{ran("script", "odd.json", "", "--offline")}, nil},
	{"no-model", [][]string{ran("no-model", "plainly.json", "")}, nil},
	{"retried", [][]string{ran("retried", "ask.json", "limited-once")}, nil},
	{"refused", [][]string{ran("refused", "ask.json", "limited")}, []int{exitProvider}},
	{"broken", [][]string{ran("broken", "ask.json", "cut")}, []int{exitProvider}},
	{"attempts", [][]string{ran("attempts", "never.json", "gpt-5-mini")}, []int{exitFailed}},
	{"judged", [][]string{ran("judged", "judged.json", "gpt-5-mini")}, nil},
	{"again", [][]string{ran("again", "ask.json", "fails-once"), {"resume", "again"}}, []int{exitProvider}},
	{"again-unknown", [][]string{ran("again-unknown", "two.json", "gpt-5-mini", "--model", "second=cut-first"), {"resume", "again-unknown"}}, []int{exitProvider}},
	{"stopped", [][]string{ran("stopped", "two.json", "gpt-5-mini", "--max-tokens", "1245"), {"resume", "stopped", "--max-tokens", "0"}}, []int{exitBudget}},
	{"fork", [][]string{{"resume", "tools", "--fork", "9", "--session", "fork"}}, nil},
	{"guarded", [][]string{ran("guarded", "reading.json", "tight")}, nil},
	{"guarded-unpriced", [][]string{ran("guarded-unpriced", "reading.json", "tight-unpriced")}, nil},
	{"recounted", [][]string{ran("recounted", "probing.json", "tight-probed")}, nil},
	{"learned", [][]string{ran("learned", "reading.json", "tight-unknown")}, nil},
	{"cards", [][]string{ran("cards", "review.json", "priced")}, nil},
	{"cards-refused", [][]string{ran("cards-refused", "review-refused.json", "priced")}, nil},
	{"twice", [][]string{ran("twice", "circle.json", "circling")}, nil},
	{"twice-unpriced", [][]string{ran("twice-unpriced", "circle.json", "circling-unpriced")}, nil},
	{"twice-mixed", [][]string{ran("twice-mixed", "circle.json", "circling", "--model", "end=circling-unpriced")}, nil},
	{"twice-again", [][]string{ran("twice-again", "circle.json", "circling-fails"), {"resume", "twice-again"}}, []int{exitProvider}},
}

// twentyForks are made once the others are there, each after an entry of one: amid the calls of a
// visit for which something was selected, of a fork, with cards, and with costs that are unknown.
var twentyForks = []struct{ id, of, after string }{
	{"twice-fork", "twice", "report/attempt1/turn1/model"},
	{"twice-fork-fork", "twice-fork", "report~2/attempt1/turn1/model"},
	{"cards-fork", "cards", "report/start"},
	{"cards-fork-late", "cards", "report/attempt1/turn1/model"},
	{"mixed-fork", "mixed", "second/attempt1/turn1/model"},
	{"again-fork", "twice-again", "report/attempt1/turn1/model"},
}

// twentyLab has the cascades, and models with a price, without one, and with a small window.
func twentyLab(t *testing.T) *lab {
	t.Helper()
	l := embeddedLab(t)
	tight := map[string]*tightProvider{}
	for _, model := range []string{"tight", "tight-unpriced", "tight-probed", "tight-unknown"} {
		tight[model] = &tightProvider{window: 6000, work: talkingParts(20)}
	}
	var asked sync.Map
	circles := &circling{}
	p := llmtest.Start(llmtest.Config{Key: testKey, Embed: embed, Answer: func(r llmtest.Request) *llmtest.Answer {
		if p := tight[r.Model]; p != nil {
			return p.answer(r)
		}
		if strings.HasPrefix(r.Model, "circling") {
			return circles.answer(r)
		}
		_, again := asked.LoadOrStore(r.Model, true)
		switch {
		case r.Model == "fails-once" && !again:
			return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusUnauthorized, Message: "who?"}}
		case r.Model == "cut-first" && !again:
			return &llmtest.Answer{Text: "Half of it.", Usage: usage, Fault: llmtest.Fault{ResetAt: llmtest.AtMiddle}}
		}
		return answer(r, !again)
	}})
	t.Cleanup(p.Close)
	l.provider = p
	l.env = append(l.env, "OPENAI_BASE_URL="+p.URL, "WINDLASS_EMBEDDING_MODEL=vectors")
	const small = `"context_window": 6000, "max_output_tokens": 500, "max_retries": 0`
	l.file("windlass.json", `{"models": {"*": {"max_retries": 0}, "limited-once": {"max_retries": 1, "price": {"input": 1, "output": 2}},
		"fails-once": {"price": {"input": 3, "output": 7}}, "cut-first": {"max_retries": 0, "price": {"input": 5, "output": 6}}, "priced": {"price": {"input": 0.7, "cached_input": 0.07, "output": 1.1}},
		"summer": {"price": {"input": 10, "output": 13}}, "vectors": {"price": {"input": 0.3, "output": 0}},
		"tight": {"price": {"input": 1.3, "cached_input": 0.13, "output": 2.1}, `+small+`}, "tight-unpriced": {`+small+`},
		"tight-probed": {"price": {"input": 1.7, "output": 2.3}, `+small+`},
		"tight-unknown": {"price": {"input": 1.9, "output": 2.9}},
		"circling": {"price": {"input": 2.3, "cached_input": 0.23, "output": 3.1}}, "circling-fails": {"price": {"input": 3.7, "output": 4.1}}}}`)
	for name, text := range recorded {
		if strings.HasPrefix(name, "windlass") {
			continue
		}
		l.file(name, text)
	}
	for name, text := range map[string]string{
		"two.json":     `{"cascade_id": "two", "phases": [{"name": "begin", "instructions": "x"}, {"name": "second", "instructions": "y: {{ outputs.begin }}"}]}`,
		"plainly.json": `{"cascade_id": "plainly", "tools": [{"tool_id": "make", "type": "shell", "command": "echo made"}], "phases": [{"name": "prepare", "tool": "make"}]}`,
		"never.json": `{"cascade_id": "never", "phases": [{"name": "one", "instructions": "x",
			"rules": {"max_attempts": 3, "loop_until": "regex:never said"}}]}`,
		"judged.json": `{"cascade_id": "judged", "validators": {"fair": {"instructions": "Is it fair?"}},
			"phases": [{"name": "one", "instructions": "x", "rules": {"loop_until": "fair"}}]}`,
		"reading.json": readingCascade("", ""),
		"probing.json": readingCascade("", `"intra_context": {"enabled": false, "guard": {"recount": "probe"}},`),
		"review.json":  reviewCascade("review", "summer"), "review-refused.json": reviewCascade("review-refused", "limited"),
		"circle.json":  circleCascade,
		"hanging.json": `{"cascade_id": "hanging", "phases": [{"name": "one", "instructions": "x"}, {"name": "two", "model": "hangs", "instructions": "y"}]}`,
	} {
		l.file(name, text)
	}
	for n := range 20 {
		l.file(fmt.Sprintf("part%d.txt", n), words(n, 300))
	}
	return l
}

// reviewCascade selects by meaning, with cards by a model.
func reviewCascade(id, cardModel string) string {
	long := strings.Repeat("Look at the pump, its seal and its valve. ", 10)
	return fmt.Sprintf(`{"cascade_id": %q, "auto_context": {"inter_phase": {"card_model": %q}},
		"phases": [{"name": "read", "instructions": %q}, {"name": "report", "instructions": "What of the seal?",
		"context": {"mode": "auto", "anchors": {"window": 1, "include": []}, "selection": {"strategy": "semantic"}}}]}`, id, cardModel, long)
}

// circleCascade gathers and reports twice, each time with what is selected of before.
var circleCascade = fmt.Sprintf(`{"cascade_id": "circle", "phases": [
	{"name": "gather", "instructions": "Gather. %s", "handoffs": ["report"]},
	{"name": "report", "instructions": "Report on the seal.", "handoffs": ["gather", "end"],
		"context": {"mode": "auto", "anchors": {"window": 1, "include": []}, "selection": {"strategy": "heuristic", "max_tokens": 200}}},
	{"name": "end", "instructions": "End.", "context": {"mode": "auto", "anchors": {"window": 1}, "selection": {"strategy": "heuristic"}}}]}`,
	strings.Repeat("Look at the pump, its seal and its valve. ", 20))

// circling is a model that has every second report followed by another round. A report of the one
// that fails is refused once.
type circling struct {
	mu      sync.Mutex // guards what follows
	reports int
	failed  bool
}

func (c *circling) answer(r llmtest.Request) *llmtest.Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &llmtest.Answer{Text: strings.Repeat("The seal of the pump leaks, and so does the valve. ", 12), Usage: usage}
	last := r.Messages[len(r.Messages)-1].Text()
	switch asked := strings.HasPrefix(last, "Report on the seal."); {
	case asked && r.Model == "circling-fails" && !c.failed:
		c.failed = true
		a.Fault = llmtest.Fault{Status: http.StatusUnauthorized, Message: "who?"}
	case asked:
		target := []string{"gather", "end"}[c.reports%2]
		c.reports++
		a.Text, a.Calls = "On.", []llmtest.Call{{ID: "c1", Name: "route_to", Arguments: `{"target": "` + target + `"}`}}
	}
	return a
}

// forked makes a session of another one up to an entry, by its key.
func (l *lab) forked(id, of, after string) *process {
	l.t.Helper()
	for _, e := range l.recorded(of) {
		if e.Key.String() == after && e.Error == nil {
			return l.run(exitOK, "resume", of, "--fork", fmt.Sprint(e.Seq), "--session", id, "--json")
		}
	}
	require.Fail(l.t, "session "+of+" has no "+after)
	return nil
}

// killed makes a session whose process dies in its second phase.
func (l *lab) killed(id string) *process {
	l.t.Helper()
	asked := len(l.provider.Requests())
	p := l.start("run", "hanging.json", "--session", id, "--model", "gpt-5-mini")
	until(l.t, "the second phase asks", func() bool { return len(l.provider.Requests()) == asked+2 })
	require.NoError(l.t, p.Process.Kill())
	p.wait()
	return p
}

// requireKinds demands that the sessions have what they are for.
func requireKinds(t *testing.T, all map[string]*account) {
	t.Helper()
	for id, has := range map[string]func(s *account) bool{
		"mixed":            func(s *account) bool { return s.unknown == 1 && *s.usd > 0 },
		"unpriced":         func(s *account) bool { return s.unknown == 1 && s.usd == nil },
		"no-model":         func(s *account) bool { return s.calls == 0 && *s.usd == 0 },
		"script":           func(s *account) bool { return s.scripted == 1 },
		"refused":          func(s *account) bool { return s.failed == 1 && *s.usd == 0 },
		"broken":           func(s *account) bool { return s.failed == 1 && s.usd == nil },
		"attempts":         func(s *account) bool { return s.calls == 3 },
		"judged":           func(s *account) bool { return s.calls == 2 },
		"again":            func(s *account) bool { return s.calls == 2 && s.failed == 1 },
		"again-unknown":    func(s *account) bool { return s.calls == 3 && s.failed == 1 && s.unknown == 1 },
		"stopped":          func(s *account) bool { return s.calls == 2 && s.phases == 2 },
		"fork":             func(s *account) bool { return s.calls > 0 && s.copied.calls > 0 },
		"twice":            func(s *account) bool { return s.between.selections == 3 && *s.between.usd > 0 && s.phases == 5 },
		"twice-unpriced":   func(s *account) bool { return s.between.selections == 3 && s.between.usd == nil },
		"twice-mixed":      func(s *account) bool { return s.between.unpriced == 1 && *s.between.usd > 0 },
		"twice-again":      func(s *account) bool { return s.failed == 1 && s.between.selections == 3 },
		"twice-fork":       func(s *account) bool { return s.between.after > 0 && s.copied.from == "twice" && *s.copied.usd > 0 },
		"twice-fork-fork":  func(s *account) bool { return s.copied.from == "twice-fork" && s.copied.calls > 3 },
		"cards-fork":       func(s *account) bool { return s.copied.calls > 0 && s.between.selections == 1 && s.cards > 0 },
		"cards-fork-late":  func(s *account) bool { return s.copied.calls > 5 && s.copied.upto > 20 },
		"mixed-fork":       func(s *account) bool { return s.calls == 0 && s.copied.unknown == 1 && *s.usd == 0 },
		"again-fork":       func(s *account) bool { return s.failed == 0 && s.copied.calls == 3 },
		"guarded":          func(s *account) bool { return s.guard > 0 && *s.guardUSD > 0 && s.sent < s.full },
		"guarded-unpriced": func(s *account) bool { return s.guard > 0 && s.guardUSD == nil && s.unpriced > 0 },
		"recounted":        func(s *account) bool { return s.guard > 0 },
		"learned":          func(s *account) bool { return s.failed > 0 },
		"cards":            func(s *account) bool { return s.embeddings > 0 && s.cards > 0 && *s.usd > 0 },
		"cards-refused":    func(s *account) bool { return s.embeddings > 0 && s.failed > 0 },
		"killed":           func(s *account) bool { return s.calls == 1 && s.phases == 2 },
	} {
		require.True(t, has(all[id]), "%s: %+v", id, all[id])
	}
}
