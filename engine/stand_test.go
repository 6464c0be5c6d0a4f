package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
)

// lastTexts returns, of each request, the texts of its messages from the last that is no standing one on.
func lastTexts(requests []*effect.ModelRequest) (out [][]string) {
	for _, req := range requests {
		var texts []string
		for i := len(req.Messages) - 1; i >= 0; i-- {
			m := req.Messages[i]
			texts = append([]string{m.Text()}, texts...)
			if !m.Kind().Stands() {
				break
			}
		}
		out = append(out, texts)
	}
	return out
}

const keepsNotes = `{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[
	{"name":"work","instructions":"Work.","tackle":["echo"],"handoffs":["read"]},
	{"name":"read","instructions":"Read.","continuity":{"state_block":false},"handoffs":["none"]},
	{"name":"none","instructions":"None: {{ outputs.read }} {{ state.scratchpad }}","continuity":{"scratchpad":false,"state_block":false}}]}`

func notesAnswers() []answerFunc {
	return []answerFunc{
		call("scratchpad", `{"action":"replace","text":"one"}`, "scratchpad", `{"action":"append","text":"two"}`, "echo", `{}`),
		say("Half.\n### STATE\nGoal: g\nNext: n"),
		say("All.\nSCRATCHPAD: three"),
		say("end"),
	}
}

// The scratchpad and the state block stand at the end of every request, once, in every phase that has them, and what they are
// written in is no part of an answer.
func TestStanding(t *testing.T) {
	t.Parallel()
	b := setup(t, notesAnswers()...)
	b.tools.addEcho("echo")
	res, err := b.run(keepsNotes, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	const pad = "[Your scratchpad, as it is now.]\n\n"
	require.Equal(t, [][]string{
		{"Work."},
		{"echo:{}", pad + "one\ntwo"},
		{"Read.", pad + "one\ntwo"},
		{"None: All. three"},
	}, lastTexts(b.model.requests))
	require.Equal(t, []string{"scratchpad", "echo"}, sortedNames(b.model.requests[0].Tools))
	require.Contains(t, b.model.requests[0].Messages[0].Text(), "You have a scratchpad for this session.")
	require.Contains(t, b.model.requests[0].Messages[0].Text(), `"### STATE"`)
	require.NotContains(t, b.model.requests[2].Messages[0].Text(), `"### STATE"`)
	require.Equal(t, echo.RoleUser, b.model.requests[3].Messages[0].Role(), "no system prompt")
	require.Equal(t, "Half.", res.Phases[0].Output)
	require.Equal(t, "Goal: g\nNext: n", res.State["state_block"])
	require.Equal(t, "three", res.State["scratchpad"])
	for _, req := range b.model.requests {
		for i, m := range req.Messages {
			require.False(t, m.Kind().Stands() && i < len(req.Messages)-2, "only at the end")
		}
	}
}

func sortedNames(specs []effect.ToolSpec) (names []string) {
	for _, s := range specs {
		if s.Name != "recall" {
			names = append([]string{s.Name}, names...)
		}
	}
	return names
}

// What stands survives whatever the guard does, retries and resuming anywhere, and costs the cache only itself.
func TestStandingInLongPhases(t *testing.T) {
	t.Parallel()
	for _, strategy := range []string{"", "sliding_window", "prune_oldest"} {
		var answers []answerFunc
		for n := range 30 {
			answers = append(answers, call("scratchpad", fmt.Sprintf(`{"action":"replace","text":"note %d"}`, n), "big", fmt.Sprintf(`{"n":%d}`, n)))
		}
		b := setup(t, append(answers, say("no\nSCRATCHPAD: tried"), say("end"))...)
		b.tools.add("big", `{"type":"object"}`, func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
			return effect.ToolResult{Parts: echo.Text(string(req.Arguments) + strings.Repeat(" word", 800))}, nil
		})
		b.runner.Facts = func(string) effect.ModelFacts { return effect.ModelFacts{Window: 8000} }
		res, err := b.run(strings.Replace(`{"cascade_id":"c","continuity":{"scratchpad":true},TOKENS
			"auto_context":{"intra_phase":{"guard":{"summarizer_model":"s"}}},"validators":{"good":{"instructions":"?"}},
			"phases":[{"name":"work","instructions":"Work.","tackle":["big"],"rules":{"max_turns":40}}]}`, "TOKENS",
			map[bool]string{true: "", false: `"token_budget":{"max_total":6000,"reserve_for_output":100,"strategy":"` + strategy + `"},`}[strategy == ""], 1), nil)
		require.NoError(t, err, strategy)
		require.Equal(t, "no", res.Output)
		n := -1
		for _, req := range b.model.requests {
			if req.Model == "s" {
				continue
			}
			if n >= 0 {
				last := req.Messages[len(req.Messages)-1]
				require.Equal(t, fmt.Sprintf("[Your scratchpad, as it is now.]\n\nnote %d", n), last.Text())
			}
			n++
		}
		require.Equal(t, 30, n)
	}
}

func TestStandingIsResumed(t *testing.T) {
	t.Parallel()
	b := setup(t, notesAnswers()...)
	b.tools.addEcho("echo")
	_, err := b.run(keepsNotes, nil)
	require.NoError(t, err)
	whole, resumed := b.entries.asRead(t), 0
	for n := 1; n < len(whole); n++ {
		if CheckResumable(whole[:n]) != nil {
			continue
		}
		again := setup(t, notesAnswers()[calls(whole[:n]):]...)
		again.tools.addEcho("echo")
		again.entries = &inMemory{list: whole[:n:n]}
		res, err := again.goesOn(keepsNotes)
		require.NoError(t, err, "after entry %d", n)
		require.Equal(t, "end", res.Output)
		if n := len(again.model.requests); n > 0 {
			require.Equal(t, b.model.requests[len(b.model.requests)-1].Messages[0].Text(), again.model.requests[n-1].Messages[0].Text())
		}
		resumed++
	}
	require.Greater(t, resumed, 10)
}

// A scratchpad that an answer writes and that is too long leaves the one before it, with a warning.
func TestStandingIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t, call("scratchpad", `{"action":"replace","text":"one"}`), say("Hi\nSCRATCHPAD: "+strings.Repeat("x", 16385)))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"work","instructions":"Work.","continuity":{"scratchpad":true}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "Hi", res.Output)
	require.Equal(t, "one", res.State["scratchpad"])
	w, err := echo.Read[echo.Warning](b.entries.of(echo.NodeWarning)[0])
	require.NoError(t, err)
	require.Equal(t, "the scratchpad of the answer has 16385 bytes and can have 16384: the one before it stays", w.Message)
}

// What an answer writes of what stands and is not taken is warned of; a state block without its parts stays in the answer.
// Sessions of earlier rules have it as they began.
func TestStandingIsNotTaken(t *testing.T) {
	t.Parallel()
	const of = `{"cascade_id":"c","phases":[{"name":"work","instructions":"Work.","continuity":{"scratchpad":true,"state_block":true}}]}`
	for _, tt := range []struct {
		answer, output, old string
		warnings            []string
	}{
		{"Hi\n### STATE\n### Goal\nx", "Hi\n### STATE\n### Goal\nx", "Hi\n### Goal\nx", []string{
			"the answer has no state block that could be taken, so the one before it stays: a section ### STATE has none of the lines Goal:, Context:, Resolved:, Technical anchors: and Next: before the next heading",
		}},
		{"Hi\n```\nx\nSCRATCHPAD:\nlost", "Hi\n```\nx\nSCRATCHPAD:\nlost", "Hi\n```\nx\nSCRATCHPAD:\nlost", []string{
			`the answer has no scratchpad that could be taken, so the one before it stays: "SCRATCHPAD:" is in a block of code that does not end`,
		}},
		{"Hi\n**SCRATCHPAD:** lost", "Hi\n**SCRATCHPAD:** lost", "Hi\n**SCRATCHPAD:** lost", []string{
			`the answer has no scratchpad that could be taken, so the one before it stays: "**SCRATCHPAD:**" is not SCRATCHPAD: at the beginning of a line`,
		}},
		{"Hi\nSCRATCHPAD: a\x1b[31m\n### STATE\nGoal: a\u202eb", "Hi", "Hi", []string{
			"the state block of the answer has the character U+202E, which nobody sees: the one before it stays",
			"the scratchpad of the answer has the character U+001B, which nobody sees: the one before it stays",
		}},
	} {
		for _, rules := range []int{6, 7} {
			b := setup(t, call("scratchpad", `{"action":"replace","text":"one"}`), say(tt.answer))
			b.rules = rules
			res, err := b.run(of, nil)
			require.NoError(t, err)
			if rules < 7 {
				require.Equal(t, tt.old, res.Output)
				require.Empty(t, b.entries.of(echo.NodeWarning))
				continue
			}
			require.Equal(t, tt.output, res.Output)
			require.Equal(t, "one", res.State["scratchpad"])
			var warned []string
			for _, e := range b.entries.of(echo.NodeWarning) {
				w, err := echo.Read[echo.Warning](e)
				require.NoError(t, err)
				warned = append(warned, w.Message)
			}
			require.Equal(t, tt.warnings, warned)
		}
	}
}

// A call whose text nobody sees whole changes nothing, and says so.
func TestScratchpadRefusesHiddenCharacters(t *testing.T) {
	t.Parallel()
	b := setup(t, call("scratchpad", `{"action":"replace","text":"one"}`), call("scratchpad", `{"action":"append","text":"\u0000"}`), say("end"))
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"work","instructions":"Work.","continuity":{"scratchpad":true}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "one", res.State["scratchpad"])
	require.Equal(t, "The text has the character U+0000, which nobody sees: nothing was changed. Write the text without it.", lastTexts(b.model.requests)[2][0])
}

// An answer of nothing but what stands is none, and is asked for again; one that clears the scratchpad says so at the end.
func TestStandingOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, call("scratchpad", `{"action":"replace","text":"one"}`), call("scratchpad", `{"action":"replace","text":""}`),
		say("### STATE\nGoal: x"), say("Hi"))
	res, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[{"name":"work","instructions":"Work.","rules":{"max_attempts":1}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "Hi", res.Output)
	last := lastTexts(b.model.requests)
	require.Equal(t, "[Your scratchpad is empty.]", last[2][1])
	require.Equal(t, []string{"[The state of the work, as you wrote it last.]\n\nGoal: x", "[Your scratchpad is empty.]"}, last[3][1:])
	require.Contains(t, last[3][0], "it writes only what stands at the end of requests")
}

// A handoff is read from the notes of the model first, and says so.
func TestHandoffReadsNotesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, say("- [ ] old plan\n- [ ] test\nDecision: by hand.\n### STATE\nGoal: ship\nResolved: the build\nNext: the tag"),
		call("scratchpad", `{"action":"replace","text":"Current plan:\n- [x] test\n- [ ] tag\n\nKey decisions:\n- use git\nLast action: ran the tests\n\nBlockers: no network"}`), say("end"))
	_, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[
		{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B."}]}`, nil)
	require.NoError(t, err)
	handoffs := b.entries.of(echo.NodeHandoff)
	h, err := echo.Read[echo.Handoff](handoffs[len(handoffs)-1])
	require.NoError(t, err)
	require.Equal(t, []string{"scratchpad", "state block"}, h.Progress.Notes)
	require.Equal(t, echo.HandoffItem{Source: "state block", Text: "the tag"}, h.Remaining[0])
	require.Equal(t, echo.HandoffItem{Source: "checklist", Text: "tag"}, h.Remaining[1])
	require.Contains(t, h.Done, echo.HandoffItem{Source: "checklist", Text: "test"}, "the scratchpad is right")
	require.Contains(t, h.Done, echo.HandoffItem{Source: "state block", Text: "the build"})
	require.Contains(t, h.Decisions, echo.HandoffItem{Source: "scratchpad", Text: "use git"})
	require.Contains(t, h.Decisions, echo.HandoffItem{Source: "state block", Text: "Goal: ship"})
	for _, d := range h.Decisions {
		require.NotContains(t, d.Text, "ran the tests", "it is the last action, and no decision")
		require.NotEmpty(t, d.Text)
	}
	require.Contains(t, h.Blocking, echo.HandoffItem{Source: "scratchpad", Text: "no network"})
	require.Contains(t, h.Continuation, "Read first from its own notes: scratchpad, state block.")
}

// What an answer has written of what stands goes with it when a person takes it back.
func TestStandingIsTakenBack(t *testing.T) {
	t.Parallel()
	b, _ := hearingRun(t, func(v *voices) []answerFunc {
		return []answerFunc{
			say("One.\nSCRATCHPAD: first\n### STATE\nGoal: a"),
			v.sayWhile(call("scratchpad", `{"action":"append","text":"second"}`), "No.", true),
			v.sayWhile(say("Two.\nSCRATCHPAD: third\n### STATE\nGoal: b"), "No!", true),
			say("end"),
		}
	})
	res, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"audibles":true,"phases":[
		{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	require.Equal(t, []any{"first", "Goal: a"}, []any{res.State["scratchpad"], res.State["state_block"]})
	for _, req := range b.model.requests[1:] {
		text := strings.Join(roles(req), "\n")
		require.Contains(t, text, "[Your scratchpad, as it is now.]\n\nfirst")
		require.NotContains(t, text, "second")
		require.NotContains(t, text, "third")
	}
}

// What stands goes back to what it was before messages that a person takes out, and comes again with them; a person can have the
// state block rebuilt.
func TestStandingFollowsWhatIsTakenOut(t *testing.T) {
	t.Parallel()
	changes := &changeList{}
	spot := func(m *echo.Message) echo.Spot { return echo.Spot{Phase: "a", Visit: 1, Hash: m.Hash(), Nth: 1} }
	var second *echo.Message
	b := setup(t,
		call("look", `{}`, "scratchpad", `{"action":"replace","text":"first"}`),
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			resp, err := call("look", `{"n":2}`, "scratchpad", `{"action":"append","text":"second"}`)(req)
			resp.Message = withText(resp.Message, "### STATE\nGoal: lost")
			second = resp.Message
			return resp, err
		},
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) { // it has both
			changes.add(echo.ViewDrop, spot(second))
			return call("look", `{"n":3}`)(req)
		},
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			changes.add(echo.ViewRestore, spot(second))
			return call("look", `{"n":4}`)(req)
		},
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			changes.add(echo.ViewRebuild)
			return call("look", `{"n":5}`)(req)
		},
		say("Goal: rebuilt\nNext: go on"), // the state block
		func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			changes.add(echo.ViewRebuild)
			return call("look", `{"n":6}`)(req)
		},
		say("no state"),
		say("end"),
	)
	b.runner.Changes = changes
	b.tools.addEcho("look")
	res, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[{"name":"a","instructions":"A.","tackle":["look"]}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "end", res.Output)
	last := lastTexts(b.model.requests)
	const pad, block = "[Your scratchpad, as it is now.]\n\n", "[The state of the work, as you wrote it last.]\n\n"
	require.Equal(t, []string{block + "Goal: lost", pad + "first\nsecond"}, last[2][1:])
	require.Equal(t, []string{"[There is no state of the work now.]", pad + "first"}, last[3][1:])
	require.Equal(t, []string{block + "Goal: lost", pad + "first\nsecond"}, last[4][1:])
	asked := b.model.requests[5]
	require.Equal(t, echo.PurposeSummary, asked.Site.Purpose)
	require.Contains(t, asked.Messages[1].Text(), `look:{"n":5}`)
	require.NotContains(t, asked.Messages[1].Text(), "[Your scratchpad", "only the window")
	require.Equal(t, []string{block + "Goal: rebuilt\nNext: go on", pad + "first\nsecond"}, last[6][1:])
	require.Equal(t, []string{block + "Goal: A.\nContext: 8 calls of tools are sent, 0 of which failed; this was put together without a model", pad + "first\nsecond"}, last[8][1:])
	w, err := echo.Read[echo.Warning](b.entries.of(echo.NodeWarning)[0])
	require.NoError(t, err)
	require.Equal(t, "m made no state block, so one is put together from the conversation without a model: its answer has none of the parts of a state block", w.Message)
}

func withText(m *echo.Message, text string) *echo.Message {
	d := m.Draft()
	d.Parts = echo.Text(text)
	return echo.Seal(d)
}
