package autocontext_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/echo/dialect"
)

// oldest makes a talk whose first turn (messages 2 and 3) is age turns older than the coming call.
func oldest(age int, words string, r result) *talk { return newTalk().calls(words, r).reads(age-1, 10) }

// A result is masked when it is older than mask_observations_after turns, and an answer is cut when
// it is older than window.
func TestAgesAtTheEdges(t *testing.T) {
	t.Parallel()
	s := policy(func(p *cascade.Intra) { p.MaskAfter, p.Window = 3, 5 })
	words := strings.Repeat("words ", 100)
	for age, want := range map[int][]string{
		1: {"full recent", "full recent"},
		3: {"full recent", "full recent"},
		4: {"full recent", "masked aged"},
		5: {"full recent", "masked aged"},
		6: {"stub aged", "masked aged"},
	} {
		v := viewOf(t, s, oldest(age, words, result{text: filler(1, 1000)}))
		require.Equal(t, want, formsOf(v)[2:4], "age %d", age)
	}
}

func TestAgedResults(t *testing.T) {
	t.Parallel()
	failing := strings.Repeat("line\n", 300) + "error: no such file\n" + strings.Repeat("line\n", 300)
	for name, c := range map[string]struct {
		r      result
		change func(*cascade.Intra)
		want   string
	}{
		"masked":                        {r: result{text: filler(1, 1000)}, want: "masked aged"},
		"excluded":                      {r: result{text: filler(1, 1000), tool: "keep"}, want: "full excluded"},
		"another tool is not excluded":  {r: result{text: filler(1, 1000), tool: "keeper"}, want: "masked aged"},
		"of the memory tool":            {r: result{text: filler(1, 1000), tool: "memory"}, want: "full excluded"},
		"failed":                        {r: result{text: failing, failed: true}, want: "excerpt error"},
		"failed, preserve_errors false": {r: result{text: failing, failed: true}, change: func(p *cascade.Intra) { p.PreserveErrors = false }, want: "masked aged"},
		// A result is an error when its tool says so, not when its text does.
		"text of an error":           {r: result{text: failing}, want: "masked aged"},
		"199 characters":             {r: result{text: filler(1, 199)}, want: "full small"},
		"200 characters":             {r: result{text: filler(1, 200)}, want: "masked aged"},
		"199 characters, 597 bytes":  {r: result{text: strings.Repeat("日", 199)}, want: "full small"},
		"200 characters, 600 bytes":  {r: result{text: strings.Repeat("日", 200)}, want: "masked aged"},
		"no shorter when masked":     {r: result{text: filler(1, 40)}, change: func(p *cascade.Intra) { p.MinMaskedSize = 0 }, want: "full small"},
		"an image beside few words":  {r: result{text: "a picture", image: true}, want: "masked aged"},
		"an image without words":     {r: result{image: true}, want: "masked aged"},
		"a failure with an image":    {r: result{text: "it failed", image: true, failed: true}, want: "excerpt error"},
		"a failure of an image only": {r: result{image: true, failed: true}, want: "excerpt error"},
	} {
		s := policy(func(p *cascade.Intra) {
			p.ExcludeTools = []string{"keep"}
			if c.change != nil {
				c.change(p)
			}
		})
		v := viewOf(t, s, oldest(4, "", c.r))
		require.Equal(t, c.want, form(v, 3), name)
		if sent := v.Items[3].Sent; sent != v.Items[3].Message {
			require.Contains(t, sent.Text(), string(v.Items[3].Message.Hash()), "%s: what was cut can be recalled", name)
			require.Len(t, sent.Parts(), 1, "%s: images go with the rest", name)
		}
		if c.want == "excerpt error" && c.r.text == failing {
			require.Contains(t, v.Items[3].Sent.Text(), "error: no such file", name)
		}
	}
}

func TestAgedAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("reasons ", 400)
	args := `{"path":"a.go","text":"` + strings.Repeat("code_1 ", 200) + `"}`
	off := func(p *cascade.Intra) { p.PreserveReasoning = false }
	for name, c := range map[string]struct {
		words  string
		args   string // of a call; "": none
		change func(*cascade.Intra)
		want   string
	}{
		"short words":                              {words: "short", want: "full small"},
		"long words":                               {words: long, want: "excerpt aged"},
		"long words, not preserved":                {words: long, change: off, want: "masked aged"},
		"short words, not preserved":               {words: "short", change: off, want: "full small"},
		"short arguments":                          {args: `{"path":"a.go"}`, want: "full small"},
		"long arguments":                           {args: args, want: "stub aged"},
		"long arguments and words":                 {words: long, args: args, want: "stub aged"},
		"short arguments and words, not preserved": {words: strings.Repeat("w ", 40), args: `{}`, change: off, want: "stub aged"},
	} {
		k := newTalk()
		if c.args == "" {
			k.say(c.words)
		} else {
			k.calls(c.words, result{args: c.args, text: "done"})
		}
		k.user(echo.KindTurnPrompt, "go on").reads(6, 10)
		v := viewOf(t, policy(c.change), k)
		require.Equal(t, c.want, form(v, 2), name)
		if c.change != nil && c.args != "" {
			require.Empty(t, v.Items[2].Sent.Text(), name)
		}
	}
}

// Messages from before the first turn are as old as the phase.
func TestAgesBeforeTheFirstTurn(t *testing.T) {
	t.Parallel()
	k := newTalk()
	k.attempt = 0
	k.calls("earlier", result{text: filler(1, 1000)})
	k.attempt, k.turn = 1, 0
	for turns, want := range map[int]string{0: "full recent", 2: "full recent", 3: "masked aged"} {
		kk := *k
		kk.items = append([]echo.Item(nil), k.items...)
		require.Equal(t, want, form(viewOf(t, policy(nil), kk.reads(turns, 10)), 3), "%d turns", turns)
	}
}

// In the prompted dialect the calls stand in the words. A stub cuts them there, and what is left is
// a block as it was.
func TestStubOfThePromptedDialect(t *testing.T) {
	t.Parallel()
	args := `{"path":"a.go","text":"` + strings.Repeat("code_1 ", 200) + `"}`
	words := "First I write it.\n```json\n{\"tool\": \"bash\", \"arguments\": " + args + "}\n```"
	s := policy(nil)
	s.Dialect = dialect.Prompted
	v := viewOf(t, s, newTalk().calls(words, result{args: args, text: "done"}).reads(6, 10))
	require.Equal(t, "stub aged", form(v, 2))
	sent := textsOf(s, v)[2]
	require.Regexp(t, "(?s)^assistant: First I write it\\.\n```json\n\\{\"tool\": \"bash\", \"arguments\": \\{\"path\":\"a.go\",\"text\":\"code_1 .* \\[\\d+ characters cut: recall\\(.*code_1\"\\}\\}\n```$", sent)
	require.Less(t, len(sent), 600)
}
