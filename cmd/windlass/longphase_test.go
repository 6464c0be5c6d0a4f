package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// tightProvider is a strict provider whose model has a small window. It counts tokens in its own
// way, says how many there were, and refuses a request that leaves the answer no room.
type tightProvider struct {
	window  int // 0: none
	work    func(turn int, r llmtest.Request) *llmtest.Answer
	notes   func() *llmtest.Answer // answers requests for a summary; nil: with a text
	counter *llm.Counter           // of the model's own tokenizer; nil: it has another one

	mu      sync.Mutex
	turns   int
	sent    int // tokens of the phase's own requests
	most    int // of the largest of them
	notesOf int // requests for a summary
	toolong int // requests refused as too long
}

const answerRoom = 100

// tokens counts a request as the provider does.
func (p *tightProvider) tokens(r llmtest.Request) int {
	if p.counter == nil {
		return len(r.Raw) * 10 / 36 // one for 3.6 bytes, unlike any count made elsewhere
	}
	n := int64(0)
	for i := range r.Messages {
		m := &r.Messages[i]
		n += 4 + p.counter.Text(m.Text())
		for _, c := range m.ToolCalls {
			n += 8 + p.counter.Text(c.Name) + p.counter.Text(c.Arguments)
		}
	}
	return int(n)
}

func (p *tightProvider) answer(r llmtest.Request) *llmtest.Answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.tokens(r)
	if p.window > 0 && n+answerRoom > p.window {
		p.toolong++
		return &llmtest.Answer{Fault: llmtest.Fault{
			Status: http.StatusBadRequest, Code: "context_length_exceeded",
			Message: fmt.Sprintf("This model's maximum context length is %d tokens. Your messages resulted in %d tokens.", p.window, n),
		}}
	}
	var a *llmtest.Answer
	if strings.HasPrefix(r.Messages[0].Text(), "You write the working notes") {
		p.notesOf++
		a = &llmtest.Answer{Text: "1. Goals: read everything.\n8. Next: go on reading."}
		if p.notes != nil {
			a = p.notes()
		}
	} else {
		p.turns++
		p.sent += n
		p.most = max(p.most, n)
		a = p.work(p.turns, r)
	}
	a.Usage = map[string]any{"prompt_tokens": n, "completion_tokens": 20, "total_tokens": n + 20}
	return a
}

// words returns a text of about n characters that is different for every seed: plain prose, a word
// is about a token.
func words(seed, n int) string {
	vocabulary := strings.Fields("the report says that every river in valley was high last spring while farmers moved their sheep to " +
		"upper meadows and waited for rain which came late but stayed long so harvest began only when autumn winds had dried field")
	var b strings.Builder
	for i, r := 0, uint32(seed)*2654435761+1; b.Len() < n; i++ {
		r = r*1664525 + 1013904223
		b.WriteString(vocabulary[int(r>>16)%len(vocabulary)])
		b.WriteString(map[bool]string{true: ".\n", false: " "}[i%12 == 11])
	}
	return b.String()[:n]
}

// readPart is a call that reads a part. The tool is one of windlass' own: one that starts a program in a sandbox costs twenty
// times as much, and other tests are about those.
func readPart(id, n int) llmtest.Call {
	return llmtest.Call{ID: fmt.Sprintf("call_%d", id), Name: "read_file", Arguments: fmt.Sprintf(`{"path": "part%d.txt"}`, n)}
}

// readParts answers with calls that read a part, so many a turn, until it has read them all.
func readParts(turns, each int) func(int, llmtest.Request) *llmtest.Answer {
	return func(turn int, _ llmtest.Request) *llmtest.Answer {
		if turn > turns {
			return &llmtest.Answer{Text: "All is read."}
		}
		a := &llmtest.Answer{}
		for i := range each {
			n := (turn-1)*each + i
			a.Calls = append(a.Calls, readPart(n, n))
		}
		return a
	}
}

// tightLab is a lab with such a provider, some parts to read, and a configuration of models.
func tightLab(t *testing.T, p *tightProvider, models string, parts, size int) *lab {
	t.Helper()
	l := newLab(t, "")
	server := llmtest.Start(llmtest.Config{Key: testKey, Answer: p.answer})
	t.Cleanup(func() {
		server.Close()
		require.NoError(t, server.Refused(), "no request is ever invalid")
	})
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	l.file("windlass.json", `{"models": {`+models+`}}`)
	for n := range parts {
		l.file(fmt.Sprintf("part%d.txt", n), words(n, size))
	}
	return l
}

// readingCascade reads parts in one phase; settings are further members of the cascade and of the
// phase.
func readingCascade(cascadeSettings, phaseSettings string) string {
	return fmt.Sprintf(`{"cascade_id": "reading", %s
		"phases": [{"name": "read", "instructions": "Read all parts and say when you are done.", "tackle": ["read_file"], %s "rules": {"max_turns": 100}}]}`,
		cascadeSettings, phaseSettings)
}

func (l *lab) reading(code int, cascade string, args ...string) *process {
	l.file("reading.json", cascade)
	return l.run(code, append([]string{"run", "reading.json", "--no-clickhouse", "--session", "long"}, args...)...)
}

// entries returns the entries of the lab's session.
func (l *lab) entries() []*echo.Entry {
	l.t.Helper()
	rec, err := journal.Read(filepath.Join(config.SessionDir(l.home, "long"), "journal.jsonl"))
	require.NoError(l.t, err)
	return rec.Entries
}

// A phase that reads far more than its model can take completes: the guard makes room before the
// provider has to refuse.
func TestPhaseOutgrowsTheWindow(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ model, settings string }{
		"counted by length":           {"tight", ""},
		"counted by a tokenizer":      {"gpt-5-mini", ""},
		"counted by the provider":     {"tight", `"intra_context": {"enabled": false, "guard": {"recount": "probe"}},`},
		"with a policy":               {"tight", `"intra_context": {},`},
		"tools described in the text": {"tight", `"use_native_tools": false,`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &tightProvider{window: 6000, work: readParts(40, 2)}
			if strings.Contains(tc.settings, "use_native_tools") {
				p.work = inBlocks(p.work)
			}
			if tc.model == "gpt-5-mini" {
				p.counter = llm.NewCounter(tc.model)
			}
			// The results of a turn are smaller than what is between where the guard looks closer and the window, so that the
			// provider can always count.
			l := tightLab(t, p, `"*": {"context_window": 6000, "max_output_tokens": 500}`, 80, 1300)
			run := l.reading(exitOK, readingCascade("", tc.settings), "--model", tc.model)
			require.Contains(t, run.out.String(), "All is read.")
			require.Zero(t, p.toolong, run.err.String())
			require.Greater(t, p.most, 3000, "the window is used")
			require.Contains(t, run.err.String(), "made room in the context, ")
			require.Contains(t, run.err.String(), "Context: sent ")
		})
	}
}

// inBlocks writes calls as blocks, as models without tool calling do.
func inBlocks(work func(int, llmtest.Request) *llmtest.Answer) func(int, llmtest.Request) *llmtest.Answer {
	return func(turn int, r llmtest.Request) *llmtest.Answer {
		a := work(turn, r)
		for _, c := range a.Calls {
			a.Text += fmt.Sprintf("\n```json\n{\"tool\": %q, \"arguments\": %s}\n```", c.Name, c.Arguments)
		}
		a.Calls = nil
		return a
	}
}

// talkingParts answers as readParts does, with so much text that masking results is not enough.
func talkingParts(turns int) func(int, llmtest.Request) *llmtest.Answer {
	read := readParts(turns, 1)
	return func(turn int, r llmtest.Request) *llmtest.Answer {
		a := read(turn, r)
		if len(a.Calls) > 0 {
			a.Text = words(1000+turn, 1200)
		}
		return a
	}
}

// A summary is asked for when removing results is not enough; when the model that should write it
// always fails, the phase goes on with what is put together without one.
func TestSummariser(t *testing.T) {
	t.Parallel()
	for name, notes := range map[string]func() *llmtest.Answer{
		"answers": nil,
		"fails": func() *llmtest.Answer {
			return &llmtest.Answer{Fault: llmtest.Fault{Status: http.StatusInternalServerError, Message: "no notes today"}}
		},
		"says nothing": func() *llmtest.Answer { return &llmtest.Answer{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &tightProvider{window: 6000, work: talkingParts(40), notes: notes}
			l := tightLab(t, p, `"*": {"context_window": 6000, "max_output_tokens": 500, "max_retries": 0}`, 40, 300)
			run := l.reading(exitOK, readingCascade("", ""), "--model", "tight")
			require.Contains(t, run.out.String(), "All is read.")
			require.Positive(t, p.notesOf)
			require.Less(t, p.notesOf, 41)
			require.Equal(t, notes != nil, strings.Contains(run.err.String(), "tight gave no summary of the older messages"), run.err.String())
			require.Contains(t, run.err.String(), "older messages were summed up by")
			by := map[bool]int{}
			for _, e := range l.entries() {
				if e.NodeType == echo.NodeMessage && e.Message.Kind() == echo.KindSummary {
					by[strings.Contains(e.Message.Text(), "read everything")]++
				}
			}
			require.Equal(t, notes == nil, by[true] > 0, "%v", by)
			require.Equal(t, notes != nil, by[false] > 0, "%v", by)
		})
	}
}

// Where no limit is known, the provider's refusal is what says it: the request is made smaller and
// sent again.
func TestWindowIsLearnedFromARefusal(t *testing.T) {
	t.Parallel()
	p := &tightProvider{window: 6000, work: readParts(30, 2)}
	l := tightLab(t, p, "", 60, 1500)
	run := l.reading(exitOK, readingCascade("", ""), "--model", "nobody-knows")
	require.Contains(t, run.out.String(), "All is read.")
	require.Positive(t, p.toolong)
	require.Less(t, p.toolong, 5, "what was refused is a limit from then on")
	require.Contains(t, run.err.String(), "warning: the provider refused the request as too long; it is made smaller and sent again")
}

// One message that is larger than the window ends the phase, before anything is paid, with what to
// do.
func TestOneMessageLargerThanTheWindow(t *testing.T) {
	t.Parallel()
	p := &tightProvider{window: 6000, work: readParts(1, 1)}
	l := tightLab(t, p, `"*": {"context_window": 6000, "max_output_tokens": 500}`, 1, 10)
	l.file("input.json", string(mustEncode(t, map[string]string{"text": words(1, 40_000)})))
	source := `{"cascade_id": "reading", "inputs_schema": {"text": "a text"}, "phases": [{"name": "read", "instructions": "Sum this up: {{ input.text }}"}]}`
	run := l.reading(exitFailed, source, "--model", "tight", "--input-file", "input.json")
	require.Zero(t, p.turns)
	require.Regexp(t, `Error: reading/read \(attempt 1, turn 1\): the request has \d+ tokens and may have 5500: nothing more can be left out; `+
		`the largest message is 1 \(user, task\), with \d+ tokens; shorten the instructions or the input, take a model with a larger window, `+
		`or keep less for the answer \(500 of 6000 tokens; max_output_tokens, token_budget.reserve_for_output\)`, run.err.String())
}

func mustEncode(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return b
}

const noCaching = `"*": {"context_window": 400000, "price": {"input": 1, "cached_input": 1, "output": 1}}`

// partSize is the length of a text of words that has 1,500 tokens.
const partSize = 7500

// Fifteen turns with two calls each and 1,500 tokens a result send at least 62 % fewer tokens than
// full history.
func TestFifteenTurnsSendLess(t *testing.T) {
	t.Parallel()
	sent := map[string]int{}
	for name, settings := range map[string]string{"full": "", "policy": `"auto_context": {"intra_phase": {}},`} {
		p := &tightProvider{work: readParts(15, 2), counter: llm.NewCounter("gpt-5-mini")}
		l := tightLab(t, p, noCaching, 30, partSize)
		require.InDelta(t, 1500, p.counter.Text(words(7, partSize)), 50)
		l.reading(exitOK, readingCascade(settings, ""), "--model", "tight")
		require.Equal(t, 16, p.turns)
		sent[name] = p.sent
	}
	t.Logf("full %d, policy %d: %.1f %% fewer", sent["full"], sent["policy"], 100-100*float64(sent["policy"])/float64(sent["full"]))
	require.LessOrEqual(t, float64(sent["policy"]), 0.38*float64(sent["full"]))
}

// Ten failing attempts that each use tools send at least 80 % fewer tokens than full history.
func TestFailingAttemptsSendLess(t *testing.T) {
	t.Parallel()
	sent := map[string]int{}
	for name, settings := range map[string]string{"full": "", "policy": `"auto_context": {"intra_phase": {}},`} {
		turn := 0
		p := &tightProvider{counter: llm.NewCounter("gpt-5-mini"), work: func(_ int, r llmtest.Request) *llmtest.Answer {
			turn++
			if turn%5 == 0 {
				return &llmtest.Answer{Text: fmt.Sprintf("Answer %d: ", turn/5) + words(turn, 800)}
			}
			return &llmtest.Answer{Calls: []llmtest.Call{readPart(turn, turn%5)}}
		}}
		l := tightLab(t, p, noCaching, 5, 4000)
		source := strings.Replace(readingCascade(settings, ""), `"rules": {"max_turns": 100}`,
			`"rules": {"max_attempts": 10, "loop_until": "regex:never said"}`, 1)
		run := l.reading(exitFailed, source, "--model", "tight")
		require.Contains(t, run.err.String(), "no answer passed loop_until regex:never said in 10 attempts")
		require.Equal(t, 50, p.turns)
		require.NotContains(t, run.err.String(), "too eager")
		sent[name] = p.sent
	}
	t.Logf("full %d, policy %d: %.1f %% fewer", sent["full"], sent["policy"], 100-100*float64(sent["policy"])/float64(sent["full"]))
	require.LessOrEqual(t, float64(sent["policy"]), 0.2*float64(sent["full"]))
}

// What a phase with tools did can be brought into a phase without any, as a strict provider refuses
// calls that a request declares no tools for, and into one of another model, as they are unless
// its provider is known to refuse them.
func TestCallsComeInAsText(t *testing.T) {
	t.Parallel()
	p := &tightProvider{work: readParts(1, 2)}
	l := tightLab(t, p, "", 2, 300)
	source := strings.Replace(readingCascade("", ""), `"rules": {"max_turns": 100}}]`, `"rules": {"max_turns": 100}},
		{"name": "plain", "instructions": "Sum up.", "context": {"from": [{"phase": "read", "include": ["messages"]}]}},
		{"name": "other", "model": "another", "tackle": ["read_file"], "instructions": "Check.", "context": {"from": [{"phase": "read", "include": ["messages"]}]}},
		{"name": "picky", "model": "gemini-3-pro", "tackle": ["read_file"], "instructions": "Check.", "context": {"from": [{"phase": "read", "include": ["messages"]}]}},
		{"name": "same", "tackle": ["read_file"], "instructions": "Check again.", "context": {"from": [{"phase": "read", "include": ["messages"]}]}}]`, 1)
	l.reading(exitOK, source, "--model", "tight")
	require.Equal(t, 6, p.turns)
	sent := map[string]string{}
	for _, c := range l.entries() {
		if c.NodeType == echo.NodeSelection {
			for _, s := range c.Selection.Spans {
				sent[c.Phase] += " " + s.Form + " " + s.Reason
			}
		}
	}
	require.Contains(t, sent["plain"], "text no_tools")
	for _, phase := range []string{"other", "same"} {
		require.NotContains(t, sent[phase], "text", phase)
	}
	require.Contains(t, sent["picky"], "text other_model")
}
