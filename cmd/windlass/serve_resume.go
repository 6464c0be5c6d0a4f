package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/engine"
	core "github.com/windlass-run/windlass/internal/app"
	"github.com/windlass-run/windlass/internal/archive"
	"github.com/windlass-run/windlass/internal/config"
	"github.com/windlass-run/windlass/internal/server"
)

// Resume implements [server.Runs].
func (h *host) Resume(ctx context.Context, id string, r *server.ResumeRequest) (*server.Session, error) {
	id, err := h.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if h.Runs(id) {
		return nil, notResumable("follow it, or cancel it", "the session %s is running", id)
	}
	rec, err := journal.Read(archive.JournalPath(h.runs.Home(), id))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, notResumable("resume it where it was run, or, on the server: windlass resume "+id+", which brings it there", "the session %s was run on another machine", id)
	case err != nil:
		return nil, storageProblem(err)
	}
	origin, err := core.ReadHeader(rec.Header)
	var rules *engine.RulesError
	switch {
	case errors.As(err, &rules):
		return nil, &server.Problem{Kind: server.NotResumable, Detail: err.Error(), Try: "POST /api/runs begins a new run", Err: err}
	case err != nil:
		return nil, storageProblem(err)
	}
	if err := h.grants.cover(h.runs.Home(), origin); err != nil {
		return nil, err
	}
	o := core.ResumeOptions{NoClickHouse: h.noClickHouse}
	spec := engine.Spec{Cascade: origin.Cascade, Recording: rec.Entries}
	if o.Limits, err = h.grants.limits(r.Budget, spec.BudgetInForce()); err != nil {
		return nil, err
	}
	return h.begin(ctx, resumeProblem, func(ctx context.Context, w core.Watch) (*core.Run, error) {
		return h.runs.Resume(ctx, id, o, w)
	})
}

// cover refuses a session that was begun with more than the server grants: it would go on with it.
func (g *grants) cover(home string, origin *core.Origin) error {
	begun := &origin.Started
	if err := g.check(origin.Cascade); err != nil {
		return err
	}
	if begun.AllowCommands && !g.allowCommands {
		return notCovered("--allow-commands", "may run any command")
	}
	for _, name := range begun.AllowEnv {
		if !slices.Contains(g.allowEnv, name) {
			return notCovered("--allow-env "+name, "sees the variable "+name)
		}
	}
	for _, pattern := range begun.AllowWrite {
		if !slices.Contains(g.allowWrite, pattern) {
			return notCovered("--allow-write "+pattern, "may write "+pattern)
		}
	}
	for _, root := range begun.Roots {
		if !g.holds(root) {
			return notCovered("--root "+root, "may use the folder "+root)
		}
	}
	if g.offline && !begun.Offline {
		return server.NewProblem(server.NotGranted, "windlass serve without --offline", "the session asks models, and this server asks none")
	}
	return sameConfig(home, begun.Dir)
}

// holds reports whether a folder is one of the server's, or in one.
func (g *grants) holds(folder string) bool {
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && slices.ContainsFunc(g.roots, func(r servedRoot) bool {
		rel, err := filepath.Rel(r.real, real)
		return err == nil && filepath.IsLocal(rel)
	})
}

// sameConfig refuses a session that was begun under another windlass.json, which may trust other commands and name other
// endpoints.
func sameConfig(home, dir string) error {
	then, err := config.Find(dir, home)
	if err != nil {
		return storageProblem(err)
	}
	now, err := config.Find(".", home)
	if err != nil {
		return storageProblem(err)
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

func notResumable(try, format string, args ...any) error {
	return server.NewProblem(server.NotResumable, try, format, args...)
}

// resumeProblem says to a client why a session could not be taken up.
func resumeProblem(err error) error {
	var ended *engine.NotResumableError
	switch {
	case errors.As(err, &ended):
		return &server.Problem{Kind: server.NotResumable, Detail: err.Error(), Try: "POST /api/runs begins a new run", Err: err}
	case errors.Is(err, journal.ErrBusy):
		return &server.Problem{Kind: server.NotResumable, Detail: err.Error(), Try: "wait for its end", Err: err}
	}
	return startProblem(fmt.Errorf("take up the session: %w", err))
}
