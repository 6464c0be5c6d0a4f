package echo

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// golden is a payload with every field set, and its JSON. The JSON is the format of journals and of
// data_json in ClickHouse: a difference here is another format.
type golden struct {
	key     string
	payload Payload
	json    string
	read    func(e *Entry) (Payload, error)
	decode  func(data json.RawMessage) (Payload, error)
}

func goldenOf[T Payload](key string, p T, text string) golden {
	return golden{key, p, text, func(e *Entry) (Payload, error) { return Read[T](e) }, func(data json.RawMessage) (Payload, error) { return Decode[T](data) }}
}

func ptr[T any](v T) *T { return &v }

// big is a number that a float64 cannot hold.
const big = json.Number("12345678901234567890.125")

func goldens() []golden {
	return slices.Concat(goldenRuns(), goldenPhases(), goldenContexts(), goldenValues(), goldenSoundings(), []golden{goldenHandoff()})
}

var settings = &PhaseContext{
	Dialect: "prompted", Policy: json.RawMessage(`{"enabled":true}`), Limit: 1, Window: 2, Reserve: 3, Strategy: "fail", Fixed: 4, Exact: true,
	Price: &Price{Input: 0.5, Cached: 0.05, As: "m"},
}

const settingsJSON = `{"dialect":"prompted","policy":{"enabled":true},"limit":1,"window":2,"reserve":3,"strategy":"fail","fixed":4,"exact":true,` +
	`"price":{"input":0.5,"cached":0.05,"as":"m"}}`

func goldenSoundings() []golden {
	return []golden{
		goldenOf("a/reforge1/sounding2/candidate", Candidate{Index: 1, Factor: 5, Model: "m", Mutation: &Mutation{Mode: "rewrite", Entry: "e", Text: "t"}, Species: "s", Context: settings},
			`{"index":1,"factor":5,"model":"m","mutation":{"mode":"rewrite","entry":"e","text":"t"},"species":"s","context":`+settingsJSON+`}`),
		goldenOf("a/item2/seed", Seed{Seed: "s"}, `{"seed":"s"}`),
		goldenOf("a/sounding2/winners", WinningRewrites{Texts: []string{"t"}}, `{"texts":["t"]}`),
		goldenOf("run/sounding2/room", Room{Covers: true, NeededUSD: 0.5, LeftUSD: 1.5, NeededTokens: 5, LeftTokens: 15, Unknown: true},
			`{"covers":true,"needed_usd":0.5,"left_usd":1.5,"needed_tokens":5,"left_tokens":15,"unknown":true}`),
		goldenOf("a/ballot2", Ballot{
			Step: 1, Pair: 1, Reverse: true, Judge: "j", Order: []int{2, 0}, Labels: []string{"K", "R"}, Said: "K", Winner: ptr(2), Score: ptr(7.5), Why: "w", Problem: "p",
			Vote: ptr(2), EValues: []float64{1.5, 0.5}, Evidence: &Evidence{EValue: 1, Needed: 10}, CostUSD: ptr(0.25),
		}, `{"step":1,"pair":1,"reverse":true,"judge":"j","order":[2,0],"labels":["K","R"],"said":"K","winner":2,"score":7.5,"why":"w","problem":"p","vote":2,`+
			`"e_values":[1.5,0.5],"evidence":{"e_value":1,"needed":10},"cost_usd":0.25}`),
		goldenOf("run/choice", Choice{
			Step: 1, Winner: 2, How: ChoiceVotes, Tie: true, Confidence: 0.9, Needed: 10, EValue: 12, Pairs: 3, Flipped: 1, CostUSD: ptr(0.5),
			Standings: []Standing{{
				Number: 2, State: CandidateWon, Why: "w", SameAs: 1, Copies: 2, Votes: 3, EValue: 24, Quality: ptr(0.5), Value: ptr(0.25), Rank: 4, Rating: 5, CostUSD: ptr(0.125), Tokens: 9, Hash: "h",
			}},
			Prefix:   &Prefix{Shared: 1, Waited: 2, Cached: 3, SavedUSD: ptr(0.5)},
			Room:     &Room{Covers: true, NeededUSD: 0.5, LeftUSD: 1.5, NeededTokens: 5, LeftTokens: 15, Unknown: true},
			Frontier: []FrontierPoint{{Number: 2, Quality: 0.5, WeighedUSD: ptr(0.25), DominatedBy: []int{1}}},
			Person: &Chooser{
				Order: []int{2, 0}, Labels: []string{"A", "B"}, Said: "A", Why: "w", By: "ada", Via: ViaHTTP, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), TimedOut: true,
			},
		}, `{"step":1,"winner":2,"how":"votes","tie":true,"confidence":0.9,"needed":10,"e_value":12,"pairs":3,"flipped":1,"cost_usd":0.5,"standings":[{"number":2,"state":"won","why":"w",`+
			`"same_as":1,"copies":2,"votes":3,"e_value":24,"quality":0.5,"value":0.25,"rank":4,"rating":5,"cost_usd":0.125,"tokens":9,"hash":"h"}],`+
			`"prefix":{"shared":1,"waited":2,"cached":3,"saved_usd":0.5},"room":{"covers":true,"needed_usd":0.5,"left_usd":1.5,"needed_tokens":5,"left_tokens":15,"unknown":true},`+
			`"frontier":[{"number":2,"quality":0.5,"weighed_usd":0.25,"dominated_by":[1]}],`+
			`"person":{"order":[2,0],"labels":["A","B"],"said":"A","why":"w","by":"ada","via":"http","at":"2026-01-02T03:04:05Z","timed_out":true}}`),
	}
}

func goldenRuns() []golden {
	return []golden{
		goldenOf("run/start", RunStart{
			Input: map[string]any{"n": big, "text": "<a>"}, WorkDir: "/w", Header: json.RawMessage(`{"h":1}`), Budget: &Budget{1.5, 20, 2.5},
		}, `{"input":{"n":12345678901234567890.125,"text":"\u003ca\u003e"},"work_dir":"/w","header":{"h":1},"budget":{"max_usd":1.5,"max_tokens":20,"max_seconds":2.5}}`),
		goldenOf("run/end", RunEnd{Status: StatusOverBudget, Reason: StopBudget, Calls: 3, Unknown: 1, Output: []any{big, "x", nil}},
			`{"status":"over_budget","reason":"budget","model_calls":3,"unknown_costs":1,"output":[12345678901234567890.125,"x",null]}`),
		goldenOf("run/resume", Resume{Budget: &Budget{1, 2, 3}, SetAside: []uint64{9, 8}},
			`{"budget":{"max_usd":1,"max_tokens":2,"max_seconds":3},"set_aside":[9,8]}`),
		goldenOf("a/route", Route{From: "a", To: "b", Reason: "route_to"}, `{"from":"a","reason":"route_to","to":"b"}`),
		goldenOf("a/attempt1/turn1/model/warning", Warning{Message: "gone", Fallback: &Fallback{From: "m", To: "n", Kind: ModelErrServer, Context: settings}},
			`{"message":"gone","fallback":{"from":"m","to":"n","kind":"server","context":`+settingsJSON+`}}`),
	}
}

func goldenPhases() []golden {
	return []golden{
		goldenOf("a/start", PhaseStart{Visit: 2, Context: settings}, `{"visit":2,"context":`+settingsJSON+`}`),
		goldenOf("a/end", PhaseEnd{
			Status: StatusCompleted, Reason: StopAnswered, Attempts: 1, Turns: 2, Calls: 3, Unknown: 4, Masked: 5, Recalls: 6, Rereads: 7,
			Output: map[string]any{"n": big}, Hash: "0123456789abcdef",
		}, `{"status":"completed","reason":"answered","attempts":1,"turns":2,"model_calls":3,"unknown_costs":4,"masked_results":5,"recalls":6,"rereads":7,`+
			`"output":{"n":12345678901234567890.125},"output_hash":"0123456789abcdef"}`),
		goldenOf("a/attempt1/turn1/ward2/verdict/fair", Verdict{Reason: "no", Valid: true, Validator: "fair", Ward: "post", Mode: "retry", CostUSD: ptr(0.5)},
			`{"reason":"no","valid":true,"validator":"fair","ward":"post","mode":"retry","cost_usd":0.5}`),
		goldenOf("a/child/x", ChildStart{
			Session: "s", Name: "x", How: ChildSub, Cascade: "c", Hash: "0123456789abcdef", File: "x.json", Input: map[string]any{"n": big},
			State: map[string]any{"k": big}, Detach: true, Candidate: &Candidate{Index: 1, Factor: 2, Model: "m", Mutation: &Mutation{Mode: "augment", Entry: "e", Text: "t"}, Species: "s", Context: settings},
		}, `{"session":"s","name":"x","how":"sub","cascade":"c","hash":"0123456789abcdef","file":"x.json","input":{"n":12345678901234567890.125},`+
			`"state":{"k":12345678901234567890.125},"detach":true,`+
			`"candidate":{"index":1,"factor":2,"model":"m","mutation":{"mode":"augment","entry":"e","text":"t"},"species":"s","context":`+settingsJSON+`}}`),
		goldenOf("a/child/x", ChildEnd{
			Session: "s", Status: StatusFailed, Reason: StopError, Output: big, Hash: "0123456789abcdef", State: map[string]any{"k": big}, Calls: 2, Unknown: 1, Known: 0.5,
			Copied: &CopiedTotals{Calls: 3, Usage: Usage{In: 5, Cached: 1, Out: 4, Reasoning: 2, Estimated: true}, CostUSD: 0.25, Unknown: 4, Pretend: &Pretend{Model: "m", USD: 0.5}},
		},
			`{"session":"s","status":"failed","reason":"error","output":12345678901234567890.125,"output_hash":"0123456789abcdef","state":{"k":12345678901234567890.125},"model_calls":2,"unknown_costs":1,"known_usd":0.5,`+
				`"copied":{"model_calls":3,"usage":{"in":5,"cached":1,"out":4,"reasoning":2,"estimated":true},"cost_usd":0.25,"unknown_costs":4,"pretend":{"model":"m","usd":0.5}}}`),
		goldenOf("a/attempt1/turn1/state/k", State{Key: "k", Value: map[string]any{"n": big}}, `{"key":"k","value":{"n":12345678901234567890.125}}`),
		goldenOf("a/callout/output", CalloutMark{"Finding 1"}, `{"name":"Finding 1"}`),
		goldenOf("a/attempt1/turn1/model", ModelCall{
			Model: "m", FinishReason: "stop", Retries: 2, RetryKinds: []ModelErrorKind{ModelErrTimeout, ModelErrServer}, CacheWritten: 7, Ignored: "usage", Status: 503,
			Hint: "wait", Failed: true, Thought: json.RawMessage(`{"reasoning_content":"hm"}`),
		}, `{"model":"m","finish_reason":"stop","retries":2,"retry_kinds":["timeout","server"],"cache_written":7,"ignored":"usage","status":503,"hint":"wait","failed":true,"thought":{"reasoning_content":"hm"}}`),
	}
}

func goldenContexts() []golden {
	used := CardsUsed{Digest: "d", Late: 1, Embedder: "e", Degraded: []string{"late"}, Millis: 1.5}
	const usedJSON = `"cards_digest":"d","late_cards":1,"embedder":"e","degraded":["late"],"took_ms":1.5`
	return []golden{
		goldenOf("a/attempt1/turn1/context", Carry{
			AsOf: 1, Sent: 2, Debt: 3, Paid: 4, Full: 5, Cleared: 6, Removed: &Removal{1, 2, 3}, Slid: 7, Summary: &Summary{Covers: 1, Hash: "h", By: "model"},
			Cut: []Cut{{1, 2}}, Warned: true, Told: true, Scale: 8, Acting: 9, Cold: true, Ceiling: 10, Refused: 11, Summaries: 12, Recounts: 13,
			Answered: &Answered{Counted: 1, Actual: 2, Summary: &Summary{Covers: 3, Hash: "i", By: "extraction"}},
		}, `{"as_of":1,"sent":2,"debt":3,"paid":4,"full":5,"cleared":6,"removed":{"from":1,"to":2,"level":3},"slid":7,`+
			`"summary":{"covers":1,"hash":"h","by":"model"},"cut":[{"at":1,"to":2}],"warned":true,"told":true,"scale":8,"acting":9,"cold":true,"ceiling":10,"refused":11,`+
			`"summaries":12,"recounts":13,"answered":{"counted":1,"actual":2,"summary":{"covers":3,"hash":"i","by":"extraction"}}}`),
		goldenOf("a/attempt1/turn1/guard1", Guard{Event: GuardComplete, Tokens: 1, Before: 2, Limit: 3, Detail: "masked"},
			`{"event":"compaction_complete","tokens":1,"before":2,"limit":3,"detail":"masked"}`),
		goldenOf("a/select", InterSelection{
			Selected: Selected{
				Asked: StrategyHybrid, Strategy: StrategyPrefilter, Notes: []string{"n"}, Ignored: []string{"x"}, Why: "y", Candidates: 1, CandidateTokens: 2,
				Budget: 3, Used: 4, Messages: 5, Chosen: []Hash{"h"}, Scores: []Score{{
					ID: "h", Phase: "a", Tokens: 1, Messages: 2, Keyword: 0.5, Recency: 0.25, Callout: true, Similarity: ptr(-0.5), Total: 1.5, Rank: 1,
					Chosen: true, Late: true,
				}},
			},
			Anchors: []Anchor{{ID: "i", Phase: "b", Why: "window", Messages: 1, Tokens: 2}}, AnchorTokens: 6, Everything: 7, Ending: 8, CardsUsed: used,
		}, `{"asked":"hybrid","strategy":"prefilter","notes":["n"],"ignored":["x"],"why":"y","candidates":1,"candidate_tokens":2,"budget":3,"used":4,"messages":5,`+
			`"chosen":["h"],"scores":[{"id":"h","phase":"a","tokens":1,"messages":2,"keyword":0.5,"recency":0.25,"callout":true,"meaning":-0.5,"total":1.5,`+
			`"rank":1,"chosen":true,"late":true}],"anchors":[{"id":"i","phase":"b","why":"window","messages":1,"tokens":2}],"anchor_tokens":6,`+
			`"everything_tokens":7,"ending_tokens":8,`+usedJSON+`}`),
		goldenOf("a/select/menu", Menu{Model: "m", Messages: []MenuMessage{{Role: RoleUser, Text: "choose"}}},
			`{"model":"m","messages":[{"role":"user","text":"choose"}]}`),
		goldenOf("a/select/cards", Findings{CardsUsed: used, Found: []Found{{
			Cards: []FoundCard{{Hash: "h", Summary: "s", Keywords: []string{"k"}, Late: true}}, Similarity: ptr(0.5),
		}}}, `{`+usedJSON+`,"found":[{"cards":[{"hash":"h","summary":"s","keywords":["k"],"late":true}],"meaning":0.5}]}`),
	}
}

func goldenValues() []golden {
	return []golden{
		goldenOf("a/attempt1/turn1/model/clock", Clock(1.25), `1.25`),
		goldenOf("a/attempt1/turn1/model/beside", BackgroundTotals{
			Calls: 1, Usage: Usage{In: 2, Cached: 3, Out: 4, Reasoning: 5, Estimated: true}, CostUSD: 0.5, UnknownCosts: 6, Scripted: true, Limited: true,
		}, `{"model_calls":1,"usage":{"in":2,"cached":3,"out":4,"reasoning":5,"estimated":true},"cost_usd":0.5,"unknown_costs":6,"scripted":true,"limited_usd":true}`),
		goldenOf("run/facts/openai%2Fgpt", ModelFacts{
			Name: "gpt", Window: 1, Assumed: true, MaxOutput: 2, Price: &Price{Input: 1, Cached: 0.1, As: "m"}, NativeTools: ptr(true),
			Tariff: &Tariff{Input: 1, Cached: 0.1, Output: 4, Over: 200, Long: &Tariff{2, 0.2, 8, 300, &Tariff{}}}, Fallback: []string{"m"}, MarkCache: true, NoImages: true,
		}, `{"name":"gpt","window":1,"assumed":true,"max_output":2,"price":{"input":1,"cached":0.1,"as":"m"},"tariff":{"input":1,"cached":0.1,"output":4,"over":200,`+
			`"long":{"input":2,"cached":0.2,"output":8,"over":300,"long":{"input":0,"cached":0,"output":0}}},"native_tools":true,"mark_cache":true,"no_images":true,"fallback_models":["m"]}`),
		goldenOf("a/attempt1/turn2/tool1/meaning", Similarity{Embedder: "e", Messages: map[Hash]float64{"h": 0.5}, Problem: "p"},
			`{"embedder":"e","similarity":{"h":0.5},"problem":"p"}`),
		goldenOf("a/attempt1/turn2/idle", Idle{303}, `{"idle_seconds":303}`),
		goldenOf("a/item3/stopped", Stopped{2}, `{"item":2}`),
		goldenOf("a/attempt1/turn1/tool1/cascade", FoundCascade{
			Name: "x", File: "x.json", Hash: "0123456789abcdef", Cascade: json.RawMessage(`{"cascade_id":"x"}`), Library: json.RawMessage(`{}`), Problem: "p",
		}, `{"name":"x","file":"x.json","hash":"0123456789abcdef","cascade":{"cascade_id":"x"},"library":{},"problem":"p"}`),
	}
}

func goldenHandoff() golden {
	item := func(s string) []HandoffItem { return []HandoffItem{{Source: s, Text: s + "!"}} }
	return goldenOf("a/handoff", Handoff{
		SessionID: "s", CascadeID: "c", GeneratedAt: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Phase: "a~2", Attempt: 1, Turn: 2, Status: StatusRunning, Reason: StopError, Task: "t", Input: "{}",
		Progress: HandoffProgress{PhasesDone: 1, Checked: 2, Items: 3, Said: "hm", Notes: []string{"n"}, Candidates: 5, CandidatesDone: 4},
		Done:     item("d"), Remaining: item("r"), Blocking: item("b"), Decisions: item("e"), Written: []string{"f"}, Omitted: &Omitted{1, 2, 3, 4, 5, 6},
		Workspace: &Workspace{
			At: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), Branch: "main", Head: "ab", Files: []FileChange{{"f", "added"}}, More: 1, Problem: "p",
		},
		Continuation: "go",
	}, `{"session_id":"s","cascade_id":"c","generated_at":"2026-01-02T03:04:05.000006Z","phase":"a~2","attempt":1,"turn":2,"status":"running","reason":"error","task":"t","input":"{}",`+
		`"progress":{"phases_done":1,"checked":2,"items":3,"said":"hm","notes":["n"],"candidates":5,"candidates_done":4},"done":[{"source":"d","text":"d!"}],"remaining":[{"source":"r","text":"r!"}],`+
		`"blocking":[{"source":"b","text":"b!"}],"decisions":[{"source":"e","text":"e!"}],"files_written":["f"],`+
		`"omitted":{"done":1,"remaining":2,"blocking":3,"decisions":4,"files_written":5,"files_changed":6},`+
		`"workspace":{"at":"2026-01-02T03:04:05.000006Z","branch":"main","head":"ab","files":[{"path":"f","change":"added"}],"more":1,"problem":"p"},`+
		`"continuation":"go"}`)
}

func TestEveryPayloadHasItsJSON(t *testing.T) {
	t.Parallel()
	for _, g := range goldens() {
		t.Run(g.payload.kind().String(), func(t *testing.T) {
			t.Parallel()
			requireFull(t, reflect.ValueOf(g.payload), reflect.TypeOf(g.payload).String())
			e := NewEntry(MustKey(g.key), g.payload)
			require.Equal(t, g.payload.kind().node, e.NodeType)
			require.Equal(t, g.json, string(e.Data))

			again, err := g.read(e)
			require.NoError(t, err)
			require.Equal(t, g.payload, again)
			again, err = g.decode(json.RawMessage(" " + g.json + "\n"))
			require.NoError(t, err)
			require.Equal(t, g.payload, again)
		})
	}
}

// requireFull fails when a field that is recorded is not set in a golden payload: the JSON would
// not show its name.
func requireFull(t *testing.T, v reflect.Value, at string) {
	t.Helper()
	require.False(t, v.IsZero(), "%s is not set", at)
	switch v.Kind() {
	case reflect.Pointer:
		if elem := v.Elem(); elem.Type() != reflect.TypeFor[Tariff]() { // the innermost of them ends the list
			requireFull(t, elem, at)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if elem := v.Index(i); elem.Kind() == reflect.Struct {
				requireFull(t, elem, at)
			}
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Tag.Get("json") != "-" {
				requireFull(t, v.Field(i), at+"."+f.Name)
			}
		}
	default:
	}
}

// A kind of entry has a payload, or it has no data.
func TestEveryKindOfEntryHasAPayload(t *testing.T) {
	t.Parallel()
	kinds := map[kind]bool{}
	nodes := map[NodeType]bool{NodeMessage: true, NodeToolCall: true, NodeToolStart: true, NodeBranchStart: true, NodeBranchEnd: true}
	for _, g := range goldens() {
		require.False(t, kinds[g.payload.kind()], "%s has two payloads", g.payload.kind())
		kinds[g.payload.kind()] = true
		nodes[g.payload.kind().node] = true
	}
	for _, n := range []NodeType{
		NodeRunStart, NodeRunEnd, NodePhaseStart, NodePhaseEnd, NodeMessage, NodeSelection, NodeModelCall, NodeToolCall, NodeToolStart, NodeVerdict,
		NodeRoute, NodeState, NodeCallout, NodeValue, NodeBranchStart, NodeBranchEnd, NodeResume, NodeHandoff, NodeWarning, NodeGuard, NodeInter, NodeMenu,
		NodeChildStart, NodeChildEnd, NodeCandidate, NodeBallot, NodeChoice,
	} {
		require.True(t, nodes[n], "%s has no payload", n)
	}
	require.Len(t, nodes, 27)
}

func TestAnEntryIsReadAsItsKindOnly(t *testing.T) {
	t.Parallel()
	all := goldens()
	for _, g := range all {
		e := NewEntry(MustKey(g.key), g.payload)
		for _, other := range all {
			_, err := other.read(e)
			if other.payload.kind() == g.payload.kind() {
				require.NoError(t, err)
				continue
			}
			var re *ReadError
			require.ErrorAs(t, err, &re)
			require.NoError(t, re.Err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	t.Parallel()
	at := func(n NodeType, key, data string) *Entry {
		return &Entry{Seq: 7, NodeType: n, Key: MustKey(key), Data: json.RawMessage(data)}
	}
	read := func(e *Entry) error { _, err := Read[RunEnd](e); return err }
	clock := func(e *Entry) error { _, err := Read[Clock](e); return err }
	const newer = "; a newer windlass may be able to read it"
	for text, err := range map[string]error{
		"read entry 7 (a/route) as run_end: it is route":                                                 read(at(NodeRoute, "a/route", `{}`)),
		"read entry 7 (a/idle) as run_end: it is value (idle)":                                           read(at(NodeValue, "a/idle", `{}`)),
		"read entry 7 (a/idle) as value (clock): it is value (idle)":                                     clock(at(NodeValue, "a/idle", `1`)),
		"read entry 7 (run/clock) as value (clock): it is warning (clock)":                               clock(at(NodeWarning, "run/clock", `1`)),
		"read entry 0 () as run_end: it is nothing known":                                                read(&Entry{}),
		"read entry 7 (run/end) as run_end: it has no data" + newer:                                      read(at(NodeRunEnd, "run/end", " ")),
		"read entry 7 (run/end) as run_end: its data is null" + newer:                                    read(at(NodeRunEnd, "run/end", "null")),
		"read entry 7 (run/end) as run_end: its data is more than one JSON value" + newer:                read(at(NodeRunEnd, "run/end", `{"status":"failed"} 1`)),
		"read entry 7 (run/end) as run_end: unexpected EOF" + newer:                                      read(at(NodeRunEnd, "run/end", `{`)),
		`read entry 7 (run/end) as run_end: there is no status "paused"` + newer:                         read(at(NodeRunEnd, "run/end", `{"status":"paused"}`)),
		`read entry 7 (run/end) as run_end: it has no status` + newer:                                    read(at(NodeRunEnd, "run/end", `{}`)),
		`read entry 7 (run/end) as run_end: the status running is no end` + newer:                        read(at(NodeRunEnd, "run/end", `{"status":"running"}`)),
		`read entry 7 (run/clock) as value (clock): json: cannot unmarshal string into Go value of type`: clock(at(NodeValue, "run/clock", `"x"`)),
	} {
		require.Error(t, err)
		require.Contains(t, err.Error(), text)
	}

	_, err := Decode[Clock](json.RawMessage(`null`))
	require.EqualError(t, err, "read value (clock): its data is null")
	_, err = Decode[InterSelection](json.RawMessage(`{}`))
	require.EqualError(t, err, "read context_inter: it names no strategy")
	out, err := Decode[PhaseEnd](json.RawMessage(`{"turns":3}`))
	require.EqualError(t, err, "read phase_end: it has no status")
	require.Zero(t, out, "what cannot be read is nothing")
}

// Members that a newer windlass has added are ignored.
func TestUnknownMembersAreIgnored(t *testing.T) {
	t.Parallel()
	e := &Entry{NodeType: NodeRoute, Key: MustKey("a/route"), Data: json.RawMessage(`{"from":"a","weight":3}`)}
	got, err := Read[Route](e)
	require.NoError(t, err)
	require.Equal(t, Route{From: "a"}, got)
	require.JSONEq(t, `{"from":"a","weight":3}`, string(e.Data))
}

func TestAPayloadThatIsNoJSONIsAnErrorOfAppend(t *testing.T) {
	t.Parallel()
	log := NewLog("s1", nil, nil)
	e := NewEntry(MustKey("run/start"), RunStart{Input: map[string]any{"f": func() {}}})
	require.EqualError(t, log.Append(e), "encode run_start (run/start): json: unsupported type: func()")
	require.NoError(t, log.Append(NewEntry(MustKey("run/end"), RunEnd{Status: StatusFailed})))
	require.EqualValues(t, 1, log.Len())

	e.Set(RunStart{})
	require.NoError(t, log.Append(e), "the payload was replaced")
}

func TestSetHeaderKeepsTheRest(t *testing.T) {
	t.Parallel()
	e := &Entry{Seq: 1, NodeType: NodeRunStart, Key: MustKey("run/start"), Data: json.RawMessage(`{"input":{"n":1.50},"header":{"a":1},"later":[1e3]}`)}
	require.NoError(t, e.SetHeader(json.RawMessage(`{"b":2}`)))
	require.Equal(t, `{"header":{"b":2},"input":{"n":1.50},"later":[1e3]}`, string(e.Data))

	end := NewEntry(MustKey("run/end"), RunEnd{Status: StatusFailed})
	require.EqualError(t, end.SetHeader(nil), "read entry 0 (run/end) as run_start: it is run_end")
	require.EqualError(t, e.SetHeader(json.RawMessage(`{`)), "put a header into entry 1 (run/start): json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input")
}

func FuzzRead(f *testing.F) {
	all := goldens()
	for _, g := range all {
		f.Add([]byte(g.json))
	}
	f.Add([]byte(`{"status":"completed","output":1e999}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, g := range all {
			p, err := g.read(&Entry{NodeType: g.payload.kind().node, Key: MustKey(g.key), Data: data})
			if err != nil {
				var re *ReadError
				require.ErrorAs(t, err, &re)
				continue
			}
			e := NewEntry(MustKey(g.key), p)
			require.NoError(t, e.invalid)
			again, err := g.read(e)
			require.NoError(t, err)
			second := NewEntry(MustKey(g.key), again)
			require.True(t, bytes.Equal(e.Data, second.Data), "%s\n%s", e.Data, second.Data)
		}
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for s := StatusPending; s <= StatusOverBudget; s++ {
		text, err := s.MarshalText()
		require.NoError(t, err)
		var again Status
		require.NoError(t, again.UnmarshalText(text))
		require.Equal(t, s, again)
		require.Equal(t, s >= StatusCompleted, s.IsDone())
		require.Equal(t, s == StatusCompleted, s.IsSuccess())
	}
	require.Equal(t, "unknown", Status(99).String())
	var s Status
	require.EqualError(t, s.UnmarshalText([]byte("paused")), `there is no status "paused"`)
}
