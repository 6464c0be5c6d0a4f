package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/cascade/library"
	"github.com/windlass-run/windlass/echo/journal"
	"github.com/windlass-run/windlass/internal/config"
)

// LoadFile loads the cascade of a file with all that it reaches by name, as the windlass.json of the
// working folder says.
func LoadFile(ctx context.Context, path string, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	return foldersHere().Load(ctx, path, known)
}

// LoadKnown is [LoadFile] with what is [Known].
func LoadKnown(ctx context.Context, path string) (*cascade.Cascade, cascade.Diagnostics, error) {
	return LoadFile(ctx, path, Known())
}

// LoadFS loads the cascade of a file of fsys with all that it reaches there.
func LoadFS(ctx context.Context, fsys fs.FS, path string, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	t := &library.Tree{FS: fsys, Searched: library.Searched}
	return library.Trees{t}.Load(ctx, t, path, known)
}

// FindFS finds cascades that a model names in runs of the cascade that [LoadFS] has loaded.
func FindFS(fsys fs.FS, path string) Find {
	t := &library.Tree{FS: fsys, Searched: library.Searched}
	return func(ctx context.Context, _, ref string, known cascade.Known) (*cascade.Reached, error) {
		return library.Trees{t}.Find(ctx, t, path, ref, known)
	}
}

func foldersHere() library.Folders {
	home, err := config.Home()
	if err != nil {
		return library.Folders{}
	}
	return foldersIn(".", home)
}

// foldersIn says where the cascades of runs that start in a folder are found by name. A windlass.json
// that cannot be read is the business of who runs.
func foldersIn(dir, home string) library.Folders {
	cfg, err := config.Open(dir, home)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return library.Folders{Note: "windlass.json cannot be used, so that neither its folder nor its cascade_paths count: " + first}
	}
	return Folders(cfg, home)
}

// Folders says where a windlass.json has cascades found by name. That of the home folder is of no
// project: the project folder is that of the cascade's file then.
func Folders(cfg *config.Config, home string) library.Folders {
	f := library.Folders{Paths: cfg.CascadeFolders()}
	if dir := filepath.Dir(cfg.Path); cfg.Path != "" && dir != filepath.Clean(home) {
		f.Project = dir
	}
	return f
}

// Find finds the cascade that a model has named in a run of a file, see [library.Folders.Find].
type Find func(ctx context.Context, file, ref string, known cascade.Known) (*cascade.Reached, error)

// findCascade finds the cascade that a model has named while the run goes on.
func (o *opening) findCascade(ctx context.Context, ref string) (*cascade.Reached, error) {
	e := &o.options.Extensions
	find := e.Find
	if find == nil {
		find = Folders(o.config, o.app.home).Find
	}
	file := o.run.header.File
	if !filepath.IsAbs(file) {
		file = filepath.Join(o.run.started.Dir, file)
	}
	r, err := find(library.WithIDs(ctx, &rootOf(o).ids), file, ref, Known(e.ToolNames()...))
	if err != nil {
		return nil, err
	}
	for _, c := range library.All(r.Cascade) {
		if err := o.checkCascade(c, fmt.Sprintf("the cascade %q", c.CascadeID)); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// maskFork takes secrets out of the cascade that a fork is given.
func maskFork(a *App, h *journal.Header, o ForkOptions) error {
	if o.Cascade == nil {
		return nil
	}
	var started Started
	if err := json.Unmarshal(h.Options, &started); err != nil {
		return headerError("read what session %s was started with: %w", h.Parent, err)
	}
	cfg, err := a.configOf(started.Dir)
	if err != nil {
		return err
	}
	secrets := KnownSecrets(cfg, started.AllowEnv)
	h.Cascade = secrets.JSON(h.Cascade)
	if h.Library != nil {
		h.Library = secrets.JSON(h.Library)
	}
	return nil
}
