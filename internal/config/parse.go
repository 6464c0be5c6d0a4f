package config

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-run/windlass/internal/config/strict"
	"github.com/windlass-run/windlass/internal/protection"
	"github.com/windlass-run/windlass/internal/source"
)

// reservedOptions are members of a request body that windlass writes itself.
var reservedOptions = []string{"messages", "model", "stream", "stream_options", "tools", "tool_choice", "n", "input", "dimensions", "encoding_format"}

// CheckOption says why a member of model_options or options cannot be set, or returns nil.
func CheckOption(name string) error {
	if slices.Contains(reservedOptions, name) {
		return fmt.Errorf("option %q cannot be set: windlass writes %s itself", name, name)
	}
	return nil
}

// The forms of values that are checked.
var (
	variableName = compiled(`^[A-Za-z_][A-Za-z0-9_]*$`)
	variableRef  = compiled(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)
	secretHeader = compiled(`(?i)^(authorization|proxy-authorization|cookie|.*(api[-_]?key|token|secret).*)$`)
	secretParam  = compiled(`(?i)^(key|.*(api[-_]?key|token|secret|sig(nature)?))$`)
	dayForm      = compiled(`^\d{4}-\d{2}-\d{2}$`)
)

// inlineKeys are keys that a person may try to write a secret under.
var inlineKeys = []string{"api_key", "apikey", "key", "token", "api_token", "secret", "password"}

// Parse reads the content of a configuration file; name is its path in messages.
func Parse(name string, data []byte) (*Config, error) {
	p := parser{strict.Parse(name, data)}
	c := &Config{Path: name, Models: map[string]Model{}}
	if p.Root() != nil {
		p.Object(p.Root(), FileName, strict.Fields{
			"$schema":          func(n *source.Node) { p.String(n, "$schema") },
			"default_model":    func(n *source.Node) { c.DefaultModel = p.String(n, "default_model") },
			"embedding_model":  func(n *source.Node) { c.EmbeddingModel = p.String(n, "embedding_model") },
			"clickhouse_dsn":   func(n *source.Node) { c.ClickHouseDSN = p.String(n, "clickhouse_dsn") },
			"trusted_commands": func(n *source.Node) { c.TrustedCommands = p.Strings(n, "trusted_commands") },
			"require_sandbox":  func(n *source.Node) { c.RequireSandbox = p.Bool(n, "require_sandbox") },
			"protect_paths":    func(n *source.Node) { c.ProtectPaths = p.protectPaths(n) },
			"cascade_paths":    func(n *source.Node) { c.CascadePaths = p.cascadePaths(n) },
			"retention":        func(n *source.Node) { c.Retention = p.retention(n) },
			"notify":           func(n *source.Node) { c.Notify = p.notify(n) },
			"auto_context":     func(n *source.Node) { c.Off = p.autoContext(n) },
			"models": func(n *source.Node) {
				p.Each(n, "models", func(key string, v *source.Node) { c.Models[key] = p.model(key, v) })
			},
		})
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

type parser struct{ *strict.Reader }

func (p parser) model(name string, n *source.Node) Model {
	var m Model
	what := fmt.Sprintf("model %q", name)
	fields := strict.Fields{
		"model":                func(n *source.Node) { m.Model = p.String(n, "model") },
		"base_url":             func(n *source.Node) { m.BaseURL = p.baseURL(n) },
		"api_key_env":          func(n *source.Node) { m.APIKeyEnv = p.variable(n) },
		"timeout_seconds":      func(n *source.Node) { m.Timeout = p.seconds(n, "timeout_seconds") },
		"idle_timeout_seconds": func(n *source.Node) { m.IdleTimeout = p.seconds(n, "idle_timeout_seconds") },
		"max_retries":          func(n *source.Node) { v := p.Int(n, "max_retries", 0); m.MaxRetries = &v },
		"retry_wait_seconds":   func(n *source.Node) { m.RetryWait = p.seconds(n, "retry_wait_seconds") },
		"headers":              func(n *source.Node) { m.Headers = p.headers(n) },
		"price":                func(n *source.Node) { m.Price = p.price(n) },
		"context_window":       func(n *source.Node) { m.ContextWindow = p.Int(n, "context_window", 1) },
		"max_output_tokens":    func(n *source.Node) { m.MaxOutputTokens = p.Int(n, "max_output_tokens", 1) },
		"dimensions":           func(n *source.Node) { m.Dimensions = p.Int(n, "dimensions", 1) },
		"batch_size":           func(n *source.Node) { m.BatchSize = p.Int(n, "batch_size", 1) },
		"max_tokens_param":     func(n *source.Node) { m.MaxTokensParam = p.maxTokensParam(n) },
		"fallback_models":      func(n *source.Node) { m.Fallback = p.fallback(name, n) },
		"cache_control":        func(n *source.Node) { v := p.Bool(n, "cache_control"); m.CacheControl = &v },
		"send_reasoning":       func(n *source.Node) { m.SendReasoning = p.sendReasoning(n) },
		"stream":               func(n *source.Node) { v := p.Bool(n, "stream"); m.Stream = &v },
		"images":               func(n *source.Node) { v := p.Bool(n, "images"); m.Images = &v },
		"native_tools":         func(n *source.Node) { v := p.Bool(n, "native_tools"); m.NativeTools = &v },
		"options":              func(n *source.Node) { m.Options = p.options(n) },
	}
	for _, key := range inlineKeys {
		if v := n.Get(key); v != nil {
			p.Fail(v, `put the key into an environment variable and name it: "api_key_env": "NAME"`,
				"%s must not hold a key: files are shared and committed", what)
			fields[key] = func(*source.Node) {}
		}
	}
	p.Object(n, what, fields)
	return m
}

func (p parser) fallback(model string, n *source.Node) []string {
	var out []string
	p.List(n, "fallback_models", func(_ int, item *source.Node) {
		name := p.String(item, "a model of fallback_models")
		switch {
		case item.Kind != source.String:
			return
		case strings.TrimSpace(name) == "":
			p.Fail(item, "", "fallback_models names a model of nothing")
		case name == model:
			p.Fail(item, "", "fallback_models has %q, the model that they stand in for", name)
		case slices.Contains(out, name):
			p.Fail(item, "", "fallback_models has %q twice", name)
		}
		out = append(out, name)
	})
	return out
}

// maxDays is the longest retention, a hundred years: the day that is so long ago is one that every
// part of windlass can count with.
const maxDays = 36500

func (p parser) retention(n *source.Node) (r Retention) {
	days := func(name string, to *int) func(*source.Node) {
		return func(n *source.Node) {
			if *to = p.Int(n, name, 1); *to > maxDays {
				p.Fail(n, "", "%s must be at most %d, it is %s", name, maxDays, n.Text)
			}
		}
	}
	p.Object(n, "retention", strict.Fields{
		"cards_days": days("cards_days", &r.CardsDays), "rows_days": days("rows_days", &r.RowsDays), "journals_days": days("journals_days", &r.JournalsDays),
	})
	return r
}

func (p parser) autoContext(n *source.Node) Off {
	var off Off
	on := func(name string, to *bool) func(*source.Node) {
		return func(n *source.Node) {
			*to = n.Kind == source.Bool && !p.Bool(n, name) || n.Kind != source.Bool && p.Bool(n, name)
		}
	}
	p.Object(n, "auto_context", strict.Fields{
		"intra_phase":   on("intra_phase", &off.IntraPhase),
		"cards":         on("cards", &off.Cards),
		"inter_phase":   on("inter_phase", &off.InterPhase),
		"llm_selection": on("llm_selection", &off.LLMSelection),
	})
	return off
}

func (p parser) protectPaths(n *source.Node) []string {
	var out []string
	p.List(n, "protect_paths", func(_ int, item *source.Node) {
		text := p.String(item, "a pattern of protect_paths")
		if item.Kind != source.String {
			return
		}
		if err := protection.CheckPath(text); err != nil {
			p.Fail(item, `name a file or a folder, as in "deploy" or "config/*.yaml"`, "protect_paths %q: %v", text, err)
		}
		out = append(out, text)
	})
	return out
}

// maxCascadePaths bounds the folders that a search reads.
const maxCascadePaths = 32

func (p parser) cascadePaths(n *source.Node) []string {
	var out []string
	p.List(n, "cascade_paths", func(i int, item *source.Node) {
		text := p.String(item, "a folder of cascade_paths")
		switch {
		case item.Kind != source.String:
			return
		case i == maxCascadePaths:
			p.Fail(item, "", "cascade_paths has more than %d folders", maxCascadePaths)
		case i > maxCascadePaths:
			return
		case strings.TrimSpace(text) == "" || strings.ContainsRune(text, 0):
			p.Fail(item, `name a folder, relative to that of windlass.json, as in "shared/cascades"`, "cascade_paths %q is no folder", text)
		case slices.Contains(out, text):
			p.Fail(item, "", "cascade_paths has %q twice", text)
		}
		out = append(out, text)
	})
	return out
}

func (p parser) seconds(n *source.Node, what string) time.Duration {
	s := p.Number(n, what, 0)
	if s > 24*60*60 {
		p.Fail(n, "", "%s must be at most a day, it is %s", what, n.Text)
		return 0
	}
	return time.Duration(s * float64(time.Second))
}

func (p parser) variable(n *source.Node) string {
	name := p.String(n, "api_key_env")
	if n.Kind == source.String && !variableName().MatchString(name) {
		p.Fail(n, "", "api_key_env must be the name of an environment variable")
		return ""
	}
	return name
}

func (p parser) baseURL(n *source.Node) string {
	s := p.String(n, "base_url")
	if s == "" {
		return ""
	}
	if why := CheckBaseURL(s); why != "" {
		p.Fail(n, `as in "https://host/v1"`, "base_url %s", why)
		return ""
	}
	return s
}

// CheckBaseURL says what is wrong with an endpoint's URL, or "", without its possible secrets.
func CheckBaseURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "must be an http or https URL with a host"
	case u.User != nil:
		return "must not hold a user or password"
	case u.Fragment != "":
		return "must not have a fragment"
	}
	for key := range u.Query() {
		if secretParam().MatchString(key) {
			return "must not hold a key in its query"
		}
	}
	return ""
}

func (p parser) headers(n *source.Node) map[string]string {
	out := map[string]string{}
	p.Each(n, "headers", func(key string, v *source.Node) {
		value := p.String(v, "header "+key)
		switch {
		case key == "" || strings.ContainsAny(key, " \t\r\n:") || strings.ContainsAny(value, "\r\n"):
			p.Fail(v, "", "header %q cannot be sent", key)
		case secretHeader().MatchString(key) && !variableRef().MatchString(value):
			p.Fail(v, `write it as "${NAME}" with the name of an environment variable`,
				"header %s must not hold a secret: files are shared and committed", key)
		}
		out[key] = value
	})
	return out
}

func (p parser) price(n *source.Node) *Price {
	price := &Price{}
	ok := p.Object(n, "price", strict.Fields{
		"input":        func(n *source.Node) { price.Input = p.Number(n, "input", 0) },
		"cached_input": func(n *source.Node) { v := p.Number(n, "cached_input", 0); price.CachedInput = &v },
		"cache_write":  func(n *source.Node) { v := p.Number(n, "cache_write", 0); price.CacheWrite = &v },
		"output":       func(n *source.Node) { price.Output = p.Number(n, "output", 0) },
		"long":         func(n *source.Node) { price.Long = p.longPrice(n) },
		"as_of": func(n *source.Node) {
			price.AsOf = p.String(n, "as_of")
			if n.Kind == source.String && !dayForm().MatchString(price.AsOf) {
				p.Fail(n, "", "as_of must be a day like 2026-01-31")
			}
		},
		"source": func(n *source.Node) { price.Source = p.String(n, "source") },
	})
	if ok && (n.Get("input") == nil || n.Get("output") == nil) {
		p.Fail(n, "", "price needs input and output, in US dollars per million tokens")
	}
	return price
}

func (p parser) longPrice(n *source.Node) *LongPrice {
	long := &LongPrice{}
	p.Object(n, "long", strict.Fields{
		"over":         func(n *source.Node) { long.Over = int64(p.Int(n, "over", 1)) },
		"input":        func(n *source.Node) { long.Input = p.Number(n, "input", 0) },
		"cached_input": func(n *source.Node) { v := p.Number(n, "cached_input", 0); long.CachedInput = &v },
		"cache_write":  func(n *source.Node) { v := p.Number(n, "cache_write", 0); long.CacheWrite = &v },
		"output":       func(n *source.Node) { long.Output = p.Number(n, "output", 0) },
	})
	if n.Kind == source.Object && (n.Get("over") == nil || n.Get("input") == nil || n.Get("output") == nil) {
		p.Fail(n, "", "long needs over (tokens), input and output")
	}
	return long
}

func (p parser) maxTokensParam(n *source.Node) string {
	s := p.String(n, "max_tokens_param")
	if s != "max_tokens" && s != "max_completion_tokens" && n.Kind == source.String {
		p.Fail(n, "", `max_tokens_param must be "max_completion_tokens" or "max_tokens"`)
	}
	return s
}

func (p parser) sendReasoning(n *source.Node) string {
	s := p.String(n, "send_reasoning")
	if n.Kind == source.String && !slices.Contains([]string{ReasoningContent, ReasoningDetails, ReasoningNone}, s) {
		p.Fail(n, "", `send_reasoning must be "reasoning_content", "reasoning_details" or "none"`)
	}
	return s
}

func (p parser) options(n *source.Node) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	p.Each(n, "options", func(key string, v *source.Node) {
		if err := CheckOption(key); err != nil {
			p.Fail(v, "", "%v", err)
			return
		}
		out[key] = v.JSON(nil)
	})
	return out
}

// compiled returns a pattern that is compiled when it is first used: most commands use none.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
