//go:build unix

package trees

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// badCase is an input that goes wrong. Its files are written beside those of the project, a main.json among them. What
// windlass says and how it exits is in testdata/bad/NAME.txt.
type badCase struct {
	name    string
	files   map[string]string
	input   string   // JSON
	answers []rule   // of the run; none: nothing is to be asked
	mended  []rule   // of a resume that follows; none: there is no resume
	flags   []string // of the run
}

func says(when, text string) rule { return rule{When: when1(when), Turns: []turn{{Text: text}}} }

func fails(when string, status int) rule { return rule{When: when1(when), Fails: status} }

func when1(text string) pattern { return pattern{regexp.MustCompile("(?s)" + text)} }

func callsTool(when, tool, arguments, then string) rule {
	return rule{When: when1(when), Turns: []turn{{Calls: []call{{Tool: tool, Arguments: json.RawMessage(arguments)}}}, {Text: then}}}
}

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

func badCases() []badCase {
	return append(append(badChildren(), badLists()...), append(badGraphs(), badValidators()...)...)
}

func badChildren() []badCase {
	talks := `{"cascade_id":"child","phases":[{"name":"talk","instructions":"TALK."}]}`
	return []badCase{
		{
			name: "child fails by its provider", files: childOf(talks),
			answers: []rule{fails("TALK", 400)}, mended: []rule{says("TALK", "talked"), says("WRITE with (.*?)\\.", "$1")},
		},
		{
			name:    "child fails its checks",
			files:   childOf(`{"cascade_id":"child","phases":[{"name":"talk","instructions":"TALK.","rules":{"loop_until":"min_words:9"}}]}`),
			answers: []rule{says("TALK", "short")}, mended: []rule{says("", "short")},
		},
		{
			name: "child fails and on_error helps",
			files: map[string]string{"child.json": talks, "main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.",
				"sub_cascades":[{"ref":"child.json"}],"on_error":{"name":"help","instructions":"HELP."}}]}`},
			answers: []rule{fails("TALK", 400), says("HELP", "helped")},
		},
		{
			name: "async child fails",
			files: map[string]string{"child.json": talks, "main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.",
				"async_cascades":[{"ref":"child.json"}]}]}`},
			answers: []rule{fails("TALK", 400), says("WRITE", "written")},
		},
		{
			name:    "child loops",
			files:   childOf(`{"cascade_id":"child","phases":[{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B.","handoffs":["a"]}]}`),
			answers: []rule{says("^[AB]", "again")},
		},
		{name: "child is missing", files: map[string]string{"main.json": goodWrite}},
		{name: "child has no such id", files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "sumary", 1)}},
		{name: "child is itself", files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "main.json", 1)}},
		{
			name:  "child has its parent as a child",
			files: childOf(`{"cascade_id":"child","phases":[{"name":"back","instructions":"BACK.","async_cascades":[{"ref":"main.json"}]}]}`),
		},
		{name: "child is six deep", files: childOf(`{"cascade_id":"child","phases":[{"name":"p","instructions":"P.","sub_cascades":[{"ref":"chain/d1.json"}]}]}`)},
		{name: "child is broken", files: childOf(`{"cascade_id":"child","phases":[{"name":"talk","instruction":"TALK.","max_trns":3}]}`)},
		{name: "child is outside", files: map[string]string{"main.json": strings.Replace(goodWrite, "child.json", "../outside/secret.txt", 1)}},
		{
			name: "two cascades with one id",
			files: map[string]string{
				"cascades/a.json": talks, "cascades/b.yaml": "cascade_id: child\nphases:\n  - {name: talk, instructions: TALK.}\n",
				"main.json": strings.Replace(goodWrite, "child.json", "child", 1),
			},
		},
		{
			name:  "child misses an input",
			files: childOf(`{"cascade_id":"child","inputs_schema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}},"phases":[{"name":"talk","instructions":"TALK {{ input.n }}."}]}`),
		},
		{
			name: "child gets a word that is no path", input: `{"list":["a","b"]}`,
			files: map[string]string{
				"child.json": `{"cascade_id":"child","inputs_schema":{"tongue":"a language"},"phases":[{"name":"talk","instructions":"TALK {{ input.tongue }}."}]}`,
				"main.json":  `{"cascade_id":"main","inputs_schema":{"list":"a list"},"phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"tongue":"German"}}]}]}`,
			},
		},
		{
			name: "child gets a list as a text", input: `{"list":["a","b"]}`,
			files: map[string]string{
				"child.json": strings.Replace(ofList, `"main"`, `"child"`, 1),
				"main.json":  `{"cascade_id":"main","inputs_schema":{"list":"a list"},"phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"list":"{{ input.list }}"}}]}]}`,
			},
		},
		{
			name: "child gets a list that is written down",
			files: map[string]string{
				"child.json": strings.Replace(ofList, `"main"`, `"child"`, 1),
				"main.json":  `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.","sub_cascades":[{"ref":"child.json","input_map":{"list":["a","b"]}}]}]}`,
			},
		},
		{
			name:    "child exceeds its own budget",
			files:   childOf(`{"cascade_id":"child","budget":{"max_usd":0.0000001},"phases":[{"name":"talk","instructions":"TALK."}]}`),
			answers: []rule{says("TALK", "talked")}, mended: []rule{says("TALK", "talked"), says("WRITE with (.*?)\\.", "$1")},
		},
		{
			name:    "model spawns what is not there",
			files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`},
			answers: []rule{callsTool("LEAD", "spawn_cascade", `{"cascade":"sumary","input":{}}`, "there is none")},
		},
		{
			name:    "model spawns from outside",
			files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`},
			answers: []rule{callsTool("LEAD", "spawn_cascade", `{"cascade":"../outside/secret.txt","input":{}}`, "there is none")},
		},
		{
			name:    "model spawns itself for ever",
			files:   map[string]string{"cascades/again.json": `{"cascade_id":"again","phases":[{"name":"lead","instructions":"LEAD.","tackle":["spawn_cascade"]}]}`, "main.json": `{"cascade_id":"main","phases":[{"name":"top","instructions":"TOP.","tackle":["spawn_cascade"]}]}`},
			answers: []rule{callsTool("TOP|LEAD", "spawn_cascade", `{"cascade":"again","input":{}}`, "spawned")},
		},
		{
			name:    "model calls a cascade with other arguments",
			files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"lead","instructions":"LEAD.","tackle":["translate"]}]}`},
			answers: []rule{callsTool("LEAD", "translate", `{"text":7,"tongue":"Latin"}`, "I see")},
		},
	}
}

func badLists() []badCase {
	list := map[string]string{"main.json": ofList}
	return []badCase{
		{name: "list is a text", files: list, input: `{"list":"a, b"}`},
		{name: "list is an object", files: list, input: `{"list":{"a":1}}`},
		{name: "list is null", files: list, input: `{"list":null}`},
		{name: "list is not there", files: list, input: `{}`},
		{name: "list has 10001 elements", files: list, input: `{"list":` + manyItems(10001) + `}`},
		{
			name:  "list in the file has 10001 elements",
			files: map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, manyItems(10001), 1)},
		},
		{
			name:    "list is prose of a model",
			files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"plan","instructions":"PLAN."},{"name":"each","instructions":"EACH {{ item }}.","for_each":{"items":"{{ outputs.plan }}"}}]}`},
			answers: []rule{says("PLAN", "First the owls, then the foxes.")},
		},
		{
			name: "an element fails by its provider", files: list, input: `{"list":["a","b","c"]}`,
			answers: []rule{fails("EACH b", 400), says("EACH (.)", "$1$1")}, mended: []rule{says("EACH (.)", "$1$1")},
		},
		{
			name: "every element fails and is left out", input: `{"list":["a","b"]}`,
			files:   map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, `"input.list","on_error":"skip"`, 1)},
			answers: []rule{fails("EACH", 400)},
		},
		{name: "the name of the element is taken", files: map[string]string{"main.json": strings.Replace(ofList, `"input.list"`, `"input.list","as":"state"`, 1)}},
	}
}

func badGraphs() []badCase {
	return []badCase{
		{name: "graph goes round", files: graphOf(`{"name":"a","instructions":"A.","after":["c"]},{"name":"b","instructions":"B.","after":["a"]},{"name":"c","instructions":"C.","after":["b"]}`)},
		{name: "graph after itself", files: graphOf(`{"name":"a","instructions":"A.","after":["a"]}`)},
		{name: "graph after nothing known", files: graphOf(`{"name":"fetch","instructions":"A."},{"name":"b","instructions":"B.","after":["fecth"]}`)},
		{name: "graph with handoffs", files: graphOf(`{"name":"a","instructions":"A.","handoffs":["b"]},{"name":"b","instructions":"B.","after":["a"]}`)},
		{name: "graph reads what is not before", files: graphOf(`{"name":"a","instructions":"A."},{"name":"b","instructions":"B {{ outputs.a }}.","context":{"from":["a"]}},{"name":"c","instructions":"C.","after":["a"]}`)},
		{
			name: "graph sets one state twice",
			files: graphOf(`{"name":"a","tool":"set_state","inputs":{"key":"k","value":"1"}},{"name":"b","tool":"set_state","inputs":{"key":"k","value":"2"}},
				{"name":"c","instructions":"C {{ state.k }}.","after":["a","b"]}`),
		},
		{
			name:    "graph with a phase that fails",
			files:   graphOf(`{"name":"a","instructions":"A."},{"name":"b","instructions":"B."},{"name":"c","instructions":"C.","after":["a"]},{"name":"d","instructions":"D.","after":["b"]}`),
			answers: []rule{fails("^A", 400), says("^B", "b"), says("^C", "c"), says("^D", "d")}, mended: []rule{says("^A", "a"), says("^C", "c")},
		},
	}
}

func badValidators() []badCase {
	sense := func(phase string) map[string]string {
		return map[string]string{"main.json": badCheck, "sense.json": `{"cascade_id":"sense","inputs_schema":{"content":"a text","original_input":"the input"},"phases":[` + phase + `]}`}
	}
	return []badCase{
		{
			name: "validator talks nonsense", files: sense(`{"name":"judge","instructions":"JUDGE."}`),
			answers: []rule{says("JUDGE", "The weather is fine, {\"as\": [it, was."), says("", "a line")},
		},
		{
			name: "validator fails", files: sense(`{"name":"judge","instructions":"JUDGE."}`),
			answers: []rule{fails("JUDGE", 400), says("", "a line")}, mended: []rule{says("JUDGE", `{"valid": true, "reason": "well"}`), says("", "a line")},
		},
		{name: "validator is missing", files: map[string]string{"main.json": strings.Replace(badCheck, "sense", "is_polit", 1)}},
		{name: "validator takes something else", files: map[string]string{"main.json": badCheck, "sense.json": `{"cascade_id":"sense","inputs_schema":{"type":"object","required":["score"],"additionalProperties":false,"properties":{"score":{"type":"integer"}}},"phases":[{"name":"judge","instructions":"JUDGE."}]}`}},
		{
			name: "ward of a turn where there is none",
			files: map[string]string{"main.json": `{"cascade_id":"main","tools":[{"tool_id":"t","type":"shell","command":"true"}],
				"phases":[{"name":"p","tool":"t","wards":{"turn":["non_empty"]}}]}`},
		},
		{
			name:    "ward blocks",
			files:   map[string]string{"main.json": `{"cascade_id":"main","phases":[{"name":"write","instructions":"WRITE.","wards":{"post":[{"validator":"min_words:9","mode":"retry"}]}}]}`},
			answers: []rule{says("", "too short")},
		},
		{
			name: "broken neighbours of a good validator",
			files: map[string]string{
				"main.json": strings.Replace(badCheck, "sense", "is_polite", 1), "broken.json": `{"cascade_id": "polite"`,
				"cascades/also.yaml": "cascade_id: politeness\n  phases: [", "cascades/empty.json": "", "cascades/bytes.yaml": "\x00\xff\xfe", "other.json": `{"cascade_id": 7, "phases": {}}`,
			},
			answers: []rule{says("POLITE", `{"valid": true, "reason": "well"}`), says("WRITE", "a line")},
		},
		{
			name:  "the nearest validator of that id is broken",
			files: map[string]string{"main.json": strings.Replace(badCheck, "sense", "is_polite", 1), "broken.json": `{"cascade_id": "is_polite"`},
		},
	}
}

// TestBadInput holds what is said of each bad input, and its exit code, against what is written down; and that nothing is
// lost: what was recorded holds, has the money that was billed, and goes on once what was wrong is mended.
func TestBadInput(t *testing.T) {
	t.Parallel()
	for _, b := range badCases() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, b.answers)
			for name, text := range b.files {
				w.File(name, text)
			}
			var said strings.Builder
			tell := func(args ...string) *ended {
				e := w.start(nil, args...)
				require.NotRegexp(t, `panic: |goroutine \d+ \[|error of its own`, e.err)
				fmt.Fprintf(&said, "$ windlass %s\n%s%s[exit code %d]\n\n", strings.Join(w.shown(args), " "), w.plain(e.out), w.plain(e.err), e.code)
				return e
			}
			valid := tell("validate", "main.json").code == 0
			args := []string{"run", "main.json", "--session", "bad", "--no-clickhouse", "--progress", "quiet"}
			if b.input != "" {
				w.File("input.json", b.input)
				args = append(args, "--input-file", "input.json")
			}
			if args = append(args, b.flags...); !valid {
				require.Equal(t, 3, w.start(nil, args...).code, "run says the same")
			} else {
				tell(args...)
			}
			w.nothingLost()
			if b.mended != nil {
				w.server.mend(b.mended)
				tell("resume", "bad", "--progress", "quiet")
				w.nothingLost()
			}
			require.Empty(t, w.server.wrong())
			compare(t, filepath.Join("testdata", "bad", strings.ReplaceAll(b.name, " ", "_")+".txt"), said.String())
		})
	}
}

// mend replaces the rules.
func (p *provider) mend(rules []rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = rules
}

// nothingLost demands that what is recorded holds.
func (w *world) nothingLost() {
	w.t.Helper()
	if !w.exists("bad") {
		return
	}
	tree := w.tree("bad")
	require.NoError(w.t, tree.agree())
	require.Zero(w.t, w.settleBill(tree))
	w.run(0, "verify", "bad")
}

// shown returns arguments without those that all runs have.
func (w *world) shown(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "--no-clickhouse":
		case "--progress":
			i++
		default:
			out = append(out, args[i])
		}
	}
	return out
}

var (
	childIDs = regexp.MustCompile(`\b[0-9a-z]{26}\b`)
	amounts  = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`)
	ports    = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	versions = regexp.MustCompile(`m\d+-[0-9a-f]{12}`)
)

// plain returns what was said without what is another each time.
func (w *world) plain(text string) string {
	text = strings.ReplaceAll(text, w.Dir, "/work")
	text = strings.ReplaceAll(text, w.Base, "/base")
	text = childIDs.ReplaceAllString(text, "CHILD")
	text = amounts.ReplaceAllString(text, "TIME")
	text = versions.ReplaceAllString(text, "MODEL")
	return ports.ReplaceAllString(text, "HOST")
}

// compare holds a text against a file, or writes the file.
func compare(t testing.TB, path, text string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		require.Fail(t, "there is no "+path+": write it with -update")
	}
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}
