//go:build unix

package soundings

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// marks are random words by what they stand in, such as "answer 2" of the candidate with the index 2.
type marks map[string]string

var kinds = []string{"answer", "result", "turn", "state"}

func newMarks(owners ...string) marks {
	r, m := rand.New(rand.NewPCG(suite.Seed, 2)), marks{}
	for _, o := range owners {
		for _, kind := range kinds {
			m[kind+" "+o] = fmt.Sprintf("mark%016x", r.Uint64())
		}
	}
	return m
}

// in returns what of a text is marked, sorted.
func (m marks) in(text string) []string {
	var names []string
	for name, mark := range m {
		if strings.Contains(text, mark) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// candidate returns what a candidate does: it says something while it calls a tool whose result is marked, sets a state,
// and answers.
func (m marks) candidate(w *billed.World, when, o string) billed.Rule {
	w.File("seen-"+o, m["result "+o])
	look, _ := json.Marshal(map[string]string{"n": o})                                          // it can be encoded
	set, _ := json.Marshal(map[string]string{"key": "kept", "value": "state " + m["state "+o]}) // likewise
	return billed.Rule{When: billed.When(when), Turns: []billed.Turn{
		{Text: "I look: " + m["turn "+o], Calls: []billed.Call{{Tool: "show", Arguments: look}, {Tool: "set_state", Arguments: set}}},
		{Text: "an answer " + m["answer "+o]},
	}}
}

// of returns the marks of an owner, of some kinds or of all.
func of(owner string, list ...string) []string {
	if len(list) == 0 {
		list = kinds
	}
	var names []string
	for _, kind := range list {
		names = append(names, kind+" "+owner)
	}
	return names
}

// seer is who makes a request, by what its newest message of a user has, and what it may see, and is to see in one of its
// requests at least.
type seer struct {
	name string
	when *regexp.Regexp
	may  []string
	sees []string
}

// check demands of every request that its maker may see all marks that are in it.
func (m marks) check(t *testing.T, w *billed.World, seers []seer) {
	t.Helper()
	found := map[string]map[string]bool{}
	for _, r := range w.Provider.Requests() {
		s := seerOf(t, &r, seers)
		if found[s.name] == nil {
			found[s.name] = map[string]bool{}
		}
		for _, name := range m.in(string(r.Raw)) {
			found[s.name][name] = true
			require.Contains(t, s.may, name, "a request of %s has the mark of %s:\n%s", s.name, name, r.Raw)
		}
	}
	for _, s := range seers {
		for _, name := range s.sees {
			require.True(t, found[s.name][name], "%s is to see %q", s.name, name)
		}
	}
}

func seerOf(t *testing.T, r *llmtest.Request, seers []seer) *seer {
	t.Helper()
	for _, msg := range slices.Backward(r.Messages) {
		if msg.Role != "user" {
			continue
		}
		for i := range seers {
			if seers[i].when.MatchString(msg.Text()) {
				return &seers[i]
			}
		}
	}
	require.Fail(t, "a request is of nobody", "%s", r.Raw)
	return nil
}

func owner(name, when string, may, sees []string) seer {
	return seer{name: name, when: regexp.MustCompile("(?s)" + when), may: may, sees: sees}
}

// showTool shows what is in a file of the candidate.
const showTool = `{"tool_id": "show", "type": "shell", "idempotent": true, "description": "Shows a file.", "inputs_schema": {"n": "its name"}, "command": "cat seen-{{ n }}"}`

// bestIs returns a judge that names the answer with a text.
func bestIs(text string) billed.Rule {
	return billed.Says(`Answer (\w+):\n<<<\w+ \w+\n[^<]*`+text+`.*Which answer is the best one`, `{"why": "it is the best", "winner": "$1"}`)
}

func isTie() billed.Rule {
	return billed.Says(`Which answer is the best one`, `{"why": "equal", "winner": "tie"}`)
}

func runMarked(t *testing.T, w *billed.World, cascade string, rules []billed.Rule) {
	t.Helper()
	w.File("main.json", cascade)
	w.Provider.Mend(rules)
	w.Provider.Late = billed.Lateness
	w.MustRun(0, "run", "main.json", "--session", "marked", "--no-clickhouse", "--allow-commands", "--progress", "plain")
	require.Empty(t, w.Provider.Wrong())
	w.MustRun(0, "verify", "marked")
}

// What a candidate says, does and finds is in no other candidate's request. A judge sees answers and nothing else; a step of
// refinement sees the best answer; later phases see what is the winner's, also when they search.
func TestCandidatesAreIndependent(t *testing.T) {
	t.Parallel()
	w := suite.New(t, nil)
	m := newMarks("0", "1", "2", "r0", "r1", "p0", "p1")
	rules := []billed.Rule{
		bestIs(m["answer r1"]), bestIs(m["answer 2"]), isTie(),
		m.candidate(w, `^Be brief\.\n\nDRAFT 1 .*The best answer so far`, "r1"), m.candidate(w, `DRAFT 0 .*The best answer so far`, "r0"),
		m.candidate(w, `DRAFT 0 `, "0"), m.candidate(w, `DRAFT 1 `, "1"), m.candidate(w, `DRAFT 2 `, "2"),
		m.candidate(w, `NEXT 0 `, "p0"), m.candidate(w, `NEXT 1 `, "p1"),
		billed.CallsTool(`SEARCH`, "search_context", `{"query": "answer draft look state"}`, "searched"),
		billed.Says(`BLIND`, "blind"), billed.Says(`SEES`, "seen"),
	}
	runMarked(t, w, `{"cascade_id": "main", "tools": [`+showTool+`], "phases": [
		{"name": "draft", "instructions": "DRAFT {{ sounding_index }} of it.", "tackle": ["show", "set_state"], "rules": {"max_turns": 4}, "callouts": {"output": "best"},
		 "soundings": {"factor": 3, "mutations": ["Be brief.", "Be exact."], "mutation_mode": "augment", "ballots": {"min": 2, "max": 3}, "reforge": {"mutate": true}}},
		{"name": "blind", "instructions": "BLIND.", "context": {"from": []}},
		{"name": "sees", "instructions": "SEES {{ outputs.draft }} {{ state.kept }} {{ state.output_draft }}.", "context": {"from": [{"phase": "draft", "include": ["messages", "output", "state"]}]}},
		{"name": "search", "instructions": "SEARCH.", "tackle": ["search_context", "recall"], "context": {"from": []}},
		{"name": "next", "instructions": "NEXT {{ sounding_index }} after {{ outputs.draft }}.", "tackle": ["show", "set_state"], "rules": {"max_turns": 4}, "soundings": {"factor": 2, "mode": "aggregate"}},
		{"name": "last", "instructions": "SEES LAST {{ outputs.next }}.", "context": {"from": ["next"]}}]}`, rules)
	all := append(of("0", "answer"), append(of("1", "answer"), of("2", "answer")...)...)
	winner := of("r1") // and not the answer that it is better than, which its task had
	joined := append(of("p0", "answer"), of("p1", "answer")...)
	m.check(t, w, []seer{
		owner("a judge", `Which answer is the best one`, append(slices.Clone(all), append(of("r0", "answer"), of("r1", "answer")...)...), append(slices.Clone(all), "answer r0", "answer r1")),
		owner("refined 1", `DRAFT 1 .*The best answer so far`, append(of("r1"), "answer 2"), append(of("r1", "result", "turn"), "answer 2")),
		owner("refined 0", `DRAFT 0 .*The best answer so far`, append(of("r0"), "answer 2"), append(of("r0", "result", "turn"), "answer 2")),
		owner("0", `DRAFT 0 `, of("0"), of("0", "result", "turn", "state")),
		owner("1", `DRAFT 1 `, of("1"), of("1", "result", "turn", "state")),
		owner("2", `DRAFT 2 `, of("2"), of("2", "result", "turn", "state")),
		owner("blind", `^BLIND`, nil, nil),
		owner("last", `^SEES LAST`, joined, joined),
		owner("sees", `^SEES`, winner, winner),
		owner("search", `^SEARCH`, winner, of("r1", "answer")),
		owner("next 0", `^NEXT 0`, append(of("p0"), "answer r1"), of("p0", "result", "turn", "state")),
		owner("next 1", `^NEXT 1`, append(of("p1"), "answer r1"), of("p1", "result", "turn", "state")),
	})
}

// One answer is written from the answers of all candidates, in the elements of a list: an element and its aggregator see
// nothing of another one, and the next phase sees the joined answer alone.
func TestElementsAreIndependent(t *testing.T) {
	t.Parallel()
	w := suite.New(t, nil)
	owners := []string{"elm0", "elm1", "oak0", "oak1"}
	m := newMarks(owners...)
	rules := []billed.Rule{
		billed.Says(`JOIN.*an answer (\w+)\n.*an answer (\w+)\n`, "joined"), billed.Says(`LAST`, "last"),
	}
	seers := []seer{
		owner("the aggregator of elm", `JOIN elm.*Write the one answer`, append(of("elm0", "answer"), "answer elm1"), []string{"answer elm0", "answer elm1"}),
		owner("the aggregator of oak", `JOIN oak.*Write the one answer`, append(of("oak0", "answer"), "answer oak1"), []string{"answer oak0", "answer oak1"}),
		owner("last", `^LAST`, nil, nil),
	}
	for _, o := range owners {
		when := fmt.Sprintf(`DRAFT %s of %s\.`, o[3:], o[:3])
		rules = append(rules, m.candidate(w, when, o))
		seers = append(seers, owner(o, when, of(o), of(o, "result", "turn", "state")))
	}
	runMarked(t, w, `{"cascade_id": "main", "tools": [`+showTool+`], "phases": [
		{"name": "draft", "instructions": "DRAFT {{ sounding_index }} of {{ item }}.", "tackle": ["show", "set_state"], "rules": {"max_turns": 4},
		 "for_each": {"items": ["elm", "oak"], "max_parallel": 2},
		 "soundings": {"factor": 2, "mode": "aggregate", "aggregator_instructions": "JOIN {{ item }}."}},
		{"name": "last", "instructions": "LAST {{ outputs.draft }}.", "context": {"from": [{"phase": "draft", "include": ["messages", "output", "state"]}]}}]}`, rules)
	m.check(t, w, seers)
}

// hidden are texts that no judge may see: names of models and what they cost, numbers of candidates, mutations, and what
// is said of candidates on the record.
var hidden = regexp.MustCompile(`ruby|opal|onyx|thinker|\bm\d+-|\$|usd|cost|price|token|sounding|index|[Cc]andidate|mutation|Be brief|Be exact|temperature|copies`)

// named returns a cascade with soundings of its phase, or of the cascade itself. Each candidate has a task of its own.
func named(soundings string, whole bool) string {
	const again = `{% if input._refinement_context is defined %} The best answer so far: {{ input._refinement_context.best }}{% endif %}`
	if whole {
		return `{"cascade_id": "main", "soundings": ` + soundings + `, "phases": [{"name": "draft", "instructions": "WRITE {{ 'abcd'[sounding_index] }}` + again + `."}]}`
	}
	return `{"cascade_id": "main", "phases": [{"name": "draft", "instructions": "WRITE {{ 'abcd'[sounding_index] }}.", "soundings": ` + soundings + `}]}`
}

// bothForms runs a test for soundings of a phase and of a whole cascade.
func bothForms(t *testing.T, name string, test func(t *testing.T, whole bool)) {
	t.Helper()
	for form, whole := range map[string]bool{"phase": false, "cascade": true} {
		t.Run(name+" "+form, func(t *testing.T) {
			t.Parallel()
			test(t, whole)
		})
	}
}

// judged returns what a judge has been sent, message by message.
func judged(r *llmtest.Request) string {
	text := ""
	for _, msg := range r.Messages {
		text += msg.Text() + "\n"
	}
	return text
}

// A judge sees no model, no cost, no number and no mutation, and labels that say nothing: they are others in each ballot,
// and the second ballot of a pair has the order of the first reversed.
func TestJudgesAreBlind(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"votes": `"ballots": {"min": 3, "max": 3}, "reforge": {"steps": 1, "honing_prompt": "Hone it."}`, "scores": `"pareto_frontier": {"policy": "balanced"}`,
		"weighed": `"cost_aware_evaluation": {"cost_normalization": "log_scale"}, "ballots": {"min": 2, "max": 2}`,
	} {
		bothForms(t, name, func(t *testing.T, whole bool) {
			t.Helper()
			w := suite.New(t, nil)
			rules := []billed.Rule{isTie(), billed.Says(`How many points`, `{"why": "well", "score": 5}`)}
			for i, n := range []string{"ash", "box", "elm", "fir"} {
				rules = append(rules, billed.Says(fmt.Sprintf(`WRITE %c.*The best answer so far`, 'a'+i), "better "+n), billed.Says(fmt.Sprintf(`WRITE %c`, 'a'+i), "a text on "+n))
			}
			runMarked(t, w, named(`{"models": {"ruby-large": {"factor": 2}, "opal-small": {"factor": 2}}, "mutations": ["Be brief.", "Be exact.", "Be clear."],
				"mutation_mode": "approach", "evaluator_model": "onyx", `+more+`}`, whole), rules)
			tree := w.Tree("marked")
			require.Equal(t, whole, len(tree.All) > 1, "candidates are sessions")
			require.GreaterOrEqual(t, blind(t, w, tree), 4)
			all, err := triesOf(tree.Root)
			require.NoError(t, err)
			for _, x := range all {
				require.NoError(t, x.sound())
			}
		})
	}
}

// blind demands that judges see nothing that is hidden, and returns how often they were asked.
func blind(t *testing.T, w *billed.World, tree *billed.Tree) int {
	t.Helper()
	asked, labels := 0, map[string]bool{}
	for _, r := range w.Provider.Requests() {
		if r.Model != "onyx" {
			continue
		}
		asked++
		text := judged(&r)
		require.NotRegexp(t, hidden, text)
		require.Empty(t, r.Options["user"])
		for _, s := range tree.All {
			require.NotContains(t, text, s.Header.SessionID)
		}
		for _, at := range regexp.MustCompile(`Answer (\S+):\n`).FindAllStringSubmatch(text, -1) {
			require.False(t, labels[at[1]], "the label %s was there before", at[1])
			require.Regexp(t, `^[BCDFGHJKLMNPQRSTVWXZ]{4,}$`, at[1])
			labels[at[1]] = true
		}
	}
	return asked
}

// With show_costs_to_evaluator a judge is told what each answer cost, and still nothing else.
func TestJudgesSeeCosts(t *testing.T) {
	t.Parallel()
	bothForms(t, "costs", func(t *testing.T, whole bool) {
		t.Helper()
		w := suite.New(t, nil)
		runMarked(t, w, named(`{"models": ["ruby-large", "opal-small"], "cost_aware_evaluation": {"show_costs_to_evaluator": true},
			"mutations": ["Be brief."], "mutation_mode": "approach", "ballots": {"min": 1, "max": 1}}`, whole),
			[]billed.Rule{isTie(), billed.Says(`WRITE (\w)`, "written $1")})
		cost, told := regexp.MustCompile(` \(it cost \$[0-9.]+\)`), 0
		for _, r := range w.Provider.Requests() {
			if text := judged(&r); strings.Contains(text, "Which answer is the best one") {
				require.Len(t, cost.FindAllString(text, -1), 2, text)
				require.NotRegexp(t, hidden, cost.ReplaceAllString(text, ""))
				told++
			}
		}
		require.Equal(t, 2, told)
	})
}
