package config_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/config/strict"
)

func TestParse(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("windlass.json", []byte(`{
		"default_model": "big",
		"embedding_model": "small",
		"clickhouse_dsn": "clickhouse://host:9000/db",
		"trusted_commands": ["go test"],
		"protect_paths": ["deploy/", "*.lock"],
		"cascade_paths": ["more", "../shared", "/opt/cascades"],
		"auto_context": {"intra_phase": true, "cards": false, "inter_phase": false, "llm_selection": false},
		"models": {
			"big": {"model": "vendor/big-1", "base_url": "https://host/v1", "api_key_env": "HOST_KEY", "timeout_seconds": 90,
				"idle_timeout_seconds": 1.5, "max_retries": 0, "retry_wait_seconds": 0.25, "headers": {"X-Title": "windlass", "Api-Key": "${OTHER_KEY}"},
				"price": {"input": 1, "cached_input": 0, "cache_write": 1.25, "output": 2.5, "as_of": "2026-01-31", "source": "contract",
					"long": {"over": 200000, "input": 2, "cache_write": 2.5, "output": 5}},
				"context_window": 1000, "max_output_tokens": 100, "dimensions": 512, "batch_size": 10, "max_tokens_param": "max_tokens", "native_tools": false, "stream": false, "send_reasoning": "none", "cache_control": true, "fallback_models": ["small", "other"],
				"options": {"reasoning_effort": "low"}}}}`))
	require.NoError(t, err)
	want := &config.Config{
		Path: "windlass.json", DefaultModel: "big", EmbeddingModel: "small", ClickHouseDSN: "clickhouse://host:9000/db", TrustedCommands: []string{"go test"},
		ProtectPaths: []string{"deploy/", "*.lock"}, CascadePaths: []string{"more", "../shared", "/opt/cascades"}, Off: config.Off{Cards: true, InterPhase: true, LLMSelection: true},
		Models: map[string]config.Model{"big": {
			Model: "vendor/big-1", BaseURL: "https://host/v1", APIKeyEnv: "HOST_KEY", Timeout: 90 * time.Second,
			IdleTimeout: 1500 * time.Millisecond, MaxRetries: new(0), RetryWait: 250 * time.Millisecond, Headers: map[string]string{"X-Title": "windlass", "Api-Key": "${OTHER_KEY}"},
			Price: &config.Price{
				Input: 1, CachedInput: new(0.0), CacheWrite: new(1.25), Output: 2.5, AsOf: "2026-01-31", Source: "contract",
				Long: &config.LongPrice{Over: 200000, Input: 2, CacheWrite: new(2.5), Output: 5},
			},
			ContextWindow: 1000, MaxOutputTokens: 100, Dimensions: 512, BatchSize: 10, MaxTokensParam: "max_tokens", NativeTools: new(false), Stream: new(false), SendReasoning: "none", CacheControl: new(true), Fallback: []string{"small", "other"},
			Options: c.Models["big"].Options,
		}},
	}
	require.Empty(t, cmp.Diff(want, c))
	require.JSONEq(t, `"low"`, string(c.Models["big"].Options["reasoning_effort"]))
}

// Every mistake has its place, and no message repeats a secret.
func TestProblems(t *testing.T) {
	t.Parallel()
	const src = `{
  "defualt_model": "x",
  "trusted_commands": "go test",
  "models": {
    "a": {"api_key": "sk-secret-value", "base_url": "ftp://host"},
    "b": {"api_key_env": "sk-secret-value", "base_url": "https://user:sk-secret-value@host/v1"},
    "c": {"headers": {"Authorization": "Bearer sk-secret-value"}, "timeout_seconds": -1},
    "d": {"price": {"input": 1}, "max_retries": 1.5, "max_tokens_param": "tokens"},
    "e": {"options": {"messages": []}, "native_tools": "no", "base_url": "https://host/v1?api_key=sk-secret-value"},
    "f": {"price": {"input": 1, "output": 1, "as_of": "today", "long": {"over": 5}}},
    "g": {"fallback_models": ["a", "g", "a", " ", 1], "stream": "no", "send_reasoning": "yes"}
  }
}`
	_, err := config.Parse("w.json", []byte(src))
	var problems *strict.Error
	require.ErrorAs(t, err, &problems)
	want := []string{
		`w.json:2:3: unknown key "defualt_model" in windlass.json (did you mean "default_model"?)`,
		`w.json:3:23: trusted_commands must be a list`,
		`w.json:5:22: model "a" must not hold a key: files are shared and committed (put the key into an environment variable and name it: "api_key_env": "NAME")`,
		`w.json:5:53: base_url must be an http or https URL with a host (as in "https://host/v1")`,
		`w.json:6:26: api_key_env must be the name of an environment variable`,
		`w.json:6:57: base_url must not hold a user or password (as in "https://host/v1")`,
		`w.json:7:40: header Authorization must not hold a secret: files are shared and committed (write it as "${NAME}" with the name of an environment variable)`,
		`w.json:7:86: timeout_seconds must be at least 0, it is -1`,
		`w.json:8:20: price needs input and output, in US dollars per million tokens`,
		`w.json:8:49: max_retries must be a whole number, it is 1.5`,
		`w.json:8:74: max_tokens_param must be "max_completion_tokens" or "max_tokens"`,
		`w.json:9:35: option "messages" cannot be set: windlass writes messages itself`,
		`w.json:9:56: native_tools must be true or false`,
		`w.json:9:74: base_url must not hold a key in its query (as in "https://host/v1")`,
		`w.json:10:55: as_of must be a day like 2026-01-31`,
		`w.json:10:72: long needs over (tokens), input and output`,
		`w.json:11:36: fallback_models has "g", the model that they stand in for`,
		`w.json:11:41: fallback_models has "a" twice`,
		`w.json:11:46: fallback_models names a model of nothing`,
		`w.json:11:51: a model of fallback_models must be a string`,
		`w.json:11:65: stream must be true or false`,
		`w.json:11:89: send_reasoning must be "reasoning_content", "reasoning_details" or "none"`,
	}
	got := make([]string, len(problems.Problems))
	for i, p := range problems.Problems {
		got[i] = p.String()
	}
	require.Empty(t, cmp.Diff(want, got))
	require.NotContains(t, err.Error(), "secret-value")
}

func TestCascadePaths(t *testing.T) {
	t.Parallel()
	c, err := config.Parse("/home/p/windlass.json", []byte(`{"cascade_paths": ["more", "../shared", "/opt/cascades"]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"/home/p/more", "/home/shared", "/opt/cascades"}, c.CascadeFolders())
	require.Empty(t, (&config.Config{}).CascadeFolders())
	many := ""
	for i := range 33 {
		many += `,"` + strconv.Itoa(100+i) + `"`
	}
	for text, want := range map[string]string{
		`"more"`:             `w.json:1:19: cascade_paths must be a list`,
		`[7]`:                `w.json:1:20: a folder of cascade_paths must be a string`,
		`["a", " "]`:         `w.json:1:25: cascade_paths " " is no folder (name a folder, relative to that of windlass.json, as in "shared/cascades")`,
		`["a", "b", "a"]`:    `w.json:1:30: cascade_paths has "a" twice`,
		`["\u0000"]`:         `w.json:1:20: cascade_paths "\x00" is no folder (name a folder, relative to that of windlass.json, as in "shared/cascades")`,
		`[` + many[1:] + `]`: `w.json:1:` + strconv.Itoa(20+len(many)-6) + `: cascade_paths has more than 32 folders`,
	} {
		_, err := config.Parse("w.json", []byte(`{"cascade_paths": `+text+`}`))
		require.ErrorContains(t, err, want)
	}
}

func TestSyntaxError(t *testing.T) {
	t.Parallel()
	_, err := config.Parse("w.json", []byte("{\n  \"models\": {,}\n}"))
	require.ErrorContains(t, err, "w.json:2:14: ")
	_, err = config.Parse("w.json", []byte("[]"))
	require.EqualError(t, err, "w.json:1:1: windlass.json must be an object")
}

func TestLookup(t *testing.T) {
	t.Parallel()
	c := &config.Config{Models: map[string]config.Model{
		"gpt-5": {Model: "exact"}, "gpt-5*": {Model: "family"}, "gpt*": {Model: "gpt"}, "*": {Model: "any"}, "*/llama*b": {Model: "llama"},
	}}
	tests := map[string]string{
		"gpt-5": "exact", "gpt-5-mini": "family", "gpt-4": "gpt", "other": "any", "meta/llama-70b": "llama", "meta/llama-70": "any",
	}
	for name, want := range tests {
		m, ok := c.Lookup(name)
		require.True(t, ok)
		require.Equal(t, want, m.Model, name)
	}
	_, ok := (&config.Config{}).Lookup("gpt-5")
	require.False(t, ok)
}

func TestFind(t *testing.T) {
	t.Parallel()
	root, home := t.TempDir(), t.TempDir()
	deep := filepath.Join(root, "a", "b")
	require.NoError(t, os.MkdirAll(deep, 0o700))
	write := func(dir, model string) string {
		path := filepath.Join(dir, config.FileName)
		require.NoError(t, os.WriteFile(path, []byte(`{"default_model": "`+model+`"}`), 0o600))
		return path
	}
	c, err := config.Open(deep, home)
	require.NoError(t, err)
	require.Empty(t, c.Path)
	for _, place := range []string{home, root, deep} { // each nearer than the one before
		path := write(place, place)
		c, err = config.Open(deep, home)
		require.NoError(t, err)
		require.Equal(t, path, c.Path)
		require.Equal(t, place, c.DefaultModel)
	}
	_, err = config.Load(filepath.Join(root, "none.json"))
	require.ErrorContains(t, err, "read configuration: ")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"models": {"m": {"price": {"input": 1, "output": 2}, "headers": {"a": "${B}"}, "options": {"x": [1]}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := config.Parse("f.json", data)
		if (c == nil) == (err == nil) {
			t.Fatal("either a configuration or an error")
		}
	})
}
