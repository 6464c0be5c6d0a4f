package judging

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade/soundings"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine/budget"
	"github.com/windlass-run/windlass/engine/effect"
)

// words are a text of so many tokens, about.
func words(word string, tokens int) string { return strings.Repeat(word, 4*tokens/len(word)) }

func warnings(t *testing.T, b *testBundle) (keys, texts []string) {
	t.Helper()
	for _, e := range asRead(t, b.entries) {
		if w, err := echo.Read[echo.Warning](e); err == nil {
			keys, texts = append(keys, e.Key.String()), append(texts, w.Message)
		}
	}
	return keys, texts
}

// Answers that do not fit are cut to the same length, whoever wrote them; shorter ones are whole.
func TestAnswersAreCutAlike(t *testing.T) {
	t.Parallel()
	const window = 20_000
	list := entrants("begin1 "+words("blah ", 30_000)+" end1", "begin2 "+words("blubb ", 9_000)+" end2", "a short one", "begin4 "+words("ä", 12_000)+" end4")
	b := setup(t, names("short"))
	b.facts = map[string]effect.ModelFacts{"m": {Window: window}}
	c, err := b.choose(&soundings.Soundings{}, list...)
	require.NoError(t, err)
	require.Equal(t, 3, c.Winner)
	for _, req := range b.requests {
		p := read(req)
		size := budget.SizeOf(req, b.facts["m"]).In
		require.Equal(t, window/4, req.MaxOutputTokens)
		require.Less(t, size+int64(req.MaxOutputTokens), int64(window))
		require.Greater(t, size, int64(window*6/10), "what there is room for is used")
		require.Contains(t, p.texts, "a short one")
		var sizes []int
		for _, text := range p.texts {
			require.True(t, utf8.ValidString(text))
			if text == "a short one" {
				continue
			}
			n := text[len("begin"):][:1]
			require.True(t, strings.HasPrefix(text, "begin"+n) && strings.HasSuffix(text, "end"+n))
			require.Regexp(t, `\n\[\.\.\. \d+ bytes left out here, as the text is too long \.\.\.\]\n`, text)
			sizes = append(sizes, len(text))
		}
		for _, n := range sizes {
			require.InEpsilon(t, sizes[0], n, 0.1)
		}
	}
	keys, texts := warnings(t, b)
	require.Equal(t, []string{"p/choice/warning"}, keys)
	require.Regexp(t, `^what the judge m was sent is cut in the middle, as it does not fit its window: 3 answers to \d+ tokens$`, texts[0])
}

// Points are given by what all answers are cut to alike, also those that would fit alone.
func TestScoredAnswersAreCutAlike(t *testing.T) {
	t.Parallel()
	list := entrants(words("blah ", 30_000), words("blubb ", 14_900), "short")
	b := setup(t, says(`{"score":5}`))
	b.facts = map[string]effect.ModelFacts{"m": {Window: 20_000}}
	_, err := b.choose(&soundings.Soundings{Pareto: &soundings.Pareto{}}, list...)
	require.NoError(t, err)
	sizes := map[int]bool{}
	for _, req := range b.requests {
		size := budget.SizeOf(req, b.facts["m"]).In
		require.Less(t, size, int64(13_000))
		if text := read(req).texts[0]; text != "short" {
			sizes[len(text)/1000] = true
		}
	}
	require.Len(t, sizes, 1)
}

func TestLongTasksAreCutFirst(t *testing.T) {
	t.Parallel()
	b := setup(t, names("blue"))
	b.facts = map[string]effect.ModelFacts{"m": {Window: 20_000, Exact: true, Count: func(m *echo.Message) int64 { return int64(len(m.Text())) / 2 }}}
	c, err := b.ask(Question{Settings: &soundings.Soundings{}, Entrants: sea, Task: "Begin. " + words("task ", 40_000) + " End."})
	require.NoError(t, err)
	require.Equal(t, 2, c.Winner)
	p := read(b.requests[0])
	require.True(t, strings.HasPrefix(p.task, "Begin. ") && strings.HasSuffix(p.task, " End."))
	require.Contains(t, p.texts, sea[0].Text)
	_, texts := warnings(t, b)
	require.Equal(t, []string{"what the judge m was sent is cut in the middle, as it does not fit its window: the task"}, texts)
}

func TestTooManyAnswersForTheWindow(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 40 {
		texts = append(texts, strings.Repeat(string(rune('a'+i%26)), 2000+i))
	}
	b := setup(t, nil)
	b.facts = map[string]effect.ModelFacts{"m": {Window: 2000}}
	_, err := b.choose(&soundings.Soundings{}, entrants(texts...)...)
	require.EqualError(t, err, "the judge m can be sent 1300 tokens, and these do not have room for 64 tokens of each of 40 answers, the task and the instructions: "+
		"use a model with a larger window, or fewer candidates")
}

// What fits is not cut, nor is anything where no window is known.
func TestNothingIsCut(t *testing.T) {
	t.Parallel()
	list := entrants(words("blah ", 5000), words("blubb ", 4000))
	for _, window := range []int64{0, 100_000} {
		b := setup(t, names("blah"))
		b.facts = map[string]effect.ModelFacts{"m": {Window: window}}
		_, err := b.choose(&soundings.Soundings{}, list...)
		require.NoError(t, err)
		require.Contains(t, read(b.requests[0]).texts, list[0].Text)
		keys, _ := warnings(t, b)
		require.Empty(t, keys)
	}
}

func TestRoomOfReplies(t *testing.T) {
	t.Parallel()
	for want, f := range map[int]effect.ModelFacts{
		replyLength + effect.ThinkingRoom: {},
		4096:                              {MaxOutput: 4096, Window: 128_000},
		1000:                              {MaxOutput: 4096, Window: 4000},
		smallestRoom:                      {Window: 100},
	} {
		require.Equal(t, want, roomOf(&f, replyLength))
	}
}

func FuzzCut(f *testing.F) {
	f.Add("some text", int64(3))
	f.Add(strings.Repeat("ä€😀", 100), int64(40))
	f.Fuzz(func(t *testing.T, text string, most int64) {
		text = whole(text)
		fit := fitter{facts: &effect.ModelFacts{}}
		got := fit.cut(text, most)
		require.True(t, utf8.ValidString(got))
		switch {
		case fit.tokens(text) <= most:
			require.Equal(t, text, got)
		case strings.HasPrefix(got, "\n[... "):
		default:
			require.LessOrEqual(t, fit.tokens(got), most)
		}
	})
}
