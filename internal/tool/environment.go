package tool

import (
	"slices"
	"sort"
	"strings"

	"github.com/windlass-run/windlass/echo"
	"github.com/windlass-run/windlass/engine"
)

// basicEnv is what a command sees of the environment in any case: what programs need to find each other, their files
// and the language.
var basicEnv = [...]string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// neverEnv is what no command sees, even when it was allowed: it would let a command act as windlass itself.
var neverEnv = [...]string{"OPENAI_API_KEY", "WINDLASS_CLICKHOUSE_DSN", "WINDLASS_SERVE_TOKEN"}

// environment is what tools see of the process's environment.
type environment struct {
	allowed map[string]string // for templates
	command []string          // for commands, as NAME=value
}

func newEnvironment(o Options) environment {
	e := environment{allowed: map[string]string{}}
	for _, name := range o.AllowEnv {
		if v, ok := o.Getenv(name); ok {
			e.allowed[name] = v
		}
	}
	names := slices.Concat(basicEnv[:], o.AllowEnv)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if slices.Contains(neverEnv[:], name) {
			continue
		}
		if v, ok := o.Getenv(name); ok {
			e.command = append(e.command, name+"="+v)
		}
	}
	return e
}

// vars returns the variable env of templates.
func (e environment) vars() map[string]any {
	vars := make(map[string]any, len(e.allowed))
	for k, v := range e.allowed {
		vars[k] = v
	}
	return vars
}

// minSecret is the length from which a value of the environment is taken for a secret. Shorter ones are part of too
// many innocent texts.
const minSecret = 8

// secrets returns the allowed values that look as if they must not be shown. Those of the basic variables are names
// and paths.
func (e environment) secrets() redactor {
	var r redactor
	for name, v := range e.allowed {
		if len(v) >= minSecret && !slices.Contains(basicEnv[:], name) {
			r = append(r, secret{name, v})
		}
	}
	// Longer ones first, as one may be part of another.
	sort.Slice(r, func(i, j int) bool {
		if len(r[i].value) != len(r[j].value) {
			return len(r[i].value) > len(r[j].value)
		}
		return r[i].name < r[j].name
	})
	return r
}

type secret struct{ name, value string }

// redactor takes secrets out of what tools return.
type redactor []secret

func (r redactor) text(s string) string {
	for _, x := range r {
		s = strings.ReplaceAll(s, x.value, "[value of "+x.name+"]")
	}
	return s
}

func (r redactor) result(res engine.ToolResult) engine.ToolResult {
	if len(r) == 0 {
		return res
	}
	parts := make([]echo.Part, len(res.Parts))
	for i, p := range res.Parts {
		p.Text, p.URL = r.text(p.Text), r.text(p.URL)
		parts[i] = p
	}
	res.Parts = parts
	return res
}
