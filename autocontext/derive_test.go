package autocontext

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
)

const testHash = echo.Hash("0123456789abcdef")

func toolResult(text string, failed bool) *echo.Message {
	return echo.NewToolResult(echo.ToolCall{ID: "c1", Name: "bash"}, echo.Text(text), failed)
}

// The words that stand for what was left out are read by models and people, and are the same bytes
// on every turn.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	m := toolResult("src/main.go:12: undefined: foo_bar\nsrc/main.go:40: ok 日本\n", false)
	require.Equal(t, `[Masked, 57 characters: recall("`+string(m.Hash())+`")] src/main.go foo_bar`, placeholder(m).Text())
	require.Equal(t, `[Removed. recall("`+string(m.Hash())+`")]`, bare(m).Text())
	require.Equal(t, `[Earlier text left out: 57 characters. recall("`+string(m.Hash())+`")]`, leftOut(m))
	require.Len(t, m.Hash(), 16, "the whole hash stands there")
	require.Equal(t, "c1", placeholder(m).ToolCallID())
	require.Equal(t, "bash", bare(m).Tool())
	require.True(t, placeholder(toolResult("x", true)).Failed())
	require.Equal(t, placeholder(m).JSON(), placeholder(m).JSON())
	require.Equal(t, "\n[3 characters cut. recall(\"0123456789abcdef\") returns all.]\n", cutMark(3, testHash))
	require.Equal(t, "\n[3 characters cut.]\n", cutMark(3, ""), "what cannot be recalled is not offered")
}

func TestCutMiddle(t *testing.T) {
	t.Parallel()
	mark := func(n int) string { return cutMark(n, testHash) }
	for _, c := range []struct {
		text  string
		limit int
		want  string
	}{
		{"", 0, ""},
		{"abcdef", 6, "abcdef"},
		{"abcdef", 7, "abcdef"},
		{"abcdefg", 6, "abcd" + mark(1) + "fg"},
		{"日本語日本語日", 6, "日本語日" + mark(1) + "語日"}, // characters, not bytes
		{"abc", 1, "a" + mark(2)},
		{"abc", 0, mark(3)},
		{"a\xffbcdefg", 6, "a\xffbc" + mark(2) + "fg"}, // a byte that is no character counts as one
	} {
		require.Equal(t, c.want, cutMiddle(c.text, c.limit, testHash), "%q to %d", c.text, c.limit)
	}
	require.NotPanics(t, func() { cutMiddle("abc", -5, testHash) })
}

func TestSplitRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text       string
		n          int
		head, rest string
	}{
		{"", 0, "", ""}, {"", 3, "", ""}, {"abc", 0, "", "abc"}, {"abc", 2, "ab", "c"}, {"abc", 3, "abc", ""}, {"abc", 9, "abc", ""}, {"é日x", 2, "é日", "x"},
	} {
		head, rest := splitRunes(c.text, c.n)
		require.Equal(t, []string{c.head, c.rest}, []string{head, rest}, "%q after %d", c.text, c.n)
	}
}

// Of a failure the head, the tail and the lines around what went wrong stay, however long those
// lines are.
func TestCutAround(t *testing.T) {
	t.Parallel()
	noise := strings.Repeat("all is well here\n", 100)
	for name, c := range map[string]struct {
		text string
		has  []string
	}{
		"one line":         {noise + "before it\nERROR: disk full\nafter it\n" + noise, []string{"before it\nERROR: disk full\nafter it"}},
		"two places":       {noise + "panic: a\n" + noise + "cannot open b\n" + noise, []string{"panic: a", "[...]", "cannot open b"}},
		"a long line":      {noise + "x Traceback " + strings.Repeat("y", 5000) + "\n" + noise, []string{"x Traceback yyy"}},
		"a long neighbour": {noise + strings.Repeat("z", 5000) + "\nfatal: no memory\n" + noise, []string{"fatal: no memory"}},
		"no such line":     {strings.Repeat("z", 5000), []string{"zzz"}},
		"only such lines":  {strings.Repeat("error\n", 1000), []string{"error\nerror"}},
		"characters":       {strings.Repeat("日", 2000) + "\nerror: 本\n" + strings.Repeat("語", 2000), []string{"error: 本"}},
	} {
		got := cutAround(c.text, 800, testHash, hasFailureWord)
		for _, want := range c.has {
			require.Contains(t, got, want, name)
		}
		require.LessOrEqual(t, utf8.RuneCountInString(got), 800+80, name)
		require.Contains(t, got, "characters cut. recall", name)
		require.NotContains(t, got, "[-", name)
		require.True(t, strings.HasPrefix(c.text, got[:100]), name)
		require.True(t, strings.HasSuffix(c.text, got[len(got)-60:]), name)
	}
	require.Equal(t, "error", cutAround("error", 800, testHash, hasFailureWord))
	for limit := range 60 {
		require.True(t, utf8.ValidString(cutAround(strings.Repeat("日本 error\n", 50), limit, testHash, hasFailureWord)))
	}
}

func TestCutTail(t *testing.T) {
	t.Parallel()
	require.Equal(t, "short", cutTail("short", 300, 80, testHash))
	long := strings.Repeat("a", 300) + " then src/file.go and more words that do not matter here, and on it goes"
	require.Equal(t, strings.Repeat("a", 300)+` [72 characters cut: recall("0123456789abcdef")] src/file.go`, cutTail(long, 300, 80, testHash))
	require.Equal(t, long[:320], cutTail(long[:320], 300, 80, testHash), "a cut that saves nothing is not made")
}

// Cut arguments are JSON as before: the same members, numbers of any size, any writing. What was
// not JSON stays.
func TestStubArguments(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 900)
	for name, c := range map[string]struct {
		args string
		want string // a pattern; "": as it was
	}{
		"short":             {args: `{"a":1}`},
		"long, no strings":  {args: `{"a":[` + strings.Repeat("12345678901234567890,", 50) + `1]}`},
		"a long string":     {args: `{"path":"a.go","text":"` + long + `"}`, want: `^\{"path":"a.go","text":"x{300} \[600 characters cut: recall\(\\"0123456789abcdef\\"\)\]"\}$`},
		"large numbers":     {args: `{"n":123456789012345678901234567890,"f":1e400,"t":"` + long + `"}`, want: `^\{"f":1e400,"n":123456789012345678901234567890,"t":"x{300} .*"\}$`},
		"nested":            {args: `{"l":[{"t":"` + long + `"},"` + long + `",null,true]}`, want: `^\{"l":\[\{"t":"x{300} .*"\},"x{300} .*",null,true\]\}$`},
		"unicode":           {args: `{"t":"` + strings.Repeat("日本", 450) + `"}`, want: `^\{"t":"(日本){150} \[600 characters cut.*"\}$`},
		"escapes":           {args: `{"t":"` + strings.Repeat(`\n<\"&>`, 200) + `"}`, want: `^\{"t":"(\\n<\\"&>){60} \[700 characters cut.*"\}$`},
		"half a surrogate":  {args: `{"t":"\ud83d` + long + `"}`, want: `^\{"t":".x{299} .*"\}$`},
		"only a string":     {args: `"` + long + `"`, want: `^"x{300} .*"$`},
		"not JSON":          {args: `{"t":"` + long + `"`},
		"two values":        {args: `{"t":"` + long + `"}{"u":1}`},
		"words after it":    {args: `{"t":"` + long + `"} and so on`},
		"names of the rest": {args: `{"t":"` + long + ` src/a.go id_7"}`, want: `\)\] src/a.go id_7"\}$`},
	} {
		got := stubArguments(c.args, testHash)
		if c.want == "" {
			require.Equal(t, c.args, got, name)
			continue
		}
		require.Regexp(t, c.want, got, name)
		require.True(t, json.Valid([]byte(got)), name)
		require.Less(t, len(got), len(c.args), name)
	}
	deep := strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)
	require.Equal(t, deep, stubArguments(deep, testHash))
	japanese := `{"t":"` + strings.Repeat("日", 390) + `"}`
	require.Equal(t, japanese, stubArguments(japanese, testHash), "400 characters, not bytes")
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                                    {},
		"plain words only, no-names":          {},
		"a.b abc 1234 12":                     {"1234"},
		"src/a.go, (src/b.go) src/b.go.":      {"src/b.go", "src/a.go"}, // the most frequent first
		"--flag_a /etc/hosts/ ./run.sh 1.2.3": {"flag_a", "/etc/hosts", "./run.sh", "1.2.3"},
		"日本file_1日本":                          {"file_1"},
		strings.Repeat("a1", 41):              {}, // longer than any name
	} {
		require.Equal(t, want, names(text), "%q", text)
	}
	require.Equal(t, "src/b.go src/a.go", joinNames("src/a.go src/b.go src/b.go", 40))
	require.Equal(t, "src/b.go", joinNames("src/a.go src/b.go src/b.go", 12))
	require.Equal(t, "id_1", joinNames("a_very/long/name/that/does/not/fit.go id_1", 12), "a shorter one may still fit")
	require.Empty(t, joinNames("src/a.go", 0))
	require.Empty(t, names(strings.Repeat("word ", maxNamed/5)+" late_1"), "what is looked at is bounded")
}

func TestBeforeCalls(t *testing.T) {
	t.Parallel()
	block := "```json\n{\"tool\": \"bash\", \"arguments\": {}}\n```"
	for text, want := range map[string]string{
		"":                                "",
		"no calls":                        "no calls",
		"a " + block + " b":               "a ",
		"```go\nx\n```\n" + block:         "```go\nx\n```\n",
		"```go\nx := 1\n```":              "```go\nx := 1\n```",
		"```":                             "```",
		"``````":                          "``````",
		"an open one ```{\"tool\": \"b\"": "an open one ",
	} {
		require.Equal(t, want, beforeCalls(text), "%q", text)
	}
}
