package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/record"
	"github.com/windlass-run/windlass/engine/core"
	"github.com/windlass-run/windlass/engine/effect"
)

// candidates answers with the last user message in angle brackets, and keeps the requests by the keys
// that it is told. As a judge it names the answer that has a text, else says that it is a tie.
type candidates struct {
	mu       sync.Mutex
	requests []seen
	best     string
	fail     func(req *effect.ModelRequest, last string) error
	answer   func(req *effect.ModelRequest, last string) string
	calls    func(req *effect.ModelRequest) []echo.ToolCall
	usage    func(req *effect.ModelRequest) echo.Usage
}

type seen struct {
	site effect.Site
	text string // of all messages
}

var paper = regexp.MustCompile(`(?s)Answer (\w+):\n<<<(\w+) \w+\n(.*?)\n\w+ \w+>>>`)

func (m *candidates) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	last, text := questionOf(req)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, seen{req.Site, text})
	if m.fail != nil {
		if err := m.fail(req, last); err != nil {
			return nil, err
		}
	}
	said := "<" + last + ">"
	switch {
	case req.Site.Purpose == echo.PurposeJudge:
		said = `{"winner":"tie"}`
		for _, p := range paper.FindAllStringSubmatch(text, -1) {
			if m.best != "" && strings.Contains(p[3], m.best) {
				said = fmt.Sprintf(`{"winner":%q,"why":"it is"}`, p[1])
			}
		}
	case m.answer != nil:
		if a := m.answer(req, last); a != "" {
			said = a
		}
	}
	resp := reply(said)
	if m.usage != nil {
		resp.Usage = m.usage(req)
	}
	if m.calls != nil {
		if list := m.calls(req); len(list) > 0 {
			resp.Message = echo.Seal(echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: list})
		}
	}
	return resp, nil
}

// of returns the texts of requests that candidates, or others, were sent.
func (m *candidates) of(is func(effect.Site) bool) (texts []string) {
	for _, r := range m.requests {
		if is(r.site) {
			texts = append(texts, r.text)
		}
	}
	return texts
}

func isJudge(s effect.Site) bool { return s.Purpose == echo.PurposeJudge }

func sounded(t *testing.T, best string) (*testBundle, *candidates) {
	t.Helper()
	b := setup(t)
	m := &candidates{best: best}
	b.runner.Model = m
	return b, m
}

func (b *testBundle) choices(t *testing.T) (list []echo.Choice) {
	t.Helper()
	for _, e := range b.entries.of(echo.NodeChoice) {
		c, err := echo.Read[echo.Choice](e)
		require.NoError(t, err)
		list = append(list, c)
	}
	return list
}

func sorted(keys []string) []string { return slices.Sorted(slices.Values(keys)) }

// The winner's answer, messages and state are those of the phase; the others are never sent again, and
// all are paid for.
func TestSoundings(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "Draft 1")
	source := `{"cascade_id":"c","phases":[
		{"name":"draft","instructions":"Draft {{ sounding_index }} of {{ sounding_factor }} {{ is_sounding }}.","soundings":{"factor":3},"callouts":{"output":"best"}},
		{"name":"next","context":{"from":[{"phase":"draft","include":["messages"]}]},"instructions":"after {{ outputs.draft }} {{ is_sounding }} {{ state.output_draft }}"}]}`
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "<after <Draft 1 of 3 true.> false <Draft 1 of 3 true.>>", res.Output)
	require.Equal(t, []string{"draft/sounding1/candidate", "draft/sounding2/candidate", "draft/sounding3/candidate"}, sorted(b.entries.keys(echo.NodeCandidate)))
	require.Equal(t, []string{"draft/choice"}, b.entries.keys(echo.NodeChoice))
	require.Equal(t, []string{"draft/sounding2/callout/output"}, won(b.entries.keys(echo.NodeCallout), "sounding2"))
	c := b.choices(t)[0]
	require.Equal(t, 2, c.Winner)
	require.Equal(t, echo.ChoiceVotes, c.How)
	calls := len(b.entries.of(echo.NodeModelCall))
	require.InDelta(t, float64(calls)*0.01, res.CostUSD, 1e-9)
	require.InDelta(t, res.CostUSD-0.01, res.Phases[0].CostUSD, 1e-9)
	require.Equal(t, calls-1, res.Phases[0].Calls)
	next := m.of(func(s effect.Site) bool { return s.Phase == "next" })
	require.Len(t, next, 1)
	require.Contains(t, next[0], "Draft 1 of 3 true.")
	require.NotContains(t, next[0], "Draft 0")
	require.NotContains(t, next[0], "Draft 2")

	f := record.Of(b.entries.asRead(t))
	branches := f.Branches(echo.PhaseKey("draft", 1))
	require.Len(t, branches, 3)
	for i, x := range branches {
		require.Equal(t, i, x.Candidate.Index)
		require.Equal(t, i == 1, x.Won)
		require.Equal(t, "m", x.Model)
		require.Equal(t, echo.StatusCompleted, x.Status)
		require.InDelta(t, 0.01, x.Totals.CostUSD, 1e-9)
	}
	require.Len(t, f.Callouts(), 1)
	require.Len(t, f.Choices(echo.PhaseKey("draft", 1)), 1)
	history := f.History(echo.PhaseKey("draft", 1))
	require.NotEmpty(t, history)
	for _, e := range history {
		require.Contains(t, e.Key.String(), "sounding2")
	}
}

func won(keys []string, branch string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !strings.Contains(k, branch) })
}

// What candidates set in the state is theirs until one of them is chosen.
func TestStateOfSoundings(t *testing.T) {
	t.Parallel()
	b, _ := sounded(t, `"1"`)
	res, err := b.run(`{"cascade_id":"c","phases":[
		{"name":"set","tool":"set_state","inputs":{"key":"k{{ sounding_index }}","value":"{{ sounding_index }}"},"soundings":{"factor":3,"validator":"regex:Stored","on_tie":"first"}},
		{"name":"next","instructions":"{{ state.k0 | default('none') }} {{ state.k1 | default('none') }}"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "<0 none>", res.Output, "all answers are the same")
	require.Equal(t, echo.ChoiceSame, b.choices(t)[0].How)
	f := record.Of(b.entries.asRead(t))
	require.Equal(t, "0", f.State("k0"))
	require.Nil(t, f.State("k1"))
	require.Equal(t, []string{"k0"}, f.Visits()[0].State)
}

func TestModelsAndMutations(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "")
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write {{ input.x }}.","model":"own",
		"soundings":{"models":{"a":{"factor":1,"temperature":0.5,"max_output_tokens":99},"b":{"factor":2}},"mutations":["Be {{ brief }}.","Be long."],"mutation_mode":"augment","on_tie":"first"}}]}`, map[string]any{"x": "it"})
	require.NoError(t, err)
	var models, texts []string
	for _, e := range b.entries.of(echo.NodeCandidate) {
		d, err := echo.Read[echo.Candidate](e)
		require.NoError(t, err)
		require.Len(t, d.Species, 16)
		require.NotNil(t, d.Context)
		models = append(models, fmt.Sprint(d.Index, d.Model))
	}
	require.ElementsMatch(t, []string{"0a", "1b", "2b"}, models)
	texts = m.of(func(s effect.Site) bool { return !isJudge(s) })
	require.ElementsMatch(t, []string{"Write it.", "Be {{ brief }}.\n\nWrite it.", "Be long.\n\nWrite it."}, texts)
	for _, j := range m.of(isJudge) {
		require.NotContains(t, j, "Be long.\n\nWrite it.\n<<<")
	}

	b, m = sounded(t, "")
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write.","soundings":{"factor":2,"mutations":["Backwards."],"mutation_mode":"approach","on_tie":"first"}}]}`, nil)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"Write.", "Write.\n\nApproach:\nBackwards."}, m.of(func(s effect.Site) bool { return !isJudge(s) }))
}

type rewrites map[string][]string

func (r rewrites) Winners(_ context.Context, phase, species string, limit int) []string {
	return append([]string{species}, r[phase]...)[:limit]
}

// Instructions that a model has rewritten are text and no template.
func TestRewrites(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "REWRITTEN")
	b.runner.Rewrites = rewrites{"draft": {"an earlier one", "another"}}
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if req.Site.Purpose == echo.PurposeRewrite {
			return "REWRITTEN {{ input.x }} {% if %}"
		}
		return ""
	}
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write {{ input.x }}.",
		"soundings":{"factor":2,"mutations":["Be strict."],"rewrite_model":"r","winner_history":2}}]}`, map[string]any{"x": "{{ it }}"})
	require.NoError(t, err)
	require.Equal(t, "<REWRITTEN {{ input.x }} {% if %}>", res.Output)
	require.Equal(t, []string{"draft/winners"}, won(b.entries.keys(echo.NodeValue), "winners"))
	asked := m.of(func(s effect.Site) bool { return s.Purpose == echo.PurposeRewrite })
	require.Len(t, asked, 1)
	require.Contains(t, asked[0], "Be strict.")
	require.Contains(t, asked[0], "Write {{ it }}.")
	require.Contains(t, asked[0], "an earlier one")
	require.NotContains(t, asked[0], "another")
	entries := won(b.entries.keys(echo.NodeCandidate), "sounding2")
	require.Equal(t, []string{"draft/sounding2/candidate", "draft/sounding2/candidate"}, entries)
	f := record.Of(b.entries.asRead(t))
	require.Equal(t, "REWRITTEN {{ input.x }} {% if %}", f.Branches(echo.PhaseKey("draft", 1))[1].Candidate.Mutation.Text)
	for _, e := range b.entries.of(echo.NodeModelCall) {
		if strings.Contains(e.Key.String(), "rewrite") {
			require.Equal(t, "r", e.Model)
		}
	}
}

func failFor(candidate int) func(*effect.ModelRequest, string) error {
	return func(req *effect.ModelRequest, _ string) error {
		if candidate > 0 && req.Site.Try.Number == candidate && req.Site.Purpose == "" {
			return &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: fmt.Sprint("down ", candidate), Status: 500, Unpaid: true}
		}
		return nil
	}
}

// A candidate that fails is out of the choice.
func TestACandidateFails(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "2")
	m.fail = failFor(1)
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":3}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "<Draft 2>", res.Output)
	c := b.choices(t)[0]
	require.Equal(t, echo.CandidateFailed, c.Standings[0].State)
	require.Equal(t, "c/draft (candidate 1) (attempt 1, turn 1): model m: down 1", c.Standings[0].Why)
	require.Contains(t, b.entries.keys(echo.NodeBranchEnd), "draft/sounding1/end")

	b, m = sounded(t, "")
	m.fail = failFor(1)
	_, err = b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2}}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, echo.ChoiceOnly, b.choices(t)[0].How)
	require.Len(t, m.requests, 2)
}

// When all fail the phase fails with all reasons; where the provider was why, a run that resumes makes
// the calls again.
func TestAllCandidatesFail(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"on_tie":"first"}}]}`
	b, m := sounded(t, "")
	m.fail = func(req *effect.ModelRequest, last string) error { return failFor(req.Site.Try.Number)(req, last) }
	_, err := b.run(source, nil)
	require.EqualError(t, err, "c/draft: all 2 candidates failed: model m: down 1 (candidate 1); model m: down 2 (candidate 2)")
	require.NotContains(t, b.entries.keys(echo.NodeBranchEnd), "draft/sounding1/end")
	b.resumesWith(t, source, &candidates{}, `"<Draft 0>"`)

	b, m = sounded(t, "")
	m.fail = func(req *effect.ModelRequest, last string) error { return failFor(req.Site.Try.Number)(req, last) }
	res, err := b.run(strings.Replace(source, `"soundings"`, `"on_error":{"instructions":"sorry"},"soundings"`, 1), nil)
	require.NoError(t, err)
	require.Equal(t, "<sorry>", res.Output)
}

// A reason that several candidates have is said once.
func TestReasonsOfCandidatesThatFail(t *testing.T) {
	t.Parallel()
	down := func(why string) error {
		return &core.PhaseError{Site: effect.Site{Cascade: "c", Phase: "draft"}, Err: errors.New(why)}
	}
	for want, errs := range map[string][]error{
		"all 3 candidates failed: down (3 times)":                             {down("down"), down("down"), down("down")},
		"all 3 candidates failed: down (candidates 1, 3); late (candidate 2)": {down("down"), down("late"), down("down")},
		"all 2 candidates failed: the cascade ended failed: no key (2 times)": {
			&ChildError{Name: "of candidate 1", Session: "a", Status: echo.StatusFailed, Reason: "no key"},
			&ChildError{Name: "of candidate 2", Session: "b", Status: echo.StatusFailed, Reason: "no key"},
		},
	} {
		require.EqualError(t, &core.CandidatesError{Errs: errs}, want)
	}
}

func (b *testBundle) resumesWith(t *testing.T, source string, m effect.Model, want string) {
	t.Helper()
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	recording := b.entries.asRead(t)
	require.NoError(t, CheckResumable(recording))
	sink := &inMemory{list: slices.Clone(recording)}
	b.runner.Model = m
	res, err := b.runner.Run(context.Background(), Spec{
		Cascade: c, Log: echo.ContinueLog("s1", uint64(len(recording)), nil, nil, sink), WorkDir: "/scratch", Recording: recording,
	})
	require.NoError(t, err)
	require.JSONEq(t, want, string(effect.MustJSON(res.Output)))
	paidOnce(t, sink.list)
}

func paidOnce(t *testing.T, list []*echo.Entry) {
	t.Helper()
	seen := map[echo.Key]int{}
	for _, e := range list {
		if e.NodeType == echo.NodeModelCall && e.Error == nil {
			seen[e.Key]++
			require.Equal(t, 1, seen[e.Key], "paid twice: %s", e.Key)
		}
	}
}

// A judge that cannot be reached fails the phase; the run goes on with the ballots that are there.
func TestAJudgeFails(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2}}]}`
	b, m := sounded(t, "Draft 1")
	n := 0
	m.fail = func(req *effect.ModelRequest, _ string) error {
		if n++; isJudge(req.Site) && n == 4 {
			return &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "down", Status: 500, Unpaid: true}
		}
		return nil
	}
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "model m: down")
	b.resumesWith(t, source, &candidates{best: "Draft 1"}, `"<Draft 1>"`)
}

func TestFreeChecks(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","validators":{"even":{"instructions":"Is it even? {{ content }}"}},"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}",
		"rules":{"loop_until":"regex:Draft"},"soundings":{"factor":3,"validator":"even","output_schema":{"type":"string"}}}]}`
	b, m := sounded(t, "")
	m.answer = func(req *effect.ModelRequest, last string) string {
		switch {
		case req.Site.Validator == "even":
			return fmt.Sprintf(`{"valid":%t,"reason":"odd"}`, !strings.Contains(last, "Draft 1"))
		case strings.Contains(last, "Draft 2"):
			return "Draft 2 is no JSON"
		}
		return fmt.Sprintf("%q", last)
	}
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, `"Draft 0"`, res.Output)
	c := b.choices(t)[0]
	require.Equal(t, echo.ChoiceOnly, c.How)
	require.Equal(t, []echo.CandidateState{echo.CandidateWon, echo.CandidateRejected, echo.CandidateRejected},
		[]echo.CandidateState{c.Standings[0].State, c.Standings[1].State, c.Standings[2].State})
	keys := b.entries.keys(echo.NodeVerdict)
	require.Contains(t, keys, "draft/sounding2/verdict/even")
	require.Contains(t, keys, "draft/sounding3/verdict/output_schema")
	require.Contains(t, keys, "draft/sounding3/attempt1/turn1/verdict/regex:Draft")
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","callouts":{"output":"all"},"soundings":{"factor":2,"mode":"aggregate"%s}},
		{"name":"next","context":{"from":[{"phase":"draft","include":["messages"]}]},"instructions":"next"}]}`
	b, m := sounded(t, "")
	res, err := b.run(fmt.Sprintf(source, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "## Candidate 1\n\n<Draft 0>\n\n## Candidate 2\n\n<Draft 1>", res.State["output_draft"])
	require.Len(t, m.requests, 3)
	require.Equal(t, -1, b.choices(t)[0].Winner)
	require.Equal(t, []string{"draft/callout/output"}, won(b.entries.keys(echo.NodeCallout), "draft/callout"))

	b, m = sounded(t, "")
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if req.Site.Purpose == echo.PurposeAggregate {
			return "one from all"
		}
		return ""
	}
	res, err = b.run(fmt.Sprintf(source, `,"aggregator_instructions":"Join {{ candidates | length }} for {{ task }}."`), nil)
	require.NoError(t, err)
	require.Equal(t, "one from all", res.State["output_draft"])
	require.Contains(t, m.of(func(s effect.Site) bool { return s.Purpose == echo.PurposeAggregate })[0], "Join 2 for ")
	require.Contains(t, m.of(func(s effect.Site) bool { return s.Phase == "next" })[0], "one from all")
}

func TestAdaptive(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c"%s,"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"adaptive":{"min":2,"max":4},"ballots":{"min":3,"max":12},"on_tie":"first"}}]}`
	b, _ := sounded(t, "Draft 2")
	res, err := b.run(fmt.Sprintf(source, ""), nil)
	require.NoError(t, err)
	require.Equal(t, "<Draft 2>", res.Output)
	require.Equal(t, []string{"draft/choice"}, b.entries.keys(echo.NodeChoice))
	require.Equal(t, []string{"draft/room"}, won(b.entries.keys(echo.NodeValue), "room"))
	require.Len(t, b.entries.of(echo.NodeCandidate), 3)
	require.Subset(t, b.entries.keys(echo.NodeBallot), []string{"draft/ballot6", "draft/ballot7"})

	b, _ = sounded(t, "")
	_, err = b.run(fmt.Sprintf(source, ""), nil)
	require.NoError(t, err)
	require.Len(t, b.entries.of(echo.NodeCandidate), 4)
	require.True(t, b.choices(t)[0].Tie)

	b, _ = sounded(t, "")
	b.runner.Facts = func(string) effect.ModelFacts {
		return effect.ModelFacts{Tariff: &echo.Tariff{Input: 1, Cached: 1, Output: 1}}
	}
	_, err = b.run(fmt.Sprintf(source, `,"budget":{"max_usd":0.25}`), nil)
	require.NoError(t, err)
	require.Len(t, b.entries.of(echo.NodeCandidate), 2)
	require.Equal(t, echo.ChoiceFirst, b.choices(t)[0].How)
	rooms := b.entries.of(echo.NodeValue)
	d, err := echo.Read[echo.Room](rooms[slices.IndexFunc(rooms, func(e *echo.Entry) bool { return strings.Contains(e.Key.String(), "room") })])
	require.NoError(t, err)
	require.False(t, d.Covers)
	require.Greater(t, d.NeededUSD, d.LeftUSD)
	require.Positive(t, d.LeftUSD)
	require.Equal(t, &d, b.choices(t)[0].Room, "the choice says why no candidate was added")
}

// Whatever the budget is, a candidate that is added can be judged: the first round may be too much for it, a later one is not.
func TestAddedCandidatesCanBeJudged(t *testing.T) {
	t.Parallel()
	added := map[int]bool{}
	for cents := 20; cents <= 240; cents += 4 {
		b, _ := sounded(t, "")
		b.runner.Facts = func(string) effect.ModelFacts { // a call is expected to take much more than it takes
			return effect.ModelFacts{Tariff: &echo.Tariff{Input: 100, Cached: 100, Output: 200}}
		}
		_, err := b.run(fmt.Sprintf(`{"cascade_id":"c","budget":{"max_usd":%f},"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}",
			"soundings":{"adaptive":{"min":2,"max":5},"ballots":{"min":3,"max":12},"on_tie":"first"}}]}`, float64(cents)/100), nil)
		n := len(b.entries.of(echo.NodeCandidate))
		if err != nil {
			require.Equal(t, 2, n, "%d cents: %v", cents, err)
			continue
		}
		added[n] = true
		require.Equal(t, n < 5, b.choices(t)[0].Room != nil)
	}
	require.Len(t, added, 4, "from none to three candidates are added")
}

// pretending has a model's calls cost nothing, and pretended money by the candidate that makes them.
type pretending struct {
	effect.Model
	usd map[int]float64
}

func (m pretending) Complete(ctx context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	resp, err := m.Model.Complete(ctx, req)
	if err == nil {
		resp.CostUSD, resp.Pretend = new(0.0), &echo.Pretend{Model: "dear", USD: m.usd[req.Site.Try.Number]}
	}
	return resp, err
}

// A choice by cost weighs pretended prices as if they had been paid; without them all is free, and the first is kept.
func TestPretendedPricesAreWeighed(t *testing.T) {
	t.Parallel()
	for usd, want := range map[float64]string{0.01: "<Draft 1>", 0.03: "<Draft 0>"} {
		b, m := sounded(t, "")
		b.runner.Model = pretending{m, map[int]float64{1: 0.02, 2: usd}}
		res, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2}}]}`, nil)
		require.NoError(t, err)
		require.Equal(t, want, res.Output)
		c := b.choices(t)[0]
		require.Equal(t, echo.ChoiceCheapest, c.How)
		require.InDelta(t, 0, *c.Standings[0].CostUSD, 0, "nothing was paid")
	}
}

func TestReforge(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "")
	step := 0
	m.answer = func(req *effect.ModelRequest, last string) string {
		if req.Site.Try.Step > 0 {
			return fmt.Sprintf("refined %d.%d {{ state.k }}", req.Site.Try.Step, req.Site.Try.Number)
		}
		return last
	}
	m.fail = func(req *effect.ModelRequest, last string) error {
		if isJudge(req.Site) {
			m.best = "refined 2.2"
			if step = strings.Count(last, "refined 1"); step > 0 && !strings.Contains(last, "refined 2.2") {
				m.best = "refined 1.1"
			}
		}
		return nil
	}
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write {{ sounding_index }}.","soundings":{"factor":2,"on_tie":"first",
		"reforge":{"steps":3,"honing_prompt":"Make it {{ better }}.","evaluator_override":"The best one."}}},{"name":"next","context":{"from":["draft"]},"instructions":"x"}]}`
	res, err := b.run(source, nil)
	require.NoError(t, err)
	require.Equal(t, "refined 2.2 {{ state.k }}", res.State["output_draft"])
	var got []string
	for _, c := range b.choices(t) {
		got = append(got, fmt.Sprint(c.Step, c.Winner, c.How))
	}
	require.Equal(t, []string{"0 1first", "1 1votes", "2 2votes", "3 0votes"}, got)
	honed := m.of(func(s effect.Site) bool { return s.Try.Step == 2 && s.Purpose == "" })
	require.Len(t, honed, 2)
	require.Contains(t, honed[0], "The best answer so far:")
	require.Contains(t, honed[0], "refined 1.1 {{ state.k }}")
	require.Contains(t, honed[0], "Make it {{ better }}.")
	f := record.Of(b.entries.asRead(t))
	history := f.History(echo.PhaseKey("draft", 1))
	require.Equal(t, "draft/task", history[0].Key.String())
	for _, e := range history[1:] {
		require.Contains(t, e.Key.String(), "draft/reforge2/sounding2/")
	}
	for _, x := range f.Branches(echo.PhaseKey("draft", 1)) {
		require.Equal(t, x.Key.String() == "draft/reforge2/sounding2", x.Won, x.Key)
		require.Equal(t, echo.StatusCompleted, x.Status, x.Key)
	}
}

func TestReforgeUntil(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write {{ sounding_index }}.","soundings":{"factor":2,"on_tie":"first",
		"reforge":{"steps":3,"threshold":{"validator":"regex:%s"}}}}]}`
	b, m := sounded(t, "")
	_, err := b.run(fmt.Sprintf(source, "Write"), nil)
	require.NoError(t, err)
	require.Empty(t, m.of(func(s effect.Site) bool { return s.Try.Step > 0 }))
	require.Equal(t, []string{"draft/verdict/regex:Write"}, b.entries.keys(echo.NodeVerdict))

	b, m = sounded(t, "Write 1.\n\nThe best")
	_, err = b.run(fmt.Sprintf(source, "so far"), nil)
	require.NoError(t, err)
	require.Len(t, m.of(func(s effect.Site) bool { return s.Try.Step > 0 && s.Purpose == "" }), 2)
	require.Equal(t, []string{"draft/verdict/regex:so far", "draft/reforge1/verdict/regex:so far"}, b.entries.keys(echo.NodeVerdict))
}

// soundingsOf has soundings of many kinds: in an element of a list, in a node of a graph, with wards and
// further attempts, with rewrites, added as they are needed, refined.
var soundingsOf = map[string]string{
	"plain": `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":3}},{"name":"next","context":{"from":["draft"]},"instructions":"next {{ outputs.draft }}"}]}`,
	"reforge": `{"cascade_id":"c","budget":{"max_usd":50,"max_seconds":1000},"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"ballots":{"min":1,"max":2},"on_tie":"first",
		"reforge":{"steps":2,"patience":2,"mutate":true,"threshold":"regex:never"}}},{"name":"next","instructions":"next {{ outputs.draft }}"}]}`,
	"list": `{"cascade_id":"c","phases":[{"name":"each","for_each":{"items":["a","b"]},"instructions":"{{ item }} {{ sounding_index }}","soundings":{"factor":2,"ballots":{"min":1,"max":2},"on_tie":"first",
		"reforge":{}}},{"name":"end","instructions":"{{ outputs.each | length }}"}]}`,
	"graph": `{"cascade_id":"c","phases":[{"name":"x","instructions":"x"},{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"ballots":{"min":1,"max":1}},"rules":{"loop_until":"regex:Draft"}},
		{"name":"end","after":["x","draft"],"instructions":"{{ outputs.draft }}"}]}`,
	"rewrite": `{"cascade_id":"c","validators":{"fair":{"instructions":"fair? {{ content }}"}},"phases":[{"name":"draft","instructions":"Draft","wards":{"pre":[{"validator":"fair"}],"post":[{"validator":"fair","mode":"retry"}]},
		"soundings":{"factor":3,"mutation_mode":"rewrite","validator":"fair","mode":"aggregate","aggregator_instructions":"join"}}]}`,
	"adaptive": `{"cascade_id":"c","budget":{"max_usd":100},"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"adaptive":{"min":2,"max":3},"ballots":{"min":1,"max":2}}},{"name":"end","instructions":"{{ outputs.draft }}"}]}`,
	"pareto":   `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"adaptive":{"min":2,"max":3},"pareto_frontier":{}}},{"name":"end","instructions":"{{ outputs.draft }}"}]}`,
	"whole": `{"cascade_id":"c","soundings":{"factor":2,"ballots":{"min":1,"max":2},"mutation_mode":"rewrite","validator":"fair","reforge":{}},"validators":{"fair":{"instructions":"fair? {{ content }}"}},
		"phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}"},{"name":"set","tool":"set_state","inputs":{"key":"k","value":"{{ sounding_index }}"}},{"name":"end","instructions":"{{ outputs.draft }}"}]}`,
	"tool": `{"cascade_id":"c","phases":[{"name":"set","tool":"set_state","inputs":{"key":"k","value":"{{ sounding_index }}"},"soundings":{"factor":2}},{"name":"end","instructions":"{{ state.k }}"}]}`,
}

func candidatesFor(name string) *candidates {
	m := &candidates{best: "Draft 1"}
	m.answer = func(req *effect.ModelRequest, last string) string {
		if req.Site.Validator != "" {
			return fmt.Sprintf(`{"valid":%t,"reason":"so"}`, !strings.Contains(last, "numbered steps") || strings.Contains(last, "not accepted"))
		}
		return ""
	}
	return m
}

// Killed after any entry, a run with soundings comes to the same end, and pays for no call twice.
func TestSoundingsResume(t *testing.T) {
	t.Parallel()
	for name, source := range soundingsOf {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _ := sounded(t, "")
			b.runner.Model = candidatesFor(name)
			b.runner.Children = &fakeChildren{runner: &Runner{Model: candidatesFor(name), DefaultModel: "m", Tools: b.tools}, ran: map[string]*effect.ChildOutcome{}}
			res, err := b.run(source, nil)
			require.NoError(t, err)
			whole := b.entries.asRead(t)
			c := &cascade.Cascade{}
			require.NoError(t, json.Unmarshal([]byte(source), c))
			for n := 1; n < len(whole); n++ {
				sink := &inMemory{list: slices.Clone(whole[:n])}
				runner := &Runner{Model: candidatesFor(name), DefaultModel: "m", Tools: &fakeTools{}}
				runner.Children = &fakeChildren{runner: runner, ran: map[string]*effect.ChildOutcome{}}
				again, err := runner.Run(context.Background(), Spec{
					Cascade: c, Log: echo.ContinueLog("s1", uint64(n), nil, nil, sink), WorkDir: "/scratch", Recording: whole[:n:n],
				})
				require.NoError(t, err, "%s after entry %d", name, n)
				require.Equal(t, res.Output, again.Output)
				require.InDelta(t, res.CostUSD, again.CostUSD, 1e-9)
				require.Equal(t, res.Calls, again.Calls, "%s after entry %d", name, n)
				paidOnce(t, sink.list)
				checkFold(t, (&inMemory{list: sink.list}).asRead(t), again)
			}
		})
	}
}

// The budget that ends between candidates, between ballots or in a step of refinement stops the run,
// which goes on there with a higher one.
func TestSoundingsBudget(t *testing.T) {
	t.Parallel()
	source := soundingsOf["reforge"]
	c := &cascade.Cascade{}
	require.NoError(t, json.Unmarshal([]byte(source), c))
	facts := func(string) effect.ModelFacts {
		return effect.ModelFacts{Tariff: &echo.Tariff{Input: 1, Cached: 1, Output: 1}}
	}
	b, _ := sounded(t, "Draft 1")
	undisturbed, err := b.run(source, nil)
	require.NoError(t, err)
	stopped := 0
	for n := 1; n <= undisturbed.Calls; n++ {
		sink := &inMemory{}
		runner := &Runner{Model: candidatesFor(""), DefaultModel: "m", Tools: &fakeTools{}, Facts: facts}
		res, err := runner.Run(context.Background(), Spec{
			Cascade: c, Log: echo.NewLog("s1", nil, nil, sink), WorkDir: "/scratch", Budget: &cascade.Budget{MaxUSD: 0.01*float64(n) + 0.005},
		})
		if err == nil {
			break
		}
		stopped++
		require.Equal(t, echo.StatusOverBudget, res.Status, err)
		whole := sink.asRead(t)
		runner.Model = candidatesFor("")
		res, err = runner.Run(context.Background(), Spec{
			Cascade: c, Log: echo.ContinueLog("s1", uint64(len(whole)), nil, nil, sink), WorkDir: "/scratch", Recording: whole, Budget: &cascade.Budget{},
		})
		require.NoError(t, err, "%d", n)
		require.Equal(t, undisturbed.Output, res.Output)
		paidOnce(t, sink.list)
	}
	require.Greater(t, stopped, 8)
}

// What a candidate says is in no other's requests, but in those of judges and of the refinement that it
// won; nor in later phases unless it won.
func TestCandidatesDoNotSeeEachOther(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "MARK0-2")
	b.tools.addEcho("look")
	b.tools.fns["look"] = func(_ context.Context, req effect.ToolRequest) (effect.ToolResult, error) {
		return effect.ToolResult{Parts: echo.Text(fmt.Sprintf("MARK%d-%d result", req.Site.Try.Step, req.Site.Try.Number))}, nil
	}
	m.calls = func(req *effect.ModelRequest) []echo.ToolCall {
		if req.Site.Try.Number == 0 || req.Site.Purpose != "" || len(req.Messages) > 2 && req.Messages[len(req.Messages)-1].Role() == echo.RoleTool {
			return nil
		}
		return []echo.ToolCall{
			{ID: "1", Name: "look", Arguments: "{}"},
			{ID: "2", Name: "set_state", Arguments: fmt.Sprintf(`{"key":"k","value":"MARK%d-%d state"}`, req.Site.Try.Step, req.Site.Try.Number)},
		}
	}
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if n := req.Site.Try.Number; n > 0 && req.Site.Purpose == "" {
			return fmt.Sprintf("MARK%d-%d answer", req.Site.Try.Step, n)
		}
		return ""
	}
	res, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}.","tackle":["look","set_state"],"soundings":{"factor":3,"reforge":{"steps":1}}},
		{"name":"next","context":{"from":[{"phase":"draft","include":["messages","output","state"]}]},"instructions":"next {{ state.k }}"}]}`, nil)
	require.NoError(t, err)
	require.Equal(t, "MARK0-2 answer", res.State["output_draft"])
	marks := regexp.MustCompile(`MARK\d-\d`)
	for _, r := range m.requests {
		own := fmt.Sprintf("MARK%d-%d", r.site.Try.Step, r.site.Try.Number)
		for _, mark := range marks.FindAllString(r.text, -1) {
			switch {
			case isJudge(r.site), mark == own:
			case r.site.Try.Step > 0, r.site.Phase == "next":
				require.Equal(t, "MARK0-2", mark)
			default:
				t.Errorf("%s is in a request of %s", mark, r.site)
			}
		}
	}
	require.NotEmpty(t, m.of(func(s effect.Site) bool { return s.Try.Step == 1 }))
}

// What the phase leaves begins with its own task: neither the answer that was refined nor what a candidate was asked
// besides is sent to later phases, by whatever way they get the messages.
func TestTheTaskOfThePhaseIsKept(t *testing.T) {
	t.Parallel()
	later := map[string]string{
		"context":   `"context":{"from":[{"phase":"draft","include":["messages","output"]}]}`,
		"anchors":   `"context":{"mode":"auto","anchors":{"window":9,"include":["callouts","output"]}}`,
		"selection": `"context":{"mode":"auto","selection":{"strategy":"heuristic","max_tokens":9000},"anchors":{"include":["output"]}}`,
	}
	for name, context := range later {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, m := sounded(t, "FINE")
			m.answer = func(req *effect.ModelRequest, _ string) string {
				if req.Site.Try.Step > 0 {
					return "FINE answer"
				}
				return "ROUGH answer"
			}
			source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Write {{ input.what }}.","callouts":{"messages":"kept","messages_filter":"all"},
				"soundings":{"factor":2,"mutations":["Be MUTATED."],"mutation_mode":"augment","reforge":{"mutate":true,"factor_per_step":3,"honing_prompt":"HONE it."}}},
				{"name":"next","instructions":"Tell of the answer and of what was to write.",` + context + `}]}`
			_, err := b.run(source, map[string]any{"what": "a poem"})
			require.NoError(t, err)
			require.NotEmpty(t, m.of(func(s effect.Site) bool { return s.Try.Step == 1 && s.Purpose == "" }))
			next := m.of(func(s effect.Site) bool { return s.Phase == "next" && s.Purpose == "" })
			require.Len(t, next, 1)
			require.Contains(t, next[0], "FINE answer")
			require.Contains(t, next[0], "Write a poem.")
			for _, not := range []string{"ROUGH", "HONE", "MUTATED", "The best answer so far"} {
				require.NotContains(t, next[0], not)
			}

			f := record.Of(b.entries.asRead(t))
			history := f.History(echo.PhaseKey("draft", 1))
			require.Len(t, history, 2)
			require.Equal(t, "draft/task", history[0].Key.String())
			require.Equal(t, "Write a poem.", history[0].Message.Text())
			require.Equal(t, history[0].Message.Hash(), history[0].ContentHash)
			require.Equal(t, []string{"draft/callout/task"}, won(b.entries.keys(echo.NodeCallout), "draft/callout"), "the task is called out as the candidate has done it")
			for _, x := range f.Branches(echo.PhaseKey("draft", 1)) {
				if asked := f.History(x.Key); len(asked) > 0 {
					require.Equal(t, x.Key.String()+"/task", asked[0].Key.String(), "what a candidate was asked stays on the record")
					require.Equal(t, strings.Contains(x.Key.String(), "reforge"), strings.Contains(asked[0].Message.Text(), "ROUGH answer"), x.Key)
				}
			}
		})
	}
}

// Candidates choose routes, begin cascades beside them, and call others; the choice takes the winner's
// route, and the end of the run waits for all that were begun.
func TestSoundingsInACascade(t *testing.T) {
	t.Parallel()
	child := `{"cascade_id":"child","phases":[{"name":"work","instructions":"work {{ input.n | default('') }}"}]}`
	source := `{"cascade_id":"c","phases":[
		{"name":"draft","instructions":"Draft {{ sounding_index }} {{ subs.child }}","handoffs":["left","right"],"sub_cascades":[{"ref":"child.json","input_map":{"n":"{{ sounding_index }}"}}],
		 "async_cascades":[{"ref":"child.json","name":"beside"}],"soundings":{"factor":2,"ballots":{"max":6}}},
		{"name":"left","instructions":"left","handoffs":["end"]},{"name":"right","instructions":"right","handoffs":["end"]},{"name":"end","instructions":"end {{ lineage | length }}"}]}`
	b, m := sounded(t, "Draft 1")
	m.calls = func(req *effect.ModelRequest) []echo.ToolCall {
		if req.Site.Try.Number == 0 || req.Site.Purpose != "" || req.Messages[len(req.Messages)-1].Role() == echo.RoleTool {
			return nil
		}
		return []echo.ToolCall{{ID: "1", Name: "route_to", Arguments: fmt.Sprintf(`{"target":%q}`, []string{"left", "right"}[req.Site.Try.Number-1])}}
	}
	m.answer = func(req *effect.ModelRequest, _ string) string {
		if n := req.Site.Try.Number; n > 0 && req.Site.Purpose == "" {
			return fmt.Sprintf("Draft %d", n-1)
		}
		return ""
	}
	res, _, err := b.runTree(source, nil, map[string]*cascade.Reached{"child.json": reached(t, child)})
	require.NoError(t, err)
	require.Equal(t, []string{"draft", "right", "end"}, []string{res.Phases[0].Phase, res.Phases[1].Phase, res.Phases[2].Phase})
	require.ElementsMatch(t, []string{"draft/sounding1/child/child", "draft/sounding2/child/child", "draft/sounding1/async/beside", "draft/sounding2/async/beside"}, b.entries.keys(echo.NodeChildStart))
	require.Len(t, b.entries.of(echo.NodeChildEnd), 4, "the end of the run waits for those of both candidates")
	require.Equal(t, 4, res.Children.Calls)
	asked := m.of(func(s effect.Site) bool { return s.Try.Number == 2 && s.Purpose == "" })
	require.Contains(t, asked[0], "Draft 1 <work 1>")
}

// Of what candidates share the record says how much it is, and what the provider's cache saved.
func TestSharedPrefix(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "")
	b.runner.Facts = func(string) effect.ModelFacts { return effect.ModelFacts{Price: &echo.Price{Input: 2, Cached: 0.5}} }
	n := 0
	m.usage = func(req *effect.ModelRequest) echo.Usage {
		if req.Site.Purpose == "" {
			if n++; n > 1 {
				return echo.Usage{In: 1500, Cached: 1400, Out: 1}
			}
		}
		return echo.Usage{In: 1500, Out: 1}
	}
	_, err := b.run(`{"cascade_id":"c","phases":[{"name":"draft","instructions":"`+strings.Repeat("word ", 1200)+` {{ sounding_index }}","soundings":{"factor":4,"on_tie":"first"}}]}`, nil)
	require.NoError(t, err)
	p := b.choices(t)[0].Prefix
	require.NotNil(t, p)
	require.Greater(t, p.Shared, int64(1024))
	require.Equal(t, 3, p.Waited)
	require.Equal(t, int64(4200), p.Cached)
	require.InDelta(t, 4200*1.5e-6, *p.SavedUSD, 1e-12)
}

// Ctrl-C stops all candidates; the run goes on with them.
func TestSoundingsAreInterrupted(t *testing.T) {
	t.Parallel()
	source := soundingsOf["plain"]
	for stop := 1; stop < 6; stop++ {
		b, m := sounded(t, "Draft 1")
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		m.fail = func(*effect.ModelRequest, string) error {
			if n++; n >= stop {
				cancel()
				return ctx.Err()
			}
			return nil
		}
		res, err := b.runCtx(ctx, source, nil)
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, echo.StatusInterrupted, res.Status)
		b.resumesWith(t, source, &candidates{best: "Draft 1"}, `"<next <Draft 1>>"`)
	}
}

const wholeCascade = `{"cascade_id":"c","soundings":{"factor":3,"models":["a","b","c"],"mutations":["Be brief."],"mutation_mode":"augment","on_tie":"first","reforge":{"honing_prompt":"Better."}},"phases":[
	{"name":"set","tool":"set_state","inputs":{"key":"k","value":"{{ sounding_index }} {{ input.x }}"}},
	{"name":"draft","context":{"include_input":false},"instructions":"Draft {{ sounding_index }} of {{ sounding_factor }} {{ is_sounding }} {{ input._refinement_context.best | default('') }}"},{"name":"end","context":{"include_input":false},"instructions":"end {{ outputs.draft }}"}]}`

// Tries of a whole cascade are sessions of their own; the output and the state of the one that is kept are
// those of the run.
func TestSoundingsOfACascade(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "Draft 1 of 3 true >")
	res, f, err := b.runTree(wholeCascade, map[string]any{"x": "y"}, nil)
	require.NoError(t, err)
	require.Contains(t, res.Output, "<end <Be brief.\n\nDraft 1 of 3 true >")
	require.Equal(t, "1 y", res.State["k"])
	require.Empty(t, res.Phases)
	require.Len(t, f.ran, 5)
	require.Equal(t, []string{"run/sounding1/candidate", "run/sounding2/candidate", "run/sounding3/candidate"}, sorted(b.entries.keys(echo.NodeCandidate))[2:])
	require.Equal(t, []string{"run/choice", "run/reforge1/choice"}, b.entries.keys(echo.NodeChoice))
	require.Equal(t, 2, b.choices(t)[0].Winner)
	require.Equal(t, 0, b.choices(t)[1].Winner)
	require.Equal(t, 10, res.Children.Calls)
	require.InDelta(t, 0.1, res.Children.CostUSD, 1e-9)
	judges := len(m.of(isJudge))
	require.Equal(t, judges, res.Calls)
	require.InDelta(t, 0.01*float64(judges), res.CostUSD, 1e-9)
	for _, e := range b.entries.of(echo.NodeChildStart) {
		d, err := echo.Read[echo.ChildStart](e)
		require.NoError(t, err)
		require.Equal(t, echo.ChildSounding, d.How)
		require.NotNil(t, d.Candidate)
	}
	require.Contains(t, m.of(isJudge)[0], "Run the workflow c.")
	require.Equal(t, 2, len(m.of(func(s effect.Site) bool { return s.Phase == "draft" }))-3)

	fold := record.Of(b.entries.asRead(t))
	require.Equal(t, res.Output, fold.Output())
	require.Equal(t, "1 y", fold.State("k"))
	var won []string
	for _, x := range fold.Branches(echo.RunKey()) {
		if x.Won {
			won = append(won, x.Key.String())
		}
		require.Equal(t, echo.StatusCompleted, x.Status, x.Key)
	}
	require.Equal(t, []string{"run/sounding2"}, won)
}

func TestSoundingsOfACascadeFail(t *testing.T) {
	t.Parallel()
	b, m := sounded(t, "")
	m.fail = func(req *effect.ModelRequest, _ string) error {
		if isJudge(req.Site) {
			return nil
		}
		return &effect.ModelError{Kind: echo.ModelErrServer, Model: req.Model, Message: "down", Status: 500, Unpaid: true}
	}
	_, _, err := b.runTree(`{"cascade_id":"c","soundings":{"factor":2},"phases":[{"name":"p","instructions":"x"}]}`, nil, nil)
	require.ErrorContains(t, err, "c: all 2 candidates failed: the cascade ended failed: ")
	require.ErrorContains(t, err, "model m: down")
	require.NoError(t, CheckResumable(b.entries.asRead(t)))
	require.NotContains(t, b.entries.keys(echo.NodeBranchEnd), "run/sounding1/end")
}

// A refinement that failed, and whose failure was handled, is not made again when the run fails later.
func TestAHandledRefinementStays(t *testing.T) {
	t.Parallel()
	source := `{"cascade_id":"c","phases":[{"name":"draft","instructions":"Draft {{ sounding_index }}","soundings":{"factor":2,"on_tie":"first","reforge":{}},"on_error":{"instructions":"sorry"}}]}`
	b, m := sounded(t, "")
	m.fail = func(req *effect.ModelRequest, last string) error {
		if isJudge(req.Site) && strings.Contains(req.Messages[1].Text()+req.Messages[2].Text(), "best answer so far") || last == "sorry" {
			return &effect.ModelError{Kind: echo.ModelErrServer, Model: "m", Message: "down", Status: 500, Unpaid: true}
		}
		return nil
	}
	_, err := b.run(source, nil)
	require.ErrorContains(t, err, "model m: down")
	require.Contains(t, b.entries.keys(echo.NodeBranchEnd), "draft/reforge1/end")
	again := &candidates{}
	b.resumesWith(t, source, again, `"<sorry>"`)
	require.Len(t, again.requests, 1)
}
