package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool"
)

// object is JSON in the making.
type object = map[string]any

// sound makes a sound cascade of most of the language.
type sound struct {
	*rand.Rand
	c      object
	phases []object
	input  object // of the run
	inputs []string
	graph  bool // phases have hand-offs
}

func (g *sound) maybe() bool { return g.IntN(2) == 0 }

func pick[T any](g *sound, list ...T) T { return list[g.IntN(len(list))] }

const answerSchema = `{"type":"object","additionalProperties":false,"required":["title","n"],"properties":{"title":{"type":"string"},"n":{"type":"integer"},"items":{"type":"array","items":{"type":"string"}}}}`

func newSound(seed uint64) *sound {
	g := &sound{Rand: rand.New(rand.NewPCG(seed, 13)), input: object{"topic": "tea", "depth": 2, "tags": []any{"a", "b"}, "who": object{"name": "Ada"}}}
	g.c = object{"cascade_id": fmt.Sprintf("sound_%d", seed)}
	g.inputs = []string{"topic", "depth", "tags", "who"}
	switch g.IntN(3) {
	case 0:
		g.c["inputs_schema"] = object{"topic": "what it is about", "depth": "how deep", "tags": "a list", "who": "somebody", "extra": "(optional)"}
	case 1:
		g.c["inputs_schema"] = json.RawMessage(`{"type":"object","additionalProperties":false,"required":["topic"],"properties":{"topic":{"type":"string"},
			"depth":{"type":"integer"},"tags":{"type":"array","items":{"type":"string"}},"who":{"type":"object","additionalProperties":false,
			"properties":{"name":{"type":"string"}}},"extra":{"type":"string"}}}`)
	}
	g.c["tools"] = []any{
		object{"tool_id": "count", "type": "shell", "inputs_schema": object{"text": "what to count", "times": "how often"}, "command": "echo {{ text }} {{ input.times }} | wc -c"},
		object{"tool_id": "say", "type": "shell", "command": "printf '%s' {{ word }} {{ more | default('') }}{% if last is defined %} {{ last }}{% endif %}"},
		object{
			"tool_id": "make", "type": "shell", "inputs_schema": object{"type": "object", "properties": object{"a": object{}, "b": object{"type": "integer"}}, "required": []any{"a"}},
			"command": `printf '{"_route":"ok","dir":%s}' 7{% for x in [a, b | default(0)] %} ; true {{ x }}{% endfor %}`,
		},
		object{"tool_id": "accept", "type": "shell", "inputs_schema": object{"content": "the answer"}, "command": "printf '{\"valid\": true}'; true {{ content }}"},
		object{"tool_id": "send", "type": "http", "inputs_schema": object{"id": "which"}, "url": "https://127.0.0.1:1/{{ id }}", "method": "POST", "body": `{"id": {{ id }}}`},
	}
	g.c["validators"] = object{"good": object{"instructions": "Is this good? {{ content }} {{ original_input.topic }} {{ input.topic | upper }} {{ outputs | length }}"}}
	g.graph = g.maybe()
	n := 3 + g.IntN(4)
	for i := range n {
		g.phases = append(g.phases, g.phase(i, n))
	}
	g.c["phases"] = g.phases
	return g
}

func name(i int) string {
	return pick(&sound{Rand: rand.New(rand.NewPCG(uint64(i), 1))}, "draft", "check-it", "step") + fmt.Sprint(i)
}

func (g *sound) phase(i, n int) object {
	p := object{"name": name(i)}
	if i > 0 && g.IntN(3) == 0 {
		g.deterministic(p, i, n)
	} else {
		g.modelled(p, i)
	}
	if g.graph && i < n-1 && p["routing"] == nil {
		targets := []any{name(i + 1)}
		if i+2 < n && g.maybe() {
			targets = append(targets, object{"target": name(i + 2), "description": "when it is enough"})
		}
		if p["tool"] == nil && i > 0 && g.maybe() {
			targets = append(targets, name(g.IntN(i+1)))
		}
		p["handoffs"] = targets
	}
	if i > 0 && g.maybe() {
		p["context"] = g.context(p, i)
	}
	if g.maybe() {
		p["callouts"] = pick[any](g, "facts {{ turn }}", object{"output": "{{ session.id }}", "messages": g.text(i), "messages_filter": "assistant_only"})
	}
	return p
}

func (g *sound) deterministic(p object, i, n int) {
	switch g.IntN(5) {
	case 0:
		p["tool"], p["inputs"] = "count", object{"text": g.text(i), "times": "{{ input.depth }}"}
	case 1:
		p["tool"], p["inputs"] = "say", object{"word": "x"}
	case 2:
		p["tool"], p["inputs"] = "make", object{"a": []any{g.text(i), object{"k": "{{ state }}"}}, "b": "{{ input.depth }}"}
		if g.graph && i < n-1 {
			p["routing"] = object{"ok": name(i + 1), "default": name(n - 1)}
		}
	case 3:
		p["tool"], p["inputs"] = "list_files", object{}
	default:
		p["tool"], p["inputs"] = "set_state", object{"key": "plan", "value": g.text(i)}
	}
	if g.maybe() {
		p["retry"] = object{"max_attempts": 2, "backoff": "none"}
	}
	if g.maybe() {
		p["on_error"] = object{"instructions": "{{ state.last_deterministic_error.error }} {{ state.last_deterministic_error.phase }}"}
	}
}

func (g *sound) modelled(p object, i int) {
	p["instructions"] = g.text(i) + " " + g.text(i)
	rules := object{}
	tackle := []any{}
	if g.maybe() {
		tackle = append(tackle, pick[any](g, "read_file", "list_files", "send", "recall"))
	}
	if g.IntN(3) == 0 {
		tackle = append(tackle, "set_state")
	}
	if len(tackle) > 0 {
		p["tackle"] = tackle
	}
	if g.IntN(3) == 0 {
		p["output_schema"] = json.RawMessage(answerSchema)
	}
	if g.maybe() {
		rules["loop_until"] = pick(g, "good", "non_empty", "accept", "command:test -n {{ input.topic }}", "regex:.", "max_words:50")
		rules["max_attempts"], rules["retry_instructions"] = 2, "Again ({{ attempt }} of {{ max_attempts }}): {{ validation_error }}"
		if g.maybe() {
			rules["loop_until_prompt"] = g.text(i)
		}
	}
	if g.maybe() {
		rules["max_turns"] = 3
		if g.maybe() {
			rules["turn_prompt"] = "{{ turn }}/{{ max_turns }} {% for m in history %}{{ m.role }} {% endfor %}"
		}
		if rules["loop_until"] != nil {
			rules["check"] = pick(g, "attempt", "every_turn")
		}
	}
	p["rules"] = rules
	if g.IntN(4) == 0 {
		p["on_error"] = object{"instructions": "It failed. {{ input.topic }}", "handoffs": []any{}}
		delete(p["on_error"].(object), "handoffs")
	}
}

func (g *sound) context(p object, i int) object {
	before := name(g.IntN(i))
	if g.graph {
		before = name(0)
	}
	c := object{"from": pick[any](g, "all", "previous", "first", []any{before}, []any{object{"phase": before, "include": []any{"output", "state"}, "condition": "{{ outputs['" + before + "'] is defined }}"}})}
	if p["tool"] == nil && g.maybe() {
		c = object{"mode": "auto", "anchors": object{"from_phases": []any{before}}}
	}
	return c
}

// text is a sound template in phase i.
func (g *sound) text(i int) string {
	texts := []string{
		"{{ input.topic }} in {{ input.depth }}", "{{ input.who.name | upper }}", "{{ input.extra | default('none') }}", "{{ input['tags'][0] }}",
		"{% if input.extra is defined %}{{ input.extra }}{% elif input.depth > 1 %}deep{% else %}no{% endif %}",
		"{% for t in input.tags %}{{ loop.index }}{{ t }}{% if not loop.last %},{% endif %}{% else %}none{% endfor %}",
		"{% set n = namespace(count=0) %}{% for k, v in input.items() %}{% set n.count = n.count + 1 %}{% endfor %}{{ n.count }}",
		"{% macro m(a, b='x') %}{{ a }}{{ b }}{{ input.topic }}{% endmacro %}{{ m(1) }}{{ m(input.depth, b=2) }}",
		"{% with a = input.topic, b = 2 %}{{ a ~ b }}{% endwith %}", "{% raw %}{{ foo }}{% endraw %}{# {{ bar }} #}",
		"{{ foo | default('nothing') }}{{ foo is defined }}{{ foo.bar is undefined }}", "{{ foo if foo is defined else 'none' }}",
		"{% if foo is defined and foo.bar %}{{ foo.baz }}{% endif %}{{ foo is not defined or foo }}",
		"{% set has = foo is defined %}{% if has %}{{ foo }}{% endif %}", "{% if 'extra' in input %}{{ input.extra }}{% endif %}",
		"{{ session.id }} {{ session.work_dir | length }} {{ turn }} {{ attempt }}/{{ max_attempts }} {{ sounding_index }}",
		"{{ lineage | map(attribute='phase') | join(',') }} {{ outputs.keys() | list | length }} {{ state | tojson }}",
		"{{ [1, 2, 3] | map('string') | join('-') }} {{ {'a': input.depth}.a }} {{ range(3) | sum }} {{ 'x'.upper() }}",
		"{% for a in input.tags if a != 'b' %}{% for b in input.tags %}{{ loop.index0 }}{% endfor %}{% endfor %}",
		"{% set body %}{{ input.topic }}!{% endset %}{{ body | trim }} {{ history | length }} {{ env.NOTHING | default('-') }}",
		"{{ state.plan | default('no plan') }} {% for f in state.facts | default([]) %}{{ f.title }}{% endfor %}",
	}
	for j := range i {
		p := g.phases[j]
		out := "outputs[\"" + name(j) + "\"]"
		texts = append(texts, "{{ "+out+" | default('') }}", "{{ state['output_"+name(j)+"'] | string | truncate(20) }}", "{{ "+out+" }}")
		if p["output_schema"] != nil {
			texts = append(texts, "{{ "+out+".title }} {% for x in "+out+".items | default([]) %}{{ x }}{% endfor %} {{ state.validated_output | default({}) }}")
		}
	}
	return texts[g.IntN(len(texts))]
}

// scripted answers as the requests want it, a verdict, JSON, a call of set_state or of route_to.
type scripted struct {
	calls  int
	reject map[string]bool
}

func (m *scripted) Complete(_ context.Context, req *effect.ModelRequest) (*effect.ModelResponse, error) {
	m.calls++
	text := "a short answer"
	d := echo.Draft{Role: echo.RoleAssistant, Kind: echo.KindAnswer}
	var all strings.Builder
	for _, message := range req.Messages {
		all.WriteString(message.Text())
		for _, c := range message.ToolCalls() {
			all.WriteString("\ncalled " + c.Name)
		}
	}
	call := func(name, args string) {
		text = ""
		d.ToolCalls = []echo.ToolCall{{ID: fmt.Sprint("c", m.calls), Name: name, Arguments: args}}
	}
	offered := func(name string) bool {
		return !req.NoToolCalls && slices.ContainsFunc(req.Tools, func(s effect.ToolSpec) bool { return s.Name == name }) && !strings.Contains(all.String(), "\ncalled "+name)
	}
	switch {
	case req.Site.Validator != "":
		valid := m.reject[req.Site.Phase]
		m.reject[req.Site.Phase] = true
		text = fmt.Sprintf(`{"valid": %v, "reason": "because"}`, valid)
	case offered("set_state"):
		call("set_state", `{"key": "facts", "value": [{"title": "one"}]}`)
	case offered("route_to") && req.Site.Visit < 3:
		call("route_to", m.target(req))
	case strings.Contains(all.String(), "JSON Schema"):
		text = `{"title": "t", "n": 1, "items": ["a"]}`
	}
	if text != "" {
		d.Parts = echo.Text(text)
	}
	nothing := 0.0
	return &effect.ModelResponse{Message: echo.Seal(d), Provider: "test", Model: req.Model, CostUSD: &nothing, FinishReason: "stop"}, nil
}

// target chooses the last phase on offer first: it may lead back.
func (m *scripted) target(req *effect.ModelRequest) string {
	for _, s := range req.Tools {
		if s.Name == "route_to" {
			var p struct {
				Properties struct {
					Target struct{ Enum []string }
				}
			}
			_ = json.Unmarshal(s.Parameters, &p)
			e := p.Properties.Target.Enum
			return fmt.Sprintf(`{"target": %q}`, e[len(e)-1])
		}
	}
	return ""
}

// TestGeneratedCascadesAreSound: no false alarm over cascades of most of the language, and none of
// their templates fails when they run.
func TestGeneratedCascadesAreSound(t *testing.T) {
	t.Parallel()
	known := Known()
	known.Refused = refusals(&config.Config{}, &RunOptions{}).Refusal
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			g := newSound(seed)
			text, err := json.MarshalIndent(g.c, "", " ")
			require.NoError(t, err)
			c, found, err := cascade.Parse("sound.json", text, known)
			require.NoError(t, err, "%s", text)
			require.Empty(t, found, "%s", text)
			raw, err := json.Marshal(g.input)
			require.NoError(t, err)
			var input map[string]any
			require.NoError(t, json.Unmarshal(raw, &input))
			require.Empty(t, c.CheckInput(input))
			registry, err := tool.New(tool.Options{Roots: []string{t.TempDir()}, Declared: c.Tools})
			require.NoError(t, err)
			defer registry.Close() //nolint:errcheck // a test's own folder
			runner := &engine.Runner{Model: &scripted{reject: map[string]bool{}}, Tools: registry, DefaultModel: "m"}
			_, err = runner.Run(t.Context(), engine.Spec{Cascade: c, Input: input, Log: echo.NewLog("s1", nil, nil), WorkDir: t.TempDir()})
			require.NoError(t, err, "%s", text)
		})
	}
}

// randomTemplate writes a template of tags and expressions over names that there are and are not.
func randomTemplate(r *rand.Rand, depth int) string {
	names := []string{"foo", "bar", "inputs", "input", "turn", "x", "y", "ns", "input.a", "foo.a", "x.a", "loop.index", "outputs.p", "bar.b.c", "foo['a']", "input[x]", "foo[bar]"}
	var expr func(n int) string
	expr = func(n int) string {
		name := names[r.IntN(len(names))]
		if n <= 0 {
			return name
		}
		a, b := expr(n-1), expr(n-2)
		return []string{
			name, name, name + " is defined", name + " is not defined", name + " is undefined", "(" + a + ") | default(" + b + ")", name + " | default(1)",
			"(" + a + ") and (" + b + ")", "(" + a + ") or (" + b + ")", "not (" + a + ")", "'a' in " + name, "(" + a + ") | string", "[" + a + ", " + b + "]", "m(" + a + ")",
			"{'k': " + a + "}", "(" + a + ") == (" + b + ")",
		}[r.IntN(16)]
	}
	var block func(n int) string
	block = func(n int) string {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			x := expr(2)
			body := "t"
			if n > 0 {
				body = block(n - 1)
			}
			b.WriteString([]string{
				"{{ " + x + " }}", "{{ " + x + " if " + expr(2) + " else " + expr(1) + " }}", "{{ " + x + " if " + expr(2) + " }}",
				"{% if " + x + " %}" + body + "{% elif " + expr(1) + " %}e{% else %}{{ " + expr(1) + " }}{% endif %}",
				"{% for x in [1] if " + expr(1) + " %}" + body + "{% else %}{{ y }}{% endfor %}", "{% set x = " + x + " %}", "{% set y %}" + body + "{% endset %}",
				"{% set x = " + x + " if " + expr(1) + " else 1 %}", "{% with y = " + x + ", x = 1 %}" + body + "{% endwith %}",
				"{% macro q(x, foo=" + expr(1) + ") %}" + body + "{% endmacro %}{{ q(1) }}", body,
			}[r.IntN(11)])
		}
		return b.String()
	}
	return "{% macro m(x) %}{{ x }}{% endmacro %}" + block(depth)
}

// TestValidatedTemplatesKnowTheirVariables is the other direction: a template that validates never
// fails of a variable that there is not. What stands in an if that is not taken is validated, too.
func TestValidatedTemplatesKnowTheirVariables(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 2)) // reproducible on purpose
	vars := engine.Variables().Phase
	vars["input"], vars["outputs"] = object{"a": object{"a": 1}}, object{"p": "text"}
	known := Known()
	validated, refused := 0, 0
	for range 3000 {
		text := randomTemplate(r, 2)
		parsed, err := template.Parse(text)
		if err != nil {
			continue
		}
		raw, err := json.Marshal(object{"cascade_id": "c", "phases": []any{object{"name": "p", "instructions": "x"}, object{"name": "q", "instructions": text}}})
		require.NoError(t, err)
		_, found, _ := cascade.Parse("c.json", raw, known)
		if slices.ContainsFunc(found, func(d cascade.Diagnostic) bool { return d.Code == cascade.CodeUnknownVariable }) {
			refused++
			continue
		}
		validated++
		_, _, err = parsed.Render(vars)
		var missing *template.MissingError
		if errors.As(err, &missing) && !strings.ContainsAny(missing.Name, ".[(") {
			// A name that some tag binds may be missing: an if may not be taken, and a macro sees its caller's.
			binds := regexp.MustCompile(`(set|with|for|,|macro q\() ?` + strings.Replace(missing.Name, "loop", "x in", 1) + `\b`)
			require.Regexp(t, binds, text, "%v", err)
		}
	}
	require.Greater(t, validated, 100)
	require.Greater(t, refused, 100)
}
