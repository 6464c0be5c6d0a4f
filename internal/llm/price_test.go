package llm_test

import (
	"encoding/json"
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
	full := config.Price{Input: 3, CachedInput: new(0.5), Output: 15}
	long := full
	long.Long = &config.LongPrice{Over: 100, Input: 6, CachedInput: new(1.0), Output: 30}
	tests := map[string]struct {
		price config.Price
		usage echo.Usage
		want  float64 // in millionths
	}{
		"nothing":                    {full, echo.Usage{}, 0},
		"in and out":                 {full, echo.Usage{In: 100, Out: 10}, 100*3 + 10*15},
		"cached tokens are part":     {full, echo.Usage{In: 100, Cached: 60, Out: 10}, 40*3 + 60*0.5 + 10*15},
		"reasoning is part of out":   {full, echo.Usage{In: 100, Out: 10, Reasoning: 10}, 100*3 + 10*15},
		"no price for cached tokens": {config.Price{Input: 3, Output: 15}, echo.Usage{In: 100, Cached: 60, Out: 10}, 100*3 + 10*15},
		"cached tokens for nothing":  {config.Price{Input: 3, CachedInput: new(0.0), Output: 15}, echo.Usage{In: 100, Cached: 60}, 40 * 3},
		"up to the limit":            {long, echo.Usage{In: 100, Cached: 60, Out: 10}, 40*3 + 60*0.5 + 10*15},
		"long":                       {long, echo.Usage{In: 101, Cached: 60, Out: 10}, 41*6 + 60*1 + 10*30},
		"more cached than sent":      {full, echo.Usage{In: 10, Cached: 60}, 10 * 0.5},
	}
	for name, tt := range tests {
		require.InDelta(t, tt.want/1e6, llm.Cost(tt.price, tt.usage), 1e-12, name)
	}
}

func TestLookupCard(t *testing.T) {
	t.Parallel()
	tests := map[string]string{ // "" is unknown
		"gpt-5": "gpt-5", "gpt-5-nano": "gpt-5-nano", "gpt-5-mini-2025-08-07": "gpt-5-mini", "openai/gpt-5": "gpt-5",
		"GPT-5-Mini": "gpt-5-mini", "openrouter/anthropic/claude-opus-4.5": "claude-opus-4.5", "claude-opus-4-5-20251101": "claude-opus-4-5",
		"claude-haiku-4-5@20251001": "claude-haiku-4-5", "gpt-5-latest": "gpt-5",
		"gpt-5-tiny": "", "gpt-5-pro-2025-10-06": "", "gpt-50": "", "ft:gpt-4o:org": "", "": "", "llama": "", "gpt-5:free": "",
	}
	for name, want := range tests {
		card, ok := llm.LookupCard(name)
		require.Equal(t, want != "", ok, name)
		require.Equal(t, llm.Cards()[want], card, name)
	}
}

// Every row says when and where its figures were read, and none is out of all proportion.
func TestPriceTable(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, llm.Cards())
	for name, c := range llm.Cards() {
		_, err := time.Parse(time.DateOnly, c.Price.AsOf)
		require.NoError(t, err, name)
		require.Contains(t, c.Price.Source, "https://", name)
		require.Positive(t, c.Price.Input, name)
		if strings.Contains(name, "embedding") {
			require.Zero(t, c.Price.Output, "%s generates nothing", name)
		} else {
			require.Greater(t, c.Price.Output, c.Price.Input, name)
		}
		if c.Price.CachedInput != nil {
			require.Less(t, *c.Price.CachedInput, c.Price.Input, name)
		}
		if c.Price.Long != nil {
			require.Greater(t, c.Price.Long.Input, c.Price.Input, name)
			require.Positive(t, c.Price.Long.Over, name)
		}
		_, found := llm.LookupCard(name)
		require.True(t, found, name)
	}
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
