package llm_test

import (
	"cmp"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/llm"
)

func TestCostFormula(t *testing.T) {
	t.Parallel()
	full := config.Price{Input: 3, CachedInput: new(0.5), CacheWrite: new(3.75), Output: 15}
	long := full
	long.Long = &config.LongPrice{Over: 100, Input: 6, CachedInput: new(1.0), CacheWrite: new(7.5), Output: 30}
	tests := map[string]struct {
		price   config.Price
		usage   echo.Usage
		want    float64 // in millionths
		written int64
	}{
		"nothing":                    {full, echo.Usage{}, 0, 0},
		"in and out":                 {full, echo.Usage{In: 100, Out: 10}, 100*3 + 10*15, 0},
		"cached tokens are part":     {full, echo.Usage{In: 100, Cached: 60, Out: 10}, 40*3 + 60*0.5 + 10*15, 0},
		"reasoning is part of out":   {full, echo.Usage{In: 100, Out: 10, Reasoning: 10}, 100*3 + 10*15, 0},
		"no price for cached tokens": {config.Price{Input: 3, Output: 15}, echo.Usage{In: 100, Cached: 60, Out: 10}, 100*3 + 10*15, 0},
		"cached tokens for nothing":  {config.Price{Input: 3, CachedInput: new(0.0), Output: 15}, echo.Usage{In: 100, Cached: 60}, 40 * 3, 0},
		"up to the limit":            {long, echo.Usage{In: 100, Cached: 60, Out: 10}, 40*3 + 60*0.5 + 10*15, 0},
		"long":                       {long, echo.Usage{In: 101, Cached: 60, Out: 10}, 41*6 + 60*1 + 10*30, 0},
		"written":                    {full, echo.Usage{In: 100, Cached: 60, Out: 10}, 10*3 + 30*3.75 + 60*0.5 + 10*15, 30},
		"written by a long request":  {long, echo.Usage{In: 101, Cached: 60, Out: 10}, 11*6 + 30*7.5 + 60*1 + 10*30, 30},
		"no price for writing":       {config.Price{Input: 3, Output: 15}, echo.Usage{In: 100}, 100 * 3, 30},
		"more cached than sent":      {full, echo.Usage{In: 10, Cached: 60}, 10 * 0.5, 0},
	}
	for name, tt := range tests {
		require.InDelta(t, tt.want/1e6, llm.Cost(tt.price, tt.usage, tt.written), 1e-12, name)
	}
}

func TestLookupCard(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // "" is unknown
		"gpt-5": "gpt-5", "gpt-5-nano": "gpt-5-nano", "gpt-5-mini-2025-08-07": "gpt-5-mini", "openai/gpt-5": "gpt-5",
		"GPT-5-Mini": "gpt-5-mini", "gpt-5-latest": "gpt-5", "gpt-4o-2024-08-06": "gpt-4o", "gpt-4o-2024-11-20": "gpt-4o",
		"gpt-4o-2024-05-13": "gpt-4o-2024-05-13", "openai/gpt-4o-2024-05-13": "gpt-4o-2024-05-13", "gpt-4-turbo-2024-04-09": "gpt-4-turbo",
		"gpt-4-1106-preview": "gpt-4-turbo", "gpt-4-0613": "gpt-4", "gpt-3.5-turbo-0125": "gpt-3.5-turbo", "gpt-5.6": "gpt-5.6-sol",
		"openrouter/anthropic/claude-opus-4.5": "claude-opus-4-5", "claude-opus-4-5-20251101": "claude-opus-4-5", "anthropic/claude-opus-5.5": "claude-opus-5-5",
		"claude-haiku-4-5@20251001": "claude-haiku-4-5", "claude-3-5-sonnet-20241022": "claude-3-5-sonnet", "claude-3-5-sonnet-latest": "claude-3-5-sonnet",
		"anthropic/claude-3.5-sonnet": "claude-3-5-sonnet", "claude-3-haiku-20240307": "claude-3-haiku", "claude-sonnet-4-20250514": "claude-sonnet-4",
		"google/gemini-1.5-pro-002": "gemini-1.5-pro", "gemini-1.5-flash-latest": "gemini-1.5-flash", "mistralai/mistral-large-2512": "mistral-large-2512",
		"deepseek/deepseek-v4-pro": "deepseek-v4-pro", "qwen/qwen3-32b": "qwen3-32b", "qwen3.7-max-2026-05-20": "qwen3.7-max",
		"meta-llama/Llama-3.1-8B-Instruct": "llama-3.1-8b", "llama3.1:8b": "llama-3.1-8b", "groq/llama-3.3-70b-versatile": "llama-3.3-70b",
		"gpt-5-tiny": "", "gpt-5-pro-2025-10-06": "gpt-5-pro", "gpt-50": "", "ft:gpt-4o:org": "", "": "", "llama": "", "gpt-5:free": "", "gpt-5-": "",
		"claude-3-5": "", "claude-3-5-sonnet-v2": "", "gpt-4-32k": "", "gpt-4o-audio-preview": "", "gemini-2.5-pro-preview-06-05": "", "mistral-large-latest": "",
		"llama3.1:8b-instruct-q4_0": "", "deepseek-v3-0324": "", "openai/": "", "/gpt-5": "gpt-5", "gpt-5-2025-8-7": "", "gpt-5-20250807-2025-08-07": "",
	}
	for name, want := range tests {
		card, ok := llm.LookupCard(name)
		require.Equal(t, want != "", ok, name)
		require.Equal(t, want, card.Model, name)
	}
}

// Every row says when and where its figures were read, and none is out of all proportion.
func TestPriceTable(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(llm.Cards()), 100)
	families := map[string]bool{}
	for _, c := range llm.Cards() {
		name := c.Model
		families[c.Family] = true
		for _, day := range []string{c.AsOf, c.Found} {
			_, err := time.Parse(time.DateOnly, day)
			require.NoError(t, err, name)
		}
		require.LessOrEqual(t, c.AsOf, c.Found, name)
		for _, source := range []string{c.Source, cmp.Or(c.LimitsSource, c.Source)} {
			u, err := url.Parse(source)
			require.NoError(t, err, name)
			require.Equal(t, "https", u.Scheme, name)
			require.NotEmpty(t, u.Host, name)
		}
		require.True(t, c.Price != nil || c.ContextWindow > 0, "%s says nothing", name)
		require.True(t, c.Price != nil || c.Note != "", "%s does not say why it has no price", name)
		require.LessOrEqual(t, c.MaxOutputTokens, c.ContextWindow, name)
		for _, name := range append([]string{name}, c.Aliases...) {
			require.Equal(t, strings.ToLower(name), name)
			require.NotContains(t, name, "/")
			found, ok := llm.LookupCard(name)
			require.True(t, ok, name)
			require.Equal(t, c, found, name)
		}
		requirePrice(t, &c)
	}
	require.Equal(t, map[string]bool{
		"OpenAI": true, "Anthropic": true, "Google": true, "Mistral": true, "DeepSeek": true, "Qwen": true, "Llama": true, "xAI": true,
	}, families)
}

func requirePrice(t *testing.T, c *llm.Card) {
	t.Helper()
	p := c.Price
	if p == nil {
		return
	}
	require.Equal(t, []string{c.AsOf, c.Source}, []string{p.AsOf, p.Source})
	require.Positive(t, p.Input, c.Model)
	if strings.Contains(c.Model, "embedding") {
		require.Zero(t, p.Output, "%s generates nothing", c.Model)
	} else {
		require.GreaterOrEqual(t, p.Output, p.Input, c.Model)
	}
	if p.CachedInput != nil {
		require.Less(t, *p.CachedInput, p.Input, c.Model)
	}
	if p.CacheWrite != nil {
		require.Greater(t, *p.CacheWrite, p.Input, c.Model)
		require.NotNil(t, p.CachedInput, c.Model)
	}
	if l := p.Long; l != nil {
		require.Greater(t, l.Input, p.Input, c.Model)
		require.Positive(t, l.Over, c.Model)
		require.True(t, c.ContextWindow == 0 || l.Over < int64(c.ContextWindow), c.Model)
		require.Equal(t, p.CachedInput != nil, l.CachedInput != nil, c.Model)
		require.Equal(t, p.CacheWrite != nil, l.CacheWrite != nil, c.Model)
	}
}

func TestBrokenPriceTable(t *testing.T) {
	t.Parallel()
	require.EqualError(t, llm.ParseCards(`[{"model": "a", "aliases": ["b"]}, {"model": "b"}]`), `two rows have the name "b"`)
	require.EqualError(t, llm.ParseCards(`[{"model": "a", "window": 1}]`), `json: unknown field "window"`)
}

func TestCounter(t *testing.T) {
	t.Parallel()
	require.Equal(t, int64(2), llm.NewCounter("openai/gpt-5-mini").Text("hello world"))
	require.Equal(t, int64(2), llm.NewCounter("gpt-4-turbo").Text("hello world"))
	other := llm.NewCounter("claude-opus-5")
	require.False(t, other.Exact())
	require.Equal(t, int64(3), other.Text("hello world"))
	require.Equal(t, int64(4), other.Text("日本語!"))
	m := echo.NewText(echo.RoleUser, echo.KindTask, "hello world")
	c := llm.NewCounter("gpt-5")
	require.Equal(t, int64(5), c.Message(m))
	require.Equal(t, int64(5), c.Message(m), "counted once, the same again")
	require.Equal(t, int64(8), c.Request([]*echo.Message{m}, nil))
}

func TestCheckSequence(t *testing.T) {
	t.Parallel()
	user := echo.NewText(echo.RoleUser, echo.KindTask, "u")
	answer := echo.NewText(echo.RoleAssistant, echo.KindAnswer, "a")
	asks := func(ids ...string) *echo.Message {
		d := echo.Draft{Role: echo.RoleAssistant}
		for _, id := range ids {
			d.ToolCalls = append(d.ToolCalls, echo.ToolCall{ID: id, Name: "t", Arguments: "{}"})
		}
		return echo.Seal(d)
	}
	result := func(id string) *echo.Message {
		return echo.NewToolResult(echo.ToolCall{ID: id, Name: "t"}, echo.Text("r"), false)
	}
	tests := map[string]struct {
		msgs []*echo.Message
		want string
	}{
		"good":              {[]*echo.Message{user, asks("1", "2"), result("2"), result("1"), answer, user}, ""},
		"empty":             {nil, "there are no messages"},
		"orphan":            {[]*echo.Message{user, result("1")}, `message 2 is the result of call "1", which the assistant message before it did not make`},
		"answered twice":    {[]*echo.Message{user, asks("1"), result("1"), result("1")}, `message 4 is the result of call "1", which the assistant message before it did not make`},
		"unanswered":        {[]*echo.Message{user, asks("1", "2"), result("1")}, `the messages end without the result of call "2"`},
		"interrupted":       {[]*echo.Message{user, asks("1"), user, result("1")}, `message 3 (user) comes before the result of call "1"`},
		"id again":          {[]*echo.Message{user, asks("1"), result("1"), asks("1"), result("1")}, `message 4 uses the call id "1" again`},
		"no id":             {[]*echo.Message{user, asks("")}, "message 2 has a tool call without an id or a name"},
		"role":              {[]*echo.Message{echo.NewText("robot", "", "x")}, `message 1 has the unknown role "robot"`},
		"ends with its own": {[]*echo.Message{user, answer}, "the last message is the assistant's own"},
	}
	for name, tt := range tests {
		err := llm.CheckSequence(tt.msgs)
		if tt.want == "" {
			require.NoError(t, err, name)
		} else {
			require.EqualError(t, err, tt.want, name)
		}
	}
}

// What Router finds out before anything is sent.
func TestRouterConfig(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "sk-own", "SET": "x"}
	tests := map[string]struct {
		settings string
		env      map[string]string
		text     string
		hint     string
	}{
		"no key":            {"{}", nil, "model m at api.openai.com: no key: OPENAI_API_KEY is not set", "export OPENAI_API_KEY=..., or run offline: the script beside the cascade answers then"},
		"no named key":      {`{"base_url": "https://host/v1", "api_key_env": "HOST_KEY"}`, env, "model m at host: no key: HOST_KEY is not set", "export HOST_KEY="},
		"not the own key":   {`{"base_url": "https://host/v1"}`, env, "model m at host: no key for this endpoint", `"api_key_env": "NAME"`},
		"header variable":   {`{"headers": {"X-Key-Id": "${UNSET}"}}`, env, "model m at api.openai.com: header X-Key-Id needs UNSET, which is not set or not one line", "export UNSET="},
		"base URL variable": {"{}", map[string]string{"OPENAI_BASE_URL": "https://u:p@host"}, "model m: OPENAI_BASE_URL must not hold a user or password", "as in"},
		"key of two lines":  {"{}", map[string]string{"OPENAI_API_KEY": "a\nb"}, "model m at api.openai.com: OPENAI_API_KEY holds more than one line, which cannot be a key", "set"},
		"loopback":          {`{"base_url": "http://localhost:11434/v1"}`, nil, "", ""},
		"own header":        {`{"base_url": "https://host/v1", "headers": {"api-key": "${SET}"}}`, env, "", ""},
		"key":               {"{}", env, "", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, err := config.Parse("w.json", []byte(`{"models": {"m": `+tt.settings+`}}`))
			require.NoError(t, err)
			r := llm.NewRouter(cfg, func(k string) string { return tt.env[k] })
			err = r.Check("m")
			if tt.text == "" {
				require.NoError(t, err)
				return
			}
			requireConfigError(t, err, tt.text, tt.hint)
			_, err = r.Complete(t.Context(), request())
			requireConfigError(t, err, tt.text, tt.hint)
		})
	}
}

func TestRouterFacts(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("w.json", []byte(`{"models": {
		"alias": {"model": "gpt-5", "context_window": 1000, "native_tools": false},
		"priced": {"price": {"input": 1, "output": 2}}}}`))
	require.NoError(t, err)
	r := llm.NewRouter(cfg, func(string) string { return "" })
	r.LoadTokenizer("alias")
	r.LoadTokenizer("nobody-knows") // which has none
	window, output := r.Limits("alias")
	require.Equal(t, []int{1000, 128000}, []int{window, output})
	f := r.Facts("alias")
	require.False(t, *f.NativeTools)
	require.Nil(t, r.Facts("gpt-5").NativeTools)
	require.Equal(t, []int64{1000, 128000}, []int64{f.Window, f.MaxOutput})
	require.Equal(t, echo.Price{Input: 1.25, Cached: 0.125}, *f.Price)
	require.True(t, f.Exact)
	m := echo.NewText(echo.RoleUser, echo.KindTask, "one two three")
	require.Equal(t, llm.NewCounter("gpt-5").Message(m), f.Count(m))
	other := r.Facts("priced")
	require.Equal(t, echo.Price{Input: 1, Cached: 1}, *other.Price, "without a price of their own, cached tokens cost as much as others")
	require.False(t, other.Exact)
	require.Zero(t, other.Window)
	require.Nil(t, r.Facts("nobody-knows").Price)
	require.InDelta(t, 1.25, r.Price("alias").Input, 0)
	require.InDelta(t, 2.0, r.Price("priced").Output, 0)
	require.Nil(t, r.Price("nobody-knows"))
	raw, err := json.Marshal(r.Price("alias").AsOf)
	require.NoError(t, err)
	require.NotEqual(t, `""`, string(raw))
}
