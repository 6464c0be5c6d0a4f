package app

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/engine"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/template"
	"github.com/windlass-run/windlass/internal/tool"
)

// Known tells the loader of cascades what they refer to without declaring it: the built-in tools
// and more of them, what a template is, and what it sees.
func Known(tools ...string) cascade.Known {
	return cascade.Known{
		Tools:         slices.Concat(tool.BuiltinNames(), engine.OwnTools(), tools),
		CheckTemplate: checkTemplate,
		Lookups:       lookups,
		Variables:     engine.Variables(),
		Arguments:     argumentsOf,
	}
}

// KnownFor is [Known] for runs with these rights in the working folder: the loader finds what they
// refuse. A windlass.json that cannot be read is the business of who runs.
func KnownFor(o RunOptions) cascade.Known {
	cfg := &config.Config{}
	if home, err := config.Home(); err == nil {
		if found, err := config.Open(".", home); err == nil {
			cfg = found
		}
	}
	k := Known()
	k.Refused = refusals(cfg, &o).Refusal
	return k
}

// refusals returns as much of a run's tools as decides what they refuse.
func refusals(cfg *config.Config, o *RunOptions) *tool.Options {
	t := &tool.Options{AllowCommands: o.Rights.AllowCommands, TrustedCommands: cfg.TrustedCommands}
	if !o.NoClickHouse {
		t.SQL = anyDatabase{}
	}
	return t
}

// anyDatabase stands for a ClickHouse that is there when it is needed.
type anyDatabase struct{ tool.Querier }

func argumentsOf(name string, declared *cascade.Tool) json.RawMessage {
	if declared == nil && slices.Contains(engine.OwnTools(), name) {
		return engine.OwnToolArguments(name)
	}
	return tool.Arguments(name, declared)
}

func checkTemplate(kind cascade.TemplateKind, text string) *cascade.TemplateProblem {
	_, err := template.ParseMode(tool.TemplateModes[kind], text)
	if err == nil {
		return nil
	}
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return &cascade.TemplateProblem{Line: syntax.Line, Col: syntax.Col, Message: syntax.Msg, Hint: syntax.Hint}
	}
	return &cascade.TemplateProblem{Message: err.Error()}
}

func lookups(kind cascade.TemplateKind, text string) []cascade.Lookup {
	t, err := template.ParseMode(tool.TemplateModes[kind], text)
	if err != nil {
		return nil
	}
	var out []cascade.Lookup
	for _, l := range t.Lookups() {
		out = append(out, cascade.Lookup{Line: l.Line, Col: l.Col, Path: l.Path, Safe: l.Safe, Perhaps: l.Perhaps})
	}
	return out
}
