// Package embedded finds, fetches, starts and ends the private ClickHouse of this machine: one
// detached process for each data folder, shared by all windlass processes that use the folder. Four
// files in the folder make that safe:
//
//   - run.lock is held by the engine process while it lives. Whoever can lock it knows that no
//     engine runs, so what a killed one left in endpoint.json is never trusted.
//   - start.lock is held by the one process that starts the engine.
//   - endpoint.json (0600) says where the engine listens and with which password.
//   - engine.sock is what clients connect to; docs/security.md says why not to ClickHouse's port.
//
// The engine process is this executable, started with [ServeCommand]. It starts ClickHouse (this
// executable once more, which loads libchdb, or a clickhouse binary) in a confined process, leads
// clients from its socket to ClickHouse's port, and ends when nobody has been connected for a
// while, when ClickHouse does not listen any more, or when its folder is gone.
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
