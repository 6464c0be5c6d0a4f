package embedded

import (
	"fmt"
	"os"
	"strings"
)

// Kind says how an engine is run.
type Kind string

// The kinds of engines.
const (
	KindLibrary Kind = "library" // libchdb, loaded by the engine process
	KindBinary  Kind = "binary"  // a clickhouse executable, run by the engine process
)

// Engine is something that can be started: a library or a binary on this machine.
type Engine struct {
	Kind Kind   `json:"kind"`
	Path string `json:"path"`
}

// ServeCommand is the hidden command that makes this executable the engine process.
const ServeCommand = "__engine"

// IsServe reports whether a command line (without the program's name) asks for the engine process.
func IsServe(args []string) bool { return len(args) > 0 && args[0] == ServeCommand }

// engineEnvironment is what the engine process gets, which outlives this one: no keys.
func engineEnvironment() []string {
	return variables("PATH", "HOME", "TMPDIR", "TZ", "LANG", "LC_ALL", idleEnv, "GOCOVERDIR")
}

func variables(names ...string) (env []string) {
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

type serveArgs struct {
	dir    string
	engine Engine
}

func (a serveArgs) list() []string {
	return []string{ServeCommand, a.dir, string(a.engine.Kind), a.engine.Path}
}

func parseServeArgs(args []string) (serveArgs, error) {
	if len(args) != 4 || !IsServe(args) {
		return serveArgs{}, fmt.Errorf("wrong arguments for the engine process: %q", strings.Join(args, " "))
	}
	return serveArgs{dir: args[1], engine: Engine{Kind: Kind(args[2]), Path: args[3]}}, nil
}
