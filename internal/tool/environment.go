package tool

import (
	"slices"

	"github.com/windlass-run/windlass/engine/effect"
	"github.com/windlass-run/windlass/internal/secret"
)

// basicEnv is what every command sees of the environment.
var basicEnv = [...]string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// neverEnv is what no command ever sees: it could act as windlass with it.
var neverEnv = [...]string{"OPENAI_API_KEY", "WINDLASS_CLICKHOUSE_DSN", "WINDLASS_SERVE_TOKEN"}

// environment is what tools see of the process's environment.
type environment struct {
	allowed map[string]any // the variable env of templates
	command []string       // for commands, as NAME=value
	secrets []secret.Value // the granted values that must not be shown; those of the basic variables are names and paths
}

func newEnvironment(o Options) environment {
	e := environment{allowed: map[string]any{}}
	names := slices.Concat(basicEnv[:], o.AllowEnv)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		v, ok := o.Getenv(name)
		if !ok {
			continue
		}
		if !slices.Contains(neverEnv[:], name) {
			e.command = append(e.command, name+"="+v)
		}
		if slices.Contains(o.AllowEnv, name) {
			e.allowed[name] = v
		}
		if !slices.Contains(basicEnv[:], name) {
			e.secrets = append(e.secrets, secret.Value{Name: name, Value: v})
		}
	}
	return e
}

// withoutSecrets returns a result with nothing in it that the set knows.
func withoutSecrets(s *secret.Set, res effect.ToolResult) effect.ToolResult {
	res.Parts = slices.Clone(res.Parts)
	for i := range res.Parts {
		p := &res.Parts[i]
		p.Text, p.URL = s.Text(p.Text), s.Text(p.URL)
	}
	return res
}
