package tool

import (
	"encoding/json"
	"strings"

	"github.com/windlass-run/windlass/cascade"
)

// Arguments returns the JSON Schema of the arguments of a built-in tool or, when it is given, of a
// declared one; nil when there is no such tool.
func Arguments(name string, declared *cascade.Tool) json.RawMessage {
	if declared != nil {
		t, err := declare(declared, environment{}, "")
		if err != nil {
			return nil
		}
		return t.spec.Parameters
	}
	made, ok := builtins[name]
	if !ok {
		return nil
	}
	nowhere := &folders{roots: []folder{{}}}
	return made(&Registry{files: nowhere}, Options{}, environment{}).spec.Parameters
}

// Refusal says what to do about a built-in tool of which a run with these rights refuses every
// call, or that of a phase which runs it with its inputs; "" when it may not refuse it.
func (o *Options) Refusal(name string, inputs map[string]json.RawMessage) string {
	switch {
	case name == SQLQuery && o.SQL == nil:
		return "it queries ClickHouse: run without --no-clickhouse, or remove it"
	case name != RunCommand || o.AllowCommands || len(o.TrustedCommands) > 0 && !o.neverTrusted(inputs):
		return ""
	}
	return `run with --allow-commands, or list the commands in "trusted_commands" of windlass.json`
}

// neverTrusted reports whether the command of a phase is written out, and is not a trusted one.
func (o *Options) neverTrusted(inputs map[string]json.RawMessage) bool {
	var line string
	if json.Unmarshal(inputs["command"], &line) != nil || strings.Contains(line, "{{") || strings.Contains(line, "{%") {
		return false
	}
	return !trusted(o.TrustedCommands, line)
}
