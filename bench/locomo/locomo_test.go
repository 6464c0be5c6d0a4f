package locomo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/autocontext/selection"
	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

// two are two conversations in the format of the data, with its peculiarities: several ids in one entry, ids that no turn
// has, ids twice, answers that are numbers, questions without evidence.
const two = `[
{"sample_id": "garden", "conversation": {
  "speaker_a": "Ada", "session_1_date_time": "noon",
  "session_1": [
    {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted tomatoes behind the shed."},
    {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely!", "blip_caption": "a wheelbarrow full of soil"},
    {"speaker": "Ada", "dia_id": "D1:3", "text": "The neighbour's cat sleeps there."}
  ],
  "session_2": [
    {"speaker": "Ben", "dia_id": "D2:1", "text": "My sister moved to Lisbon."},
    {"speaker": "Ada", "dia_id": "D2:2", "text": "The tomatoes are ripe, Ben."}
  ],
  "session_4": [{"speaker": "Ada", "dia_id": "D4:1", "text": "Not reached: there is no session 3."}]},
 "qa": [
  {"question": "Where are the tomatoes?", "answer": "behind the shed", "evidence": ["D1:1"], "category": 4},
  {"question": "Which tomatoes are ripe, and what is in the wheelbarrow?", "answer": 2, "evidence": ["D2:2; D1:2", "D1:2", "D9:9"], "category": 1},
  {"question": "Who knows?", "evidence": ["D:1:1"], "category": 5},
  {"question": "What else?", "evidence": [], "category": 9}
 ]},
{"conversation": {"session_1": [{"speaker": "Cy", "dia_id": "D1:1", "text": "The violin is broken."}]},
 "qa": [{"question": "What happened to Cy's violin?", "evidence": ["D1:1"], "category": 4}]}
]`

func read(t *testing.T, text string) []*Conversation {
	t.Helper()
	all, err := Read(strings.NewReader(text))
	require.NoError(t, err)
	return all
}

func TestRead(t *testing.T) {
	t.Parallel()
	all := read(t, two)
	require.Len(t, all, 2)
	garden := all[0]
	require.Equal(t, "garden", garden.ID)
	require.Len(t, garden.Turns, 5)
	require.Equal(t, Turn{ID: "D1:2", Session: 1, Text: "Ben: Lovely! [image: a wheelbarrow full of soil]", Tokens: 12}, garden.Turns[1])
	require.Equal(t, 2, garden.Turns[3].Session)
	require.Equal(t, []Question{
		{Number: 1, Text: "Where are the tomatoes?", Category: 4, Evidence: []int{0}},
		{Number: 2, Text: "Which tomatoes are ripe, and what is in the wheelbarrow?", Category: 1, Evidence: []int{1, 4}},
	}, garden.Questions)
	require.Equal(t, 2, garden.NoEvidence)
	require.Equal(t, []string{"D9:9", "D:1:1"}, garden.Unknown)
	require.Equal(t, "conversation-2", all[1].ID)
}

func TestTokensAreCharactersByFourRoundedUp(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 1, "ab": 1, "abc": 2, "äöü": 2, "日本語です": 2, "abcdefg": 3} {
		require.Equal(t, want, recordedTurn{Speaker: "", Text: text}.turn(1).Tokens, "%q", text) // ": " counts
	}
}

func TestCategories(t *testing.T) {
	t.Parallel()
	require.Equal(t, "multi-hop", Category(1).String())
	require.Equal(t, "adversarial", Category(5).String())
	for _, c := range []Category{0, -1, 6} {
		require.Equal(t, fmt.Sprintf("category %d", int(c)), c.String())
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	turn := func(id string) string { return `{"speaker": "A", "dia_id": "` + id + `", "text": "x"}` }
	one := func(rest string) string { return `[{"sample_id": "a", ` + rest + `}]` }
	good := `"conversation": {"session_1": [` + turn("D1:1") + `]}`
	for text, want := range map[string]string{
		``:                                      "expected a JSON array of conversations: unexpected end of JSON input",
		`{"conversation": 1}`:                   "expected a JSON array of conversations: json: cannot unmarshal object",
		`[]`:                                    "there is no conversation in it",
		`[{}]`:                                  "conversation 1 (conversation-1): it has no turns: expected conversation.session_1, session_2, ..., each an array of turns",
		one(`"conversation": {"session_1": 3}`): "conversation 1 (a): session_1: json: cannot unmarshal number",
		one(`"conversation": {"session_1": [` + turn("D1:1") + `,` + turn("D1:1") + `]}`): `conversation 1 (a): session_1: turn 2: its dia_id "D1:1" is empty or taken`,
		one(`"conversation": {"session_1": [` + turn("") + `]}`):                          `conversation 1 (a): session_1: turn 1: its dia_id "" is empty or taken`,
		one(good + `, "qa": [{"question": " "}]`):                                         "conversation 1 (a): qa 1: there is no question",
		`[{"sample_id": "a", ` + good + `}, {"sample_id": "a", ` + good + `}]`:            `conversation 2: there is one with the sample_id "a" before it`,
	} {
		_, err := Read(strings.NewReader(text))
		require.ErrorContains(t, err, want, text)
	}
	broken := errors.New("the disk is gone")
	_, err := Read(failing{broken})
	require.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// byTopic embeds by three topics, and knows nothing of a text without one.
type byTopic struct {
	name string
	err  error
	few  bool // too few vectors
}

func (e byTopic) Name() string { return e.name }

func (e byTopic) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		for k, topic := range []string{"tomato", "wheelbarrow", "cat"} {
			if strings.Contains(text, topic) {
				out[i] = make([]float32, 3)
				out[i][k] = 1
				break
			}
		}
	}
	if e.few {
		out = out[1:]
	}
	return out, e.err
}

func benchOf(methods ...Method) *Bench {
	return &Bench{
		Methods: methods, Budgets: []int64{12, 1000},
		Settings: selection.Settings{KeywordWeight: 0.4, RecencyWeight: 0.3, CalloutWeight: 0.3, Threshold: 0.5},
	}
}

func TestBench(t *testing.T) {
	t.Parallel()
	by := byTopic{name: "topics"}
	b := benchOf(
		Method{Strategy: echo.StrategyHeuristic},
		Method{Strategy: echo.StrategySemantic, Embedder: by},
		Method{Strategy: echo.StrategyHybrid, Embedder: by},
	)
	run := func() *Report {
		done := make(chan bool, 2)
		outcomes, err := b.Run(t.Context(), read(t, two), func() { done <- true })
		require.NoError(t, err)
		require.Len(t, done, 2)
		return b.Report(outcomes)
	}
	r := run()
	require.Equal(t, r, run(), "the same again")
	require.Equal(t, []int{2, 6, 3, 2}, []int{r.Conversations, r.Turns, r.Questions, r.NoEvidence})
	require.Equal(t, []string{"D9:9", "D:1:1"}, r.Unknown)

	heuristic := r.Methods[0]
	require.Equal(t, echo.StrategyHeuristic, heuristic.Strategy)
	require.Empty(t, heuristic.Embedder)
	// In 12 tokens there is room for one turn: for the first question it is the newer one that speaks of tomatoes.
	require.InDeltaSlice(t, []float64{1.5 / 3, 1}, heuristic.Recall, 1e-12)
	require.Equal(t, []CategoryReport{
		{Category: 1, Name: "multi-hop", Questions: 1, Recall: []float64{0.5, 1}},
		{Category: 4, Name: "single-hop", Questions: 2, Recall: []float64{0.5, 1}},
	}, heuristic.Categories)
	semantic := r.Methods[1]
	require.Equal(t, "topics", semantic.Embedder)
	require.Equal(t, 1, semantic.FellBack, "of the violin nothing is known")
	require.Len(t, r.Asked, 3)
	require.Equal(t, []string{"D1:2", "D2:2"}, r.Asked[1].Evidence)
	choices := r.Asked[0].Methods[0].Choices
	require.Equal(t, Choice{Budget: 12, Tokens: 8, Turns: []string{"D2:2"}}, choices[0])
	require.Equal(t, []string{"D1:1", "D1:2", "D1:3", "D2:1", "D2:2"}, choices[1].Turns, "what stands beside it comes along")
	require.True(t, r.Asked[2].Methods[1].Choices[0].Fell)
	for _, asked := range r.Asked {
		for _, m := range asked.Methods {
			for _, c := range m.Choices {
				require.LessOrEqual(t, c.Tokens, c.Budget)
			}
		}
	}
	data, err := json.Marshal(r)
	require.NoError(t, err)
	require.Contains(t, string(data), `"turns":["D2:2"]`)
}

// Hybrid is measured as runs use it: by words alone where vectors say how texts are spelled.
func TestBenchBySpelling(t *testing.T) {
	t.Parallel()
	by := contextcards.NewHashed(0)
	b := benchOf(
		Method{Strategy: echo.StrategyHeuristic}, Method{Strategy: echo.StrategyHybrid, Embedder: by},
		Method{Strategy: echo.StrategySemantic, Embedder: by},
	)
	outcomes, err := b.Run(t.Context(), read(t, two), func() {})
	require.NoError(t, err)
	r := b.Report(outcomes)
	require.Zero(t, r.Methods[1].FellBack, "it is no failure")
	for _, asked := range r.Asked {
		require.Equal(t, asked.Methods[0].Choices, asked.Methods[1].Choices)
	}
	require.NotEqual(t, r.Methods[0].Recall, r.Methods[2].Recall)
}

func TestBenchWithAFewTurnsOnly(t *testing.T) {
	t.Parallel()
	b := benchOf(Method{Strategy: echo.StrategyHeuristic})
	b.Settings.MaxMessages = 1
	outcomes, err := b.Run(t.Context(), read(t, two), func() {})
	require.NoError(t, err)
	r := b.Report(outcomes)
	require.Equal(t, 1, r.MaxMessages)
	for _, asked := range r.Asked {
		require.Len(t, asked.Methods[0].Choices[1].Turns, 1)
	}
}

// What has no vectors would be measured as something else: it ends the measurement.
func TestBenchEndsWhenAnEmbedderFails(t *testing.T) {
	t.Parallel()
	gone := errors.New("connection refused")
	for _, c := range []struct {
		by   contextcards.Embedder
		want string
	}{
		{byTopic{name: "gone", err: gone}, "make the cards of "},
		{byTopic{name: "gone", err: gone}, "connection refused"},
		{byTopic{name: "few", few: true}, "make the cards of "},
		{later{byTopic{name: "later"}}, "embed the questions of "},
	} {
		b := benchOf(Method{Strategy: echo.StrategySemantic, Embedder: c.by})
		_, err := b.Run(t.Context(), read(t, two), func() {})
		require.ErrorContains(t, err, c.want)
	}
}

// later embeds turns, but no questions.
type later struct{ byTopic }

func (e later) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if strings.HasSuffix(texts[0], "?") {
		return nil, errors.New("gone")
	}
	return e.byTopic.Embed(ctx, texts)
}

func TestBenchEndsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, m := range []Method{{Strategy: echo.StrategyHeuristic}, {Strategy: echo.StrategySemantic, Embedder: byTopic{name: "topics"}}} {
		_, err := benchOf(m).Run(ctx, read(t, two), func() {})
		require.ErrorIs(t, err, context.Canceled)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(two)
	f.Add(`[{"conversation": {"session_1": [{"dia_id": "D1:1"}]}, "qa": [{"question": "q", "evidence": ["D1:1;D1:1,x"]}]}]`)
	f.Fuzz(func(t *testing.T, text string) {
		all, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, c := range all {
			for _, q := range c.Questions {
				require.NotEmpty(t, q.Evidence)
				for i, e := range q.Evidence {
					require.Less(t, e, len(c.Turns))
					require.True(t, i == 0 || q.Evidence[i-1] < e)
				}
			}
		}
	})
}
