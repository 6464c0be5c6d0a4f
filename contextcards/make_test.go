package contextcards_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/contextcards"
	"github.com/windlass-run/windlass/echo"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func user(text string) *echo.Message { return echo.NewText(echo.RoleUser, echo.KindTask, text) }

func result(tool, text string, failed bool) *echo.Message {
	return echo.NewToolResult(echo.ToolCall{ID: "c1", Name: tool}, echo.Text(text), failed)
}

func assistant(text string, calls ...echo.ToolCall) *echo.Message {
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer, ToolCalls: calls}
	if text != "" {
		d.Parts = echo.Text(text)
	}
	return echo.Seal(d)
}

func card(m *echo.Message) contextcards.Card {
	return contextcards.Extract(contextcards.Source{SessionID: "s", Message: m, Phase: "p", Order: 1}, noon)
}

func image(n int) []echo.Part {
	var parts []echo.Part
	for range n {
		parts = append(parts, echo.Part{Type: echo.PartImage, URL: "data:image/png;base64,AAAA"})
	}
	return parts
}

const report = "Sure! I looked into the failing payments of order 4711. It took me a while. " +
	"The retry loop in internal/pay/retry.go never resets its timer, so payments of order 4711 time out after the first failure. " +
	"Nothing else was wrong there. Some words follow which nobody needs for anything at all."

func TestSummaryWithoutModel(t *testing.T) {
	t.Parallel()
	lines := "2026-05-04 open internal/pay/retry.go\n" + strings.Repeat("2026-05-04 timeout_s\n", 39)
	for _, c := range []struct {
		name      string
		message   *echo.Message
		summary   string
		generator string
	}{
		{"a short message is its own", user("Find\n  the bug. "), "Find the bug.", "message"},
		{"as long as short may be", user(strings.Repeat("é", 200)), strings.Repeat("é", 200), "message"},
		{
			"a short answer with calls", assistant("I look.", echo.ToolCall{Name: "bash", Arguments: `{"command":"ls"}`}, echo.ToolCall{Name: "now", Arguments: "{}"}),
			`I look.; calls bash {"command":"ls"}, now`, "message",
		},
		{"calls alone", assistant("", echo.ToolCall{Name: "read_file", Arguments: `{"path":"a.go"}`}), `calls read_file {"path":"a.go"}`, "shape"},
		{"a long text", user(report), "I looked into the failing payments of order 4711. The retry loop in internal/pay/retry.go never resets its timer, " +
			"so payments of order 4711 time out after the first failure.", "extraction"},
		{"one long sentence", user(strings.Repeat("word ", 100)), strings.TrimSpace(strings.Repeat("word ", 59)) + "...", "extraction"},
		{"an image", echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindTask, Parts: image(1)}), "1 image", "shape"},
		{"a text with images", echo.Seal(echo.Draft{Role: echo.RoleUser, Kind: echo.KindTask, Parts: append(echo.Text("Look."), image(2)...)}), "Look.; 2 images", "message"},
		{"a short result", result("weather", "22 C, sunny", false), "weather: 22 C, sunny", "message"},
		{"a short failure", result("bash", "exit status 1", true), "bash failed: exit status 1", "message"},
		{"an empty result", result("bash", " \n", false), "bash: nothing", "shape"},
		{"an image as result", echo.NewToolResult(echo.ToolCall{Name: "plot"}, image(1), false), "plot: 1 image", "shape"},
		{"a result without the tool's name", result("", "done", false), "tool: done", "message"},
		{
			"lines", result("search", lines, false),
			`search: 40 lines, 857 characters; begins "2026-05-04 open internal/pay/retry.go"; names timeout_s`, "shape",
		},
		{
			"a long failure", result("bash", lines+"FAIL pay_test.go:12\n", true),
			`bash failed: 41 lines, 877 characters; begins "2026-05-04 open internal/pay/retry.go"; ends "FAIL pay_test.go:12"; names timeout_s`, "shape",
		},
		{
			"an object", result("get_order", `{"id":"W4711","items":[{"sku":"a_1"}],"note":"`+strings.Repeat("x ", 100)+`"}`, false),
			"get_order: JSON object with id, items, note; 248 characters; names W4711 a_1", "shape",
		},
		{
			"an array", result("list", `[`+strings.Repeat(`{"id":1,"who":"ann"},`, 14)+`{"id":2}]`, false),
			"list: JSON array of 15 elements with id, who; 304 characters", "shape",
		},
		{"an array of numbers", result("list", `[`+strings.Repeat("1,", 149)+`1]`, false), "list: JSON array of 150 elements; 301 characters", "shape"},
		{
			"almost JSON", result("list", `{"id":1} and `+strings.Repeat("more ", 60), false),
			`list: 313 characters; begins "{\"id\":1} and more more more more more more more more more more more more more more more more..."`, "shape",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := card(c.message)
			require.Equal(t, c.summary, got.Summary)
			require.Equal(t, c.generator, got.Generator)
		})
	}
}

func TestShapeOfJSONThatIsTooLongToRead(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 200_000)
	for text, want := range map[string]string{
		`{"a":1,"b":"` + big + `","c":2}`:    "t: JSON object with a, b and more; 200020 characters",
		`[{"a":1},{"b":"` + big + `"}]`:      "t: JSON array of more than 1 elements with a; 200018 characters",
		`["` + big + `"]`:                    "t: 200004 characters; begins",
		strings.Repeat("[", 200_000):         "t: 200000 characters; begins",
		`{"a":1,"b":"` + big + `"} trailing`: "t: JSON object with a, b and more", // its end is not read
	} {
		require.Contains(t, card(result("t", text, false)).Summary, want)
	}
}

func TestMembersAreBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30 {
		b.WriteString(`,"key` + string(rune('a'+i%26)) + strings.Repeat("k", i/26) + `":1`)
	}
	got := card(result("t", "{"+b.String()[1:]+"}", false)).Summary
	require.Contains(t, got, "keya, keyb, keyc, keyd, keye, keyf, keyg, keyh, keyi, keyj, keyk, keyl and more; ")
}

func TestExtractedSentences(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("Nobody minds this at all really. ", 8)
	for name, c := range map[string][2]string{
		"code is left out": {"We change the parser now.\n```go\nfunc parser() { parser() }\n```\n" + filler, "We change the parser now. Nobody minds this at all really."},
		"headings and lists end": {
			"# The result of the migration\n- The first table is done\n- The table users_v2 lost 14 rows\n\n" + filler,
			"The result of the migration The table users_v2 lost 14 rows",
		},
		"abbreviations and versions do not": {"We need e.g. version 1.2.3 of lib.so for the build here. " + filler, "We need e.g. version 1.2.3 of lib.so for the build here. Nobody minds this at all really."},
		"another script":                    {strings.Repeat("これは長い文章です。", 30), "これは長い文章です。これは長い文章です。 これは長い文章です。"},
		"only marks":                        {strings.Repeat("--- *** ", 40), ""},
	} {
		got := card(user(c[0])).Summary
		if c[1] == "" {
			require.NotEmpty(t, got, name)
			continue
		}
		if name == "another script" {
			require.True(t, strings.HasPrefix(got, "これは長い文章です。"), got)
			continue
		}
		require.Equal(t, c[1], got, name)
	}
}

func keywords(m *echo.Message) []string {
	return contextcards.Extract(contextcards.Source{Message: m}, time.Time{}).Keywords
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"The tests of the parser fail. Each test fails.":                       {"tests", "fail", "parser"},
		"Look at internal/pay/retry.go and at retry.go:17, then call resetAll": {"internal/pay/retry.go", "retry.go", "resetAll", "call"},
		"Yesterday we met Caroline in Sweden. Caroline's dog was there.":       {"caroline", "sweden", "yesterday", "met", "dog"},
		"order 4711 failed":                   {"order", "failed", "4711"},
		"I don't, you're, we'll":              {},
		"":                                    {},
		"Die Größe der Übertragung":           {"größe", "übertragung", "die", "der"},
		"東京タワー":                               {"東京", "京タ", "タワ", "ワー"},
		"see ./run.sh, /etc/hosts and </div>": {"./run.sh", "/etc/hosts", "div"},
		strings.Repeat("A", 5000):             {},
	} {
		got := keywords(user(text))
		if len(want) == 0 {
			require.Empty(t, got, text)
			continue
		}
		require.Equal(t, want, got, text)
	}
}

func TestKeywordsOfCalls(t *testing.T) {
	t.Parallel()
	m := assistant("", echo.ToolCall{Name: "write_file", Arguments: `{"path":"a/b.go","text":"package b\nimport \"fmt\""}`})
	require.Equal(t, []string{"write_file", "a/b.go", "package", "path", "text", "import", "fmt"}, keywords(m))
	require.Equal(t, "read_file", keywords(result("read_file", "x", false))[0])
}

func TestKeywordsAreTwelveAtMost(t *testing.T) {
	t.Parallel()
	require.Len(t, keywords(user("alpha1 beta2 gamma3 delta4 epsilon5 zeta6 eta7 theta8 iota9 kappa10 lambda11 my12 nu13")), 12)
}

func TestCardHasThePlaceOfItsSource(t *testing.T) {
	t.Parallel()
	m := user("Find the bug in a/b.go.")
	got := contextcards.Extract(contextcards.Source{
		SessionID: "s", Message: m, Phase: "fix", Visit: 2, Attempt: 3, Turn: 4, Order: 5, Callout: "bug", At: noon.Add(-time.Hour),
	}, noon)
	require.Equal(t, contextcards.Card{
		SessionID: "s", Hash: m.Hash(), Summary: "Find the bug in a/b.go.", Keywords: []string{"a/b.go", "bug"}, Tokens: int64(len(m.JSON())+3) / 4,
		Role: echo.RoleUser, Phase: "fix", Visit: 2, Attempt: 3, Turn: 4, Order: 5, Callout: "bug",
		GeneratedAt: noon, Generator: "message", MessageAt: noon.Add(-time.Hour),
	}, got)
}

func TestWorth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		message *echo.Message
		want    bool
	}{
		{user("x"), true},
		{assistant("x"), true},
		{assistant("", echo.ToolCall{Name: "f"}), true},
		{echo.Seal(echo.Draft{Role: echo.RoleUser, Parts: image(1)}), true},
		{result("f", "", false), false},
		{user(""), false},
		{echo.NewText(echo.RoleSystem, "", "x"), false},
		{echo.NewText(echo.RoleUser, echo.KindContext, "x"), false},
		{echo.NewText(echo.RoleUser, echo.KindNotice, "x"), false},
		{echo.NewText(echo.RoleUser, echo.KindSummary, "x"), false},
		{echo.NewText(echo.RoleUser, echo.KindRetry, "x"), true},
	} {
		require.Equal(t, c.want, contextcards.Source{Message: c.message}.Worth(), "%s %s", c.message.Role(), c.message.Kind())
	}
}

func TestTextToEmbed(t *testing.T) {
	t.Parallel()
	m := assistant("I look.", echo.ToolCall{Name: "bash", Arguments: `{"command":"ls"}`})
	require.Equal(t, "I look.\nbash {\"command\":\"ls\"}", contextcards.EmbedText(m, "unused"))
	long := contextcards.EmbedText(user(strings.Repeat("é", 9000)), "What it says.")
	require.Equal(t, "What it says.\n"+strings.Repeat("é", 4000), long)
}

// Whatever a message holds, its card is bounded, in one line, without characters that a terminal
// obeys, and the same each time.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{report, "{\"a\":[1,2", "\x1b[31mred\x1b[0m\u202e evil", "a.\nb!\n\n- c?\n```", "東京。タワー", "\xff\xfe", "[[[[", "1. x\n2) y", "..//--..", "<"} {
		f.Add(seed, "tool", `{"path":"a"}`, true)
	}
	f.Fuzz(func(t *testing.T, text, tool, args string, failed bool) {
		for _, m := range []*echo.Message{user(text), result(tool, text, failed), assistant(text, echo.ToolCall{Name: tool, Arguments: args})} {
			c := card(m)
			require.Equal(t, c, card(m))
			require.LessOrEqual(t, utf8.RuneCountInString(c.Summary), 300)
			require.True(t, utf8.ValidString(c.Summary))
			require.False(t, strings.ContainsFunc(c.Summary, func(r rune) bool { return r < ' ' || r == '\u202e' || r == 0x9b }), "%q", c.Summary)
			require.LessOrEqual(t, len(c.Keywords), 12)
			for _, k := range c.Keywords {
				require.NotEmpty(t, k)
				require.LessOrEqual(t, len(k), 2*80)
				require.False(t, strings.ContainsAny(k, " \n\x1b"), "%q", k)
			}
		}
	})
}
