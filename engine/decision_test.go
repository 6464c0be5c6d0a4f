package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/effect"
)

const drafting = `{"cascade_id":"c","phases":[
	{"name":"draft","instructions":"Draft it.","decision_points":{"routing":{"stop":"_abort","again":"_retry","shelve":"shelf"}},"handoffs":["publish"],"on_error":"sorry"},
	{"name":"publish","instructions":"{{ outputs.draft }}: {{ state.human_draft.choice }}/{{ state.human_draft.feedback }}"},
	{"name":"shelf","instructions":"shelved"},{"name":"sorry","instructions":"sorry"}]}`

const asksDecision = "The draft.\n<decision>{\"question\":\"Fine?\",\"options\":[\"yes\",{\"id\":\"again\",\"label\":\"Again\"},\"stop\",\"shelve\"],\"allow_custom\":true}</decision>"

// What a person decides on the output of a phase is what follows.
func TestDecision(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		want  []string // the last messages of the requests after the answer
	}{
		"continue":          {"yes", []string{"The draft.: yes/"}},
		"continue and says": {map[string]any{"choice": "yes", "feedback": "Well done."}, []string{"The draft.: yes/Well done."}},
		"a phase":           {"shelve", []string{"shelved"}},
		"abort":             {map[string]any{"choice": "stop", "feedback": "No."}, []string{"sorry"}},
		"retry": {map[string]any{"choice": "again", "feedback": "Shorter."}, []string{
			"Your answer was not accepted: a person was asked: Fine?\nThe decision: Again\nShorter.\n\nCorrect this and give the complete answer again.", "better: /",
		}},
		"own words": {"Say it in verse.", []string{
			"Your answer was not accepted: a person was asked: Fine?\nThe decision: Say it in verse.\n\nCorrect this and give the complete answer again.", "better: /",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := []answerFunc{say(asksDecision), say("end")}
			if len(c.want) == 2 {
				answers = []answerFunc{say(asksDecision), say("better"), say("end")}
			}
			b, l := setup(t, answers...), &letters{}
			b.runner.Mailbox = l
			res, err := b.run(drafting, nil)
			require.ErrorContains(t, err, "c/draft (attempt 1, turn 1): it waits for a decision")
			require.Equal(t, echo.StatusWaiting, res.Status)
			require.Contains(t, b.model.requests[0].Messages[0].Text(), "What follows is settled already for options with these ids: again, shelve, stop.")
			w := b.waits()[0]
			require.Equal(t, []string{"_continue", "_retry", "_abort", "shelf"}, w.Form.Actions)
			l.leave("draft/attempt1/turn1/wait", c.value, "")
			res, err = b.goesOn(drafting)
			require.NoError(t, err)
			require.Equal(t, "end", res.Output)
			var got []string
			for _, req := range b.model.requests[1:] {
				last, _ := questionOf(req)
				got = append(got, last)
			}
			require.Equal(t, c.want, got)
		})
	}
}

// A person has a phase run again as often as the file says; then nothing that does so is offered.
func TestDecisionsAreBounded(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft it.","decision_points":{"routing":{"again":"_retry"},"max_retries":1}},
		{"name":"end","instructions":"{{ outputs.draft }}: {{ state.human_draft.choice }}"}]}`
	for name, c := range map[string]struct{ second, want string }{
		"fewer options": {asksDecision, "yes"},
		"none left":     {`Two.<decision>{"question":"?","options":["again"]}</decision>`, ""},
		"no decision":   {"Two.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, l := setup(t, say(asksDecision), say(c.second), say("end")), &letters{}
			b.runner.Mailbox = l
			_, err := b.run(source, nil)
			require.ErrorContains(t, err, "waits for a decision")
			require.True(t, b.waits()[0].Form.Custom)
			l.leave("draft/attempt1/turn1/wait", "again", "")
			_, err = b.goesOn(source)
			if c.want != "" {
				require.ErrorContains(t, err, "waits for a decision")
				f := b.waits()[1].Form
				require.False(t, f.Custom)
				require.Equal(t, []echo.Option{{ID: "yes"}, {ID: "stop"}, {ID: "shelve"}}, f.Options)
				l.leave("draft/attempt2/turn1/wait", "yes", "")
				_, err = b.goesOn(source)
			}
			require.NoError(t, err)
			last, _ := questionOf(b.model.requests[2])
			require.Contains(t, last, ": "+c.want)
			require.Len(t, b.entries.of(echo.NodeWarning), map[string]int{"none left": 1}[name])
		})
	}
}

// A decision that cannot be read is said to the model; after that the run continues without one, and says so.
func TestDecisionThatCannotBeRead(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft it.","decision_points":{"max_retries":1}}]}`
	broken := say(`A<decision>{"question":"?"}</decision>`)
	b := setup(t, broken, say("fine"))
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "fine", res.Output)
	last, _ := questionOf(b.model.requests[1])
	require.Contains(t, last, "The decision has 0 options; it needs 1 to 64.")

	b = setup(t, broken, broken)
	res, err = b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, `A<decision>{"question":"?"}</decision>`, res.Output)
	require.Len(t, b.entries.of(echo.NodeWarning), 1)
}

// A decision that nobody makes in time: the run continues, or the phase fails.
func TestDecisionInTime(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft it.","decision_points":{"timeout_seconds":0.000001%s}},
		{"name":"end","instructions":"{{ state.human_draft.choice }}."}]}`
	b := setup(t, say(asksDecision), say("end"))
	_, err := b.run(fmt.Sprintf(source, ""), nil)
	require.NoError(t, err)
	last, _ := questionOf(b.model.requests[1])
	require.Equal(t, ".", last)
	b = setup(t, say(asksDecision))
	_, err = b.run(fmt.Sprintf(source, `,"on_timeout":"fail"`), nil)
	require.ErrorContains(t, err, `nobody has answered "Fine?" within 1e-06 seconds, and on_timeout is fail`)
}

// A process that dies after any entry of a run with decisions asks nothing twice and loses no answer.
func TestDecisionsAreResumedAtEveryEntry(t *testing.T) {
	t.Parallel()
	answers := func(l *letters) {
		l.leave("draft/attempt1/turn1/wait", map[string]any{"choice": "again", "feedback": "Shorter."}, "")
		l.leave("draft/attempt2/turn1/wait", "shelve", "")
	}
	b, l := setup(t, say(asksDecision), say(asksDecision), say("end")), &letters{}
	b.runner.Mailbox = l
	_, err := b.run(drafting, nil)
	require.True(t, effect.IsWaiting(err))
	answers(l)
	_, err = b.goesOn(drafting)
	require.NoError(t, err)
	whole := b.entries.asRead(t)
	for at := 1; at < len(whole); at++ {
		if record.EndOf(whole[:at]).Status == echo.StatusCompleted {
			continue
		}
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			asked := 0
			for _, e := range whole[:at] {
				if e.NodeType == echo.NodeModelCall {
					asked++
				}
			}
			x, l := setup(t, []answerFunc{say(asksDecision), say(asksDecision), say("end")}[asked:]...), &letters{}
			answers(l)
			x.runner.Mailbox, x.entries = l, &inMemory{list: slices.Clone(whole[:at])}
			res, err := x.goesOn(drafting)
			require.NoError(t, err)
			require.Equal(t, "end", res.Output)
			require.Equal(t, []string{"draft/attempt1/turn1/wait", "draft/attempt2/turn1/wait"}, x.entries.keys(echo.NodeWait))
		})
	}
}

// A redaction of an answer that asked for a decision, or could not be read, leaves a record that holds.
func TestRedactedDecisions(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f2c9e7a11d04b6f"
	const source = `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft it.","decision_points":{"routing":{"stop":"_abort","again":"_retry"}}},{"name":"end","instructions":"x"}]}`
	ask := say(canary + `<decision>{"question":"` + canary + `?","options":["yes","again",{"id":"x","label":"` + canary + `"}]}</decision>`)
	b, l := setup(t, say(`<decision>{"question":"`+canary+`"}</decision>`), ask, ask, say("end")), &letters{}
	b.runner.Mailbox = l
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "waits for a decision")
	l.leave("draft/attempt2/turn1/wait", map[string]any{"choice": "again", "feedback": canary}, "")
	_, err = b.goesOn(source)
	require.ErrorContains(t, err, "waits for a decision")
	l.leave("draft/attempt3/turn1/wait", "yes", "")
	_, err = b.goesOn(source)
	require.NoError(t, err)
	for i := range 3 {
		entries, x := b.redacts(source, b.entries.of(echo.NodeModelCall)[i].ContentHash)
		c := &cascade.Cascade{}
		require.NoError(t, json.Unmarshal([]byte(source), c))
		again := *b.runner
		again.Model, again.Tools = nil, onlySpecs{b.tools}
		_, err := again.Run(t.Context(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: entries, Redacted: x})
		require.NoError(t, err, "answer %d", i+1)
	}
}
