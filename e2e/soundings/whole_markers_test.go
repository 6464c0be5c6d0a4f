//go:build unix

package soundings

import (
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

const (
	// triedWhole is a cascade whose runs plan and write; the best run is refined once.
	triedWhole = `{"cascade_id": "tried", "tools": [` + showTool + `],
		"soundings": {"factor": 3, "mutations": ["Be brief.", "Be exact."], "mutation_mode": "augment", "ballots": {"min": 2, "max": 3}, "reforge": {"honing_prompt": "Hone it."}},
		"phases": [
		{"name": "plan", "tackle": ["show", "set_state"], "rules": {"max_turns": 4},
		 "instructions": "PLAN {{ sounding_index }}{% if input._refinement_context is defined %} AGAIN from {{ input._refinement_context.best }}{% endif %}."},
		{"name": "write", "context": {"from": [{"phase": "plan", "include": ["messages", "output", "state"]}]},
		 "instructions": "WRITE {{ sounding_index }}{% if input._refinement_context is defined %} AGAIN{% endif %} {{ outputs.plan }} {{ state.kept }}."}]}`

	// joinedWhole is one of whose runs one answer is written.
	joinedWhole = `{"cascade_id": "joined", "inputs_schema": {"before": "what came before"}, "tools": [` + showTool + `],
		"soundings": {"factor": 2, "mode": "aggregate", "aggregator_instructions": "JOIN."},
		"phases": [{"name": "part", "tackle": ["show", "set_state"], "rules": {"max_turns": 4}, "instructions": "PART {{ sounding_index }} after {{ input.before }}."}]}`

	// wholeParent has both as children, and phases after them.
	wholeParent = `{"cascade_id": "main", "phases": [
		{"name": "top", "instructions": "TOP {{ subs.tried }} {{ state.kept }}.", "sub_cascades": [{"ref": "tried.json", "name": "tried", "context_out": true}]},
		{"name": "blind", "instructions": "BLIND.", "context": {"from": []}},
		{"name": "sees", "instructions": "SEES.", "context": {"from": [{"phase": "top", "include": ["messages", "output", "state"]}]}},
		{"name": "search", "instructions": "SEARCH.", "tackle": ["search_context", "recall"], "context": {"from": []}},
		{"name": "last", "instructions": "LAST {{ subs.joined }}.", "context": {"from": []},
		 "sub_cascades": [{"ref": "joined.json", "name": "joined", "input_map": {"before": "{{ state.kept }}"}}]}]}`
)

// A run that is a candidate sees nothing of another one, in any of its phases; a judge sees the outputs of runs and nothing
// else; a run that refines sees the best output; the parent, and what it begins later, sees what the kept run said and set.
func TestWholeCandidatesAreIndependent(t *testing.T) {
	t.Parallel()
	w := suite.New(t, nil)
	w.File("tried.json", triedWhole)
	w.File("joined.json", joinedWhole)
	m := newMarks("0", "1", "2", "r0", "r1", "text 0", "text 1", "text 2", "text r0", "text r1", "p0", "p1", "joint")
	text := func(o string) string { return "answer text " + o } // the output of a run
	rules := []billed.Rule{
		bestIs(m[text("r1")]), bestIs(m[text("2")]), isTie(),
		billed.Says(`Write the one answer`, "joined "+m["answer joint"]),
		m.candidate(w, `PART 0 `, "p0"), m.candidate(w, `PART 1 `, "p1"),
		billed.CallsTool(`SEARCH`, "search_context", `{"query": "answer plan look state"}`, "searched"),
		billed.Says(`^BLIND`, "blind"), billed.Says(`^(TOP|SEES|LAST)`, "seen"),
	}
	seers := []seer{
		owner("a judge", `Which answer is the best one`, []string{text("0"), text("1"), text("2"), text("r0"), text("r1")}, []string{text("0"), text("1"), text("2"), text("r0"), text("r1")}),
		owner("the aggregator", `Write the one answer`, []string{"answer p0", "answer p1", "state r1"}, []string{"answer p0", "answer p1", "state r1"}),
	}
	for _, o := range []string{"r0", "r1", "0", "1", "2"} {
		index, refines := strings.CutPrefix(o, "r")
		plan, write, may, sees := `PLAN `+index+`\.`, `WRITE `+index+` an answer`, of(o), of(o, "result", "turn", "state")
		if refines {
			plan, write, may, sees = `PLAN `+index+` AGAIN`, `WRITE `+index+` AGAIN`, append(may, text("2")), append(sees, text("2"))
		}
		rules = append(rules, m.candidate(w, plan, o), billed.Says(write, "a text "+m[text(o)]))
		seers = append(seers, owner("plan "+o, plan, may, sees), owner("write "+o, write, may, of(o)))
	}
	kept := []string{text("r1"), "state r1"}
	seers = append(
		seers, owner("top", `^TOP`, kept, kept), owner("blind", `^BLIND`, nil, nil), owner("sees", `^SEES`, kept, kept),
		owner("search", `^SEARCH`, kept, []string{text("r1")}), owner("last", `^LAST`, []string{"answer joint"}, []string{"answer joint"}),
		owner("part 0", `PART 0 `, append(of("p0"), "state r1"), append(of("p0", "result", "turn", "state"), "state r1")),
		owner("part 1", `PART 1 `, append(of("p1"), "state r1"), append(of("p1", "result", "turn", "state"), "state r1")),
	)
	runMarked(t, w, wholeParent, rules)
	m.check(t, w, seers)
}
