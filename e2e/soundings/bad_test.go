//go:build unix

package soundings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

// drafts returns a cascade whose first phase has soundings, and whose second one has what came of them.
func drafts(soundings string, more ...string) map[string]string {
	keys := ""
	for _, m := range more {
		keys += m + ", "
	}
	return map[string]string{"main.json": fmt.Sprintf(`{"cascade_id":"main","phases":[
 {"name":"draft","instructions":"DRAFT {{ sounding_index }}.",%s
  "max_output_tokens":40,"soundings":%s},
 {"name":"last","max_output_tokens":40,"instructions":"LAST {{ outputs.draft }}."}]}`, keys, soundings)}
}

const (
	twoPairs = `{"factor":3,"max_parallel":1,"ballots":{"min":2,"max":2}}`
	onePair  = `{"factor":2,"max_parallel":1,"ballots":{"min":1,"max":1}}`
)

var (
	writes = billed.Says(`DRAFT (\d)`, "draft $1")
	ends   = billed.Says(`LAST (.*)\.`, "last of $1")
	votes  = bestIs("draft 2")
	shows  = []string{"soundings", "bad"}
)

func judgeSays(text string) billed.Rule { return billed.Says(`Which answer is the best one`, text) }

func badCases() []billed.Bad {
	return slices.Concat(badFiles(), badJudges(), badCandidates(), badCascades(), badBudgets(), badRefinements())
}

func badFiles() []billed.Bad {
	return []billed.Bad{
		{Name: "factor is 0", Files: drafts(`{"factor":0}`)},
		{Name: "factor is 65", Files: drafts(`{"factor":65}`)},
		{Name: "factor is a text", Files: drafts(`{"factor":"three"}`)},
		{Name: "factor is missing", Files: drafts(`{}`)},
		{Name: "factor is 1", Files: drafts(`{"factor":1}`), Answers: []billed.Rule{writes, ends}},
		{Name: "evaluator is unknown", Files: drafts(`{"factor":3,"evaluator":"modle"}`)},
		{Name: "a person and a frontier choose", Files: drafts(`{"factor":3,"evaluator":"human","pareto_frontier":{}}`)},
		{Name: "a person chooses once of a number that adapts", Files: drafts(`{"adaptive":{"max":3},"evaluator":"human"}`)},
		{Name: "a person is shown a tournament", Files: drafts(`{"factor":3,"evaluator":"human","human_eval":{"selection_mode":"tournament"}}`)},
		{Name: "a person has no time", Files: drafts(`{"factor":3,"evaluator":"human","human_eval":{"timeout_seconds":0}}`)},
		{Name: "the model leaves one to a person", Files: drafts(`{"factor":3,"evaluator":"hybrid","llm_prefilter":1}`)},
		{Name: "the evaluator is how a person chooses", Files: drafts(`{"factor":3,"evaluator":"human","human_eval":true}`)},
		{Name: "evaluator takes the first number", Files: drafts(`{"factor":3,"evaluator":{"kind":"first_number"}}`)},
		{Name: "people decide a tie", Files: drafts(`{"factor":3,"on_tie":"people"}`)},
		{Name: "the validator is missing", Files: drafts(`{"factor":3,"validator":"is_polit"}`)},
		{Name: "the factors of models do not add up", Files: drafts(`{"factor":3,"models":{"a":{"factor":2},"b":{"factor":2}}}`)},
	}
}

func badJudges() []billed.Bad {
	judged := func(name, text string) billed.Bad {
		return billed.Bad{Name: name, Files: drafts(twoPairs), Answers: []billed.Rule{judgeSays(text), writes, ends}, Shows: shows}
	}
	return []billed.Bad{
		judged("a judge talks nonsense", "The weather is fine, {as: it [was."),
		judged("a judge names a label that is not there", `{"why": "it is good", "winner": "QQQQ"}`),
		judged("a judge names a number", `{"why": "it is good", "winner": 1}`),
		judged("a judge says nothing", ""),
		judged("a judge always says tie", `{"why": "equal", "winner": "tie"}`),
		judged("a judge has two verdicts", `{"winner": "tie"} or rather {"winner": "none"}`),
		{
			Name: "a judge always names the first", Files: drafts(twoPairs), Shows: shows,
			Answers: []billed.Rule{billed.Says(`Answer (\w+):.*Which answer is the best one`, `{"why": "it comes first", "winner": "$1"}`), writes, ends},
		},
		{
			Name: "a judge cannot be reached", Files: drafts(onePair), Answers: []billed.Rule{billed.Refuses(`Which answer is the best one`, 400), writes, ends},
			Mended: []billed.Rule{bestIs("draft 1"), isTie(), ends}, Shows: shows,
		},
		{
			Name: "the aggregator says nothing", Files: drafts(`{"factor":2,"max_parallel":1,"mode":"aggregate","aggregator_instructions":"JOIN."}`),
			Answers: []billed.Rule{billed.Says(`JOIN\.`, ""), writes, ends}, Mended: []billed.Rule{billed.Says(`JOIN\.`, "joined"), ends}, Shows: shows,
		},
	}
}

func badCandidates() []billed.Bad {
	long := `"rules":{"max_attempts":2,"loop_until":"min_words:5"}`
	return []billed.Bad{
		{Name: "all candidates fail their checks", Files: drafts(twoPairs, long), Answers: []billed.Rule{billed.Says("", "too short")}, Shows: shows},
		{
			Name: "all candidates fail by the provider", Files: drafts(twoPairs), Answers: []billed.Rule{billed.Refuses(`DRAFT`, 400)},
			Mended: []billed.Rule{votes, isTie(), writes, ends}, Shows: shows,
		},
		{
			Name: "all candidates fail and on_error helps", Files: drafts(onePair, `"on_error":{"name":"help","instructions":"HELP."}`),
			Answers: []billed.Rule{billed.Refuses(`DRAFT`, 400), billed.Says(`HELP`, "helped"), ends}, Shows: shows,
		},
		{
			Name: "a candidate fails by the provider", Files: drafts(twoPairs),
			Answers: []billed.Rule{billed.Refuses(`^DRAFT 0`, 400), votes, isTie(), writes, ends}, Shows: shows,
		},
		{
			Name: "all candidates but one fail", Files: drafts(twoPairs),
			Answers: []billed.Rule{billed.Refuses(`^DRAFT [01]`, 400), writes, ends}, Shows: shows,
		},
		{
			Name: "all of a refinement fail", Files: drafts(`{"factor":2,"max_parallel":1,"ballots":{"min":1,"max":1},"reforge":{"steps":2}}`),
			Answers: []billed.Rule{billed.Refuses(`The best answer so far`, 400), bestIs("draft 1"), isTie(), writes, ends}, Shows: shows,
		},
		{
			Name: "free checks reject all", Files: drafts(`{"factor":3,"max_parallel":1,"ballots":{"min":2,"max":2},"validator":"min_words:9"}`),
			Answers: []billed.Rule{votes, isTie(), writes, ends}, Shows: shows,
		},
		{
			Name: "a schema rejects all but one", Files: drafts(`{"factor":3,"max_parallel":1,"output_schema":{"type":"object","required":["n"]}}`),
			Answers: []billed.Rule{billed.Says(`DRAFT 1`, `{"n": 1}`), writes, ends}, Shows: shows,
		},
		{
			Name: "all answers are the same", Files: drafts(`{"factor":3,"max_parallel":1}`), Answers: []billed.Rule{billed.Says(`DRAFT`, `the same`), ends}, Shows: shows,
		},
	}
}

// badCascades are those of whole cascades.
func badCascades() []billed.Bad {
	whole := map[string]string{"main.json": `{"cascade_id":"main","soundings":{"factor":2,"max_parallel":1,"ballots":{"min":1,"max":1}},"phases":[
 {"name":"draft","max_output_tokens":40,"instructions":"DRAFT {{ sounding_index }}."}]}`}
	best := []billed.Rule{bestIs("draft 1"), isTie(), writes}
	return []billed.Bad{
		{
			Name: "all candidates of a cascade fail by the provider", Files: whole, Answers: []billed.Rule{billed.Refuses(`^DRAFT`, 400)}, Mended: best, Shows: shows,
		},
		{
			Name: "a candidate of a cascade fails by the provider", Files: whole, Answers: []billed.Rule{billed.Refuses(`^DRAFT 0`, 400), writes}, Shows: shows,
		},
		{
			Name: "the judge of a cascade cannot be reached", Files: whole, Answers: []billed.Rule{billed.Refuses(`Which answer is the best one`, 400), writes}, Mended: best, Shows: shows,
		},
		{
			Name: "the budget of a cascade ends between candidates", Files: whole, Answers: best, Flags: []string{"--max-usd", "0.00038"}, Mended: best,
			Again: []string{"--max-usd", "1"}, Shows: shows,
		},
		{Name: "the factor of a cascade is 65", Files: map[string]string{"main.json": strings.Replace(whole["main.json"], `"factor":2`, `"factor":65`, 1)}},
	}
}

// badBudgets end between candidates and between ballots.
func badBudgets() []billed.Bad {
	good := []billed.Rule{votes, isTie(), writes, ends}
	one := drafts(`{"factor":3,"max_parallel":1,"ballots":{"min":1,"max":12}}`)
	return []billed.Bad{
		{Name: "the budget ends between candidates", Files: one, Answers: good, Flags: []string{"--max-usd", "0.00038"}, Mended: good, Again: []string{"--max-usd", "1"}, Shows: shows},
		{Name: "the budget ends before the judging", Files: one, Answers: good, Flags: []string{"--max-usd", "0.001"}, Mended: good, Again: []string{"--max-usd", "1"}, Shows: shows},
		{Name: "the budget ends between ballots", Files: one, Answers: good, Flags: []string{"--max-usd", "0.0062"}, Mended: good, Again: []string{"--max-usd", "1"}, Shows: shows},
		{Name: "the budget does not end", Files: one, Answers: good, Shows: shows},
	}
}

// refined returns files whose best answer is refined once: of a phase, or of the whole cascade. Answers have at most so many
// tokens, and a judge may be a cheap one, so that a budget ends at candidates or at ballots.
func refined(whole bool, most int, judge string) map[string]string {
	soundings := `{"factor":2,"max_parallel":1,"evaluator_model":"` + judge + `","ballots":{"min":3,"max":3,"confidence":0.6},"reforge":{"honing_prompt":"Hone it."}}`
	text := drafts(soundings)["main.json"]
	if whole {
		text = `{"cascade_id":"main","soundings":` + soundings + `,"phases":[
 {"name":"draft","max_output_tokens":40,"instructions":"DRAFT {{ sounding_index }}.{% if input._refinement_context is defined %} The best answer so far: {{ input._refinement_context.best }}{% endif %}"}]}`
	}
	return map[string]string{"main.json": strings.Replace(text, `"max_output_tokens":40`, fmt.Sprintf(`"max_output_tokens":%d`, most), 1)}
}

// badRefinements have budgets that end in each place of soundings with a refinement.
func badRefinements() []billed.Bad {
	good := []billed.Rule{bestIs("better 1"), bestIs("draft 1"), isTie(), billed.Says(`DRAFT (\d).*The best answer so far`, "better $1"), writes, ends}
	var all []billed.Bad
	for _, whole := range []bool{false, true} {
		add := func(where, usd string, most int, judge string) {
			all = append(all, billed.Bad{
				Name: "the budget of " + map[bool]string{false: "a phase", true: "a cascade"}[whole] + " that is refined ends " + where, Files: refined(whole, most, judge),
				Answers: good, Flags: []string{"--max-usd", usd}, Mended: good, Again: []string{"--max-usd", "1"}, Shows: shows,
			})
		}
		add("between candidates", "0.00325", 400, "opal-small")
		add("between ballots", "0.0045", 40, "thinker")
		add("in its refinement", "0.0036", 400, "opal-small")
		add("in the judging of its refinement", "0.0067", 40, "thinker")
	}
	return all
}

// TestBadInput holds what is said of each bad input against what is written down.
func TestBadInput(t *testing.T) {
	t.Parallel()
	bad := suite
	bad.Cache = llmtest.NoCache // so that what is shown of money is the same each time
	bad.TestBad(t, badCases())
}
