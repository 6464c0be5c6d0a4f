package grants

import (
	"cmp"
	"path/filepath"
	"slices"

	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/failure"
	"github.com/windlass-run/windlass/internal/server"
)

// Cover refuses a session that was started, and would resume, with more than the server grants.
func (g *Grants) Cover(home string, origin *core.Origin) error {
	started := &origin.Started
	if err := g.Check(origin.Cascade); err != nil {
		return err
	}
	if started.AllowCommands && !g.options.AllowCommands {
		return notCovered("--allow-commands", "may run any command")
	}
	for _, name := range started.AllowEnv {
		if !slices.Contains(g.options.AllowEnv, name) {
			return notCovered("--allow-env "+name, "sees the variable "+name)
		}
	}
	for _, pattern := range started.AllowWrite {
		if !slices.Contains(g.options.AllowWrite, pattern) {
			return notCovered("--allow-write "+pattern, "may write "+pattern)
		}
	}
	for _, folder := range started.Roots {
		if !g.holds(folder) {
			return notCovered("--root "+folder, "may use the folder "+folder)
		}
	}
	if g.options.Offline && !started.Offline {
		return server.NewProblem(server.NotGranted, "windlass serve without --offline",
			"the session asks models, and this server asks none")
	}
	return sameConfig(home, started.Dir)
}

func (g *Grants) holds(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && slices.ContainsFunc(g.roots, func(r root) bool {
		rel, err := filepath.Rel(r.Real, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// sameConfig refuses a session of another windlass.json, with other commands and endpoints.
func sameConfig(home, dir string) error {
	then, thenErr := config.Find(dir, home)
	now, nowErr := config.Find(".", home)
	if err := cmp.Or(thenErr, nowErr); err != nil {
		return failure.New(failure.StorageFailed, err, "")
	}
	if then != now {
		return server.NewProblem(server.NotGranted, "windlass resume, or windlass serve in "+dir,
			"the session was begun in %s, where another windlass.json holds than here", dir)
	}
	return nil
}

func notCovered(flag, what string) error {
	return server.NewProblem(server.NotGranted, "windlass resume, or windlass serve "+flag,
		"the session was begun with %s, which this server was not: it %s", flag, what)
}
