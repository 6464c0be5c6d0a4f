package engine

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/engine/judging"
)

const humanly = `{"cascade_id":"c","phases":[
	{"name":"p","instructions":"Draft {{ sounding_index }}","soundings":{"factor":3,"max_parallel":3,"evaluator":"human","evaluator_instructions":"Which one sells?"}},
	{"name":"end","instructions":"Use {{ outputs.p }}"}]}`

// offered returns the form of the wait with a key.
func (b *testBundle) offered(key string) *echo.Form {
	b.t.Helper()
	for _, e := range b.entries.of(echo.NodeWait) {
		if e.Key.String() == key {
			w, err := echo.Read[echo.Wait](e)
			require.NoError(b.t, err)
			return w.Form
		}
	}
	require.Fail(b.t, "there is no wait "+key)
	return nil
}

// picks leaves the choice of the candidate with a text.
func (b *testBundle) picks(l *letters, key, text string) {
	b.t.Helper()
	for _, x := range b.offered(key).Choose.Candidates {
		if x.Text == text {
			l.leave(key, map[string]any{"winner": x.Label, "why": "because"}, "")
			return
		}
	}
	require.Fail(b.t, "no candidate has "+text)
}

// All candidates end first; then the run waits, and goes on with the one that a person has chosen.
func TestPersonChooses(t *testing.T) {
	t.Parallel()
	b, m, l := asking(t)
	res, err := b.run(humanly, nil)
	require.ErrorContains(t, err, "c/p: it waits for a choice among candidates")
	require.Equal(t, echo.StatusWaiting, res.Status)
	require.Equal(t, []string{"p/choice/wait"}, b.open())
	require.Len(t, m.requests, 3)
	f := b.offered("p/choice/wait")
	require.Equal(t, "Which one sells?", f.Question)
	require.Contains(t, f.Context, "Draft 0")
	_, err = b.goesOn(humanly)
	require.Error(t, err)
	require.Len(t, b.waits(), 1, "it is asked once")
	b.picks(l, "p/choice/wait", "<Draft 2>")
	res, err = b.goesOn(humanly)
	require.NoError(t, err)
	require.Equal(t, "<Use <Draft 2>>", res.Output)
	c := b.choices(t)[0]
	require.Equal(t, []any{3, echo.ChoicePerson, "because", "ada"}, []any{c.Winner, c.How, c.Person.Why, c.Person.By})
	require.Empty(t, b.entries.of(echo.NodeBallot))
	b.once(m.requests)
}

// Who rejects all fails the phase as candidates do that all fail: on_error takes it.
func TestPersonRejectsAll(t *testing.T) {
	t.Parallel()
	b, _, l := asking(t)
	_, err := b.run(humanly, nil)
	require.Error(t, err)
	l.leave("p/choice/wait", map[string]any{"winner": "none", "why": "All are dull."}, "")
	res, err := b.goesOn(humanly)
	require.EqualError(t, err, "c/p: ada has rejected all 3 candidates: All are dull.")
	require.ErrorAs(t, err, new(*judging.RejectedError))
	require.Equal(t, echo.StatusFailed, res.Status)
	require.Equal(t, echo.ChoiceNone, b.choices(t)[0].How)

	const handled = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"evaluator":"human"},
		"on_error":{"instructions":"Without it"}}]}`
	b, _, l = asking(t)
	_, err = b.run(handled, nil)
	require.Error(t, err)
	l.leave("p/choice/wait", map[string]any{"winner": "none"}, "")
	res, err = b.goesOn(handled)
	require.NoError(t, err)
	require.Equal(t, "<Without it>", res.Output)
}

// In each step of refinement the person compares the best answer so far with the new ones; elements of lists choose
// each for themselves.
func TestPersonRefinesAndChoosesInLists(t *testing.T) {
	t.Parallel()
	const refined = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"evaluator":"human",
		"reforge":{"steps":2,"patience":2,"evaluator_override":"Which is shorter?"}}}]}`
	b, m, l := asking(t)
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if req.Site.Try.Step > 0 {
			return "step " + string(rune('0'+req.Site.Try.Step)) + " try " + string(rune('0'+req.Site.Try.Number))
		}
		return ""
	}
	_, err := b.run(refined, nil)
	require.Error(t, err)
	b.picks(l, "p/choice/wait", "<Draft 1>")
	_, err = b.goesOn(refined)
	require.ErrorContains(t, err, "it waits for a choice among candidates")
	require.Equal(t, []string{"p/reforge1/choice/wait"}, b.open())
	require.Equal(t, "Which is shorter?", b.offered("p/reforge1/choice/wait").Question)
	require.Len(t, b.offered("p/reforge1/choice/wait").Choose.Candidates, 3)
	b.picks(l, "p/reforge1/choice/wait", "step 1 try 2")
	_, err = b.goesOn(refined)
	require.Error(t, err)
	b.picks(l, "p/reforge2/choice/wait", "step 1 try 2") // the best so far
	res, err := b.goesOn(refined)
	require.NoError(t, err)
	require.Equal(t, "step 1 try 2", res.Output)
	b.once(m.requests)

	const lists = `{"cascade_id":"c","phases":[{"name":"p","for_each":{"items":["x","y"],"max_parallel":2},"instructions":"{{ item }}{{ sounding_index }}","soundings":{"factor":2,"evaluator":"human"}}]}`
	b, m, l = asking(t)
	_, err = b.run(lists, nil)
	require.Error(t, err)
	require.Equal(t, []string{"p/item1/choice/wait", "p/item2/choice/wait"}, b.open())
	b.picks(l, "p/item2/choice/wait", "<y1>")
	_, err = b.goesOn(lists)
	require.Error(t, err)
	b.picks(l, "p/item1/choice/wait", "<x0>")
	res, err = b.goesOn(lists)
	require.NoError(t, err)
	require.JSONEq(t, `["<x0>","<y1>"]`, string(effect.MustJSON(res.Output)))
	b.once(m.requests)
}

// A person chooses among runs of a whole cascade, too.
func TestPersonChoosesAmongRuns(t *testing.T) {
	t.Parallel()
	source := wholeOfTwo(`,"evaluator":"human"`)
	b, m, l := asking(t)
	_, f, err := b.runTree(source, nil, nil)
	require.ErrorContains(t, err, "c: it waits for a choice among candidates")
	require.Equal(t, []string{"run/choice/wait"}, b.open())
	asked := len(m.requests)
	text := b.offered("run/choice/wait").Choose.Candidates[1].Text
	b.picks(l, "run/choice/wait", text)
	b.runner.Children = f
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	recording := b.entries.asRead(t)
	b.entries = &inMemory{list: slices.Clone(recording)}
	res, err := b.runner.Run(t.Context(), Spec{Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, b.entries), WorkDir: "/scratch", Recording: recording})
	require.NoError(t, err)
	require.Equal(t, text, res.Output)
	require.Len(t, m.requests, asked, "nothing is paid twice")
	require.Equal(t, echo.ChoicePerson, b.choices(t)[0].How)
}

// Adaptive numbers grow while it is a tie; a person settles the last one.
func TestPersonSettlesWhatGrows(t *testing.T) {
	t.Parallel()
	const source = `{"cascade_id":"c","phases":[{"name":"p","instructions":"Draft {{ sounding_index }}","soundings":{"adaptive":{"max":3},"on_tie":"human","ballots":{"max":3}}}]}`
	b, m, l := asking(t)
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "it waits for a choice among candidates")
	require.Len(t, b.offered("p/choice/wait").Choose.Candidates, 3)
	b.picks(l, "p/choice/wait", "<Draft 1>")
	res, err := b.goesOn(source)
	require.NoError(t, err)
	require.Equal(t, "<Draft 1>", res.Output)
	b.once(m.requests)
}

// A fork from before the answer asks again; one from after the choice keeps it.
func TestForkOfAChoice(t *testing.T) {
	t.Parallel()
	b, _, l := asking(t)
	_, err := b.run(humanly, nil)
	require.Error(t, err)
	b.picks(l, "p/choice/wait", "<Draft 2>")
	_, err = b.goesOn(humanly)
	require.NoError(t, err)
	for i, e := range b.entries.asRead(t) {
		if e.NodeType != echo.NodeWait && e.NodeType != echo.NodeChoice {
			continue
		}
		fork, m, mail := b.forked(humanly, i+1), &candidates{}, &letters{}
		r := *fork.runner
		r.Model, r.Mailbox = m, mail
		fork.runner = &r
		res, err := fork.goesOn(humanly)
		if e.NodeType == echo.NodeChoice {
			require.NoError(t, err)
			require.Equal(t, "<Use <Draft 2>>", res.Output)
			continue
		}
		require.ErrorContains(t, err, "it waits for a choice among candidates")
		require.Len(t, fork.waits(), 1)
		fork.picks(mail, "p/choice/wait", "<Draft 0>")
		res, err = fork.goesOn(humanly)
		require.NoError(t, err)
		require.Equal(t, "<Use <Draft 0>>", res.Output)
	}
}

// A redaction takes an answer out of the wait, of the choice and of what a person said of it; the record still holds.
func TestRedactedChoice(t *testing.T) {
	t.Parallel()
	const canary = "canary-5f2c9e7a11d04b6f"
	b, m, l := asking(t)
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if req.Site.Try.Number == 2 {
			return canary
		}
		return ""
	}
	_, err := b.run(humanly, nil)
	require.Error(t, err)
	f := b.offered("p/choice/wait")
	label := f.Choose.Candidates[slices.IndexFunc(f.Choose.Candidates, func(x echo.Offered) bool { return x.Text == canary })].Label
	l.leave("p/choice/wait", map[string]any{"winner": label, "why": "I like " + canary + "."}, "")
	_, err = b.goesOn(humanly)
	require.NoError(t, err)
	var hash echo.Hash
	for _, e := range b.entries.of(echo.NodeModelCall) {
		if e.Key.String() == "p/sounding2/attempt1/turn1/model" {
			hash = e.ContentHash
		}
	}
	entries, x := b.redacts(humanly, hash)
	seen := 0
	for _, e := range entries {
		switch e.NodeType {
		case echo.NodeWait, echo.NodeAnswer, echo.NodeChoice:
			seen++
			require.NotContains(t, string(e.Data), canary, e.Key)
		}
	}
	require.Equal(t, 3, seen)
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(humanly), c))
	again := *b.runner
	again.Model, again.Tools = nil, onlySpecs{b.tools}
	_, err = again.Run(t.Context(), Spec{Cascade: c, WorkDir: "/scratch", Name: "s1", Recording: entries, Redacted: x})
	require.NoError(t, err, "it holds")
}
