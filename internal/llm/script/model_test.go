package script_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/llm/script"
)

func play(t *testing.T, src string) *script.Model {
	t.Helper()
	s, err := script.Parse("x.script.json", []byte(src))
	require.NoError(t, err)
	return script.NewModel(s)
}

func at(phase string, attempt, turn int, msgs ...*echo.Message) *effect.ModelRequest {
	if len(msgs) == 0 {
		msgs = []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, "the task")}
	}
	return &effect.ModelRequest{Site: effect.Site{Phase: phase, Attempt: attempt, Turn: turn}, Model: "gpt-5-mini", Messages: msgs}
}

var list = []effect.ToolSpec{{Name: "list_files", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "read_file", Parameters: json.RawMessage(`{"type":"object"}`)}}

// A conversation: a call, its real result, an answer over it.
func TestPlay(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"survey": [
		{"text": "I look.", "calls": [{"tool": "list_files", "arguments": {"path": "{{ input }}", "depth": 2, "deep": [true, "{{ phase }}"]}}]},
		{"text": "{{ results[0].name }} found {{ results[0].lines | length }} files, first {{ results[0].lines[0] }}, asked {{ results[0].arguments.depth }}"}
	]}}`)
	req := at("survey", 1, 1)
	req.Tools = list
	var told []effect.Delta
	req.OnDelta = func(d effect.Delta) { told = append(told, d) }
	resp, err := m.Complete(t.Context(), req)
	require.NoError(t, err)
	require.True(t, resp.Scripted)
	require.Equal(t, "scripted", resp.Provider)
	require.Equal(t, "scripted:gpt-5-mini", resp.Model)
	require.Equal(t, "tool_calls", resp.FinishReason)
	require.Zero(t, *resp.CostUSD)
	require.Equal(t, []effect.Delta{{Text: "I look."}, {ToolCall: "list_files"}}, told)
	call := resp.Message.ToolCalls()[0]
	require.JSONEq(t, `{"path": "the task", "depth": 2, "deep": [true, "survey"]}`, call.Arguments)
	require.NotEmpty(t, call.ID)

	next := at("survey", 1, 2, req.Messages[0], resp.Message, echo.NewToolResult(call, echo.Text("{{ 1 + 1 }}\nb.go\n"), false))
	next.Tools = list
	second, err := m.Complete(t.Context(), next)
	require.NoError(t, err)
	require.Equal(t, "list_files found 2 files, first {{ 1 + 1 }}, asked 2", second.Message.Text(), "a result is never read as a template")
	require.Equal(t, "stop", second.FinishReason)
	require.Equal(t, int64(0), resp.Usage.Cached)
	require.Positive(t, second.Usage.Cached)
	require.Less(t, second.Usage.Cached, second.Usage.In)
	require.Greater(t, second.Usage.In, resp.Usage.In)
}

// Without native tools calls are JSON blocks, and results are user messages.
func TestPrompted(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"p": [
		{"text": "Now.", "calls": [{"tool": "list_files", "arguments": {"path": "."}}]},
		{"text": "{{ results[0].name }}: {{ results[0].text }} failed={{ results[0].failed }}"}]}}`)
	system := echo.NewText(echo.RoleSystem, echo.KindSystem, "You can use tools.\nTool list_files: lists.")
	task := echo.NewText(echo.RoleUser, echo.KindTask, "go")
	req := at("p", 1, 1, system, task)
	req.Prompted = true
	resp, err := m.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "Now.\n```json\n{\"tool\": \"list_files\", \"arguments\": {\"path\":\".\"}}\n```", resp.Message.Text())
	require.Empty(t, resp.Message.ToolCalls())

	result := echo.NewText(echo.RoleUser, echo.KindToolResult, "Tool error of list_files (call_1_1_1):\nno such folder")
	req = at("p", 1, 2, system, task, resp.Message, result)
	req.Prompted = true
	resp, err = m.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "list_files: no such folder failed=true", resp.Message.Text())
}

func TestAttemptsTurnsAndValidators(t *testing.T) {
	t.Parallel()
	m := play(t, `{
		"phases": {
			"fix": {"attempts": [[{"text": "first"}], [{"text": "second"}, {"text": "more {{ turn }}", "repeat": true}]], "repeat": true},
			"once": [{"text": "only"}]},
		"validators": {"ok": [{"text": "no {{ attempt }}"}, [{"text": "early"}, {"text": "late"}], {"text": "yes", "repeat": true}]},
		"default": [{"text": "anything in {{ phase }}"}]}`)
	tests := []struct {
		phase, validator string
		attempt, turn    int
		want             string
	}{
		{"fix", "", 1, 1, "first"},
		{"fix", "", 2, 1, "second"},
		{"fix", "", 2, 7, "more 7"},
		{"fix", "", 5, 1, "second"},
		{"once", "", 1, 1, "only"},
		{"other", "", 1, 1, "anything in other"},
		{"fix", "ok", 1, 1, "no 1"},
		{"fix", "ok", 1, 9, "no 1"},
		{"fix", "ok", 2, 1, "early"},
		{"fix", "ok", 2, 2, "late"},
		{"fix", "ok", 8, 1, "yes"},
	}
	for _, tt := range tests {
		req := at(tt.phase, tt.attempt, tt.turn)
		req.Site.Validator = tt.validator
		resp, err := m.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, tt.want, resp.Message.Text())
	}
}

// What the guard of a phase's context asks is answered apart from the phase's own turns.
func TestSummariesAndRecounts(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"p": [{"text": "turn one"}]}, "summaries": {"p": {"text": "notes of {{ phase }}, {{ attempt }}/{{ turn }}"}}}`)
	ask := func(phase string, purpose echo.Purpose) (*effect.ModelResponse, error) {
		req := at(phase, 2, 7)
		req.Site.Purpose = purpose
		return m.Complete(t.Context(), req)
	}
	resp, err := ask("p", echo.PurposeSummary)
	require.NoError(t, err)
	require.Equal(t, "notes of p, 2/7", resp.Message.Text())
	_, err = ask("q", echo.PurposeSummary)
	require.ErrorContains(t, err, `x.script.json has no summary for phase "q" (summary in phase "q", attempt 2, turn 7)`)
	resp, err = ask("p", echo.PurposeRecount)
	require.NoError(t, err)
	require.True(t, resp.Usage.Estimated, "a script counts nothing that could teach anything")
}

func TestSelections(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"p": [{"text": "turn one"}]}, "selections": {"p": {"text": "{\"ids\": [\"m1\"]}", "expect": {"contains": ["crane"]}}}}`)
	ask := func(phase, menu string) (*effect.ModelResponse, error) {
		req := at(phase, 0, 0)
		req.Site.Purpose = echo.PurposeSelect
		req.Messages = []*echo.Message{echo.NewText(echo.RoleUser, echo.KindTask, menu)}
		return m.Complete(t.Context(), req)
	}
	resp, err := ask("p", "m1 | the crane")
	require.NoError(t, err)
	require.Equal(t, `{"ids": ["m1"]}`, resp.Message.Text())
	_, err = ask("p", "m1 | cows")
	require.ErrorContains(t, err, `expects "crane" in the last message`)
	_, err = ask("q", "m1 | the crane")
	require.ErrorContains(t, err, `x.script.json has no selection for phase "q" (select in phase "q", attempt 0, turn 0)`)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	src := `{"phases": {
		"p": [{"text": "x"}],
		"calls": [{"calls": [{"tool": "list_files"}]}],
		"expects": [{"text": "x", "expect": {"contains": ["apples"]}}],
		"matches": [{"text": "x", "expect": {"matches": ["^[a-c]+$"]}}],
		"tools": [{"text": "x", "expect": {"tools": ["drill"]}}],
		"missing": [{"text": "{{ results[3].text }}"}]}}`
	user := echo.NewText(echo.RoleUser, echo.KindTask, "pears")
	tests := map[string]struct {
		req  *effect.ModelRequest
		kind echo.ModelErrorKind
		text string
	}{
		"no such phase":    {at("q", 1, 1), echo.ModelErrScript, `x.script.json has no answers for phase "q" (phase "q", attempt 1, turn 1)`},
		"no more turns":    {at("p", 1, 2), echo.ModelErrScript, `x.script.json ends after turn 1 of attempt 1 (phase "p", attempt 1, turn 2)`},
		"no more attempts": {at("p", 2, 1), echo.ModelErrScript, `x.script.json ends after attempt 1 (phase "p", attempt 2, turn 1)`},
		"not offered":      {at("calls", 1, 1), echo.ModelErrScript, `x.script.json calls "list_files", which is not offered (no tools are declared)`},
		"contains":         {at("expects", 1, 1, user), echo.ModelErrScript, `x.script.json expects "apples" in the last message, which is "pears"`},
		"matches":          {at("matches", 1, 1, user), echo.ModelErrScript, `x.script.json expects a match of ^[a-c]+$ in the last message, which is "pears"`},
		"tools":            {at("tools", 1, 1), echo.ModelErrScript, `x.script.json expects the tool "drill", which is not offered`},
		"missing value":    {at("missing", 1, 1), echo.ModelErrScript, `x.script.json: template "{{ results[3].text }}"`},
		"orphan result": {
			at("p", 1, 1, user, echo.NewToolResult(echo.ToolCall{ID: "c", Name: "n"}, echo.Text("r"), false)), echo.ModelErrBadRequest,
			`message 2 is the result of call "c", which the assistant message before it did not make`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := play(t, src).Complete(t.Context(), tt.req)
			var me *effect.ModelError
			require.ErrorAs(t, err, &me)
			require.Equal(t, tt.kind, me.Kind)
			require.Equal(t, "scripted", me.Provider)
			require.Contains(t, me.Message, tt.text)
		})
	}
	t.Run("calls when only text is possible", func(t *testing.T) {
		t.Parallel()
		req := at("calls", 1, 1)
		req.Tools, req.NoToolCalls = list, true
		_, err := play(t, src).Complete(t.Context(), req)
		require.ErrorContains(t, err, `x.script.json calls "list_files", but only an answer in text is possible now`)
	})
}

func TestScriptedFailureAndUsage(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {
		"a": [{"fail": {"kind": "rate_limited", "message": "slow down"}}],
		"b": [{"text": "x", "usage": {"in": 100, "cached": 40, "out": 7}, "finish_reason": "length"}],
		"c": [{"calls": [{"tool": "list_files", "arguments_raw": "{broken"}]}]}}`)
	_, err := m.Complete(t.Context(), at("a", 1, 1))
	var me *effect.ModelError
	require.ErrorAs(t, err, &me)
	require.Equal(t, echo.ModelErrRateLimited, me.Kind)
	require.Equal(t, 429, me.Status)
	resp, err := m.Complete(t.Context(), at("b", 1, 1))
	require.NoError(t, err)
	require.Equal(t, echo.Usage{In: 100, Cached: 40, Out: 7, Estimated: true}, resp.Usage)
	require.Equal(t, "length", resp.FinishReason)
	req := at("c", 1, 1)
	req.Tools = list
	resp, err = m.Complete(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, "{broken", resp.Message.ToolCalls()[0].Arguments)
}

func TestParseProblems(t *testing.T) {
	t.Parallel()
	src := `{
  "phase": {},
  "phases": {
    "a": [{"texts": "x"}, {"repeat": true, "text": "{{ open"}],
    "b": {"attempts": []},
    "c": [{}],
    "d": [{"text": "x", "fail": {"kind": "nonsense"}}],
    "e": [{"calls": [{"arguments": "x"}], "finish_reason": "done"}],
    "f": [{"text": "x", "repeat": true}, {"text": "y", "usage": {"in": 1, "cached": 2, "out": 0}}],
    "g": [{"text": "x", "expect": {"matches": ["("]}, "delay_ms": 99999999}],
    "h": [{"fail": {"kind": "server", "model": "m"}}]
  }
}`
	_, err := script.Parse("s.json", []byte(src))
	require.Error(t, err)
	for _, want := range []string{
		`s.json:2:3: unknown key "phase" in the script (did you mean "phases"?)`,
		`s.json:4:12: unknown key "texts" in a turn (did you mean "text"?)`,
		`s.json:4:52: text is not a valid template`,
		`s.json:5:10: a phase that is an object needs attempts (as in {"attempts": [[{"text": "..."}]]})`,
		`s.json:6:11: a turn needs text, calls or fail`,
		`s.json:7:11: a turn either answers or fails`,
		`s.json:7:33: unknown kind of failure "nonsense" (one of auth, bad_request, bad_response, config, context_length, network, quota, rate_limited, server, timeout, unknown_endpoint, unknown_model)`,
		`s.json:8:22: a call needs the name of a tool`,
		`s.json:8:36: arguments must be an object (text that is not an object goes into arguments_raw)`,
		`s.json:8:60: unknown finish_reason "done"`,
		`s.json:9:11: only the last turn of a list can repeat`,
		`s.json:9:65: cached tokens are a part of in, reasoning tokens a part of out`,
		`s.json:10:48: not a valid regular expression`,
		`s.json:10:67: delay_ms must be at most 60000`,
		`s.json:11:11: a turn that fails for one model answers the others: it needs text or calls`,
	} {
		require.Contains(t, err.Error(), want)
	}
	require.NotContains(t, err.Error(), "s.json:4:11", "one mistake is one problem")
}

func TestFindAndYAML(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := script.Find(filepath.Join(dir, "x.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "x.script.json and .yaml")
	path := filepath.Join(dir, "x.script.yaml")
	require.NoError(t, os.WriteFile(path, []byte("phases:\n  p:\n    - text: \"hi {{ attempt }}\"\n"), 0o600))
	found, err := script.Find(filepath.Join(dir, "x.json"))
	require.NoError(t, err)
	require.Equal(t, path, found)
	s, err := script.Load(found)
	require.NoError(t, err)
	resp, err := script.NewModel(s).Complete(t.Context(), at("p", 1, 1))
	require.NoError(t, err)
	require.Equal(t, "hi 1", resp.Message.Text())
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"phases": {"p": [{"text": "{{ results[0].text }}", "calls": [{"tool": "t", "arguments": {"a": ["x"]}}]}]}}`))
	f.Add([]byte(`{"validators": {"v": [{"text": "x"}, [{"fail": {"kind": "server"}}]]}, "default": {"attempts": [[{"text": ""}]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := script.Parse("f.json", data)
		if err != nil {
			return
		}
		for _, phase := range append(s.Phases(), "other") {
			req := at(phase, 1, 1)
			req.Tools = list
			// Whatever a script says, it answers or says why not; it never panics.
			if resp, err := script.NewModel(s).Complete(t.Context(), req); err == nil && resp.Message == nil {
				t.Fatal("an answer without a message")
			}
		}
	})
}

// A phase that a route leads back to can have answers of its own for each visit.
func TestVisits(t *testing.T) {
	t.Parallel()
	m := play(t, `{"phases": {"draft": [{"text": "first"}], "draft~2": [{"text": "second"}]}}`)
	for visit, want := range map[int]string{1: "first", 2: "second", 3: "first"} {
		req := at("draft", 1, 1)
		req.Site.Visit = visit
		resp, err := m.Complete(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.Message.Text())
	}
}
