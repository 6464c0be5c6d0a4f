//go:build unix

package trees

import (
	"strings"
	"testing"

	"github.com/windlass-run/windlass/e2e/lab/billed"
)

const (
	goodWrite = `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE with {{ subs.child }}.","sub_cascades":[{"ref":"child.json","name":"child"}]}]}`
	badCheck  = `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.","rules":{"max_attempts":2,"loop_until":"sense"}}]}`
	ofList    = `{"cascade_id":"main","inputs_schema":{"list":"a list"},"phases":[{"name":"each","instructions":"EACH {{ item }}.","for_each":{"items":"input.list"}}]}`
)

func graphOf(phases string) map[string]string {
	return map[string]string{"main.json": `{"cascade_id":"main","phases":[` + phases + `]}`}
}

func childOf(child string) map[string]string {
	return map[string]string{"main.json": goodWrite, "child.json": child}
}

// manyItems returns a list of n numbers.
func manyItems(n int) string { return "[0" + strings.Repeat(",0", n-1) + "]" }

func badCases() []billed.Bad {
	return append(append(badChildren(), badLists()...), append(badGraphs(), badValidators()...)...)
}

func badChildren() []billed.Bad {
	talks := `{"cascade_id":"child","phases":[{"name":"talk","instructions":"TALK."}]}`
	return []billed.Bad{
		{
			Name: "child fails by its provider", Files: childOf(talks),
			Answers: []billed.Rule{billed.Refuses("TALK", 400)}, Mended: []billed.Rule{billed.Says("TALK", "talked"), billed.Says("WRITE with (.*?)\\.", "$1")},
		},
		{
			Name:    "child fails its checks",
			Files:   childOf(`{"cascade_id":"child","phases":[{"name":"talk","instructions":"TALK.","rules":{"loop_until":"min_words:9"}}]}`),
			Answers: []billed.Rule{billed.Says("TALK", "short")}, Mended: []billed.Rule{billed.Says("", "short")},
		},
		{
			Name: "child fails and on_error helps",
			Files: map[string]string{"child.json": talks, "main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.",
				"sub_cascades":[{"ref":"child.json"}],"on_error":{"name":"help","instructions":"HELP."}}]}`},
			Answers: []billed.Rule{billed.Refuses("TALK", 400), billed.Says("HELP", "helped")},
		},
		{
			Name: "async child fails",
			Files: map[string]string{"child.json": talks, "main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.",
				"async_cascades":[{"ref":"child.json"}]}]}`},
			Answers: []billed.Rule{billed.Refuses("TALK", 400), billed.Says("WRITE", "written")},
		},
		{
			Name:    "child loops",
			Files:   childOf(`{"cascade_id":"child","phases":[{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B.","handoffs":["a"]}]}`),
			Answers: []billed.Rule{billed.Says("^[AB]", "again")},
		},
		{Name: "child is missing", Files: map[string]string{"main.json": goodWrite}},
		{Name: "child has no such id", Files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "sumary", 1)}},
		{Name: "child is itself", Files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "main.json", 1)}},
		{
			Name:  "child has its parent as a child",
			Files: childOf(`{"cascade_id":"child","phases":[{"name":"back","instructions":"BACK.","async_cascades":[{"ref":"main.json"}]}]}`),
		},
		{Name: "child is six deep", Files: childOf(`{"cascade_id":"child","phases":[{"name":"p","instructions":"P.","sub_cascades":[{"ref":"chain/d1.json"}]}]}`)},
		{Name: "child is broken", Files: childOf(`{"cascade_id":"child","phases":[{"name":"talk","instruction":"TALK.","max_trns":3}]}`)},
		{Name: "child is outside", Files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "../outside/secret.txt", 1)}},
		{
			Name: "two cascades with one id",
			Files: map[string]string{
				"cascades/a.json": talks, "cascades/b.yaml": "cascade_id: child\nphases:\n  - {Name: talk, instructions: TALK.}\n",
				"main.json": strings.Replace(goodWrite, "child.json", "child", 1),
			},
		},
		{
			Name:  "child misses an input",
			Files: childOf(`{"cascade_id":"child","inputs_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}},"phases":[{"name":"talk","instructions":"TALK {{ input.n }}."}]}`),
		},
		{
			Name: "child gets a word that is no path", Input: `{"list":["a","b"]}`,
			Files: map[string]string{
				"child.json": `{"cascade_id":"child","inputs_schema":{"tongue":"a language"},"phases":[{"name":"talk","instructions":"TALK {{ input.tongue }}."}]}`,
				"main.json":  `{"cascade_id":"main","inputs_schema":{"list":"a list"},"phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"tongue":"German"}}]}]}`,
			},
		},
		{
			Name: "child gets a list as a text", Input: `{"list":["a","b"]}`,
			Files: map[string]string{
				"child.json": strings.Replace(ofList, `"main"`, `"child"`, 1),
				"main.json":  `{"cascade_id":"main","inputs_schema":{"list":"a list"},"phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"list":"{{ input.list }}"}}]}]}`,
			},
		},
		{
			Name: "child gets a list that is written down",
			Files: map[string]string{
				"child.json": strings.Replace(ofList, `"main"`, `"child"`, 1),
				"main.json":  `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"list":["a","b"]}}]}]}`,
			},
		},
		{
			Name:    "child exceeds its own budget",
			Files:   childOf(`{"cascade_id":"child","budget":{"max_usd":0.0000001},"phases":[{"name":"talk","instructions":"TALK."}]}`),
			Answers: []billed.Rule{billed.Says("TALK", "talked")}, Mended: []billed.Rule{billed.Says("TALK", "talked"), billed.Says("WRITE with (.*?)\\.", "$1")},
		},
		{
			Name:    "model spawns what is not there",
			Files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`},
			Answers: []billed.Rule{billed.CallsTool("LEAD", "spawn_cascade", `{"cascade":"sumary","input":{}}`, "there is none")},
		},
		{
			Name:    "model spawns from outside",
			Files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`},
			Answers: []billed.Rule{billed.CallsTool("LEAD", "spawn_cascade", `{"cascade":"../outside/secret.txt","input":{}}`, "there is none")},
		},
		{
			Name:    "model spawns itself for ever",
			Files:   map[string]string{"cascades/again.json": `{"cascade_id":"again","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`, "main.json": `{"cascade_id":"main","phases":[{"name":"top","instructions":"TOP.","tackle":["spawn_cascade"]}]}`},
			Answers: []billed.Rule{billed.CallsTool("TOP|LEAD", "spawn_cascade", `{"cascade":"again","input":{}}`, "spawned")},
		},
		{
			Name:    "model calls a cascade with other arguments",
			Files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["translate"]}]}`},
			Answers: []billed.Rule{billed.CallsTool("LEAD", "translate", `{"text":7,"tongue":"Latin"}`, "I see")},
		},
	}
}

func badLists() []billed.Bad {
	list := map[string]string{"main.json": ofList}
	return []billed.Bad{
		{Name: "list is a text", Files: list, Input: `{"list":"a, b"}`},
		{Name: "list is an object", Files: list, Input: `{"list":{"a":1}}`},
		{Name: "list is null", Files: list, Input: `{"list":null}`},
		{Name: "list is not there", Files: list, Input: `{}`},
		{Name: "list has 10001 elements", Files: list, Input: `{"list":` + manyItems(10001) + `}`},
		{
			Name:  "list in the file has 10001 elements",
			Files: map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, manyItems(10001), 1)},
		},
		{
			Name:    "list is prose of a model",
			Files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"plan","instructions":"PLAN."},{"name":"each","instructions":"EACH {{ item }}.","for_each":{"items":"{{ outputs.plan }}"}}]}`},
			Answers: []billed.Rule{billed.Says("PLAN", "First the owls, then the foxes.")},
		},
		{
			Name: "an element fails by its provider", Files: list, Input: `{"list":["a","b","c"]}`,
			Answers: []billed.Rule{billed.Refuses("EACH b", 400), billed.Says("EACH (.)", "$1$1")}, Mended: []billed.Rule{billed.Says("EACH (.)", "$1$1")},
		},
		{
			Name: "every element fails and is left out", Input: `{"list":["a","b"]}`,
			Files:   map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, `"input.list","on_error":"skip"`, 1)},
			Answers: []billed.Rule{billed.Refuses("EACH", 400)},
		},
		{Name: "the name of the element is taken", Files: map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, `"input.list","as":"state"`, 1)}},
	}
}

func badGraphs() []billed.Bad {
	return []billed.Bad{
		{Name: "graph goes round", Files: graphOf(`{"name":"a","instructions":"A.","after":["c"]},{"name":"b","instructions":"B.","after":["a"]},{"name":"c","instructions":"C.","after":["b"]}`)},
		{Name: "graph after itself", Files: graphOf(`{"name":"a","instructions":"A.","after":["a"]}`)},
		{Name: "graph after nothing known", Files: graphOf(`{"name":"fetch","instructions":"A."},{"name":"b","instructions":"B.","after":["fecth"]}`)},
		{Name: "graph with handoffs", Files: graphOf(`{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B.","after":["a"]}`)},
		{Name: "graph reads what is not before", Files: graphOf(`{"name":"a","instructions":"A."},{"name":"b","instructions":"B {{ outputs.a }}.","context":{"from":["a"]}},{"name":"c","instructions":"C.","after":["a"]}`)},
		{
			Name: "graph sets one state twice",
			Files: graphOf(`{"name":"a","tool":"set_state","inputs":{"key":"k","value":"1"}},{"name":"b","tool":"set_state","inputs":{"key":"k","value":"2"}},
				{"name":"c","instructions":"C {{ state.k }}.","after":["a","b"]}`),
		},
		{
			Name:    "graph with a phase that fails",
			Files:   graphOf(`{"name":"a","instructions":"A."},{"name":"b","instructions":"B."},{"name":"c","instructions":"C.","after":["a"]},{"name":"d","instructions":"D.","after":["b"]}`),
			Answers: []billed.Rule{billed.Refuses("^A", 400), billed.Says("^B", "b"), billed.Says("^C", "c"), billed.Says("^D", "d")}, Mended: []billed.Rule{billed.Says("^A", "a"), billed.Says("^C", "c")},
		},
	}
}

func badValidators() []billed.Bad {
	sense := func(phase string) map[string]string {
		return map[string]string{"main.json": badCheck, "sense.json": `{"cascade_id":"sense","inputs_schema":{"content":"a text","original_input":"the input"},"phases":[` + phase + `]}`}
	}
	return []billed.Bad{
		{
			Name: "validator talks nonsense", Files: sense(`{"name":"judge","instructions":"JUDGE."}`),
			Answers: []billed.Rule{billed.Says("JUDGE", "The weather is fine, {\"as\": [it, was."), billed.Says("", "a line")},
		},
		{
			Name: "validator fails", Files: sense(`{"name":"judge","instructions":"JUDGE."}`),
			Answers: []billed.Rule{billed.Refuses("JUDGE", 400), billed.Says("", "a line")}, Mended: []billed.Rule{billed.Says("JUDGE", `{"valid": true, "reason": "well"}`), billed.Says("", "a line")},
		},
		{Name: "validator is missing", Files: map[string]string{"main.json": strings.Replace(badCheck, "sense", "is_polit", 1)}},
		{Name: "validator takes something else", Files: map[string]string{"main.json": badCheck, "sense.json": `{"cascade_id":"sense","inputs_schema":{"type":"object","required":["score"],"additionalProperties":false,"properties":{"score":{"type":"integer"}}},"phases":[{"name":"judge","instructions":"JUDGE."}]}`}},
		{
			Name: "ward of a turn where there is none",
			Files: map[string]string{"main.json": `{"cascade_id":"main","tools":[{"tool_id":"t","type":"shell","command":"true"}],
				"phases":[{"name":"p","tool":"t","wards":{"turn":["non_empty"]}}]}`},
		},
		{
			Name:    "ward blocks",
			Files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.","wards":{"post":[{"validator":"min_words:9","mode":"retry"}]}}]}`},
			Answers: []billed.Rule{billed.Says("", "too short")},
		},
		{
			Name: "broken neighbours of a good validator",
			Files: map[string]string{
				"main.json": strings.Replace(badCheck, "sense", "is_polite", 1), "broken.json": `{"cascade_id": "polite"`,
				"cascades/also.yaml": "cascade_id: politeness\n  phases: [", "cascades/empty.json": "", "cascades/bytes.yaml": "\x00\xff\xfe", "other.json": `{"cascade_id": 7, "phases": {}}`,
			},
			Answers: []billed.Rule{billed.Says("POLITE", `{"valid": true, "reason": "well"}`), billed.Says("WRITE", "a line")},
		},
		{
			Name:  "the nearest validator of that id is broken",
			Files: map[string]string{"main.json": strings.Replace(badCheck, "sense", "is_polite", 1), "broken.json": `{"cascade_id": "is_polite"`},
		},
	}
}

// TestBadInput holds what is said of each bad input against what is written down.
func TestBadInput(t *testing.T) {
	t.Parallel()
	suite.TestBad(t, badCases())
}
