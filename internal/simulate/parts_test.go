package simulate

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
)

func TestParsePrices(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Prices{
		"0.1":      {Name: "0.1", Input: 1, Cached: 0.1},
		"1":        {Name: "1", Input: 1, Cached: 1},
		"0":        {Name: "0", Input: 1},
		"2.5:0.25": {Name: "2.5:0.25", Input: 2.5, Cached: 0.25, USD: true},
	} {
		p, err := ParsePrices(text)
		require.NoError(t, err, text)
		require.Equal(t, want, p)
	}
	for text, want := range map[string]string{
		"gpt-5": `prices "gpt-5": neither a share such as 0.1 nor IN:CACHED such as 2.5:0.25`,
		"":      `prices "": neither a share such as 0.1 nor IN:CACHED such as 2.5:0.25`,
		"1:x":   `prices "1:x": neither a share such as 0.1 nor IN:CACHED such as 2.5:0.25`,
		"1.5":   `prices "1.5": a cached token costs from nothing to as much as another, which is 1`,
		"-0.1":  `prices "-0.1": a cached token costs from nothing to as much as another, which is 1`,
		"NaN":   `prices "NaN": a cached token costs from nothing to as much as another, which is 1`,
		"1:2":   `prices "1:2": a cached token costs from nothing to as much as another, which is 1`,
		"0:0":   `prices "0:0": the price of a token must be a number above 0`,
		"Inf:1": `prices "Inf:1": the price of a token must be a number above 0`,
	} {
		_, err := ParsePrices(text)
		require.EqualError(t, err, want)
		require.Equal(t, strings.Contains(want, "neither"), errors.Is(err, ErrNotPrices), text)
	}
	_, err := ModelPrices("free", 0, 0)
	require.EqualError(t, err, `prices "free": the price of a token must be a number above 0`)
}

func TestMoney(t *testing.T) {
	t.Parallel()
	require.InDelta(t, 30+7, Prices{Input: 1, Cached: 0.1}.Money(100, 70), 1e-9)
	require.InDelta(t, (30*2+70*0.5)/1e6, Prices{Input: 2, Cached: 0.5, USD: true}.Money(100, 70), 1e-15)
	require.Equal(t, "nothing is cached", Prices{Input: 1, Cached: 1}.String())
	require.Equal(t, "a cached token costs 0.1 of another", Prices{Input: 1, Cached: 0.1}.String())
	require.Equal(t, "$2 per million tokens, $0.5 cached", Prices{Name: "2:0.5", Input: 2, Cached: 0.5, USD: true}.String())
	require.Equal(t, "m: $2 per million tokens, $0.5 cached", Prices{Name: "m", Input: 2, Cached: 0.5, USD: true}.String())
}

func TestNamedPolicies(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range ComparisonSet() {
		names = append(names, p.Name)
	}
	require.Equal(t, []string{"full", "every_turn", "step:10", "default"}, names)
	full, _ := NamedPolicy("full")
	require.False(t, full.Intra.Enabled)
	def, ok := NamedPolicy("default")
	require.True(t, ok)
	require.Equal(t, cascade.DefaultIntra(), def.Intra)
	p, ok := NamedPolicy("step:7")
	require.True(t, ok)
	require.Equal(t, cascade.AdvanceStep, p.Intra.Advance)
	require.Equal(t, 7, p.Intra.StepTurns)
	for _, name := range []string{"", "step", "step:", "step:0", "step:-1", "step:x", "Full", "{}"} {
		_, ok := NamedPolicy(name)
		require.False(t, ok, name)
	}
}

func TestParsePolicy(t *testing.T) {
	t.Parallel()
	p, found, err := ParsePolicy("tight", "--policy", []byte(`{"window": 2, "advance": "step", "step_turns": 4, "truncation": {}}`))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Equal(t, "tight", p.Name)
	require.True(t, p.Intra.Enabled)
	require.Equal(t, []any{2, 3, cascade.AdvanceStep, 4}, []any{p.Intra.Window, p.Intra.MaskAfter, p.Intra.Advance, p.Intra.StepTurns})
	require.NotNil(t, p.Intra.Truncation)

	p, _, err = ParsePolicy("defaults", "a.yaml", []byte("window: 5\n"))
	require.NoError(t, err)
	require.Equal(t, cascade.DefaultIntra(), p.Intra)

	_, found, err = ParsePolicy("bad", "a.json", []byte("{\n \"windw\": 2}"))
	var invalid *cascade.InvalidError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, found, 1)
	require.Equal(t, []int{2, 2}, []int{found[0].Line, found[0].Col})
	for _, text := range []string{"", "fool", "[]", "{", "null"} {
		_, _, err = ParsePolicy("bad", "a.json", []byte(text))
		require.ErrorAs(t, err, &invalid, text)
	}
}

// Policies that differ only in when the frontier moves have one hindsight; others have their own.
func TestWithHindsight(t *testing.T) {
	t.Parallel()
	names := func(ps []Policy) []string {
		var out []string
		for _, p := range WithHindsight(ps) {
			out = append(out, p.Name)
		}
		return out
	}
	require.Equal(t, []string{"full", "every_turn", "step:10", "default", "hindsight"}, names(ComparisonSet()))
	hindsight, _ := NamedPolicy("hindsight")
	require.Equal(t, []string{"hindsight"}, names([]Policy{hindsight}))
	tight, _, err := ParsePolicy("tight", "--policy", []byte(`{"mask_observations_after": 1}`))
	require.NoError(t, err)
	clearing, _, err := ParsePolicy("clearing", "--policy", []byte(`{"clear_tool_uses": {"trigger_tokens": 1000}}`))
	require.NoError(t, err)
	full, _ := NamedPolicy("full")
	require.Equal(t, []string{"full", "tight", "clearing", "hindsight", "hindsight of tight"}, names([]Policy{full, tight, clearing}))
}

func seal(d echo.Draft) *echo.Message { return echo.Seal(d) }

func TestChecker(t *testing.T) {
	t.Parallel()
	text := func(r echo.Role, s string) *echo.Message { return echo.NewText(r, echo.KindAnswer, s) }
	asks := func(args string, ids ...string) *echo.Message {
		d := echo.Draft{Role: echo.RoleAssistant}
		for _, id := range ids {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: id, Name: "f", Arguments: args})
		}
		return seal(d)
	}
	result := func(id string) *echo.Message {
		return echo.NewToolResult(echo.ToolCall{ID: id, Name: "f"}, echo.Text("r"), false)
	}
	user, hello := text(echo.RoleUser, "go"), text(echo.RoleAssistant, "hello")
	for name, tt := range map[string]struct {
		request []*echo.Message
		want    string
	}{
		"plain":                   {[]*echo.Message{text(echo.RoleSystem, "s"), user}, ""},
		"ends with results":       {[]*echo.Message{user, asks("{}", "a", "b"), result("b"), result("a")}, ""},
		"begins with assistant":   {[]*echo.Message{hello, user}, ""},
		"crooked as recorded":     {[]*echo.Message{user, asks("{cut", "a"), result("a")}, ""},
		"nothing":                 {nil, "there are no messages"},
		"ends with the assistant": {[]*echo.Message{user, hello}, "the last message is the assistant's: nothing is left to answer"},
		"no result":               {[]*echo.Message{user, asks("{}", "a", "b"), result("a")}, "1 calls at the end have no result"},
		"result too late":         {[]*echo.Message{user, asks("{}", "a"), user, result("a")}, "message 3: it stands where the results of 1 calls should"},
		"orphan":                  {[]*echo.Message{user, result("a")}, `message 2: it answers "a", which is no open call of the assistant message before it`},
		"answered twice":          {[]*echo.Message{user, asks("{}", "a"), result("a"), result("a")}, `message 4: it answers "a", which is no open call of the assistant message before it`},
		"same id in one message":  {[]*echo.Message{user, asks("{}", "a", "a"), result("a")}, `message 2: the call id "a" is used twice`},
		"same id again":           {[]*echo.Message{user, asks("{}", "a"), result("a"), asks("{}", "a"), result("a")}, `message 4: the call id "a" is used twice`},
		"broken arguments":        {[]*echo.Message{user, asks(`{"a": "b…`, "a"), result("a")}, `message 2: the arguments of the call "a" are no JSON object, and were not recorded so`},
		"arguments of a list":     {[]*echo.Message{user, asks(`[]`, "a"), result("a")}, `message 2: the arguments of the call "a" are no JSON object, and were not recorded so`},
		"no id":                   {[]*echo.Message{user, asks(`{}`, ""), result("a")}, "message 2: a tool call needs an id, the type function and a name"},
		"role":                    {[]*echo.Message{text("robot", "a")}, `message 1: there is no role "robot"`},
	} {
		k := newChecker(&Conversation{Items: []echo.Item{{Message: asks("{cut", "x")}}})
		var request []*wireMessage
		for _, m := range tt.request {
			request = append(request, k.read(m.JSON()))
		}
		err := checkSequence(request)
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		require.EqualError(t, err, tt.want, name)
	}
}

// What the bytes of a message can get wrong by themselves. Messages of windlass cannot, so the
// bytes are made by hand.
func TestCheckerOfOneMessage(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"role":"assistant","content":"a"}`:                                                       "",
		`{"role":"user","content":[{"type":"text","text":"a"}]}`:                                   "",
		`{"role":"user","content":null}`:                                                           "a user message needs content",
		`{"role":"tool","tool_call_id":"a"}`:                                                       "a tool message needs content",
		`{"role":"assistant"}`:                                                                     "an assistant message needs content or tool_calls",
		`{"role":"assistant","content":"a","tool_calls":[]}`:                                       "tool_calls is an empty list",
		`{"role":"assistant","content":"a","tool_call_id":"a"}`:                                    "tool messages and only they have a tool_call_id",
		`{"role":"tool","content":"a"}`:                                                            "tool messages and only they have a tool_call_id",
		`{"role":"user","content":[]}`:                                                             "the list of content parts is empty",
		`{"role":"user","content":7}`:                                                              "content is neither a text nor a list of parts",
		`{"role":"user","content":"a","tool_calls":[]}`:                                            "a user message has no tool_calls",
		`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f"}}]}`: `the call "a" has no arguments`,
	} {
		k := newChecker(&Conversation{})
		err := k.read([]byte(body)).err
		if want == "" {
			require.NoError(t, err, body)
			continue
		}
		require.EqualError(t, err, want, body)
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	result := func(s string) *echo.Message {
		return echo.NewToolResult(echo.ToolCall{ID: "a", Name: "f"}, echo.Text(s), false)
	}
	answer := seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{
		{ID: "1", Name: "f", Arguments: `{"path": "src/main.go", "new": "src/new.go", "line": 1234, "n": 12, "word": "main", "list": ["user_id\nsrc/main.go"]}`},
		{ID: "2", Name: "f", Arguments: `{"cut": "tail_9`},
	}})
	before := []echo.Item{
		{Message: result("see ./src/main.go:1234")},
		{Message: seal(echo.Draft{Role: echo.RoleAssistant, ToolCalls: []echo.ToolCall{{ID: "0", Name: "f", Arguments: `{"q": "user_id"}`}}})},
		{Message: result("tail_9")},
		{Message: answer},
		{Message: result("no call")},
	}
	r := newReferences(&Conversation{Items: before})
	require.ElementsMatch(t, []string{"src/main.go", "src/new.go", "1234", "user_id", "tail_9"}, r.wordsOf(answer, 3))
	whole := []bool{false, true, true, false, false}
	all, kept := r.count(answer, 3, &sentText{whole: whole, other: []string{"masked"}})
	require.Equal(t, []int{4, 2}, []int{all, kept}, "src/main.go and 1234 are gone; src/new.go never was there")
	all, kept = r.count(answer, 3, &sentText{whole: whole, other: []string{"masked", "Names in it: 1234"}})
	require.Equal(t, []int{4, 3}, []int{all, kept}, "a name in a placeholder is kept")
	all, kept = r.count(before[4].Message, 4, &sentText{whole: whole})
	require.Zero(t, all+kept)
	require.Equal(t, []int{0, 3}, r.find("src/main.go", 5), "a later call may look at more of the history")
	require.Equal(t, []int{0}, r.find("src/main.go", 3), "and an earlier one of another policy at less")
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	m := func(s string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, s) }
	size := func(s string) int64 { return int64(len(m(s).JSON())+3) / 4 }
	r := newReplayer(&Conversation{}, false)
	request := func(ms ...*echo.Message) []*reading { return r.readRequest(ms, nil) }
	a, b := m("one"), m("two, longer")
	tokens, shared := measure(request(), request(a, b))
	require.Equal(t, []int64{size("one") + size("two, longer"), 0}, []int64{tokens, shared})
	_, shared = measure(request(m("one"), m("other")), request(a, b))
	require.Equal(t, size("one"), shared, "equal bytes are shared, whoever made them")
	_, shared = measure(request(m("other"), b), request(a, b))
	require.Zero(t, shared, "only a prefix is")
	_, shared = measure(request(a), request(a, b))
	require.Equal(t, size("one"), shared)
}

func some(v float64) *float64 { return &v }

// The picture is XML that can be read, has a point for each policy, and no two labels stand on each
// other.
func TestPlot(t *testing.T) {
	t.Parallel()
	g := &Group{File: "a&b.jsonl", Prices: Prices{Input: 1, Cached: 0.1}, Conversations: 3, Calls: 40}
	for i, name := range []string{"full", "every_turn", "step:10", "default", "hindsight", `{"window": 2, "mask_observations_after": 1, "advance": "every_turn"}`, "<odd>\x01"} {
		g.Policies = append(g.Policies, &Summary{Policy: name, OfFull: 1 - float64(i%3)/1000, KeptShare: some(0.95 + float64(i%2)/1000)})
	}
	svg := Plot([]*Group{g, {Prices: g.Prices, Policies: []*Summary{{Policy: "alone", OfFull: 1}}}, {}})
	dots, texts := 0, []string{}
	dec := xml.NewDecoder(strings.NewReader(svg))
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch e := tok.(type) {
		case xml.StartElement:
			if e.Name.Local == "circle" {
				dots++
			}
		case xml.CharData:
			texts = append(texts, string(e))
		}
	}
	require.Equal(t, 8, dots)
	all := strings.Join(texts, "|")
	for _, want := range []string{"a&b.jsonl", "3 conversations, 40 calls; a cached token costs 0.1 of another", "every_turn", "<odd>", "all files", "references kept in the request, %", "cost, % of full history"} {
		require.Contains(t, all, want)
	}
	require.NotContains(t, svg, "NaN")
	require.NotContains(t, svg, "Inf")

	p := newPanel(g, 0)
	var b strings.Builder
	for i := range p.points {
		p.label(&b, i)
	}
	labels := p.taken[len(p.points):]
	require.Len(t, labels, len(g.Policies))
	for i, l := range labels {
		for j, other := range p.taken {
			require.False(t, j != len(p.points)+i && l.overlaps(other), "the label of %s overlaps", g.Policies[i].Policy)
		}
		require.GreaterOrEqual(t, l.x0, p.x.from)
		require.LessOrEqual(t, l.x1, p.x.to)
	}
}
