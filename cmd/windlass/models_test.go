package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/internal/llm"
	"github.com/windlass-run/windlass/internal/llm/llmtest"
)

const modelsConfig = `{"models": {
	"zippy": {"model": "openai/gpt-5-mini", "context_window": 1000},
	"local": {"model": "llama3.1:8b", "base_url": "http://localhost:1/v1", "price": {"input": 0, "cached_input": 0, "cache_write": 0, "output": 0, "as_of": "2026-01-31", "source": "my own machine"}},
	"gpt-5*": {"max_retries": 6},
	"stranger": {}
}}`

func TestModels(t *testing.T) {
	t.Parallel()
	l := newLab(t, "clickhouse://127.0.0.1:1/none")
	l.file("windlass.json", modelsConfig)
	out := l.run(exitOK, "models").out.String()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 2+3+len(llm.Cards()))
	for _, line := range lines {
		require.LessOrEqual(t, len(line), 80, line)
	}
	require.Equal(t, []string{
		"model                   family            window      in  cached  write   out",
		"local                   windlass.json    128,000       0       0      0     0",
		"stranger                windlass.json          -       -       -      -     -",
		"zippy                   windlass.json      1,000    0.25   0.025      -     2",
		"gpt-6.2-sol             OpenAI         1,050,000       2     0.1    2.5    10",
	}, slices.Delete(lines[:6:6], 1, 2))

	require.Equal(t, `model     family   window  in  cached  write  out
--------  ------  -------  --  ------  -----  ---
grok-4.7  xAI     500,000   2     0.5      -    6
grok-4.6  xAI     500,000   2     0.5      -    6
grok-4.5  xAI     500,000   2     0.5      -    6
`, l.run(exitOK, "models", "XAI").out.String())
	wide := l.run(exitOK, "models", "claude-3-opus", "--wide").out.String()
	require.Contains(t, wide, "longest answer   4,096 tokens", "a name shows all that is known in any case")
	require.Contains(t, l.run(exitOK, "models", "haiku-5", "--wide").out.String(), "over 100,000 tokens: 0.5 in, 0.05 cached, 0.625 written to the cache, 2.5 out")
}

func TestOneModel(t *testing.T) {
	t.Parallel()
	l := newLab(t, "clickhouse://127.0.0.1:1/none")
	l.file("windlass.json", modelsConfig)
	require.Equal(t, `zippy
  family           windlass.json
  provider's name  openai/gpt-5-mini
  window           1,000 tokens
  longest answer   128,000 tokens
  price            0.25 in, 0.025 cached, 2 out (US dollars per million tokens)
  as of            2026-03-21
  found            2026-03-21
  source           https://developers.openai.com/api/docs/pricing
`, l.run(exitOK, "models", "zippy").out.String())
	require.Equal(t, `stranger
  family           windlass.json
  window           200,000 tokens are assumed, unless its endpoint says another number when a run begins
  price            not known
`, l.run(exitOK, "models", "stranger").out.String())
	require.Contains(t, l.run(exitOK, "models", "gpt-5-nano").out.String(), "gpt-5-nano\n  family           windlass.json\n", "by its pattern")

	var m struct {
		Name   string
		Window int `json:"context_window"`
		Price  struct {
			Input, Output float64
			Long          struct{ Over int64 }
		}
		Source, Found string
	}
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "models", "gpt-6-sol", "--json").out.String()), &m))
	require.Equal(t, []any{"gpt-6-sol", 1050000, 2.0, 10.0, int64(272000), "2026-11-22"}, []any{m.Name, m.Window, m.Price.Input, m.Price.Output, m.Price.Long.Over, m.Found})
	require.Equal(t, "https://developers.openai.com/api/docs/models/gpt-6-sol", m.Source)
	var list []map[string]any
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "models", "--json").out.String()), &list))
	require.Len(t, list, 3+len(llm.Cards()))

	p := l.run(exitFailed, "models", "nonsense")
	require.Equal(t, `Error: no known model is called "nonsense": a run takes 200,000 tokens for its window, and does not know what it costs
Try: give it context_window and price in windlass.json; docs/models.md says how
`, p.err.String())
	require.Equal(t, "Error: windlass models takes at most one NAME, not 2\nTry: windlass models --help\n", l.run(exitUsage, "models", "a", "b").err.String())
	require.Contains(t, l.run(exitOK, "__complete", "models", "gr").out.String(), "grok-4.7\n")
	require.Contains(t, l.run(exitOK, "__complete", "run", "x.json", "--model", "fix=gr").out.String(), "fix=grok-4.7\n")
}

// The models that an endpoint lists, with what is known of them.
func TestModelsOfAnEndpoint(t *testing.T) {
	t.Parallel()
	server := llmtest.Start(llmtest.Config{Key: testKey, Models: []string{"openai/gpt-5-mini", "zippy", "no\x1b[31mne", "gpt-5-nano-2025-08-07"}})
	t.Cleanup(server.Close)
	l := newLab(t, "clickhouse://127.0.0.1:1/none")
	l.file("windlass.json", modelsConfig)
	l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
	want := `model                  known as     window    in  cached  write  out
---------------------  ----------  -------  ----  ------  -----  ---
gpt-5-nano-2025-08-07  gpt-5-nano  400,000  0.05   0.005      -  0.4
no[31mne               -                 -     -       -      -    -
openai/gpt-5-mini      gpt-5-mini  400,000  0.25   0.025      -    2
zippy                  zippy         1,000  0.25   0.025      -    2
`
	for _, of := range []string{"zippy", "gpt-5-mini", server.URL} {
		require.Equal(t, want, l.run(exitOK, "models", "--endpoint", of).out.String())
	}
	require.Equal(t, 3, strings.Count(l.run(exitOK, "models", "--endpoint", "zippy", "MINI").out.String(), "\n"))
	require.Equal(t, "The endpoint lists no such model.\n", l.run(exitOK, "models", "--endpoint", "zippy", "nonsense").out.String())
	var list []struct {
		ID    string
		Known *struct{ Name string }
	}
	require.NoError(t, json.Unmarshal([]byte(l.run(exitOK, "models", "--json", "--endpoint", "zippy").out.String()), &list))
	require.Equal(t, "gpt-5-mini", list[2].Known.Name)
	require.Nil(t, list[1].Known)

	p := l.run(exitProvider, "models", "--endpoint", "local")
	require.Equal(t, "Error: list the models of localhost:1: connection refused: nobody listens there\n"+
		"Try: check the network and the endpoint's address (OPENAI_BASE_URL, or base_url in windlass.json)\n", p.err.String())
	l.env = append(l.env, "OPENAI_API_KEY=sk-wrong-0123456789abcdef")
	p = l.run(exitProvider, "models", "--endpoint", "zippy")
	require.Contains(t, p.err.String(), "the key was refused (401)")
	require.NotContains(t, p.err.String(), "sk-wrong")
	require.Equal(t, "Error: --endpoint needs the name of a model or a URL\nTry: windlass models --endpoint https://host/v1\n", l.run(exitUsage, "models", "--endpoint", "").err.String())
}

// What docs/models.md shows is what the command shows.
func TestModelsPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("../../docs", "models.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```sh\nwindlass models ")
	require.True(t, found)
	name, rest, _ := strings.Cut(rest, "\n```\n\n```text\n")
	shown, _, _ := strings.Cut(rest, "```")
	require.Equal(t, shown, newLab(t, "clickhouse://127.0.0.1:1/none").run(exitOK, "models", name).out.String())
	_, table, found := strings.Cut(rest, "| models | why |")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n\n")
	for _, c := range llm.Cards() {
		listed := c.Price == nil && !strings.HasPrefix(c.Note, "open weights")
		require.Equal(t, listed, strings.Contains(table, "`"+c.Model+"`"), "%s in the table of those without a price", c.Model)
	}
}

// A model that nobody knows is warned of once in a run, and one of which the server says the window is not.
func TestRunWithAnUnknownModel(t *testing.T) {
	t.Parallel()
	const warning = "run: warning: the context window of stranger is not known: 200000 tokens are assumed; set context_window of the model in windlass.json\n"
	for window, times := range map[int64]int{0: 1, 32768: 0} {
		server := llmtest.Start(llmtest.Config{Key: testKey, Window: window})
		t.Cleanup(server.Close)
		l := newLab(t, "clickhouse://127.0.0.1:1/none")
		l.file("two.json", `{"cascade_id": "two", "phases": [{"name": "a", "instructions": "Go."}, {"name": "b", "instructions": "Go on."}]}`)
		l.env = append(l.env, "OPENAI_BASE_URL="+server.URL)
		p := l.run(exitOK, "run", "two.json", "--model", "stranger", "--session", "s", "--no-clickhouse")
		require.Equal(t, times, strings.Count(p.err.String(), warning), p.err.String())
		require.NoError(t, server.Refused())
		l.run(exitOK, "verify", "s")
	}
}
