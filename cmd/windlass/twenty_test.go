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
	require.Len(t, ends, 22)
	l.run(exitOK, "ship")

	want := map[string]*account{}
	for id := range ends {
		want[id] = sumsOf(l.recorded(id))
	}
	requireKinds(t, want)
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
	p := llmtest.Start(llmtest.Config{Key: testKey, Embed: embed, Answer: func(r llmtest.Request) *llmtest.Answer {
		if p := tight[r.Model]; p != nil {
			return p.answer(r)
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
		"tight-unknown": {"price": {"input": 1.9, "output": 2.9}}}}`)
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
		"fork":             func(s *account) bool { return s.calls > 0 },
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
