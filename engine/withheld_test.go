package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/phasecontext"
)

// dropping is a bundle whose model answers by phase; a person takes the answer of a phase out when another one asks first, and
// puts it back at a third.
func dropping(t *testing.T, says map[string][]answerFunc, drops map[string]string, restoreAt string) *testBundle {
	t.Helper()
	b, l := changing(t)
	asked, spots := map[string]int{}, []echo.Spot(nil)
	for range 40 {
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			name := req.Site.Phase
			if text := drops[name]; text != "" && asked[name] == 0 {
				at := b.spotOf(text)
				spots = append(spots, at)
				l.add(echo.ViewDrop, at)
			}
			if name == restoreAt && asked[name] == 0 {
				l.add(echo.ViewRestore, spots...)
			}
			asked[name]++
			answers := says[name]
			if len(answers) == 0 {
				return say("answer")(req)
			}
			return answers[min(asked[name], len(answers))-1](req)
		})
	}
	return b
}

// lastSent returns the last message of the first request of a phase.
func (b *testBundle) lastSent(phase string) string {
	b.t.Helper()
	for _, req := range b.model.requests {
		if req.Site.Phase == phase {
			last, _ := questionOf(req)
			return last
		}
	}
	require.Fail(b.t, "the phase was not asked", phase)
	return ""
}

const seeOutputs = `{{ outputs.a }} {{ lineage[0].output }} {{ state.output_a }}`

// TestWithheldOutput: an answer that was dropped after its phase is in no text of later phases, and is again when it was restored.
func TestWithheldOutput(t *testing.T) {
	t.Parallel()
	says := map[string][]answerFunc{"a": {say("the secret")}}
	b := dropping(t, says, map[string]string{"b": "the secret"}, "d")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."},{"name":"b","instructions":"B `+seeOutputs+`."},
		{"name":"c","instructions":"C `+seeOutputs+`."},{"name":"d","instructions":"D `+seeOutputs+`."},{"name":"e","instructions":"E `+seeOutputs+`."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "B the secret the secret the secret.", b.lastSent("b"))
	require.Equal(t, "C [dropped] [dropped] [dropped].", b.lastSent("c"))
	require.Equal(t, "D [dropped] [dropped] [dropped].", b.lastSent("d"))
	require.Equal(t, "E the secret the secret the secret.", b.lastSent("e"))
}

// TestRulesBeforeKeepValues: a session that began under rules 6 tells values of dropped answers, as it did.
func TestRulesBeforeKeepValues(t *testing.T) {
	t.Parallel()
	b := dropping(t, map[string][]answerFunc{"a": {say("the secret")}}, map[string]string{"b": "the secret"}, "")
	b.rules = 6
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."},{"name":"b","instructions":"B."},{"name":"c","instructions":"C {{ outputs.a }}."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "C the secret.", b.lastSent("c"))
}

// TestWithheldStructure: numbers and names stay, also in a text that is JSON.
func TestWithheldStructure(t *testing.T) {
	t.Parallel()
	answer := `{"files":[{"path":"x.go","lines":3,"ok":true}],"why":null}`
	for name, schema := range map[string]string{"value": `,"output_schema":{"type":"object"}`, "text": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := dropping(t, map[string][]answerFunc{"a": {say(answer)}}, map[string]string{"b": answer}, "")
			_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."`+schema+`},{"name":"b","instructions":"B."},
				{"name":"c","instructions":"C {{ outputs.a }} {{ state.output_a }} {{ state.validated_output | default(0) }}."}]}`, nil)
			require.NoError(t, err)
			const blank = `{"files":[{"lines":3,"ok":true,"path":"[dropped]"}],"why":null}`
			last := map[string]string{"value": blank, "text": "0"}[name]
			require.Equal(t, "C "+blank+" "+blank+" "+last+".", b.lastSent("c"))
		})
	}
}

// TestWithheldIsDecidedBy: conditions and commands see the value, and so does whoever judges an answer that was not taken out.
func TestWithheldIsDecidedBy(t *testing.T) {
	t.Parallel()
	b := dropping(t, map[string][]answerFunc{"a": {say("yes")}}, map[string]string{"b": "yes"}, "")
	_, err := b.run(`{"cascade_id":"c","validators":{"fair":{"instructions":"Is it {{ outputs.a }}?"}},"phases":[{"name":"a","instructions":"A."},{"name":"b","instructions":"B."},
		{"name":"c","instructions":"C.","context":{"from":[{"phase":"b","condition":"{{ outputs.a == 'yes' }}"}]},
			"rules":{"loop_until":"fair","max_attempts":2,"on_exhausted":"continue","retry_instructions":"Not {{ outputs.a }}."}}]}`, nil)
	require.NoError(t, err)
	var all []string
	for _, req := range b.model.requests[2:] {
		all = append(all, roles(req)...)
	}
	text := strings.Join(all, "\n")
	require.Contains(t, text, `From phase "b", output:`)
	require.Contains(t, text, "Is it [dropped]?")
	require.Contains(t, text, "Not [dropped].")
	require.NotContains(t, text, "yes")
}

// TestWithheldState: a value that a dropped call has set is in no text and in no answer of get_state; one that was set since is.
func TestWithheldState(t *testing.T) {
	t.Parallel()
	set := call("set_state", `{"key":"plan","value":"the secret"}`)
	b := dropping(t, map[string][]answerFunc{
		"a": {set, say("done")},
		"b": {say("seen")},
		"c": {call("get_state", `{"key":"plan"}`), call("set_state", `{"key":"plan","value":"another"}`), call("get_state", `{"key":"plan"}`), say("ready")},
	}, map[string]string{"b": "Stored."}, "")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","tackle":["set_state"]},{"name":"b","instructions":"B {{ state.plan }}."},
		{"name":"c","instructions":"C {{ state.plan }}.","tackle":["get_state","set_state"],"context":{"from":[{"phase":"a","include":["state"]}]}},
		{"name":"d","instructions":"D {{ state.plan }}."}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "B the secret.", b.lastSent("b"))
	require.Equal(t, "C [dropped].", b.lastSent("c"))
	require.Equal(t, "D another.", b.lastSent("d"))
	_, all := questionOf(b.model.requests[len(b.model.requests)-2])
	require.Contains(t, all, `{"plan":"[dropped]"}`)
	require.Contains(t, all, "[dropped]\n")
	require.Contains(t, all, "\nanother")
	require.NotContains(t, all, "secret")
}

// TestWithheldElements: an element that comes from a dropped answer, by a path or a template, is told without its texts, also one
// that begins after the answer was dropped; elements of the file and of the input are told.
func TestWithheldElements(t *testing.T) {
	t.Parallel()
	answer := `{"files":[{"path":"x.go","n":1},{"path":"y.go","n":2}]}`
	for items, want := range map[string][]string{
		`"outputs.a.files"`:                             {"[dropped] 1", "[dropped] 2"},
		`"{{ outputs.a.files | tojson }}"`:              {"[dropped] 1", "[dropped] 2"},
		`[{"path":"x.go","n":1},{"path":"y.go","n":2}]`: {"x.go 1", "y.go 2"},
		`"input.files"`:                                 {"x.go 1", "y.go 2"},
		`"{{ input.files | tojson }}"`:                  {"x.go 1", "y.go 2"},
	} {
		for _, at := range []string{"b", "each"} {
			t.Run(items+at, func(t *testing.T) {
				t.Parallel()
				b := dropping(t, map[string][]answerFunc{"a": {say(answer)}}, map[string]string{at: answer}, "")
				_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","output_schema":{"type":"object"}},{"name":"b","instructions":"B."},
					{"name":"each","instructions":"{{ item.path }} {{ item.n }}","for_each":{"items":`+items+`,"max_parallel":1}}]}`,
					map[string]any{"files": []any{map[string]any{"path": "x.go", "n": 1}, map[string]any{"path": "y.go", "n": 2}}})
				require.NoError(t, err)
				var got []string
				for _, req := range b.model.requests[2:] {
					last, _ := questionOf(req)
					got = append(got, last)
				}
				if at == "each" {
					require.Equal(t, []string{"x.go 1", want[1]}, got)
				} else {
					require.Equal(t, want, got)
				}
			})
		}
	}
}

// TestWithheldElement: of a list whose elements have answered, the output is without that of the element whose answer was dropped.
func TestWithheldElement(t *testing.T) {
	t.Parallel()
	b := dropping(t, map[string][]answerFunc{"each": {say("first one"), say("second one")}}, map[string]string{"b": "first one"}, "")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"each","instructions":"{{ item }}","for_each":{"items":["x","y"],"max_parallel":1}},{"name":"b","instructions":"B."},
		{"name":"c","instructions":"C {{ outputs.each }}.","context":{"from":["each"]}}]}`, nil)
	require.NoError(t, err)
	req := b.model.requests[len(b.model.requests)-1]
	_, all := questionOf(req)
	require.Contains(t, all, `C ["[dropped]","second one"].`)
	require.NotContains(t, all, "first one")
}

// TestWithheldInputs: neither the tool of a phase nor a child is given what was dropped; the state of the run is what it was.
func TestWithheldInputs(t *testing.T) {
	t.Parallel()
	child := reached(t, `{"cascade_id":"kid","phases":[{"name":"k","instructions":"kid {{ input.topic }} {{ input.path }} {{ state.plan }} {{ state.output_a }}"}]}`)
	b := dropping(t, map[string][]answerFunc{
		"a": {call("set_state", `{"key":"plan","value":"secret plan"}`), say("the secret")},
		"b": {say("seen")},
	}, map[string]string{"b": "the secret", "bb": "Stored."}, "")
	_, _, err := b.runTree(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","tackle":["set_state"]},{"name":"b","instructions":"B."},{"name":"bb","instructions":"BB."},
		{"name":"t","tool":"look","inputs":{"at":"{{ outputs.a }}"}},
		{"name":"main","sub_cascades":[{"ref":"kid","input_map":{"topic":"about {{ outputs.a }}","path":"outputs.a"},"context_in":true,"context_out":true}],"instructions":"M {{ subs.kid }}."}]}`,
		nil, map[string]*cascade.Reached{"kid": child})
	require.NoError(t, err)
	require.Equal(t, "kid about [dropped] [dropped] [dropped] [dropped]", b.lastSent("k"))
	for _, e := range b.entries.of(echo.NodeToolCall) {
		if e.Phase == "t" {
			require.Equal(t, `look:{"at":"[dropped]"}`, e.Message.Text())
		}
	}
	for _, e := range b.entries.of(echo.NodeState) {
		s, err := echo.Read[echo.State](e)
		require.NoError(t, err)
		require.NotEqual(t, "[dropped]", s.Value, s.Key)
	}
}

// TestTrialOffersWhatARunWould: a trial selection offers nothing that was taken out, nothing that stands at the end of requests, and
// the answers of elements of lists.
func TestTrialOffersWhatARunWould(t *testing.T) {
	t.Parallel()
	b, _ := changing(t, call("scratchpad", `{"action":"write","text":"the note"}`), say("the first answer"), say("of x"), say("of y"), say("done"))
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A.","continuity":{"scratchpad":true}},
		{"name":"each","instructions":"{{ item }}","for_each":{"items":["x","y"],"max_parallel":1}},{"name":"z","instructions":"Z."}]}`, nil)
	require.NoError(t, err)
	offered := func(w *echo.Withdrawals) (texts []string) {
		found, err := phasecontext.Try(context.Background(), "s1", b.entries.asRead(t), phasecontext.Trial{
			Task: "t", Before: "z", Selection: cascade.InterSelection{Strategy: "heuristic", MaxTokens: 4000}, Withdrawals: w,
		})
		require.NoError(t, err)
		for _, e := range found.Explained {
			texts = append(texts, e.Text)
		}
		return texts
	}
	all := strings.Join(offered(nil), "|")
	require.Contains(t, all, "the first answer")
	require.Contains(t, all, "of x")
	require.NotContains(t, all, "[The scratchpad")
	var none *echo.Withdrawals
	out := none.With(&echo.ViewChange{Number: 1, Action: echo.ViewDrop, Messages: []echo.Spot{b.spotOf("the first answer"), b.spotOf("of x")}})
	left := strings.Join(offered(out), "|")
	require.NotContains(t, left, "the first answer")
	require.NotContains(t, left, "of x")
	require.Contains(t, left, "of y")
}

// TestWithheldQuotes: what the task and the prompts of a phase that goes on quote of an answer is not sent after it was dropped, and
// is again after it was put back. What is recorded of the history stays.
func TestWithheldQuotes(t *testing.T) {
	t.Parallel()
	b, l := changing(t)
	secret := strings.Repeat("\nthe \"secret\" <", 3)
	var spot echo.Spot
	b.model.answers = []answerFunc{say(secret)}
	for turn := 1; turn <= 6; turn++ {
		b.model.answers = append(b.model.answers, func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
			_, all := questionOf(req)
			out := turn == 3 || turn == 4
			require.Equal(t, !out, strings.Contains(all, "secret"), "turn %d: %s", turn, all)
			require.Equal(t, out, strings.Contains(all, `B [dropped] {"a":"\n[dropped]"} {"a":"\n[dropped]"}.`), "turn %d: %s", turn, all)
			switch turn {
			case 2:
				spot = b.spotOf(secret)
				l.add(echo.ViewDrop, spot)
			case 4:
				l.add(echo.ViewRestore, spot)
			case 6:
				return say("done")(req)
			}
			return call("look", `{}`)(req)
		})
	}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"a","instructions":"A."},
		{"name":"b","instructions":"B {{ outputs.a | trim }} {{ outputs }} {{ outputs | tojson }}.","tackle":["look"],"rules":{"max_turns":6,"turn_prompt":"Go on with {{ outputs.a }}."},"intra_context":{"window":1,"advance":"every_turn"}}]}`, nil)
	require.NoError(t, err)
	require.Len(t, b.model.requests, 7)
}

// TestWithheldOfContext: what a phase was brought of earlier ones before the drop is sent without it in its later requests: the list of
// the answers of elements, also of such as end with a scratchpad or a state block, and values of the state.
func TestWithheldOfContext(t *testing.T) {
	t.Parallel()
	const second = "the second answer is the secret of the otter"
	for name, note := range map[string]string{"plain": "", "scratchpad": "\nSCRATCHPAD:\nsomething to be noted", "state block": "\n### STATE\nGoal: something to be done"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := dropping(t, map[string][]answerFunc{
				"each": {say("the first answer is known to everybody" + note), say(second + note)}, "set": {call("set_state", `{"key":"k","value":{"of":"a value that is the secret of the whale"}}`), say("it is set now, as was asked")},
				"b": {call("get_state", `{"key":"none"}`), say("B is done with it")},
			}, nil, "")
			l := &changeList{}
			b.runner.Changes = l
			asked := 0
			model := b.model.answers
			for i := range model {
				answer := model[i]
				model[i] = func(req *effect.ModelRequest) (*effect.ModelResponse, error) {
					if req.Site.Phase == "b" {
						if asked++; asked == 1 {
							l.add(echo.ViewDrop, b.spotOf(second+note), b.spotOf("it is set now, as was asked"), b.spotOf("Stored."))
						}
					}
					return answer(req)
				}
			}
			_, err := b.run(`{"cascade_id":"c","continuity":{"scratchpad":true,"state_block":true},"phases":[{"name":"each","instructions":"{{ item }}","for_each":{"items":["x","y"],"max_parallel":1}},
				{"name":"set","instructions":"S.","tackle":["set_state"]},
				{"name":"b","instructions":"B.","tackle":["get_state"],"context":{"from":["each",{"phase":"set","include":["state"]}]}},
				{"name":"c","instructions":"C.","context":{"from":["each"]}}]}`, nil)
			require.NoError(t, err)
			var after string
			for _, req := range b.model.requests {
				if req.Site.Phase == "b" && req.Site.Turn > 1 || req.Site.Phase == "c" {
					_, all := questionOf(req)
					after += all
				}
			}
			require.Contains(t, after, "known to everybody")
			require.Contains(t, after, "[dropped]")
			require.NotContains(t, after, "secret")
		})
	}
}
