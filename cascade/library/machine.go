package library

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/windlass-run/windlass/cascade"
	"github.com/windlass-run/windlass/internal/source"
)

// machine are the files of this machine, as whoever runs windlass names them. Its searches leave no
// folder: what a link leads to outside was not meant to be found.
type machine struct {
	project string // as it is shown
	paths   []string
	said    string
	roots   map[string]opened // by absolute path
}

type opened struct {
	folder source.Folder
	err    error
}

func newMachine(f Folders, file string) *machine {
	w := &machine{project: filepath.Dir(file), roots: map[string]opened{}}
	if f.Note != "" {
		w.said = "; " + f.Note
	}
	if f.Project != "" {
		w.project = near(f.Project)
	}
	for _, p := range f.Paths {
		w.paths = append(w.paths, near(p))
	}
	return w
}

// near returns a path relative to the working folder when it is below it.
func near(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

func (w *machine) close() {
	for _, o := range w.roots {
		if o.folder.Root != nil {
			_ = o.folder.Root.Close() // nothing was written
		}
	}
}

func (w *machine) root(dir string) (source.Folder, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return source.Folder{}, err
	}
	o, ok := w.roots[abs]
	if !ok {
		o.folder, o.err = source.OpenFolder(abs)
		w.roots[abs] = o
	}
	return o.folder, o.err
}

func (w *machine) folders(from location) []place {
	beside := w.place(filepath.Dir(from.path))
	if beside.err == nil {
		if _, err := fs.Stat(beside.fsys, beside.dir); escapes(err) { // the file was named through a link
			beside.fsys, beside.dir, beside.err = w.alone(filepath.Dir(from.path))
		}
	}
	out := []place{beside}
	for _, name := range Searched {
		out = append(out, w.place(filepath.Join(w.project, name)))
	}
	for _, dir := range w.paths {
		out = append(out, w.place(dir))
	}
	return out
}

func (w *machine) place(dir string) place {
	p := place{shown: dir, key: identity(dir), at: func(name string) location { return location{path: filepath.Join(dir, name)} }}
	p.fsys, p.dir, p.err = w.inside(dir)
	return p
}

// inside opens a folder below the project folder through that, and any other by itself.
func (w *machine) inside(dir string) (fs.FS, string, error) {
	if project, err := w.root(w.project); err == nil {
		if abs, err := filepath.Abs(dir); err == nil {
			if rel, err := filepath.Rel(project.Path, abs); err == nil && filepath.IsLocal(rel) {
				return Rooted(project.Root), filepath.ToSlash(rel), nil
			}
		}
	}
	return w.alone(dir)
}

func (w *machine) alone(dir string) (fs.FS, string, error) {
	folder, err := w.root(dir)
	if err != nil {
		return nil, "", err
	}
	return Rooted(folder.Root), ".", nil
}

func (w *machine) file(from location, ref string) (location, *cascade.Problem) {
	path := filepath.FromSlash(ref)
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from.path), path)
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return location{}, noFile(path, from.path, w.place(filepath.Dir(path)))
	}
	return location{path: path}, nil
}

func (w *machine) load(ctx context.Context, at location, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	known.Project = w.project
	return cascade.LoadContext(ctx, at.path, known)
}

func (w *machine) identity(at location) string { return identity(at.path) }

// identity is the same for all paths of a file.
func identity(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}

func (w *machine) recorded(at location) string { return at.path }

func (w *machine) note() string { return w.said }

// The methods of the other world, in which nothing leads out of its trees.

func (t Trees) folders(from location) []place {
	var out []place
	add := func(of *Tree, dir string) {
		shown := filepath.FromSlash(dir)
		if dir == "." && of.Name != "" {
			shown = filepath.Base(of.Name)
		}
		kept := ""
		if of.Name != "" {
			kept = of.Name + "\x00" + dir
		}
		out = append(out, place{
			fsys: of.FS, dir: dir, shown: shown, key: fmt.Sprintf("%p %s", of, dir), kept: kept,
			at: func(name string) location { return location{tree: of, path: join(dir, name)} },
		})
	}
	trees := t
	if from.tree != nil {
		add(from.tree, slashDir(from.path))
		trees = append(Trees{from.tree}, t...)
	} else {
		for _, of := range t {
			add(of, ".")
		}
	}
	for _, of := range trees {
		for _, dir := range of.Searched {
			add(of, dir)
		}
	}
	return out
}

func (t Trees) file(from location, ref string) (location, *cascade.Problem) {
	trees := t
	if from.tree != nil {
		trees = Trees{from.tree}
	}
	path := join(slashDir(from.path), filepath.ToSlash(ref))
	if filepath.IsAbs(filepath.FromSlash(ref)) || !fs.ValidPath(path) {
		return location{}, &cascade.Problem{
			Message: fmt.Sprintf("%q leads out of the folder whose cascades may be used here", ref), Hint: "name a file of the folder, or a cascade_id",
		}
	}
	var first *cascade.Problem
	for _, of := range trees {
		if _, err := fs.Stat(of.FS, path); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return location{tree: of, path: path}, nil
		}
		if first == nil {
			dir := slashDir(path)
			first = noFile(filepath.FromSlash(path), from.path, place{fsys: of.FS, dir: dir, shown: filepath.FromSlash(dir), key: fmt.Sprintf("%p %s", of, dir)})
		}
	}
	if first == nil {
		first = nowhere(ref)
	}
	return location{}, first
}

func (t Trees) load(ctx context.Context, at location, known cascade.Known) (*cascade.Cascade, cascade.Diagnostics, error) {
	known.Project = "."
	return cascade.LoadFS(ctx, at.tree.FS, at.path, known)
}

func (t Trees) identity(at location) string { return fmt.Sprintf("%p %s", at.tree, at.path) }

func (t Trees) recorded(at location) string {
	return filepath.Join(at.tree.Name, filepath.FromSlash(at.path))
}

func (t Trees) note() string { return "" }
