package tool

import (
	"fmt"
	"path"
	"slices"
	"strings"

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

// runners are programs that run others, or write files, for some of their arguments.
var runners = []string{
	"awk", "bash", "bun", "busybox", "cargo", "chroot", "cmake", "command", "curl", "dash", "deno", "docker", "doas", "ed", "emacs", "env", "ex", "exec",
	"eval", "fd", "find", "flock", "gawk", "gdb", "git", "go", "gradle", "ionice", "java", "kubectl", "less", "lua", "make", "man", "mawk", "more", "mvn",
	"nice", "node", "nohup", "npm", "npx", "parallel", "perl", "php", "pip", "pnpm", "podman", "psql", "python", "python2", "python3", "rg", "rsync",
	"ruby", "scp", "screen", "script", "sed", "setsid", "sh", "sort", "sqlite3", "ssh", "stdbuf", "strace", "su", "sudo", "tar", "tee", "time", "timeout",
	"tmux", "unzip", "uv", "vi", "vim", "watch", "wget", "xargs", "yarn", "zip", "zsh",
}

// RiskyTrust warns of trusted commands that can run other programs for a model's arguments.
func RiskyTrust(trusted []string) []string {
	var out []string
	for _, t := range trusted {
		words, open := strings.CutSuffix(strings.TrimSpace(t), " *")
		fields := strings.Fields(words)
		if !open || len(fields) == 0 {
			continue
		}
		if program := path.Base(fields[0]); slices.Contains(runners, program) {
			out = append(out, fmt.Sprintf("trusted_commands has %q: %s can run other programs, or write files, for its arguments; "+
				"write the whole command out, without *", t, program))
		}
	}
	return out
}
